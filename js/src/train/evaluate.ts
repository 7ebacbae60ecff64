/** Scores of many rows, batch after batch, while the caller waits. */
import type { ModelModule } from './model_module.js';
import type { Examples } from './rows.js';
import { Tally } from './score.js';

/** Counts all rows, in one go. */
export function evaluateAll(module: ModelModule, data: Examples): Tally {
  const tally = new Tally();
  while (tally.rows < data.count) {
    const count = Math.min(module.batch('evaluate'), data.count - tally.rows);
    tally.add(module.score('evaluate', data, tally.rows, count));
  }
  return tally;
}
