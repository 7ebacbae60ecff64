/** `tf.gather_util`: shapes of `gatherND`. */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import { computeStrides } from './shapes.js';
import type { TensorInfo } from './types.js';

/**
 * The shape of the result, the number of slices, the elements of each, and the strides of slices along the indexed
 * axes. Errors: a scalar; indices that are not int32 or have more entries than the tensor axes; an empty tensor.
 */
export function prepareAndValidate(
  tensor: TensorInfo,
  indices: TensorInfo,
): [number[], number, number, number[]] {
  const [rank, indexRank] = [tensor.shape.length, indices.shape.length];
  const fail = (why: string) => new LatheError(`tf.gatherND() expects ${why}`);
  if (rank < 1) throw fail(`the input to be rank 1 or higher, but the rank was ${rank}.`);
  if (indexRank < 1)
    throw fail(`the indices to be rank 1 or higher, but the rank was ${indexRank}.`);
  if (indices.dtype !== 'int32') {
    throw fail(`the indices to be int32 type, but the dtype was ${indices.dtype}.`);
  }
  const depth = indices.shape[indexRank - 1]!;
  if (depth > rank) {
    throw fail(
      `index innermost dimension length must be <= tensor rank; saw: ${depth} vs. ${rank}`,
    );
  }
  if (elementCount(tensor.shape) === 0) {
    throw fail(
      `more than zero entries: Requested more than 0 entries, but input is empty. Input shape: ${tensor.shape}.`,
    );
  }
  const outer = indices.shape.slice(0, -1);
  const inner = tensor.shape.slice(depth);
  const sliceSize = elementCount(inner);
  const strides = [...computeStrides(tensor.shape).map((stride) => stride / sliceSize), 1];
  return [[...outer, ...inner], elementCount(outer), sliceSize, strides.slice(0, depth)];
}
