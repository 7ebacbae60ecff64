/** Comparisons, logic and choice, element by element; shapes are broadcast. */
import { castTo, elementwise, toTensor } from '../eager/operands.js';
import { tensor } from '../tensor/create.js';
import { tidy } from '../tensor/scopes.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';

type Binary = (a: TensorLike, b: TensorLike) => Tensor;
const two = ['a', 'b'];

/** a = b. */
export const equal: Binary = (a, b) => elementwise('equal', two, [a, b]);
/** a ≠ b. */
export const notEqual: Binary = (a, b) => elementwise('notEqual', two, [a, b]);
/** a < b. */
export const less: Binary = (a, b) => elementwise('less', two, [a, b]);
/** a ≤ b. */
export const lessEqual: Binary = (a, b) => elementwise('lessEqual', two, [a, b]);
/** a > b. */
export const greater: Binary = (a, b) => elementwise('greater', two, [a, b]);
/** a ≥ b. */
export const greaterEqual: Binary = (a, b) => elementwise('greaterEqual', two, [a, b]);

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
export async function whereAsync(condition: TensorLike): Promise<Tensor> {
  const given = toTensor(condition, 'condition', 'whereAsync', 'bool');
  await given.data();
  const found = places(given);
  if (given !== condition) given.dispose();
  return found;
}

/** @internal `whereAsync` that waits. */
export function places(condition: Tensor): Tensor {
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
