/** Lengths for which programs are compiled. */

/** The bucket of a length: 16, 32, 48, 64, then four buckets per power of two. */
export function paddedSize(count: number): number {
  const step = Math.max(16, 2 ** Math.floor(Math.log2(count - 1)) / 4);
  return Math.ceil(count / step) * step;
}
