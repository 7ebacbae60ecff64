/** Comparisons, logic and choice, element by element; shapes are broadcast. */
import { castTo, elementwise, toTensor } from '../eager/operands.js';
import { isText, tensor } from '../tensor/create.js';
import { textsOf } from '../tensor/odd.js';
import type { Tensor2D } from '../tensor/ranks.js';
import { tidy } from '../tensor/scopes.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';

type Binary = (a: TensorLike, b: TensorLike) => Tensor;
const two = ['a', 'b'];

/** a = b, of texts too. */
export const equal: Binary = (a, b) => compared('equal', a, b);
/** a ≠ b, of texts too. */
export const notEqual: Binary = (a, b) => compared('notEqual', a, b);
/** a < b. */
export const less: Binary = (a, b) => elementwise('less', two, [a, b]);
/** a ≤ b. */
export const lessEqual: Binary = (a, b) => elementwise('lessEqual', two, [a, b]);
/** a > b. */
export const greater: Binary = (a, b) => elementwise('greater', two, [a, b]);
/** a ≥ b. */
export const greaterEqual: Binary = (a, b) => elementwise('greaterEqual', two, [a, b]);

const isOfTexts = (x: TensorLike): boolean =>
  x instanceof Tensor ? textsOf(x) !== undefined : isText(x);

/** Of texts as of numbers, equal ones for equal texts. */
function compared(op: 'equal' | 'notEqual', a: TensorLike, b: TensorLike): Tensor {
  if (!isOfTexts(a) || !isOfTexts(b)) return elementwise(op, two, [a, b]);
  const known = new Map<string, number>();
  const numberOf = (text: string): number => {
    if (!known.has(text)) known.set(text, known.size);
    return known.get(text)!;
  };
  return tidy(() => {
    const numbers = [a, b].map((each, at) => {
      const x = toTensor(each, two[at]!, op, 'any');
      return tensor(Int32Array.from(textsOf(x)!, numberOf), [...x.shape], 'int32');
    });
    return elementwise(op, two, numbers);
  });
}

/** Both are true. Error: no bools. */
export const logicalAnd: Binary = (a, b) => elementwise('logicalAnd', two, [a, b]);
/** One is true, or both. Error: no bools. */
export const logicalOr: Binary = (a, b) => elementwise('logicalOr', two, [a, b]);
/** One is true, but not both. Error: no bools. */
export const logicalXor: Binary = (a, b) =>
  tidy(() => {
    const [x, y] = [toTensor(a, 'a', 'logicalXor', 'bool'), toTensor(b, 'b', 'logicalXor', 'bool')];
    return notEqual(castTo(x, 'int32'), castTo(y, 'int32'));
  });
/** It is not true. Error: no bools. */
export const logicalNot = (x: TensorLike): Tensor => elementwise('logicalNot', ['x'], [x]);

/** a where the condition holds, else b. Error: a condition that is no bool. */
export const where = (condition: TensorLike, a: TensorLike, b: TensorLike): Tensor =>
  tidy(() =>
    elementwise(
      'where',
      ['condition', 'a', 'b'],
      [
        toTensor(condition, 'condition', 'where', 'bool'),
        toTensor(a, 'a', 'where'),
        toTensor(b, 'b', 'where'),
      ],
    ),
  );

/** The places where the condition holds, int32 [n, rank]. Error: a condition that is no bool. */
export async function whereAsync(condition: TensorLike): Promise<Tensor2D> {
  const given = toTensor(condition, 'condition', 'whereAsync', 'bool');
  await given.data();
  const found = places(given);
  if (given !== condition) given.dispose();
  return found;
}

/** @internal `whereAsync` that waits. */
export function places(condition: Tensor): Tensor2D {
  const data = condition.dataSync();
  const { shape, rank } = condition;
  const found: number[] = [];
  let count = 0;
  data.forEach((value, at) => {
    if (!value) return;
    count += 1;
    const place: number[] = [];
    for (let axis = rank - 1, rest = at; axis >= 0; axis -= 1) {
      place[axis] = rest % shape[axis]!;
      rest = Math.floor(rest / shape[axis]!);
    }
    found.push(...place);
  });
  return tensor(Int32Array.from(found), [count, rank], 'int32');
}
