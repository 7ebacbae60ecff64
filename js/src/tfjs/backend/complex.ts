/** Complex numbers as pairs in one array (`tf.backend_util`). */
import { LatheError } from '../../base/errors.js';
import type { TypedArray } from '../../shapes/types.js';

interface Parts {
  real: Float32Array;
  imag: Float32Array;
}

/** [real, imag, real, imag, …]. Error: different lengths. */
export function mergeRealAndImagArrays(real: Float32Array, imag: Float32Array): Float32Array {
  if (real.length !== imag.length) {
    throw new LatheError(
      `Cannot merge real and imag arrays of different lengths. real:${real.length}, imag: ${imag.length}.`,
    );
  }
  return Float32Array.from(
    { length: 2 * real.length },
    (_, at) => (at % 2 === 0 ? real : imag)[at >> 1]!,
  );
}

/** Every `step`-th number from `first` on. */
function every(complex: Float32Array, first: number, step: number): Parts {
  const length = Math.max(0, Math.ceil((complex.length / 2 - first) / step));
  const part = (offset: number) =>
    Float32Array.from({ length }, (_, at) => complex[2 * (first + at * step) + offset]!);
  return { real: part(0), imag: part(1) };
}

export const splitRealAndImagArrays = (complex: Float32Array): Parts => every(complex, 0, 1);
/** The complex numbers with even indices. */
export const complexWithEvenIndex = (complex: Float32Array): Parts => every(complex, 0, 2);
/** The complex numbers with odd indices. */
export const complexWithOddIndex = (complex: Float32Array): Parts => every(complex, 1, 2);

export const getComplexWithIndex = (
  complex: Float32Array,
  index: number,
): { real: number; imag: number } => ({
  real: complex[index * 2]!,
  imag: complex[index * 2 + 1]!,
});

/** Stores a complex number in an interleaved array. */
export function assignToTypedArray(
  data: TypedArray,
  real: number,
  imag: number,
  index: number,
): void {
  data[index * 2] = real;
  data[index * 2 + 1] = imag;
}

/** The root of unity e^(∓2πik/n); inverse: with +. */
export function exponent(k: number, n: number, inverse: boolean): { real: number; imag: number } {
  const angle = (inverse ? 2 : -2) * Math.PI * (k / n);
  return { real: Math.cos(angle), imag: Math.sin(angle) };
}

/** Half of the n-th roots of unity. */
export function exponents(n: number, inverse: boolean): Parts {
  const roots = Array.from({ length: Math.floor(n / 2) }, (_, at) => exponent(at, n, inverse));
  return {
    real: Float32Array.from(roots, ({ real }) => real),
    imag: Float32Array.from(roots, ({ imag }) => imag),
  };
}
