/** Ragged tensors: values one after the other, and where the rows of each axis begin. */
import { LatheError } from '../base/errors.js';
import { checkCount } from '../base/limits.js';
import { elementCount } from '../base/shape.js';
import { toTensor } from '../eager/operands.js';
import {
  combineRaggedTensorToTensorShapes,
  getRaggedRank,
  getRowPartitionTypesHelper,
  RowPartitionType,
  validateDefaultValueShape,
} from '../shapes/ragged.js';
import { tidy } from '../tensor/scopes.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';
import { integers } from './constants.js';
import { gather } from './gathers.js';
import { concat } from './joins.js';
import { broadcastTo, reshape } from './shapes.js';

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
 * Rows of a ragged tensor at these places.
 *
 * @param paramsNestedSplits where the rows of each ragged axis begin, and the last one ends
 * @param outputRaggedRank ragged axes of the result: as many as `params` has, and one less than `indices` has axes
 *
 * Errors: splits that are none; a place outside.
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
    const places = toTensor(indices, 'indices', op, 'int32');
    if (levels.some((each) => each.length === 0))
      throw new LatheError('Ragged splits may not be empty');
    if (values.rank === 0) throw new LatheError('params.rank must be nonzero');
    levels.forEach((splits, at) => {
      checkSplits(splits, at + 1 < levels.length ? levels[at + 1]!.length - 1 : values.shape[0]!);
    });
    const rows = levels.length > 0 ? levels[0]!.length - 1 : values.shape[0]!;
    const found: number[][] = levels.map(() => [0]);
    const taken: number[] = [];
    for (const [at, place] of numbers(places).entries()) {
      if (place < 0 || place >= rows) {
        throw new LatheError(`indices[${at}] = ${place} is not in [0, ${rows})`);
      }
      let [begin, end] = [place, place + 1];
      levels.forEach((splits, level) => {
        const into = found[level]!;
        for (let row = begin; row < end; row++) {
          into.push(into.at(-1)! + splits[row + 1]! - splits[row]!);
        }
        [begin, end] = [splits[begin]!, splits[end]!];
      });
      for (let row = begin; row < end; row++) taken.push(row);
    }
    // Axes of the places but the last have rows of one length.
    const dense = places.shape.slice(1).map((size, at) => {
      const count = elementCount(places.shape.slice(0, at + 1));
      return Array.from({ length: count + 1 }, (_, row) => row * size);
    });
    // One place alone has no axis of its own.
    const all = [...dense, ...found.slice(places.rank === 0 ? 1 : 0)];
    if (outputRaggedRank !== all.length) {
      throw new LatheError(
        `${op}: outputRaggedRank must be ${all.length}, got ${outputRaggedRank}`,
      );
    }
    return {
      outputNestedSplits: all.map((each) => integers(each)),
      outputDenseValues: gather(values, integers(taken)),
    };
  });
}

/**
 * Ranges of numbers, one behind the other, and where each begins.
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
    const given = {
      starts: first,
      limits: toTensor(limits, 'limits', op, dtype),
      deltas: toTensor(deltas, 'deltas', op, dtype),
    };
    const lengths = new Set<number>();
    for (const [name, { rank, size }] of Object.entries(given)) {
      if (rank > 1) throw new LatheError(`${name} must be a scalar or vector`);
      if (rank === 1) lengths.add(size);
    }
    if (lengths.size > 1) {
      throw new LatheError('starts, limits, and deltas must have the same shape');
    }
    const rows = [...lengths][0] ?? 1;
    const [from, to, by] = Object.values(given).map((each) => {
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

/** Of each ragged axis, how many elements its rows have. */
function rowLengths(
  types: readonly RowPartitionType[],
  partitions: readonly number[][],
): number[][] {
  let rows = types[0] === RowPartitionType.FIRST_DIM_SIZE ? partitions[0]![0]! : undefined;
  const lengths: number[][] = [];
  for (const [at, type] of types.entries()) {
    const given = partitions[at]!;
    if (type === RowPartitionType.FIRST_DIM_SIZE) continue;
    let found: number[];
    if (type === RowPartitionType.VALUE_ROWIDS) {
      const count = checkCount('raggedTensorToTensor', 'rows', rows ?? (given.at(-1) ?? -1) + 1);
      found = new Array<number>(count).fill(0);
      for (const row of given) if (row >= 0 && row < count) found[row]! += 1;
    } else if (type === RowPartitionType.ROW_SPLITS) {
      found = given.slice(1).map((end, row) => end - given[row]!);
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
 * A ragged tensor as a dense one: rows that are too long are cut, others filled.
 *
 * @param shape sizes, -1 for those that the data give, or -1 alone
 * @param rowPartitionTypes of each tensor before: FIRST_DIM_SIZE, VALUE_ROWIDS or ROW_SPLITS
 *
 * Errors: shapes that contradict each other; partitions that are not known.
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
    const wanted = toTensor(shape, 'shape', op, 'int32');
    const given = toTensor(values, 'values', op);
    const filler = toTensor(defaultValue, 'defaultValue', op, given.dtype);
    const partitions = rowPartitionTensors.map((each, at) =>
      numbers(toTensor(each, `tensors${at}`, op, 'int32')),
    );
    const types = getRowPartitionTypesHelper(rowPartitionTypes);
    if (types.length < rowPartitionTypes.length) {
      throw new LatheError(`${op}: unknown partition type ${rowPartitionTypes[types.length]}`);
    }
    const rank = getRaggedRank(types);
    validateDefaultValueShape(filler.shape, given.shape);
    const sizes = wanted.rank === 0 ? undefined : numbers(wanted);
    const combined = combineRaggedTensorToTensorShapes(rank, sizes, given.shape);
    const lengths = rowLengths(types, partitions);
    const outer = [
      lengths[0]!.length,
      ...lengths.map((each) => each.reduce((a, b) => Math.max(a, b), 0)),
    ];
    const result = outer.map((size, axis) => (combined[axis]! < 0 ? size : combined[axis]!));
    const inner = given.shape.slice(1);
    const from = placesOf(lengths, result, given.shape[0]!);
    const element = reshape(broadcastTo(filler, inner), [1, ...inner]);
    const rows = gather(concat([given, element]), integers(from));
    return reshape(rows, [...result, ...inner]);
  });
}

/** Of each row of the dense result, which of the values it is; `filler` where there is none. */
function placesOf(
  lengths: readonly number[][],
  shape: readonly number[],
  filler: number,
): Int32Array {
  const count = checkCount('raggedTensorToTensor', `values [${shape.join()}]`, elementCount(shape));
  const places = new Int32Array(count).fill(filler);
  const begins = lengths.map((each) => {
    let sum = 0;
    return each.map((length) => (sum += length) - length);
  });
  const put = (level: number, row: number, at: number): void => {
    if (level === lengths.length) {
      places[at] = row;
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
  return places;
}
