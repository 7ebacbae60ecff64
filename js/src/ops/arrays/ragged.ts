/** Ragged tensors: flat values and row splits per ragged axis. */
import { LatheError } from '../../base/errors.js';
import { checkCount } from '../../base/limits.js';
import { elementCount } from '../../base/shape.js';
import { toTensor } from '../../eager/operands.js';
import {
  combineRaggedTensorToTensorShapes,
  getRaggedRank,
  getRowPartitionTypesHelper,
  RowPartitionType,
  validateDefaultValueShape,
} from '../../shapes/ragged.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import { integers } from '../common/constants.js';
import { gather } from './gather_scatter.js';
import { concat } from './concat_and_slice.js';
import { broadcastTo, reshape } from '../common/shapes.js';

const numbers = (x: Tensor): number[] => Array.from(x.dataSync());

function checkSplits(splits: readonly number[], values: number): void {
  const fail = (what: string): never => {
    throw new LatheError(`Ragged splits ${what}`);
  };
  if (splits.length === 0) fail('may not be empty');
  if (splits[0]! < 0) fail('must be non-negative');
  if (splits.at(-1)! > values) fail('must not point past values');
  if (splits.some((each, at) => at > 0 && each < splits[at - 1]!)) {
    fail('must be sorted in ascending order');
  }
}

/**
 * Rows of a ragged tensor at the indices.
 *
 * @param paramsNestedSplits the row splits of each ragged axis
 * @param outputRaggedRank ragged axes of the result: those of `params` plus the rank of `indices` minus one
 *
 * Errors: invalid splits; an index outside.
 */
export function raggedGather(
  paramsNestedSplits: readonly TensorLike[],
  paramsDenseValues: TensorLike,
  indices: TensorLike,
  outputRaggedRank: number,
): { outputNestedSplits: Tensor[]; outputDenseValues: Tensor } {
  return tidy(() => {
    const op = 'raggedGather';
    const levels = paramsNestedSplits.map((each, at) =>
      numbers(toTensor(each, `tensors${at}`, op, 'int32')),
    );
    const values = toTensor(paramsDenseValues, 'paramsDenseValues', op);
    const indexTensor = toTensor(indices, 'indices', op, 'int32');
    if (levels.some((each) => each.length === 0))
      throw new LatheError('Ragged splits may not be empty');
    if (values.rank === 0) throw new LatheError('params.rank must be nonzero');
    levels.forEach((splits, at) => {
      checkSplits(splits, at + 1 < levels.length ? levels[at + 1]!.length - 1 : values.shape[0]!);
    });
    const rows = levels.length > 0 ? levels[0]!.length - 1 : values.shape[0]!;
    const found: number[][] = levels.map(() => [0]);
    const rowIds: number[] = [];
    for (const [at, index] of numbers(indexTensor).entries()) {
      if (index < 0 || index >= rows) {
        throw new LatheError(`indices[${at}] = ${index} is not in [0, ${rows})`);
      }
      let [begin, end] = [index, index + 1];
      levels.forEach((splits, level) => {
        const into = found[level]!;
        for (let row = begin; row < end; row++) {
          into.push(into.at(-1)! + splits[row + 1]! - splits[row]!);
        }
        [begin, end] = [splits[begin]!, splits[end]!];
      });
      for (let row = begin; row < end; row++) rowIds.push(row);
    }
    // All axes of the indices but the last have rows of equal length.
    const dense = indexTensor.shape.slice(1).map((size, at) => {
      const count = elementCount(indexTensor.shape.slice(0, at + 1));
      return Array.from({ length: count + 1 }, (_, row) => row * size);
    });
    // A scalar index adds no axis.
    const all = [...dense, ...found.slice(indexTensor.rank === 0 ? 1 : 0)];
    if (outputRaggedRank !== all.length) {
      throw new LatheError(
        `${op}: outputRaggedRank must be ${all.length}, got ${outputRaggedRank}`,
      );
    }
    return {
      outputNestedSplits: all.map((each) => integers(each)),
      outputDenseValues: gather(values, integers(rowIds)),
    };
  });
}

/**
 * Concatenated ranges of numbers, and the offset of each.
 *
 * Errors: arguments of more than one axis, or of different lengths; a delta of 0; a range that is too long.
 */
export function raggedRange(
  starts: TensorLike,
  limits: TensorLike,
  deltas: TensorLike,
): { rtNestedSplits: Tensor; rtDenseValues: Tensor } {
  return tidy(() => {
    const op = 'raggedRange';
    const first = toTensor(starts, 'starts', op);
    const { dtype } = first;
    const input = {
      starts: first,
      limits: toTensor(limits, 'limits', op, dtype),
      deltas: toTensor(deltas, 'deltas', op, dtype),
    };
    const lengths = new Set<number>();
    for (const [name, { rank, size }] of Object.entries(input)) {
      if (rank > 1) throw new LatheError(`${name} must be a scalar or vector`);
      if (rank === 1) lengths.add(size);
    }
    if (lengths.size > 1) {
      throw new LatheError('starts, limits, and deltas must have the same shape');
    }
    const rows = [...lengths][0] ?? 1;
    const [from, to, by] = Object.values(input).map((each) => {
      const data = numbers(each);
      return (row: number) => data[each.rank === 0 ? 0 : row]!;
    });
    const splits = [0];
    for (let row = 0; row < rows; row++) {
      const delta = by!(row);
      if (delta === 0) throw new LatheError('Requires delta != 0');
      const count = Math.max(0, Math.ceil((to!(row) - from!(row)) / delta));
      if (count > 2147483647) {
        throw new LatheError('Requires ((limit - start) / delta) <= 2147483647');
      }
      splits.push(checkCount(op, 'values', splits[row]! + count));
    }
    const values = new Float32Array(splits[rows]!);
    for (let row = 0; row < rows; row++) {
      const [begin, end] = [splits[row]!, splits[row + 1]!];
      for (let at = begin; at < end; at++) values[at] = from!(row) + (at - begin) * by!(row);
    }
    return {
      rtNestedSplits: integers(splits),
      rtDenseValues: toTensor(values, 'values', op).cast(dtype),
    };
  });
}

/** The row lengths of each ragged axis. */
function rowLengths(
  types: readonly RowPartitionType[],
  partitions: readonly number[][],
): number[][] {
  let rows = types[0] === RowPartitionType.FIRST_DIM_SIZE ? partitions[0]![0]! : undefined;
  const lengths: number[][] = [];
  for (const [at, type] of types.entries()) {
    const input = partitions[at]!;
    if (type === RowPartitionType.FIRST_DIM_SIZE) continue;
    let found: number[];
    if (type === RowPartitionType.VALUE_ROWIDS) {
      const count = checkCount('raggedTensorToTensor', 'rows', rows ?? (input.at(-1) ?? -1) + 1);
      found = new Array<number>(count).fill(0);
      for (const row of input) if (row >= 0 && row < count) found[row]! += 1;
    } else if (type === RowPartitionType.ROW_SPLITS) {
      found = input.slice(1).map((end, row) => end - input[row]!);
    } else {
      throw new LatheError(
        `raggedTensorToTensor: unsupported partition type ${RowPartitionType[type]}`,
      );
    }
    lengths.push(found);
    rows = found.reduce((sum, each) => sum + each, 0);
  }
  return lengths;
}

/**
 * A ragged tensor as a dense one: rows that are too long are truncated, others padded.
 *
 * @param shape sizes, -1 for those inferred from the data, or the scalar -1
 * @param rowPartitionTypes the type of each row partition tensor: FIRST_DIM_SIZE, VALUE_ROWIDS or ROW_SPLITS
 *
 * Errors: shapes that contradict each other; unsupported partition types.
 */
export function raggedTensorToTensor(
  shape: TensorLike,
  values: TensorLike,
  defaultValue: TensorLike,
  rowPartitionTensors: readonly TensorLike[],
  rowPartitionTypes: readonly string[],
): Tensor {
  return tidy(() => {
    const op = 'raggedTensorToTensor';
    const shapeTensor = toTensor(shape, 'shape', op, 'int32');
    const input = toTensor(values, 'values', op);
    const filler = toTensor(defaultValue, 'defaultValue', op, input.dtype);
    const partitions = rowPartitionTensors.map((each, at) =>
      numbers(toTensor(each, `tensors${at}`, op, 'int32')),
    );
    const types = getRowPartitionTypesHelper(rowPartitionTypes);
    if (types.length < rowPartitionTypes.length) {
      throw new LatheError(`${op}: unknown partition type ${rowPartitionTypes[types.length]}`);
    }
    const rank = getRaggedRank(types);
    validateDefaultValueShape(filler.shape, input.shape);
    const sizes = shapeTensor.rank === 0 ? undefined : numbers(shapeTensor);
    const combined = combineRaggedTensorToTensorShapes(rank, sizes, input.shape);
    const lengths = rowLengths(types, partitions);
    const outer = [
      lengths[0]!.length,
      ...lengths.map((each) => each.reduce((a, b) => Math.max(a, b), 0)),
    ];
    const result = outer.map((size, axis) => (combined[axis]! < 0 ? size : combined[axis]!));
    const inner = input.shape.slice(1);
    const from = rowsOf(lengths, result, input.shape[0]!);
    const element = reshape(broadcastTo(filler, inner), [1, ...inner]);
    const rows = gather(concat([input, element]), integers(from));
    return reshape(rows, [...result, ...inner]);
  });
}

/** The value index of each row of the dense result; `filler` where it is padded. */
function rowsOf(
  lengths: readonly number[][],
  shape: readonly number[],
  filler: number,
): Int32Array {
  const count = checkCount('raggedTensorToTensor', `values [${shape.join()}]`, elementCount(shape));
  const indexTensor = new Int32Array(count).fill(filler);
  const begins = lengths.map((each) => {
    let sum = 0;
    return each.map((length) => (sum += length) - length);
  });
  const put = (level: number, row: number, at: number): void => {
    if (level === lengths.length) {
      indexTensor[at] = row;
      return;
    }
    const size = shape[level + 1]!;
    const count = Math.min(size, lengths[level]![row]!);
    for (let each = 0; each < count; each++) {
      put(level + 1, begins[level]![row]! + each, at * size + each);
    }
  };
  const rows = Math.min(shape[0]!, lengths[0]!.length);
  for (let row = 0; row < rows; row++) put(0, row, row);
  return indexTensor;
}
