/** `tf.scatter_util`: shapes of `scatterND`. */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import { computeStrides } from './shapes.js';
import type { TensorInfo } from './types.js';

type Shaped = Pick<TensorInfo, 'shape'>;

export interface ScatterShapeInfo {
  sliceRank: number;
  numUpdates: number;
  sliceSize: number;
  strides: number[];
  outputSize: number;
}

const depthOf = ({ shape }: Shaped) => (shape.length > 1 ? shape[shape.length - 1]! : 1);

/** Error: the shape of updates is not indices.shape[:-1] followed by the unindexed axes. */
export function validateUpdateShape(
  shape: readonly number[],
  indices: Shaped,
  updates: Shaped,
): void {
  const depth = depthOf(indices);
  const batch = indices.shape.length > 1 ? indices.shape.length - 1 : 1;
  const isRank =
    updates.shape.length === batch + shape.length - depth && updates.shape.length >= batch;
  const expected = [...indices.shape.slice(0, batch), ...shape.slice(depth)];
  if (shape.length >= depth && isRank && expected.every((size, at) => size === updates.shape[at]))
    return;
  throw new LatheError(
    'Must have updates.shape = indices.shape[:batchDim] + shape[sliceDim:], got ' +
      `updates.shape: ${updates.shape}, indices.shape: ${indices.shape}, shape: ${shape}, ` +
      `sliceDim: ${depth}, and batchDim: ${batch}.`,
  );
}

/**
 * Errors: scalars; indices that are not int32; an output without axes, or empty while something is scattered; other
 * shapes.
 */
export function validateInput(
  updates: TensorInfo,
  indices: TensorInfo,
  shape: readonly number[],
): void {
  const fail = (why: string) => new LatheError(`tf.scatterND() expects ${why}`);
  if (indices.shape.length < 1) {
    throw fail(`the indices to be rank 1 or higher, but the rank was ${indices.shape.length}.`);
  }
  if (updates.shape.length < 1) {
    throw fail(`the updates to be rank 1 or higher, but the rank was ${updates.shape.length}.`);
  }
  if (indices.dtype !== 'int32') {
    throw new LatheError(`The dtype of 'indices' should be int32, but got dtype: ${indices.dtype}`);
  }
  if (shape.length < 1) {
    throw new LatheError(`Output rank must be greater or equal to 1, but got shape: ${shape}`);
  }
  if (elementCount(shape) === 0) {
    if (elementCount(indices.shape) === 0)
      throw new LatheError(`Indices specified for empty output. indices shape: ${indices.shape}`);
    if (elementCount(updates.shape) === 0)
      throw new LatheError(`Updates specified for empty output. updates shape: ${updates.shape}`);
  }
  validateUpdateShape(shape, indices, updates);
}

/** The number of slices, their size, and the strides of the indexed axes. */
export function calculateShapes(
  _updates: Shaped,
  indices: Shaped,
  shape: readonly number[],
): ScatterShapeInfo {
  const rank = indices.shape.length;
  const sliceRank = depthOf(indices);
  const sliceSize = elementCount(shape.slice(sliceRank));
  const numUpdates = elementCount(indices.shape) / Math.max(1, rank > 1 ? sliceRank : 1);
  const strides = [...computeStrides(shape.slice(0, sliceRank)), 1];
  return { sliceRank, numUpdates, sliceSize, strides, outputSize: elementCount(shape) };
}
