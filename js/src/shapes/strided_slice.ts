/** Slices with strides and masks, as of TensorFlow's StridedSlice (tensorflow.org/api_docs/python/tf/strided_slice). */
import { LatheError } from '../base/errors.js';

type Ints = readonly number[];

export interface SliceInfo {
  /** The shape of the slice along all axes, and that with new axes and without shrunk ones. */
  finalShapeSparse: number[];
  finalShape: number[];
  /** All of the tensor, in its order. */
  isIdentity: boolean;
  /** Only the first axis is partial. */
  sliceDim0: boolean;
  /** All strides are 1. */
  isSimpleSlice: boolean;
  begin: number[];
  end: number[];
  strides: number[];
}

/** One axis of the tensor. */
interface Dense {
  begin: number;
  end: number;
  stride: number;
  /** Masked: it begins or ends where the axis does. */
  openBegin: boolean;
  openEnd: boolean;
  shrinks: boolean;
}

/** An axis of the result: one of the tensor, or a new one. */
type ResultAxis = number | 'new';

const fullAxis = (): Dense => ({
  begin: 0,
  end: 0,
  stride: 1,
  openBegin: true,
  openEnd: true,
  shrinks: false,
});

interface Masks {
  begin: number;
  end: number;
  ellipsis: number;
  newAxis: number;
  shrink: number;
}

/** The axes of the tensor, with an ellipsis expanded, and those of the result. Error: more axes than the tensor has. */
function expandEllipsis(
  shape: Ints,
  begin: Ints,
  end: Ints,
  strides: Ints,
  masks: Masks,
): [Dense[], ResultAxis[]] {
  const axes: Dense[] = [];
  const resultAxes: ResultAxis[] = [];
  let seen = false;
  const isSet = (mask: number, at: number) => (mask & (1 << at)) !== 0;
  const fill = (upTo: number) => {
    while (axes.length < upTo) {
      resultAxes.push(axes.length);
      axes.push(fullAxis());
    }
  };
  for (let at = 0; at < begin.length; ++at) {
    if (isSet(masks.ellipsis, at)) {
      if (seen) throw new LatheError('Multiple ellipses in slice is not allowed.');
      seen = true;
      const rest = begin.map((_, each) => each).slice(at + 1);
      const consumed = rest.filter((each) => !isSet(masks.newAxis, each)).length;
      fill(shape.length - consumed);
    } else if (isSet(masks.newAxis, at)) {
      resultAxes.push('new');
    } else {
      if (axes.length === shape.length) {
        throw new LatheError(
          `Index out of range using input dim ${axes.length}; input has only ${shape.length} dims, ${axes.length}.`,
        );
      }
      const shrinks = isSet(masks.shrink, at);
      if (!shrinks) resultAxes.push(axes.length);
      axes.push({
        begin: begin[at]!,
        end: end[at]!,
        stride: strides[at]!,
        openBegin: isSet(masks.begin, at),
        openEnd: isSet(masks.end, at),
        shrinks,
      });
    }
  }
  fill(shape.length);
  return [axes, resultAxes];
}

/** The axis with begin and end clamped to it, and the number of selected elements. */
function resolve(axis: Dense, size: number, at: number): Dense & { count: number } {
  const { stride, shrinks } = axis;
  if (stride === 0) throw new LatheError(`strides[${at}] must be non-zero`);
  if (shrinks && stride <= 0) throw new LatheError('only stride 1 allowed on non-range indexing.');
  const from = axis.begin < 0 ? axis.begin + size : axis.begin;
  if (shrinks) {
    if (from < 0 || from >= size)
      throw new LatheError(`slice index ${axis.begin} of dimension ${at} out of bounds.`);
    return { ...axis, begin: from, end: from + 1, count: 1 };
  }
  const [min, max] = stride > 0 ? [0, size] : [-1, size - 1];
  const within = (index: number) => Math.min(Math.max(index, min), max);
  const to = axis.end < 0 ? axis.end + size : axis.end;
  const begin = axis.openBegin ? (stride > 0 ? min : max) : within(from);
  const end = axis.openEnd ? (stride > 0 ? max : min) : within(to);
  return { ...axis, begin, end, count: Math.max(0, Math.ceil((end - begin) / stride)) };
}

/**
 * Resolves a strided slice. Bit i of a mask refers to the i-th entry of begin, end and strides: it begins or ends where
 * the axis does, is an ellipsis for the unlisted axes, adds an axis, or selects one index and drops the axis.
 * Errors: a stride of 0; a single index out of range; two ellipses; more entries than axes.
 */
export function sliceInfo(
  xShape: Ints,
  begin: Ints,
  end: Ints,
  strides: Ints,
  beginMask: number,
  endMask: number,
  ellipsisMask: number,
  newAxisMask: number,
  shrinkAxisMask: number,
): SliceInfo {
  const all = strides.length > 0 ? strides : begin.map(() => 1);
  const [expanded, resultAxes] = expandEllipsis(xShape, begin, end, all, {
    begin: beginMask,
    end: endMask,
    ellipsis: ellipsisMask,
    // An ellipsis or a new axis at the same entry has priority.
    newAxis: newAxisMask & ~ellipsisMask,
    shrink: shrinkAxisMask & ~newAxisMask & ~ellipsisMask,
  });
  const axes = expanded.map((axis, at) => resolve(axis, xShape[at]!, at));
  const isFull = axes.map(
    ({ begin: first, count, stride }, at) => stride === 1 && first === 0 && count === xShape[at],
  );
  return {
    finalShapeSparse: axes.filter(({ shrinks }) => !shrinks).map(({ count }) => count),
    finalShape: resultAxes.map((axis) => (axis === 'new' ? 1 : axes[axis]!.count)),
    isIdentity: isFull.every(Boolean),
    sliceDim0: isFull.slice(1).every(Boolean) && (axes[0]?.stride ?? 1) === 1,
    isSimpleSlice: axes.every(({ stride }) => stride === 1),
    begin: axes.map((axis) => axis.begin),
    end: axes.map((axis) => axis.end),
    strides: axes.map(({ stride }) => stride),
  };
}
