/** Parts of tensors as typed arrays: cropped, padded, sliced and concatenated along an axis. */
import { elementCount } from '../base/shape.js';
import type { DataArray } from './convert.js';

type Make<Data> = new (length: number) => Data;
const likeOf = <Data extends DataArray>(data: Data) => data.constructor as Make<Data>;

/** The shape with another size of one axis. */
export const withSize = (shape: readonly number[], axis: number, size: number): number[] =>
  shape.map((each, k) => (k === axis ? size : each));

/** The elements of a tensor cropped and zero-padded to another shape. */
export function cropOrPad(
  data: DataArray,
  from: readonly number[],
  to: readonly number[],
): DataArray {
  const last = from.reduce((at, size, axis) => (size === to[axis] ? at : axis), -1);
  if (last < 0) return data;
  const inner = elementCount(from.slice(last + 1));
  const result = new (likeOf(data))(elementCount(to));
  const copy = (axis: number, source: number, target: number) => {
    const [old, next] = [from[axis]!, to[axis]!];
    const both = Math.min(old, next);
    if (axis === last) {
      const part = data.subarray(source * old * inner, (source * old + both) * inner);
      result.set(part as never, target * next * inner);
      return;
    }
    for (let k = 0; k < both; k++) copy(axis + 1, source * old + k, target * next + k);
  };
  copy(0, 0, 0);
  return result;
}

/** `count` slices along an axis from `from` on; beyond the end the last slice is repeated. */
export function sliceAlong<Data extends DataArray>(
  data: Data,
  shape: readonly number[],
  axis: number,
  from: number,
  count: number,
): Data {
  const inner = elementCount(shape.slice(axis + 1));
  const outer = elementCount(shape.slice(0, axis));
  const size = shape[axis]!;
  const result = new (likeOf(data))(outer * count * inner);
  const available = Math.max(0, Math.min(count, size - from));
  for (let row = 0; row < outer; row++) {
    const begin = (row * size + from) * inner;
    result.set(data.subarray(begin, begin + available * inner) as never, row * count * inner);
    for (let k = available; k < count; k++) {
      const last = ((row + 1) * size - 1) * inner;
      result.set(data.subarray(last, last + inner) as never, (row * count + k) * inner);
    }
  }
  return result;
}

/** The elements of at least one tensor, concatenated along an axis. */
export function concatenateAlong(
  tensors: readonly { shape: readonly number[]; data: DataArray }[],
  axis: number,
): DataArray {
  const { shape, data } = tensors[0]!;
  const inner = elementCount(shape.slice(axis + 1));
  const outer = elementCount(shape.slice(0, axis));
  const result = new (likeOf(data))(tensors.reduce((sum, each) => sum + each.data.length, 0));
  let at = 0;
  for (let row = 0; row < outer; row++) {
    for (const each of tensors) {
      const size = each.shape[axis]! * inner;
      result.set(each.data.subarray(row * size, (row + 1) * size) as never, at);
      at += size;
    }
  }
  return result;
}
