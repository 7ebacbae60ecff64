/** `tf.slice_util`: bounds and shapes of slices. */
import { LatheError } from '../base/errors.js';
import { assert, clamp } from './shapes.js';
import type { TensorInfo } from './types.js';

export { sliceInfo, type SliceInfo } from './strided_slice.js';

type Ints = readonly number[];

/** Errors: a number of begins or sizes other than the rank; a slice out of bounds. */
export function assertParamsValid(input: Pick<TensorInfo, 'shape'>, begin: Ints, size: Ints): void {
  const { shape } = input;
  const rank = shape.length;
  const what = `Error in slice${rank}D:`;
  assert(
    rank === begin.length,
    () => `${what} Length of begin ${begin} must match the rank of the array (${rank}).`,
  );
  assert(
    rank === size.length,
    () => `${what} Length of size ${size} must match the rank of the array (${rank}).`,
  );
  for (const [axis, limit] of shape.entries()) {
    const end = begin[axis]! + size[axis]!;
    assert(
      end <= limit,
      () =>
        `${what} begin[${axis}] + size[${axis}] (${end}) would overflow input.shape[${axis}] (${limit})`,
    );
  }
}

/** The indices of the set bits. */
export function maskToAxes(mask: number): number[] {
  return Array.from({ length: 32 }, (_, bit) => bit).filter((bit) => (mask >>> bit) & 1);
}

/** The shape of a slice from begin to end by strides. */
export const computeOutShape = (begin: Ints, end: Ints, strides: Ints): number[] =>
  begin.map((first, axis) => Math.ceil((end[axis]! - first) / strides[axis]!));

/** Replaces the `count + 1` entries that an ellipsis at `at` expands to. */
function elided(
  list: Ints,
  at: number,
  count: number,
  shape: Ints,
  valueOf: (axis: number) => number,
): number[] {
  const full = [
    ...list.slice(0, at),
    ...Array.from({ length: count }, (_, n) => valueOf(at + n)),
    ...list.slice(at + 1),
  ];
  while (full.length < shape.length) full.push(valueOf(full.length));
  return full.slice(0, shape.length);
}

/** Strides with 1 for the axes of an ellipsis. */
export function stridesWithElidedDims(
  strides: Ints,
  ellipsisInsertionIndex: number,
  numElidedAxes: number,
  inputShape: Ints,
): number[] {
  return elided(strides, ellipsisInsertionIndex, numElidedAxes, inputShape, () => 1);
}

const newAxis = (axis: number, ellipsis: number, count: number): number =>
  axis <= ellipsis ? axis : axis - (count - 1);

/** The begins with 0 for the axes of an ellipsis or the mask. */
export function startIndicesWithElidedDims(
  beginMask: number,
  ellipsisInsertionIndex: number,
  numElidedAxes: number,
  originalBegin: Ints,
  inputShape: Ints,
): number[] {
  const first = ellipsisInsertionIndex;
  return inputShape.map((_, axis) => {
    if (axis >= first && axis < first + numElidedAxes) return 0;
    const original = newAxis(axis, first, numElidedAxes);
    return beginMask & (1 << original) ? 0 : originalBegin[original]!;
  });
}

/** The ends with the size for the axes of an ellipsis or the mask; negative ones from the end. */
export function stopIndicesWithElidedDims(
  endMask: number,
  ellipsisInsertionIndex: number,
  numElidedAxes: number,
  originalEnd: Ints,
  inputShape: Ints,
): number[] {
  const first = ellipsisInsertionIndex;
  return inputShape.map((size, axis) => {
    const original = newAxis(axis, first, numElidedAxes);
    const isAll = (axis >= first && axis < first + numElidedAxes) || endMask & (1 << original);
    const end = isAll ? Number.MAX_SAFE_INTEGER : originalEnd[original]!;
    return clamp(0, end < 0 ? end + size : end, size);
  });
}

/** The stride of an axis, 1 at an ellipsis. */
export function stridesForAxis(strides: Ints, axis: number, ellipsisMask: number): number {
  return ellipsisMask & (1 << axis) ? 1 : (strides[axis] ?? 1);
}

/** Where a slice begins along an axis. */
export function startForAxis(
  beginMask: number,
  startIndices: Ints,
  strides: Ints,
  inputShape: Ints,
  axis: number,
  ellipsisMask: number,
): number {
  const bit = 1 << axis;
  const size = inputShape[axis]!;
  const isAll = beginMask & bit || ellipsisMask & bit || startIndices[axis] == null;
  if (isAll) return (strides[axis] ?? 1) > 0 ? 0 : size - 1;
  const start = startIndices[axis]!;
  return clamp(0, start < 0 ? start + size : start, size - 1);
}

/** Where a slice ends along an axis: an exclusive index, -1 if it goes backwards to the first. */
export function stopForAxis(
  endMask: number,
  stopIndices: Ints,
  strides: Ints,
  inputShape: Ints,
  axis: number,
  ellipsisMask: number,
): number {
  const bit = 1 << axis;
  const size = inputShape[axis]!;
  const isForward = (strides[axis] ?? 1) > 0;
  const isAll = endMask & bit || ellipsisMask & bit || stopIndices[axis] == null;
  if (isAll) return isForward ? size : -1;
  const stop = stopIndices[axis]! < 0 ? stopIndices[axis]! + size : stopIndices[axis]!;
  return isForward ? clamp(0, stop, size) : clamp(-1, stop, size - 1);
}

/** Begins, ends and strides along all axes, from those with masks and up to one ellipsis. */
export function getNormalizedAxes(
  inputShape: Ints,
  ellipsisAxes: Ints,
  numInterpolatedAxes: number,
  begin: Ints,
  end: Ints,
  strides: Ints,
  beginMask: number,
  endMask: number,
  ellipsisMask: number,
): { begin: number[]; end: number[]; strides: number[] } {
  if (ellipsisAxes.length > 0 && numInterpolatedAxes > 0) {
    const at = ellipsisAxes[0]!;
    const count = numInterpolatedAxes + 1;
    return {
      begin: startIndicesWithElidedDims(beginMask, at, count, begin, inputShape),
      end: stopIndicesWithElidedDims(endMask, at, count, end, inputShape),
      strides: stridesWithElidedDims(strides, at, count, inputShape),
    };
  }
  const each = (valueOf: (axis: number) => number) => inputShape.map((_, axis) => valueOf(axis));
  return {
    begin: each((axis) => startForAxis(beginMask, begin, strides, inputShape, axis, ellipsisMask)),
    end: each((axis) => stopForAxis(endMask, end, strides, inputShape, axis, ellipsisMask)),
    strides: each((axis) => stridesForAxis(strides, axis, ellipsisMask)),
  };
}

/** Whether the elements of the slice follow each other in the array: all axes after a partial one are complete. */
export function isSliceContinous(shape: Ints, begin: Ints, size: Ints): boolean {
  const partial = size.findIndex((each) => each > 1);
  const first = partial < 0 ? size.length : partial;
  return size.every((each, axis) => axis <= first || (begin[axis] === 0 && each === shape[axis]));
}

/** The flat index of the first element. */
export function computeFlatOffset(begin: Ints, strides: Ints): number {
  const last = begin.length > 0 ? begin[begin.length - 1]! : 1;
  return begin.slice(0, -1).reduce((sum, each, axis) => sum + each * strides[axis]!, last);
}

/**
 * Begin and size along all axes; a size of -1 or none reaches the end. Error: a begin below 0 or another negative size.
 */
export function parseSliceParams(
  x: Pick<TensorInfo, 'shape'>,
  begin: number | Ints,
  size?: number | Ints | null,
): [number[], number[]] {
  const { shape } = x;
  const filled = (value: number | Ints, rest: number): number[] => {
    const list = [value].flat();
    return shape.length < list.length ? list : shape.map((_, axis) => list[axis] ?? rest);
  };
  const first = filled(begin, 0);
  if (first.some((each) => each === -1))
    throw new LatheError('slice() does not support negative begin indexing.');
  const sizes = filled(size ?? -1, -1).map((each, axis) => {
    if (each >= 0) return each;
    assert(
      each === -1,
      () =>
        `Negative size values should be exactly -1 but got ${each} for the slice() size at index ${axis}.`,
    );
    return shape[axis]! - first[axis]!;
  });
  return [first, sizes];
}
