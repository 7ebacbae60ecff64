/** `sparse` of TensorFlow.js. Indices are read, as they determine shapes; values stay on the device. */
import { LatheError } from '../../base/errors.js';
import { checkCount } from '../../base/limits.js';
import { elementCount } from '../../base/shape.js';
import { castTo, toTensor } from '../../eager/operands.js';
import {
  getSparseFillEmptyRowsIndicesDenseShapeMismatch,
  getSparseFillEmptyRowsNegativeIndexErrorMessage,
  getSparseFillEmptyRowsOutOfRangeIndexErrorMessage,
  getSparseReshapeEmptyTensorZeroOutputDimErrorMessage,
  getSparseReshapeInputOutputMismatchErrorMessage,
  getSparseReshapeInputOutputMultipleErrorMessage,
  getSparseReshapeMultipleNegativeOneOutputDimErrorMessage,
  getSparseReshapeNegativeOutputDimErrorMessage,
  getSparseSegmentReductionIndicesOutOfRangeErrorMessage,
  getSparseSegmentReductionNegativeSegmentIdsErrorMessage,
  getSparseSegmentReductionNonIncreasingSegmentIdsErrorMessage,
  getSparseSegmentReductionSegmentIdOutOfRangeErrorMessage,
} from '../../shapes/ragged.js';
import { computeStrides, indexToLoc } from '../../shapes/shapes.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import { div } from '../elementwise/arithmetic.js';
import { constant, integers } from '../common/constants.js';
import { gather, unsortedSegmentSum } from './gather_scatter.js';
import { concat } from './concat_and_slice.js';
import { reshape } from '../common/shapes.js';

const numbers = (x: Tensor): number[] => Array.from(x.dataSync());

function checkRank(what: string, x: Tensor, rank: number): void {
  if (x.rank === rank) return;
  const expected = rank === 0 ? 'a scalar' : `Tensor${rank}D`;
  throw new LatheError(`${what} should be ${expected} but received shape ${x.shape.join()}`);
}

/** The result of `sparseFillEmptyRows`. */
export interface FilledRows {
  outputIndices: Tensor;
  outputValues: Tensor;
  /** Per row, whether it was empty. */
  emptyRowIndicator: Tensor;
  /** Per value, its index among those of the output. */
  reverseIndexMap: Tensor;
}

/**
 * Fills empty rows of a sparse matrix with `defaultValue` in the first column. Values
 * are sorted by row.
 *
 * Errors: tensors of another rank; indices outside the shape.
 */
export function sparseFillEmptyRows(
  indices: TensorLike,
  values: TensorLike,
  denseShape: TensorLike,
  defaultValue: TensorLike,
): FilledRows {
  return tidy(() => {
    const op = 'sparseFillEmptyRows';
    const indexTensor = toTensor(indices, 'indices', op, 'int32');
    const valueTensor = toTensor(values, 'values', op);
    const shape = toTensor(denseShape, 'denseShape', op, 'int32');
    const filler = toTensor(defaultValue, 'defaultValue', op, valueTensor.dtype);
    checkRank('Indices', indexTensor, 2);
    checkRank('Values', valueTensor, 1);
    checkRank('Dense shape', shape, 1);
    checkRank('Default value', filler, 0);
    const rows = checkCount(op, 'rows', numbers(shape)[0] ?? 0);
    const [count, rank] = indexTensor.shape as unknown as [number, number];
    const flat = numbers(indexTensor);
    if (rows === 0 && count > 0) {
      throw new LatheError(getSparseFillEmptyRowsIndicesDenseShapeMismatch(count));
    }
    checkCount(op, 'indices', (rows + count) * rank);
    const ends = new Int32Array(rows);
    for (let at = 0; at < count; at++) {
      const row = flat[at * rank]!;
      if (row < 0) throw new LatheError(getSparseFillEmptyRowsNegativeIndexErrorMessage(at, row));
      if (row >= rows) {
        throw new LatheError(getSparseFillEmptyRowsOutOfRangeIndexErrorMessage(at, row, rows));
      }
      ends[row]! += 1;
    }
    // The next output index per row; empty rows have one default value.
    const isEmpty = Uint8Array.from(ends, (size) => Number(size === 0));
    let total = 0;
    for (let row = 0; row < rows; row++) {
      const size = Math.max(1, ends[row]!);
      ends[row] = total;
      total += size;
    }
    const from = new Int32Array(total).fill(count);
    const found = new Int32Array(total * rank);
    const reverse = new Int32Array(count);
    for (let row = 0; row < rows; row++) if (isEmpty[row]) found[ends[row]! * rank] = row;
    for (let at = 0; at < count; at++) {
      const to = ends[flat[at * rank]!]!++;
      from[to] = at;
      reverse[at] = to;
      for (let axis = 0; axis < rank; axis++) found[to * rank + axis] = flat[at * rank + axis]!;
    }
    const all = concat([valueTensor, reshape(filler, [1])]);
    return {
      outputIndices: integers(found, [from.length, rank]),
      outputValues: gather(all, integers(from)),
      emptyRowIndicator: constant(isEmpty, [rows], 'bool'),
      reverseIndexMap: integers(reverse),
    };
  });
}

/** The requested sizes with -1 resolved. Errors: another number of elements. */
function shapeFor(input: readonly number[], expected: readonly number[]): number[] {
  const open = expected.indexOf(-1);
  for (const [axis, size] of expected.entries()) {
    if (size === -1 && axis !== open) {
      throw new LatheError(getSparseReshapeMultipleNegativeOneOutputDimErrorMessage(open, axis));
    }
    if (size < -1) throw new LatheError(getSparseReshapeNegativeOutputDimErrorMessage(axis, size));
  }
  const fixedCount = elementCount(expected.filter((size) => size !== -1));
  const size = elementCount(input);
  if (open >= 0 && fixedCount <= 0) {
    throw new LatheError(getSparseReshapeEmptyTensorZeroOutputDimErrorMessage());
  }
  if (open >= 0 && size % fixedCount !== 0) {
    const others = expected.map((each) => (each === -1 ? 1 : each));
    throw new LatheError(getSparseReshapeInputOutputMultipleErrorMessage(input, others));
  }
  const shape = expected.map((each) => (each === -1 ? size / fixedCount : each));
  if (elementCount(shape) === size) return shape;
  throw new LatheError(getSparseReshapeInputOutputMismatchErrorMessage(input, shape));
}

/** The indices of a sparse tensor in another shape, one size of which may be -1. Errors: as of `reshape`. */
export function sparseReshape(
  inputIndices: TensorLike,
  inputShape: TensorLike,
  newShape: TensorLike,
): { outputIndices: Tensor; outputShape: Tensor } {
  return tidy(() => {
    const op = 'sparseReshape';
    const indexTensor = toTensor(inputIndices, 'inputIndices', op, 'int32');
    const from = toTensor(inputShape, 'inputShape', op, 'int32');
    const to = toTensor(newShape, 'newShape', op, 'int32');
    checkRank('Input indices', indexTensor, 2);
    checkRank('Input shape', from, 1);
    checkRank('New shape', to, 1);
    const input = numbers(from);
    const shape = shapeFor(input, numbers(to));
    const [count, rank] = indexTensor.shape as unknown as [number, number];
    const [before, after] = [
      [...computeStrides(input), 1],
      [...computeStrides(shape), 1],
    ];
    const flat = numbers(indexTensor);
    const found = Array.from({ length: count }, (_, at) => {
      let index = 0;
      for (let axis = 0; axis < rank; axis++) index += flat[at * rank + axis]! * before[axis]!;
      return indexToLoc(index, shape.length, after);
    });
    return {
      outputIndices: integers(found.flat(), [count, shape.length]),
      outputShape: integers(shape),
    };
  });
}

/** Sums the rows at the indices by segment; `isMean`: averages them. */
function reduced(
  op: string,
  data: TensorLike,
  indices: TensorLike,
  segmentIds: TensorLike,
  isMean: boolean,
): Tensor {
  return tidy(() => {
    const rows = toTensor(data, 'data', op);
    const indexTensor = toTensor(indices, 'indices', op, 'int32');
    const segments = toTensor(segmentIds, 'segmentIds', op, 'int32');
    if (rows.rank < 1) {
      throw new LatheError('Data should be at least 1 dimensional but received scalar');
    }
    checkRank('Indices', indexTensor, 1);
    checkRank('Segment ids', segments, 1);
    const [at, ids] = [numbers(indexTensor), numbers(segments)];
    if (at.length !== ids.length) {
      throw new LatheError('segmentIds and indices should have same size.');
    }
    const count = ids.length === 0 ? 0 : ids.at(-1)! + 1;
    checkSegments(ids, count);
    for (const [position, index] of at.entries()) {
      if (index >= 0 && index < rows.shape[0]!) continue;
      throw new LatheError(
        getSparseSegmentReductionIndicesOutOfRangeErrorMessage(position, index, rows.shape[0]!),
      );
    }
    checkCount(op, 'segments', count);
    const sums = unsortedSegmentSum(gather(rows, indexTensor), segments, count);
    if (!isMean) return sums;
    const sizes = new Float32Array(count);
    for (const id of ids) sizes[id]! += 1;
    const shape = [count, ...rows.shape.slice(1).map(() => 1)];
    const means = div(
      sums,
      constant(
        sizes.map((size) => Math.max(1, size)),
        shape,
      ),
    );
    return castTo(means, rows.dtype);
  });
}

function checkSegments(ids: readonly number[], count: number): void {
  if (ids.length > 0 && count <= 0) {
    throw new LatheError(getSparseSegmentReductionNegativeSegmentIdsErrorMessage());
  }
  for (const [at, id] of ids.entries()) {
    if (id < 0 || id >= count) {
      throw new LatheError(getSparseSegmentReductionSegmentIdOutOfRangeErrorMessage(id, count));
    }
    if (at > 0 && id < ids[at - 1]!) {
      throw new LatheError(getSparseSegmentReductionNonIncreasingSegmentIdsErrorMessage());
    }
  }
}

/** The sums of rows of `data` by segment, zeros where a segment has none. Errors: ids that are not ascending; indices outside. */
export const sparseSegmentSum = (
  data: TensorLike,
  indices: TensorLike,
  segmentIds: TensorLike,
): Tensor => reduced('sparseSegmentSum', data, indices, segmentIds, false);

/** As `sparseSegmentSum`, the means. */
export const sparseSegmentMean = (
  data: TensorLike,
  indices: TensorLike,
  segmentIds: TensorLike,
): Tensor => reduced('sparseSegmentMean', data, indices, segmentIds, true);
