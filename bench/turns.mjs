/** Calls of several programs in one process, by turns. */
import { median } from './median.mjs';

/** Milliseconds of a call of each, in turns with the others: the median of the rounds. */
export async function inTurns(works, { rounds, roundMs, warmUpMs }) {
  for (const work of works) {
    for (const end = performance.now() + warmUpMs; performance.now() < end;) await work();
  }
  const times = works.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, work] of works.entries()) {
      const start = performance.now();
      let calls = 0;
      for (; calls === 0 || performance.now() - start < roundMs; calls++) await work();
      times[i].push((performance.now() - start) / calls);
    }
  }
  return times.map(median);
}
