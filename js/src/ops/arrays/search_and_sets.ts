/** Searches over values, which are read and searched in JavaScript. */
import { indicesWhere } from '../../base/arrays.js';
import { LatheError } from '../../base/errors.js';
import { elementCount } from '../../base/shape.js';
import { applyOperation } from '../../eager/apply.js';
import { toTensor } from '../../eager/operands.js';
import type { DType } from '../../tensor/dtypes.js';
import { stringsOf } from '../../tensor/string_complex.js';
import { endScope, startScope } from '../../tensor/live_tensors.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import { axesOf } from '../common/axes.js';
import { constant, integers } from '../common/constants.js';
import { gather } from './gather_scatter.js';
import { reshape } from '../common/shapes.js';

/** The k largest of the last axis, descending, and their indices. Errors: a scalar; k above the last dimension. */
export function topk(x: TensorLike, k = 1, _sorted = true): { values: Tensor; indices: Tensor } {
  return tidy(() => {
    const source = toTensor(x, 'x', 'topk');
    if (source.rank === 0)
      throw new LatheError('topk() expects the input to be of rank 1 or higher');
    const lastSize = source.shape.at(-1)!;
    if (k < 0) throw new LatheError(`'k' passed to topk() must be >= 0 but got ${k}`);
    if (k > lastSize) {
      throw new LatheError(
        `'k' passed to topk() must be <= the last dimension (${lastSize}) but got ${k}`,
      );
    }
    if (k === 0) {
      const shape = [...source.shape.slice(0, -1), 0];
      return {
        values: applyOperation('slice', [source], [shape.map(() => 0), shape]),
        indices: integers([], shape),
      };
    }
    const indices = applyOperation('topkIndices', [source], [k]);
    return { values: applyOperation('takeAlongAxis', [source, indices], [-1]), indices };
  });
}

/** The insertion index of each value in its sorted row, int32; 'right': after equal ones. */
export function searchSorted(
  sortedSequence: TensorLike,
  values: TensorLike,
  side: 'left' | 'right' = 'left',
): Tensor {
  return tidy(() => {
    const sorted = toTensor(sortedSequence, 'sortedSequence', 'searchSorted');
    const query = toTensor(values, 'values', 'searchSorted');
    const [n, m] = [sorted.shape.at(-1) ?? 1, query.shape.at(-1) ?? 1];
    if (sorted.rank < 2 && sorted.size !== n)
      throw new LatheError('Sorted input argument must be at least 2-dimensional');
    const rows = query.size / Math.max(1, m);
    if (sorted.size / Math.max(1, n) !== rows) {
      throw new LatheError('Leading dimension of "sortedSequence" and "values" must match.');
    }
    const [from, what] = [sorted.dataSync(), query.dataSync()];
    const found = Int32Array.from(what, (value, at) => {
      const row = Math.floor(at / m) * n;
      let [low, high] = [0, n];
      while (low < high) {
        const middle = (low + high) >> 1;
        const each = from[row + middle]!;
        if (side === 'left' ? each < value : each <= value) low = middle + 1;
        else high = middle;
      }
      return low;
    });
    return integers(found, [...query.shape]);
  });
}

/** `searchSorted` before equal ones. */
export const lowerBound = (sortedSequence: TensorLike, values: TensorLike): Tensor =>
  searchSorted(sortedSequence, values, 'left');
/** `searchSorted` after equal ones. */
export const upperBound = (sortedSequence: TensorLike, values: TensorLike): Tensor =>
  searchSorted(sortedSequence, values, 'right');

/** The distinct slices along an axis in order of first occurrence, and the index of each slice among them. */
export function unique(x: TensorLike, axis = 0): { values: Tensor; indices: Tensor } {
  return tidy(() => {
    const source = toTensor(x, 'x', 'unique', 'any');
    if (source.rank === 0) throw new LatheError('unique: x must be at least 1-dimensional');
    const [along] = axesOf(axis, source.rank) as [number];
    const data = stringsOf(source) ?? source.dataSync();
    const [count, inner] = [source.shape[along]!, elementCount(source.shape.slice(along + 1))];
    const outer = elementCount(source.shape.slice(0, along));
    const idOf = new Map<unknown, number>();
    const firsts: number[] = [];
    const keyOf = (at: number): unknown => {
      if (outer * inner === 1) return data[at];
      const parts: unknown[] = [];
      for (let o = 0; o < outer; o += 1) {
        for (let i = 0; i < inner; i += 1) parts.push(data[(o * count + at) * inner + i]);
      }
      return parts
        .map((each) => (typeof each === 'string' ? JSON.stringify(each) : String(each)))
        .join();
    };
    const ids = new Int32Array(count);
    for (let at = 0; at < count; at += 1) {
      const key = keyOf(at);
      let id = idOf.get(key);
      if (id === undefined) {
        id = firsts.length;
        idOf.set(key, id);
        firsts.push(at);
      }
      ids[at] = id;
    }
    return { values: gather(source, integers(firsts), along), indices: integers(ids) };
  });
}

/** The values of x that are not in y, and their indices in x. Errors: other ranks or types. */
export async function setdiff1dAsync(x: TensorLike, y: TensorLike): Promise<[Tensor, Tensor]> {
  const a = toTensor(x, 'x', 'setdiff1d');
  const b = toTensor(y, 'y', 'setdiff1d');
  await Promise.all([a.data(), b.data()]);
  const found = setdiff1d(a, b);
  if (a !== x) a.dispose();
  if (b !== y) b.dispose();
  return found;
}

/** @internal Synchronous `setdiff1dAsync`. */
export function setdiff1d(a: Tensor, b: Tensor): [Tensor, Tensor] {
  if (a.dtype !== b.dtype) {
    throw new LatheError(
      `x and y should have the same dtype, but got x (${a.dtype}) and y (${b.dtype}).`,
    );
  }
  for (const [name, each] of [
    ['x', a],
    ['y', b],
  ] as const) {
    if (each.rank !== 1) {
      throw new LatheError(
        `${name} should be 1D tensor, but got ${name} (${each.shape.join(',')}).`,
      );
    }
  }
  const others = new Set<number>(b.dataSync());
  const data = a.dataSync();
  const indices = indicesWhere(data, (each: number) => !others.has(each));
  const left = constant(
    data.filter((each: number) => !others.has(each)),
    [indices.length],
    a.dtype,
  );
  return [left, integers(indices)];
}

/** Whether each target is among the k largest predictions. Errors: shapes that do not fit; k out of range. */
export async function inTopKAsync(
  predictions: TensorLike,
  targets: TensorLike,
  k = 1,
): Promise<Tensor> {
  const rows = toTensor(predictions, 'predictions', 'inTopK');
  const query = toTensor(targets, 'targets', 'inTopK');
  if (rows.rank <= 1) {
    throw new LatheError(
      `inTopK() expects the predictions to be of rank 2 or higher, but got ${rows.rank}`,
    );
  }
  if (rows.rank - 1 !== query.rank) {
    throw new LatheError(
      `predictions rank should be 1 larger than targets rank, but got predictions rank ${rows.rank} and targets rank ${query.rank}`,
    );
  }
  if (rows.shape.slice(0, -1).join() !== query.shape.join()) {
    throw new LatheError(
      "predictions's shape should be align with the targets' shape, except the last dimension. " +
        `Shapes ${rows.shape.slice(0, -1).join(',')} and ${query.shape.join(',')} must match`,
    );
  }
  const size = rows.shape.at(-1)!;
  if (!(k > 0 && k <= size)) {
    throw new LatheError(
      `'k' passed to inTopK() must be > 0 && <= the predictions last dimension (${size}), but got ${k}`,
    );
  }
  const [data, ids] = [await rows.data(), await query.data()];
  const found = Uint8Array.from(ids, (id, row) => {
    const score = data[row * size + id]!;
    let before = 0;
    for (let at = 0; at < size; at += 1) {
      const each = data[row * size + at]!;
      if (each > score || (each === score && at < id)) before += 1;
    }
    return id >= 0 && id < size && before < k ? 1 : 0;
  });
  const shape = [...query.shape];
  if (rows !== predictions) rows.dispose();
  if (query !== targets) query.dispose();
  return constant(found, shape, 'bool' as DType);
}

/** The slices of a tensor where the mask, over axes from `axis` on, is true. Errors: shapes that do not fit. */
export async function booleanMaskAsync(
  tensor: TensorLike,
  mask: TensorLike,
  axis = 0,
): Promise<Tensor> {
  const source = toTensor(tensor, 'tensor', 'boolMask');
  const chosen = toTensor(mask, 'mask', 'boolMask', 'bool');
  const from = axis ?? 0;
  if (chosen.rank === 0) throw new LatheError('mask cannot be scalar');
  if (source.shape.slice(from, from + chosen.rank).join() !== chosen.shape.join()) {
    throw new LatheError(
      `mask's shape must match the first K dimensions of tensor's shape, Shapes ${source.shape.slice(from, from + chosen.rank).join(',')} and ${chosen.shape.join(',')} must match`,
    );
  }
  const data = await chosen.data();
  startScope();
  let result: Tensor | undefined;
  try {
    const indices = indicesWhere(data, (each) => each !== 0);
    const shape = [...source.shape];
    shape.splice(from, chosen.rank, chosen.size);
    result = gather(reshape(source, shape), integers(indices), from);
  } finally {
    endScope(result);
  }
  if (source !== tensor) source.dispose();
  if (chosen !== mask) chosen.dispose();
  return result;
}
