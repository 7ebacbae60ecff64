/** Arithmetic, element by element; operands of different types become the wider one, shapes are broadcast. */
import { elementwise, toTensor, toTensors } from '../eager/operands.js';
import { LatheError } from '../base/errors.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';

const two = ['a', 'b'];

/** a + b. */
export const add = (a: TensorLike, b: TensorLike): Tensor => elementwise('add', two, [a, b]);
/** a - b. */
export const sub = (a: TensorLike, b: TensorLike): Tensor => elementwise('sub', two, [a, b]);
/** a · b. */
export const mul = (a: TensorLike, b: TensorLike): Tensor => elementwise('mul', two, [a, b]);

/** a / b; of integers the quotient rounded towards negative infinity. */
export function div(a: TensorLike, b: TensorLike): Tensor {
  const [x, y] = [toTensor(a, 'a', 'div'), toTensor(b, 'b', 'div')];
  const isWhole = x.dtype === 'int32' && y.dtype === 'int32';
  return elementwise(isWhole ? 'floorDiv' : 'div', two, [x, y]);
}

/** The sum of tensors of the same shape. Errors: none is given; shapes differ. */
export function addN(tensors: readonly TensorLike[]): Tensor {
  const all = toTensors(tensors, 'tensors', 'addN');
  if (all.length === 0) {
    throw new LatheError('Must pass at least one tensor to tf.addN(), but got 0');
  }
  for (const each of all) {
    if (each.shape.join() === all[0]!.shape.join()) continue;
    throw new LatheError('All tensors passed to tf.addN() must have the same shape');
  }
  return all.slice(1).reduce((sum, each) => add(sum, each), all[0]!.clone());
}
