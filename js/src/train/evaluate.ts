/** Synchronous evaluation in batches. */
import type { ModelModule } from './model_module.js';
import type { Examples } from './examples.js';
import { Tally } from './score.js';

/** Scores all rows. */
export function evaluateAll(module: ModelModule, data: Examples, tally = new Tally()): Tally {
  for (let from = 0; from < data.count;) {
    const count = Math.min(module.batch('evaluate'), data.count - from);
    tally.add(module.score('evaluate', data, from, count));
    from += count;
  }
  return tally;
}
