/** Cosine windows, and the FFT length of a signal. */
import type { Tensor } from '../../tensor/tensor.js';
import { constant } from '../common/constants.js';

/** a - b·cos over one period; an odd length includes its end point. */
export function cosineWindow(windowLength: number, a: number, b: number): Tensor {
  const even = 1 - (windowLength % 2);
  const values = Float32Array.from(
    { length: windowLength },
    (_, at) => a - b * Math.cos((2 * Math.PI * at) / (windowLength + even - 1)),
  );
  return constant(values, [windowLength]);
}

/** The smallest power of two ≥ value. */
export const enclosingPowerOfTwo = (value: number): number => 2 ** Math.ceil(Math.log2(value));
