/** Shapes, axes and coordinates, as in `tf.util`. */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import type { FlatVector } from './types.js';

/** Throws an error with this message unless the condition is true. */
export function assert(isSo: boolean, message: () => string): void {
  if (!isSo) throw new LatheError(message());
}

/** Error, with a prefix: the shapes differ. */
export function assertShapesMatch(a: number[], b: number[], prefix = ''): void {
  assert(arraysEqual(a, b), () => `${prefix} Shapes ${a} and ${b} must match`);
}

/** Error: null or undefined. */
export function assertNonNull(value: unknown): void {
  assert(value != null, () => 'the values must not be null or undefined');
}

/** The number of elements, 1 of a scalar. */
export const sizeFromShape = (shape: readonly number[]): number => elementCount(shape);

export const isScalarShape = (shape: readonly number[]): boolean => shape.length === 0;

export const isInt = (a: number): boolean => a % 1 === 0;

/** Whether both have equal elements or are identical. */
export function arraysEqual(
  a: FlatVector | readonly number[] | null | undefined,
  b: FlatVector | readonly number[] | null | undefined,
): boolean {
  if (a === b) return true;
  if (a == null || b == null || a.length !== b.length) return false;
  for (let i = 0; i < a.length; ++i) if (a[i] !== b[i]) return false;
  return true;
}

/** As `arraysEqual`, where null equals anything. */
export function arraysEqualWithNull(a: (number | null)[], b: (number | null)[]): boolean {
  if (a === b) return true;
  if (a == null || b == null || a.length !== b.length) return false;
  return a.every((each, at) => each === null || b[at] === null || each === b[at]);
}

/** Two nearly equal sizes whose product is no less than `size`. */
export function sizeToSquarishShape(size: number): [number, number] {
  const width = Math.ceil(Math.sqrt(size));
  return [width, Math.ceil(size / width)];
}

/** The shape with its -1 replaced by the inferred size. Errors: two of them; a number of elements that does not fit. */
export function inferFromImplicitShape(shape: readonly number[], size: number): number[] {
  const at = shape.indexOf(-1);
  if (shape.some((each, axis) => each < 0 && axis !== at)) {
    throw new LatheError(
      `reshape: only one size of a shape may be -1 and none less, got [${shape}]`,
    );
  }
  const product = elementCount(shape.filter((_, axis) => axis !== at));
  if (at < 0) {
    if (size > 0 && size !== product) {
      throw new LatheError(`reshape: Size(${size}) must match the product of shape ${shape}`);
    }
    return [...shape];
  }
  if (product === 0) {
    throw new LatheError(
      `reshape: the -1 of shape [${shape}] cannot be inferred, as another size is 0`,
    );
  }
  if (size % product !== 0) {
    throw new LatheError(
      `reshape: ${size} elements do not fill shape [${shape}]: ${size} / ${product} is no integer`,
    );
  }
  return shape.map((each, axis) => (axis === at ? size / product : each));
}

/** Non-negative axes; default: all. Errors: an axis out of range; a fraction. */
export function parseAxisParam(
  axis: number | readonly number[] | null | undefined,
  shape: readonly number[],
): number[] {
  const rank = shape.length;
  const axes = axis == null ? shape.map((_, at) => at) : [axis].flat();
  assert(
    axes.every((each) => each >= -rank && each < rank),
    () => `All values in axis param must be in range [-${rank}, ${rank}) but got axis ${axis}`,
  );
  assert(axes.every(isInt), () => `All values in axis param must be integers but got axis ${axis}`);
  return axes.map((each) => (each < 0 ? each + rank : each));
}

/**
 * The shape without axes of size 1, or without the listed ones, and the remaining axes. Error: an axis of another size.
 */
export function squeezeShape(
  shape: readonly number[],
  axis?: readonly number[] | null,
): { newShape: number[]; keptDims: number[] } {
  const listed = axis == null || axis.length === 0 ? undefined : parseAxisParam(axis, shape);
  const wrong = listed?.find((each) => shape[each] !== 1);
  if (wrong !== undefined) {
    throw new LatheError(`Can't squeeze axis ${wrong} since its dim '${shape[wrong]}' is not 1`);
  }
  const goes = (size: number, at: number) => (listed ? listed.includes(at) : size === 1);
  const keptDims = shape.map((_, at) => at).filter((at) => !goes(shape[at]!, at));
  return { newShape: keptDims.map((at) => shape[at]!), keptDims };
}

/** The row-major strides of all axes but the last. */
export function computeStrides(shape: readonly number[]): number[] {
  return shape.slice(1).map((_, at) => elementCount(shape.slice(at + 1)));
}

/** Error: no shape, a size that is no integer or less than 0. */
export function assertNonNegativeIntegerDimensions(shape: readonly number[] | undefined): void {
  assert(
    shape?.every?.((size) => Number.isInteger(size) && size >= 0) ?? false,
    () => `Tensor must have a shape comprised of positive integers but got shape [${shape}].`,
  );
}

/** The row-major index of coordinates. */
export function locToIndex(
  coordinates: readonly number[],
  rank: number,
  strides: readonly number[],
): number {
  if (rank === 0) return 0;
  const before = strides.slice(0, rank - 1);
  return before.reduce(
    (sum, stride, at) => sum + stride * coordinates[at]!,
    coordinates[coordinates.length - 1]!,
  );
}

/** The reverse of `locToIndex`. */
export function indexToLoc(index: number, rank: number, strides: readonly number[]): number[] {
  if (rank === 0) return [];
  const coordinates = strides.slice(0, rank - 1).map((stride) => {
    const at = Math.floor(index / stride);
    index -= at * stride;
    return at;
  });
  return [...coordinates, index];
}

/** The least divisor of the size from `start` on. */
export function nearestDivisor(size: number, start: number): number {
  for (let each = start; each < size; ++each) if (size % each === 0) return each;
  return size;
}

export const clamp = (min: number, x: number, max: number): number =>
  Math.max(min, Math.min(x, max));
