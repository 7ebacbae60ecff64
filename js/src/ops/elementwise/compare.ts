/** Elementwise comparison, logic and selection, with broadcasting. */
import { castTo, elementwise, toTensor } from '../../eager/operands.js';
import { isStringLike, tensor } from '../../tensor/create.js';
import { stringsOf } from '../../tensor/string_complex.js';
import type { Tensor2D } from '../../tensor/ranked_tensors.js';
import { tidy } from '../../tensor/scopes.js';
import { Tensor, type TensorLike } from '../../tensor/tensor.js';

type Binary = (a: TensorLike, b: TensorLike) => Tensor;
const two = ['a', 'b'];

/** a = b, also of strings. */
export const equal: Binary = (a, b) => compared('equal', a, b);
/** a ≠ b, also of strings. */
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
  x instanceof Tensor ? stringsOf(x) !== undefined : isStringLike(x);

/** Replaces strings by ids that are equal for equal strings. */
function compared(op: 'equal' | 'notEqual', a: TensorLike, b: TensorLike): Tensor {
  if (!isOfTexts(a) || !isOfTexts(b)) return elementwise(op, two, [a, b]);
  const idOf = new Map<string, number>();
  const numberOf = (text: string): number => {
    if (!idOf.has(text)) idOf.set(text, idOf.size);
    return idOf.get(text)!;
  };
  return tidy(() => {
    const numbers = [a, b].map((each, at) => {
      const x = toTensor(each, two[at]!, op, 'any');
      return tensor(Int32Array.from(stringsOf(x)!, numberOf), [...x.shape], 'int32');
    });
    return elementwise(op, two, numbers);
  });
}

/** a and b. Error: not bool. */
export const logicalAnd: Binary = (a, b) => elementwise('logicalAnd', two, [a, b]);
/** a or b. Error: not bool. */
export const logicalOr: Binary = (a, b) => elementwise('logicalOr', two, [a, b]);
/** a xor b. Error: not bool. */
export const logicalXor: Binary = (a, b) =>
  tidy(() => {
    const [x, y] = [toTensor(a, 'a', 'logicalXor', 'bool'), toTensor(b, 'b', 'logicalXor', 'bool')];
    return notEqual(castTo(x, 'int32'), castTo(y, 'int32'));
  });
/** not x. Error: not bool. */
export const logicalNot = (x: TensorLike): Tensor => elementwise('logicalNot', ['x'], [x]);

/** a where the condition is true, else b. Error: the condition is not bool. */
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

/** The indices of the elements that are true, int32 [n, rank]. Error: the condition is not bool. */
export async function whereAsync(condition: TensorLike): Promise<Tensor2D> {
  const input = toTensor(condition, 'condition', 'whereAsync', 'bool');
  await input.data();
  const found = trueIndices(input);
  if (input !== condition) input.dispose();
  return found;
}

/** @internal Synchronous `whereAsync`. */
export function trueIndices(condition: Tensor): Tensor2D {
  const data = condition.dataSync();
  const { shape, rank } = condition;
  const found: number[] = [];
  let count = 0;
  data.forEach((value, at) => {
    if (!value) return;
    count += 1;
    const index: number[] = [];
    for (let axis = rank - 1, rest = at; axis >= 0; axis -= 1) {
      index[axis] = rest % shape[axis]!;
      rest = Math.floor(rest / shape[axis]!);
    }
    found.push(...index);
  });
  return tensor(Int32Array.from(found), [count, rank], 'int32');
}
