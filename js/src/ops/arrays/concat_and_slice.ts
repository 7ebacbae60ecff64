/** Concatenation, stacking, splitting and slicing. */
import { LatheError } from '../../base/errors.js';
import { checkCount, maxTensors } from '../../base/limits.js';
import { alias } from '../../eager/apply.js';
import { castTo, toTensor, upcastType } from '../../eager/operands.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import { assertParamsConsistent, prepareSplitSize } from '../../shapes/axes.js';
import { assertParamsValid, parseSliceParams } from '../../shapes/slice_util.js';
import { sliceInfo } from '../../shapes/strided_slice.js';
import { axesOf } from '../common/axes.js';
import { moveElements, withAnyTensor, withAnyTensors } from '../common/data_movement.js';
import { isStringOrComplex, partsOf, stringsOf } from '../../tensor/string_complex.js';

type Sizes = readonly number[];

/** Concatenates tensors along an axis. Errors: an empty list; shapes that differ outside the axis. */
export function concat<T extends Tensor = Tensor>(tensors: readonly TensorLike[], axis = 0): T {
  if (!Array.isArray(tensors) || tensors.length === 0) {
    throw new LatheError('concat: Pass at least one tensor to concat');
  }
  return withAnyTensors(tensors, 'concat', (all) => {
    const [first] = all;
    const isComplex = partsOf(first!) !== undefined;
    for (const each of all) {
      if (!isComplex || partsOf(each) !== undefined) continue;
      throw new LatheError(
        `Cannot concatenate complex64 tensors with a tensor with dtype ${each.dtype}.`,
      );
    }
    if (all.length === 1) return alias(first!);
    const [along] = axesOf(axis, first!.rank);
    assertParamsConsistent(
      all.map(({ shape }) => shape),
      along!,
    );
    if (all.some(isStringOrComplex)) return moveElements('concat', all, [along]);
    const dtype = all.map((each) => each.dtype).reduce(upcastType);
    return moveElements(
      'concat',
      all.map((each) => castTo(each, dtype)),
      [along],
    );
  }) as T;
}

/** As `concat`, of tensors of one axis. */
export const concat1d = (tensors: readonly TensorLike[]): Tensor => concat(tensors, 0);
/** As `concat`, of tensors of two axes. */
export const concat2d = (tensors: readonly TensorLike[], axis: number): Tensor =>
  concat(tensors, axis);
/** As `concat`, of tensors of three axes. */
export const concat3d = concat2d;
/** As `concat`, of tensors of four axes. */
export const concat4d = concat2d;

/** Stacks tensors of one shape along a new axis. Errors: an empty list; shapes differ; an axis out of range. */
export function stack(tensors: readonly TensorLike[], axis = 0): Tensor {
  return withAnyTensors(tensors, 'stack', (all) => {
    if (all.length === 0) throw new LatheError('Pass at least one tensor to tf.stack');
    const [{ rank, shape }] = all as [Tensor];
    if (axis > rank) throw new LatheError('Axis must be <= rank of the tensor');
    for (const each of all) {
      if (each.shape.join() !== shape.join()) {
        throw new LatheError(
          `All tensors passed to stack must have matching shapes: [${shape.join(',')}] and [${each.shape.join(',')}]`,
        );
      }
      if (each.dtype !== all[0]!.dtype) {
        throw new LatheError('All tensors passed to stack must have matching dtypes');
      }
    }
    return moveElements('stack', all, [axis < 0 ? axis + rank + 1 : axis]);
  });
}

/** Splits a tensor into its slices along an axis, which is removed. Error: an axis out of range. */
export function unstack(x: TensorLike, axis = 0): Tensor[] {
  return tidy(() => {
    const input = toTensor(x, 'x', 'unstack', 'any');
    if (!(axis >= -input.rank && axis < input.rank)) {
      throw new LatheError(`Axis = ${axis} is not in [-${input.rank}, ${input.rank})`);
    }
    const along = axis < 0 ? axis + input.rank : axis;
    const left = input.shape.filter((_: number, at: number) => at !== along);
    const count = checkCount('unstack', 'tensors', input.shape[along]!, maxTensors);
    return splitAt(input, new Array<number>(count).fill(1), along).map((each) =>
      moveElements('reshape', [each], [left]),
    );
  });
}

function splitAt(x: Tensor, sizes: Sizes, axis: number): Tensor[] {
  const begin: number[] = x.shape.map(() => 0);
  const sized = [...x.shape];
  return sizes.map((size) => {
    sized[axis] = size;
    const part = moveElements('slice', [x], [begin, sized]);
    begin[axis]! += size;
    return part;
  });
}

/** Splits along an axis into equal parts, or parts of these sizes, one of which may be -1. Errors: they do not fit. */
export function split(x: TensorLike, numOrSizeSplits: number | number[], axis = 0): Tensor[] {
  return tidy(() => {
    const input = toTensor(x, 'x', 'split', 'any');
    const [along] = axesOf(axis, input.rank);
    if (typeof numOrSizeSplits === 'number') {
      checkCount('split', 'tensors', numOrSizeSplits, maxTensors);
    }
    return splitAt(input, prepareSplitSize(input, numOrSizeSplits, along), along!);
  });
}

/** The slice from `begin` of these sizes; -1, the default: up to the end. Errors: the range is outside. */
export const slice = (
  x: TensorLike,
  begin: number | readonly number[],
  size?: number | readonly number[],
): Tensor =>
  withAnyTensor(x, 'slice', (input) => {
    if (input.rank === 0) throw new LatheError('Slicing scalar is not possible');
    const [from, sizes] = parseSliceParams(
      { shape: [...input.shape] },
      begin as number[],
      size as number[],
    );
    assertParamsValid({ shape: [...input.shape] }, from!, sizes!);
    return moveElements('slice', [input], [from, sizes]);
  });

const sliced =
  <B>(rank: number) =>
  (x: TensorLike, begin: B, size?: B): Tensor =>
    withAnyTensor(x, `slice${rank}d`, (input) => {
      if (input.rank === rank) return slice(input, begin as number[], size as number[]);
      throw new LatheError(
        `slice${rank}d expects a rank-${rank} tensor, but got a rank-${input.rank} tensor`,
      );
    });
/** As `slice`, of tensors of one axis. */
export const slice1d = /* @__PURE__ */ sliced<number>(1);
/** As `slice`, of tensors of two axes. */
export const slice2d = /* @__PURE__ */ sliced<Sizes>(2);
/** As `slice`, of tensors of three axes. */
export const slice3d = /* @__PURE__ */ sliced<Sizes>(3);
/** As `slice`, of tensors of four axes. */
export const slice4d = /* @__PURE__ */ sliced<Sizes>(4);

/** Slices from begin to end with strides; the masks are those of TensorFlow. */
export const stridedSlice = (
  x: TensorLike,
  begin: readonly number[],
  end: readonly number[],
  strides?: readonly number[],
  beginMask = 0,
  endMask = 0,
  ellipsisMask = 0,
  newAxisMask = 0,
  shrinkAxisMask = 0,
): Tensor =>
  withAnyTensor(x, 'stridedSlice', (input) => {
    const info = sliceInfo(
      [...input.shape],
      [...begin],
      [...end],
      [...(strides ?? begin.map(() => 1))],
      beginMask,
      endMask,
      ellipsisMask,
      newAxisMask,
      shrinkAxisMask,
    );
    if (info.isIdentity) return moveElements('reshape', [input], [info.finalShape]);
    const steps = info.strides;
    const counts = steps.map((by, at) =>
      Math.max(0, Math.ceil((info.end[at]! - info.begin[at]!) / by)),
    );
    return moveElements('reshape', [everySo(input, info.begin, steps, counts)], [info.finalShape]);
  });

/** `counts` elements from `begin` with strides: a slice, reversed for negative strides, subsampled. */
function everySo(x: Tensor, begin: Sizes, steps: Sizes, counts: Sizes): Tensor {
  if (counts.includes(0)) {
    return moveElements('slice', [x], [counts.map(() => 0), counts]);
  }
  const low = begin.map((from, at) =>
    steps[at]! > 0 ? from : from + (counts[at]! - 1) * steps[at]!,
  );
  const spans = counts.map((count, at) => (count - 1) * Math.abs(steps[at]!) + 1);
  let part = moveElements('slice', [x], [low, spans]);
  const back = steps.flatMap((by, at) => (by < 0 ? [at] : []));
  if (back.length > 0) part = moveElements('reverse', [part], [back]);
  for (const [at, step] of steps.entries()) {
    const by = Math.abs(step);
    if (by === 1 || counts[at] === 1) continue;
    const more = part.shape.map((_: number, axis: number) => [0, axis === at ? by - 1 : 0]);
    const padded =
      stringsOf(part) === undefined ? moveElements('pad', [part], [more, 0]) : undefined;
    if (padded === undefined) {
      const rows = Array.from({ length: counts[at]! }, (_, row) => row * by);
      part = concat(
        rows.map((row) => splitAt(part, [row, 1], at)[1]!),
        at,
      );
      continue;
    }
    const shape = [...part.shape];
    shape.splice(at, 1, counts[at]!, by);
    const rows = moveElements('reshape', [padded], [shape]);
    const firsts = shape.map((size, axis) => (axis === at + 1 ? 1 : size));
    const strided = moveElements('slice', [rows], [shape.map(() => 0), firsts]);
    firsts.splice(at + 1, 1);
    part = moveElements('reshape', [strided], [firsts]);
  }
  return part;
}
