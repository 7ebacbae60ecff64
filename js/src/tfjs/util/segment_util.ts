/** `tf.backend_util.segment_util`: sizes for segment sums and `gather`. */
import { LatheError } from '../../base/errors.js';
import { elementCount } from '../../base/shape.js';
import { PARALLELIZE_THRESHOLD } from '../../shapes/axes.js';
import { nearestDivisor } from '../../shapes/shapes.js';
import type { TensorInfo } from '../../shapes/types.js';

type Shaped = Pick<TensorInfo, 'shape'>;

export interface GatherOpShapeInfo {
  batchSize: number;
  sliceSize: number;
  outerSize: number;
  dimSize: number;
  outputShape: number[];
}

/** The window size of a parallel segment sum. */
export function segOpComputeOptimalWindowSize(size: number, segments: number): number {
  if (size <= PARALLELIZE_THRESHOLD) return size;
  let window = nearestDivisor(size, Math.floor(Math.sqrt(size)));
  while (window <= segments && window !== size) window = nearestDivisor(size, window + 1);
  return window;
}

/** The shape with the number of segments along the axis. */
export const computeOutShape = (
  shape: readonly number[],
  axis: number,
  segments: number,
): number[] => shape.map((size, at) => (at === axis ? segments : size));

/** The shape parameters of `gather` along an axis. Errors: batch dimensions that differ or are out of range. */
export function collectGatherOpShapeInfo(
  x: Shaped,
  indices: Shaped,
  axis: number,
  batchDims: number,
): GatherOpShapeInfo {
  const [rank, indexRank] = [x.shape.length, indices.shape.length];
  if (batchDims !== 0 && (batchDims < -indexRank || batchDims > indexRank)) {
    throw new LatheError(
      `Expect batchDims in the range of [-${indexRank}, ${indexRank}], but got ${batchDims}`,
    );
  }
  const batched = batchDims < 0 ? batchDims + indexRank : batchDims;
  if (batched > rank)
    throw new LatheError(`batchDims (${batched}) must be less than rank(x) (\n    ${rank}).`);
  if (axis < batched) {
    throw new LatheError(`batchDims (${batched}) must be less than or equal to axis (${axis}).`);
  }
  for (let at = 0; at < batched; ++at) {
    if (x.shape[at] === indices.shape[at]) continue;
    throw new LatheError(
      `x.shape[${at}]: ${x.shape[at]} should be equal to indices.shape[${at}]: ${indices.shape[at]}.`,
    );
  }
  const batch = x.shape.slice(0, batched);
  const outer = x.shape.slice(batched, axis);
  const inner = x.shape.slice(axis + 1);
  return {
    batchSize: elementCount(batch),
    sliceSize: elementCount(inner),
    outerSize: elementCount(outer),
    dimSize: x.shape[axis]!,
    outputShape: [...batch, ...outer, ...indices.shape.slice(batched), ...inner],
  };
}
