/** Shapes of ragged tensors, and error messages of sparse operations (`tf.backend_util`). */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';

type Ints = readonly number[];

/** The encoding of a ragged axis. */
export enum RowPartitionType {
  FIRST_DIM_SIZE,
  VALUE_ROWIDS,
  ROW_LENGTHS,
  ROW_SPLITS,
  ROW_LIMITS,
  ROW_STARTS,
}

/** The shape of the dense result, -1 where it depends on data. Errors: a rank or a size that the values contradict. */
export function combineRaggedTensorToTensorShapes(
  raggedRank: number,
  shape: Ints | null | undefined,
  valueShape: Ints | null | undefined,
): number[] {
  const rank = raggedRank + (valueShape?.length ?? 0);
  if (valueShape == null && shape == null) return [];
  if (shape == null) return new Array<number>(rank).fill(-1);
  if (valueShape == null) return [...shape];
  const begin = `rt input.shape and shape=${shape} are incompatible:`;
  if (rank !== shape.length) {
    throw new LatheError(`${begin} rt input.rank = ${rank}, but shape.rank = ${shape.length}`);
  }
  const output = [...shape];
  for (const [at, size] of valueShape.slice(1).entries()) {
    const axis = at + 1 + raggedRank;
    const expected = output[axis]!;
    if (size >= 0 && expected >= 0 && size !== expected) {
      throw new LatheError(
        `${begin} rt input.shape[${axis}] = ${size} but shape[${axis}] = ${expected}`,
      );
    }
    if (expected < 0) output[axis] = size;
  }
  return output;
}

/** The enum values of names, up to the first unknown one. */
export function getRowPartitionTypesHelper(names: readonly string[]): RowPartitionType[] {
  const types = names.map((name) => RowPartitionType[name as keyof typeof RowPartitionType]);
  const unknown = types.indexOf(undefined as never);
  return unknown < 0 ? types : types.slice(0, unknown);
}

/** How many axes are ragged. */
export function getRaggedRank(types: readonly RowPartitionType[]): number {
  const isDense = types[0] === RowPartitionType.FIRST_DIM_SIZE;
  return Math.max(0, types.length - Number(isDense));
}

/** Error: the shape of a default does not match the values. */
export function validateDefaultValueShape(
  defaultShape: Ints | null | undefined,
  valueShape: Ints | null | undefined,
): void {
  if (defaultShape == null || valueShape == null) return;
  const [rank, valueRank] = [defaultShape.length, valueShape.length];
  const begin = `defaultValue.shape=${defaultShape}`;
  if (rank >= valueRank) {
    throw new LatheError(
      `${begin} and ragged tensor flatValues.shape=${valueShape}, are incompatible: ` +
        `defaultValue.rank = ${rank} must be less than ragged tensor input flatValues.rank = ${valueRank})`,
    );
  }
  for (const [axis, size] of defaultShape.slice(0, valueRank - 1).entries()) {
    const value = valueShape[axis + 1]!;
    if (size >= 0 && value >= 0 && size !== 1 && size !== value) {
      throw new LatheError(
        `${begin}, and ragged tensor input flatValues.shape=${valueShape} are incompatible: ` +
          `defaultValue.shape[${axis - rank}] = ${size} but ` +
          `ragged tensor input.flatValues.shape[${axis - rank}] = ${value}`,
      );
    }
  }
}

// Error messages of sparse operations, with the names of TensorFlow.js.
export const getSparseFillEmptyRowsIndicesDenseShapeMismatch = (indicesLength: number): string =>
  `Received SparseTensor with denseShape[0] = 0 but\n  indices.shape[0] = ${indicesLength}`;
export const getSparseFillEmptyRowsNegativeIndexErrorMessage = (
  index: number,
  value: number,
): string => `indices(${index}, 0) is invalid: ${value} < 0`;
export const getSparseFillEmptyRowsOutOfRangeIndexErrorMessage = (
  index: number,
  value: number,
  limit: number,
): string => `indices(${index}, 0) is invalid: ${value} >= ${limit}`;
export const getSparseReshapeMultipleNegativeOneOutputDimErrorMessage = (
  a: number,
  b: number,
): string => `only one output dimension may be -1, not both ${a} and ${b}`;
export const getSparseReshapeNegativeOutputDimErrorMessage = (axis: number, size: number): string =>
  `size ${axis} must be non-negative, not ${size}`;
export const getSparseReshapeEmptyTensorZeroOutputDimErrorMessage = (): string =>
  'reshape cannot infer the missing input size for an empty tensor unless all specified input sizes are non-zero';
export const getSparseReshapeInputOutputMultipleErrorMessage = (
  input: Ints,
  output: Ints,
): string =>
  `Input to reshape is a SparseTensor with ${elementCount(input)}\n  dense values, but the requested shape ` +
  `requires a multiple of ${elementCount(output)}. inputShape=${input} outputShape= ${output}`;
export const getSparseReshapeInputOutputMismatchErrorMessage = (
  input: Ints,
  output: Ints,
): string =>
  `Input to reshape is a tensor with ${elementCount(input)} dense values, but the requested shape has ` +
  `${elementCount(output)}. inputShape=${input} outputShape=${output}`;
export const getSparseSegmentReductionNegativeSegmentIdsErrorMessage = (): string =>
  'segment ids must be >= 0';
export const getSparseSegmentReductionNonIncreasingSegmentIdsErrorMessage = (): string =>
  'segment ids are not increasing';
export const getSparseSegmentReductionSegmentIdOutOfRangeErrorMessage = (
  id: number,
  rows: number,
): string =>
  `Segment id ${id} out of range [0, ${rows}), possibly because segmentIds input is not sorted.`;
export const getSparseSegmentReductionIndicesOutOfRangeErrorMessage = (
  index: number,
  value: number,
  rows: number,
): string => `Bad: indices[${index}] == ${value} out of range [0, ${rows})`;
