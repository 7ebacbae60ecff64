/** Numbers for axes and captions. */

/** Whether charts have a position for it; the largest doubles count as infinite, so that differences do not overflow. */
export const isPlottable = (value: number): boolean => Math.abs(value) < 1e300;

/** Up to four digits, with an exponent where the number is large or small. */
export function brief(value: number): string {
  if (!Number.isFinite(value) || value === 0) return String(value);
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(2).replace(/\.?0+e/, 'e');
  if (Number.isInteger(value)) return String(value);
  return String(Number(value.toPrecision(4)));
}

/** Smallest, largest and mean of the finite values, and how many others there are. */
export function statistics(values: readonly number[]): {
  low: number;
  high: number;
  mean: number;
  others: number;
} {
  let [low, high, mean, count] = [Infinity, -Infinity, 0, 0];
  for (const value of values) {
    if (!isPlottable(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
    mean += (value - mean) / ++count;
  }
  return { low, high, mean, others: values.length - count };
}

/** About `count` multiples of 1, 2 or 5 times a power of ten that cover the range. */
export function ticksOf(low: number, high: number, count = 4): number[] {
  const span = high - low || Math.abs(high) || 1;
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999)!;
  const first = Math.floor(low / step + 1e-9);
  const last = Math.max(Math.ceil(high / step - 1e-9), first + 1);
  return Array.from({ length: last - first + 1 }, (_, at) => (first + at) * step);
}
