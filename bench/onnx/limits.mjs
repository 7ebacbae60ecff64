/** The limits of an engine, measured between the other measurements: memory bandwidth, and multiply-adds. */
import * as tl from 'tensorlathe';
import { ceiling, flopsPerStep } from '../peers/ceiling.mjs';
import { median } from '../median.mjs';

/** Sums of floats that do not fit in caches, each from four streams at once: one core reads more of memory from several. */
const [sums, streams, length] = [16, 4, 1 << 19];
const bytes = 4 * sums * streams * length;
/** Rounds of multiply-adds, some milliseconds on one thread. */
const steps = 20;
/** Runs until engines have optimized the sum. */
const warmUp = 5;

/** Bytes and operations in a millisecond, by `threads`: `measure` once for each turn, `found` at last. */
export async function limits(threads) {
  await tl.ready();
  const total = tl.compile(
    { a: [sums, streams, length] },
    ({ a }) => ({
      total: Array.from({ length: streams }, (_, k) => a.slice([0, k, 0], [sums, 1, length]))
        .reduce((x, y) => x.add(y))
        .sum([1, 2]),
    }),
    { heap: false },
  );
  // Untouched memory is mapped to one page of zeros.
  total.input('a').fill(1);
  for (let call = 0; call < warmUp; call++) await total.callAsync();
  const arithmetic = await ceiling({ fused: true, threads });
  const together = threads === 1 ? steps : 1;
  const rates = { bytes: [], flops: [] };
  // Whoever waits for a promise waits longer than for memory.
  const sum = () => (threads === 1 ? total.call() : total.callAsync());
  const timed = async (action) => {
    const start = performance.now();
    await action();
    return performance.now() - start;
  };
  return {
    async measure() {
      rates.bytes.push(bytes / (await timed(sum)));
      const ms = await timed(async () => {
        for (let step = 0; step < together; step++) await arithmetic.step();
      });
      const done = together * (arithmetic.stats?.().steps ?? 1);
      rates.flops.push((done * flopsPerStep) / ms);
    },
    found: () => ({ bytes: median(rates.bytes), flops: median(rates.flops) }),
    async close() {
      total.dispose();
      await arithmetic.dispose();
    },
  };
}
