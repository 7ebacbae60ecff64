/** Windows made of a cosine, and the length of a transform that a signal fits in. */
import type { Tensor } from '../tensor/tensor.js';
import { constant } from './constants.js';

/** a - b cos of places on a full turn; the last place of an odd length ends it. */
export function cosineWindow(windowLength: number, a: number, b: number): Tensor {
  const even = 1 - (windowLength % 2);
  const values = Float32Array.from(
    { length: windowLength },
    (_, at) => a - b * Math.cos((2 * Math.PI * at) / (windowLength + even - 1)),
  );
  return constant(values, [windowLength]);
}

/** The smallest power of two that is not below the value. */
export const enclosingPowerOfTwo = (value: number): number => 2 ** Math.ceil(Math.log2(value));
