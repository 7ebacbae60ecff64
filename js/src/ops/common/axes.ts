/** Normalization of axis arguments. */
import { LatheError } from '../../base/errors.js';

/** One axis or several; negative ones count from the end; null or undefined: all axes. */
export type Axis = number | readonly number[] | null;

/** Normalizes axes to [0, rank), in the same order. Errors: not an integer; outside [-rank, rank). */
export function axesOf(axis: Axis | undefined, rank: number): number[] {
  const all = axis ?? [...Array(rank).keys()];
  const axes = Array.isArray(all) ? (all as number[]) : [all as number];
  if (!axes.every((each) => Number.isInteger(each))) {
    throw new LatheError(`All values in axis param must be integers but got axis ${String(axis)}`);
  }
  if (!axes.every((each) => each >= -rank && each < rank)) {
    throw new LatheError(
      `All values in axis param must be in range [-${rank}, ${rank}) but got axis ${String(axis)}`,
    );
  }
  return axes.map((each) => (each < 0 ? each + rank : each));
}

/** The shape with these axes of size 1. */
export const reducedShape = (shape: readonly number[], axes: readonly number[]): number[] =>
  shape.map((size, axis) => (axes.includes(axis) ? 1 : size));
