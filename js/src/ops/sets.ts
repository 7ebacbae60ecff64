/** Places of elements by what they are: read, and found in JavaScript. */
import { placesOf } from '../base/arrays.js';
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import { apply } from '../eager/apply.js';
import { toTensor } from '../eager/operands.js';
import type { DType } from '../tensor/dtypes.js';
import { textsOf } from '../tensor/odd.js';
import { endScope, startScope, tidy } from '../tensor/scopes.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';
import { axesOf } from './axes.js';
import { constant, integers } from './constants.js';
import { gather } from './gathers.js';
import { reshape } from './shapes.js';

/** The k largest of the last axis, from the largest on, and their places. Errors: a scalar; more than there are. */
export function topk(x: TensorLike, k = 1, _sorted = true): { values: Tensor; indices: Tensor } {
  return tidy(() => {
    const given = toTensor(x, 'x', 'topk');
    if (given.rank === 0)
      throw new LatheError('topk() expects the input to be of rank 1 or higher');
    const most = given.shape.at(-1)!;
    if (k < 0) throw new LatheError(`'k' passed to topk() must be >= 0 but got ${k}`);
    if (k > most) {
      throw new LatheError(
        `'k' passed to topk() must be <= the last dimension (${most}) but got ${k}`,
      );
    }
    if (k === 0) {
      const shape = [...given.shape.slice(0, -1), 0];
      return {
        values: apply('slice', [given], [shape.map(() => 0), shape]),
        indices: integers([], shape),
      };
    }
    const indices = apply('topkIndices', [given], [k]);
    return { values: apply('takeAlongAxis', [given, indices], [-1]), indices };
  });
}

/** Where each value belongs among sorted ones, row by row, int32; 'right': behind equal ones. */
export function searchSorted(
  sortedSequence: TensorLike,
  values: TensorLike,
  side: 'left' | 'right' = 'left',
): Tensor {
  return tidy(() => {
    const sorted = toTensor(sortedSequence, 'sortedSequence', 'searchSorted');
    const wanted = toTensor(values, 'values', 'searchSorted');
    const [n, m] = [sorted.shape.at(-1) ?? 1, wanted.shape.at(-1) ?? 1];
    if (sorted.rank < 2 && sorted.size !== n)
      throw new LatheError('Sorted input argument must be at least 2-dimensional');
    const rows = wanted.size / Math.max(1, m);
    if (sorted.size / Math.max(1, n) !== rows) {
      throw new LatheError('Leading dimension of "sortedSequence" and "values" must match.');
    }
    const [from, what] = [sorted.dataSync(), wanted.dataSync()];
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
    return integers(found, [...wanted.shape]);
  });
}

/** `searchSorted` in front of equal ones. */
export const lowerBound = (sortedSequence: TensorLike, values: TensorLike): Tensor =>
  searchSorted(sortedSequence, values, 'left');
/** `searchSorted` behind equal ones. */
export const upperBound = (sortedSequence: TensorLike, values: TensorLike): Tensor =>
  searchSorted(sortedSequence, values, 'right');

/** The slices along an axis that are there, each once as they come, and which of them each one is. */
export function unique(x: TensorLike, axis = 0): { values: Tensor; indices: Tensor } {
  return tidy(() => {
    const given = toTensor(x, 'x', 'unique', 'any');
    if (given.rank === 0) throw new LatheError('unique: x must be at least 1-dimensional');
    const [along] = axesOf(axis, given.rank) as [number];
    const data = textsOf(given) ?? given.dataSync();
    const [count, inner] = [given.shape[along]!, elementCount(given.shape.slice(along + 1))];
    const outer = elementCount(given.shape.slice(0, along));
    const known = new Map<unknown, number>();
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
      let id = known.get(key);
      if (id === undefined) {
        id = firsts.length;
        known.set(key, id);
        firsts.push(at);
      }
      ids[at] = id;
    }
    return { values: gather(given, integers(firsts), along), indices: integers(ids) };
  });
}

/** The values of x that are not in y, and their places in x. Errors: other ranks or types. */
export async function setdiff1dAsync(x: TensorLike, y: TensorLike): Promise<[Tensor, Tensor]> {
  const a = toTensor(x, 'x', 'setdiff1d');
  const b = toTensor(y, 'y', 'setdiff1d');
  await Promise.all([a.data(), b.data()]);
  const found = setdiff1d(a, b);
  if (a !== x) a.dispose();
  if (b !== y) b.dispose();
  return found;
}

/** @internal `setdiff1dAsync` that waits. */
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
  const places = placesOf(data, (each: number) => !others.has(each));
  const left = constant(
    data.filter((each: number) => !others.has(each)),
    [places.length],
    a.dtype,
  );
  return [left, integers(places)];
}

/** Whether each target is among the k largest predictions. Errors: shapes that do not fit; k out of range. */
export async function inTopKAsync(
  predictions: TensorLike,
  targets: TensorLike,
  k = 1,
): Promise<Tensor> {
  const rows = toTensor(predictions, 'predictions', 'inTopK');
  const wanted = toTensor(targets, 'targets', 'inTopK');
  if (rows.rank <= 1) {
    throw new LatheError(
      `inTopK() expects the predictions to be of rank 2 or higher, but got ${rows.rank}`,
    );
  }
  if (rows.rank - 1 !== wanted.rank) {
    throw new LatheError(
      `predictions rank should be 1 larger than targets rank, but got predictions rank ${rows.rank} and targets rank ${wanted.rank}`,
    );
  }
  if (rows.shape.slice(0, -1).join() !== wanted.shape.join()) {
    throw new LatheError(
      "predictions's shape should be align with the targets' shape, except the last dimension. " +
        `Shapes ${rows.shape.slice(0, -1).join(',')} and ${wanted.shape.join(',')} must match`,
    );
  }
  const size = rows.shape.at(-1)!;
  if (!(k > 0 && k <= size)) {
    throw new LatheError(
      `'k' passed to inTopK() must be > 0 && <= the predictions last dimension (${size}), but got ${k}`,
    );
  }
  const [data, ids] = [await rows.data(), await wanted.data()];
  const found = Uint8Array.from(ids, (id, row) => {
    const own = data[row * size + id]!;
    let before = 0;
    for (let at = 0; at < size; at += 1) {
      const each = data[row * size + at]!;
      if (each > own || (each === own && at < id)) before += 1;
    }
    return id >= 0 && id < size && before < k ? 1 : 0;
  });
  const shape = [...wanted.shape];
  if (rows !== predictions) rows.dispose();
  if (wanted !== targets) wanted.dispose();
  return constant(found, shape, 'bool' as DType);
}

/** The slices of a tensor where the mask, over axes from `axis` on, is true. Errors: shapes that do not fit. */
export async function booleanMaskAsync(
  tensor: TensorLike,
  mask: TensorLike,
  axis = 0,
): Promise<Tensor> {
  const given = toTensor(tensor, 'tensor', 'boolMask');
  const chosen = toTensor(mask, 'mask', 'boolMask', 'bool');
  const from = axis ?? 0;
  if (chosen.rank === 0) throw new LatheError('mask cannot be scalar');
  if (given.shape.slice(from, from + chosen.rank).join() !== chosen.shape.join()) {
    throw new LatheError(
      `mask's shape must match the first K dimensions of tensor's shape, Shapes ${given.shape.slice(from, from + chosen.rank).join(',')} and ${chosen.shape.join(',')} must match`,
    );
  }
  const data = await chosen.data();
  startScope();
  let result: Tensor | undefined;
  try {
    const places = placesOf(data, (each) => each !== 0);
    const shape = [...given.shape];
    shape.splice(from, chosen.rank, chosen.size);
    result = gather(reshape(given, shape), integers(places), from);
  } finally {
    endScope(result);
  }
  if (given !== tensor) given.dispose();
  if (chosen !== mask) chosen.dispose();
  return result;
}
