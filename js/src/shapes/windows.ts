/** Padding and rounding of sliding windows. */

/** Explicit padding of [batch, spatial…, channels], in the notation of TensorFlow.js. */
export type ExplicitPadding = readonly (readonly [number, number])[];
/** Padding mode; a number: that many zeros on each side. */
export type Pad = 'valid' | 'same' | number | ExplicitPadding;
/** How fractional output sizes are rounded; default: down. */
export type RoundingMode = 'floor' | 'round' | 'ceil';

export const roundings = { floor: Math.floor, round: Math.round, ceil: Math.ceil };

/** The output size and the zeros before and after an axis, for windows that reach over `reach` elements. */
export interface PaddedAxis {
  readonly out: number;
  readonly before: number;
  readonly after: number;
}

/** "same" padding: ⌈length / stride⌉ windows; an odd zero comes after. */
export function samePadding(length: number, reach: number, stride: number): PaddedAxis {
  const out = Math.ceil(length / stride);
  const missing = Math.max(0, (out - 1) * stride + reach - length);
  const before = Math.floor(missing / 2);
  return { out, before, after: missing - before };
}
