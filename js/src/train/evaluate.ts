/** Evaluation in batches. */
import type { Pacer } from '../base/pause.js';
import type { Examples } from './examples.js';
import type { ModelRunner } from './model_runner.js';
import { Tally } from './score.js';

/** Rows, and the module that scores them. */
export type Scoring = readonly [module: ModelRunner, data: Examples];

/** Scores all rows. */
export function evaluateAll(parts: Iterable<Scoring>): Tally {
  const tally = new Tally();
  for (const { module, data, from, count } of batchesOf(parts)) {
    tally.add(module.score('evaluate', data, from, count));
  }
  return tally;
}

/** The same, without blocking the page. */
export async function evaluateAllAsync(parts: Iterable<Scoring>, pacer?: Pacer): Promise<Tally> {
  const tally = new Tally();
  for (const { module, data, from, count } of batchesOf(parts)) {
    tally.add(await module.scoreAsync('evaluate', data, from, count));
    await pacer?.at('batch');
  }
  return tally;
}

/** The module of a part is requested once its turn has come. */
function* batchesOf(parts: Iterable<Scoring>) {
  for (const [module, data] of parts) {
    for (let from = 0; from < data.count; from += module.batch('evaluate')) {
      yield { module, data, from, count: Math.min(module.batch('evaluate'), data.count - from) };
    }
  }
}
