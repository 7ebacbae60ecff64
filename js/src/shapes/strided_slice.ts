/** Slices with strides and masks, as TensorFlow's StridedSlice takes them (tensorflow.org/api_docs/python/tf/strided_slice). */
import { LatheError } from '../base/errors.js';

type Ints = readonly number[];

export interface SliceInfo {
  /** The shape of what is taken, and that with new axes and without those of one number. */
  finalShapeSparse: number[];
  finalShape: number[];
  /** All of the tensor, in its order. */
  isIdentity: boolean;
  /** All but a range of the first axis is taken whole. */
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
  /** No number says where it begins or ends. */
  openBegin: boolean;
  openEnd: boolean;
  shrinks: boolean;
}

/** An axis of the result: one of the tensor, or a new one. */
type Place = number | 'new';

const whole = (): Dense => ({
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

/** The axes of the tensor, an ellipsis spelled out, and those of the result. Error: more of them than the tensor has. */
function spellOut(
  shape: Ints,
  begin: Ints,
  end: Ints,
  strides: Ints,
  masks: Masks,
): [Dense[], Place[]] {
  const axes: Dense[] = [];
  const places: Place[] = [];
  let seen = false;
  const isSet = (mask: number, at: number) => (mask & (1 << at)) !== 0;
  const fill = (upTo: number) => {
    while (axes.length < upTo) {
      places.push(axes.length);
      axes.push(whole());
    }
  };
  for (let at = 0; at < begin.length; ++at) {
    if (isSet(masks.ellipsis, at)) {
      if (seen) throw new LatheError('Multiple ellipses in slice is not allowed.');
      seen = true;
      const rest = begin.map((_, each) => each).slice(at + 1);
      const taken = rest.filter((each) => !isSet(masks.newAxis, each)).length;
      fill(shape.length - taken);
    } else if (isSet(masks.newAxis, at)) {
      places.push('new');
    } else {
      if (axes.length === shape.length) {
        throw new LatheError(
          `Index out of range using input dim ${axes.length}; input has only ${shape.length} dims, ${axes.length}.`,
        );
      }
      const shrinks = isSet(masks.shrink, at);
      if (!shrinks) places.push(axes.length);
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
  return [axes, places];
}

/** The axis with its begin and end inside of it, and how many of its elements are taken. */
function resolve(axis: Dense, size: number, at: number): Dense & { taken: number } {
  const { stride, shrinks } = axis;
  if (stride === 0) throw new LatheError(`strides[${at}] must be non-zero`);
  if (shrinks && stride <= 0) throw new LatheError('only stride 1 allowed on non-range indexing.');
  const from = axis.begin < 0 ? axis.begin + size : axis.begin;
  if (shrinks) {
    if (from < 0 || from >= size)
      throw new LatheError(`slice index ${axis.begin} of dimension ${at} out of bounds.`);
    return { ...axis, begin: from, end: from + 1, taken: 1 };
  }
  const [least, most] = stride > 0 ? [0, size] : [-1, size - 1];
  const within = (place: number) => Math.min(Math.max(place, least), most);
  const to = axis.end < 0 ? axis.end + size : axis.end;
  const begin = axis.openBegin ? (stride > 0 ? least : most) : within(from);
  const end = axis.openEnd ? (stride > 0 ? most : least) : within(to);
  return { ...axis, begin, end, taken: Math.max(0, Math.ceil((end - begin) / stride)) };
}

/**
 * What a slice with strides takes. Bit i of a mask is about the i-th number of begin, end and strides: it begins or ends where
 * the axis does, stands for all axes that no other number is for, adds an axis, or takes one place and drops the axis.
 * Errors: a stride of 0; a single place outside; two ellipses; more numbers than axes.
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
  const [spelled, places] = spellOut(xShape, begin, end, all, {
    begin: beginMask,
    end: endMask,
    ellipsis: ellipsisMask,
    // An ellipsis or a new axis at the same number goes first.
    newAxis: newAxisMask & ~ellipsisMask,
    shrink: shrinkAxisMask & ~newAxisMask & ~ellipsisMask,
  });
  const axes = spelled.map((axis, at) => resolve(axis, xShape[at]!, at));
  const isWhole = axes.map(
    ({ begin: first, taken, stride }, at) => stride === 1 && first === 0 && taken === xShape[at],
  );
  return {
    finalShapeSparse: axes.filter(({ shrinks }) => !shrinks).map(({ taken }) => taken),
    finalShape: places.map((place) => (place === 'new' ? 1 : axes[place]!.taken)),
    isIdentity: isWhole.every(Boolean),
    sliceDim0: isWhole.slice(1).every(Boolean) && (axes[0]?.stride ?? 1) === 1,
    isSimpleSlice: axes.every(({ stride }) => stride === 1),
    begin: axes.map((axis) => axis.begin),
    end: axes.map((axis) => axis.end),
    strides: axes.map(({ stride }) => stride),
  };
}
