/** Tunes models and functions. The tuner is loaded on first use. */
import type { Tunable, TuneArgs, TuneResult } from './tunable.js';

/**
 * Finds the fastest schedules for a model on this engine, uses them in it from now on, and stores
 * them for later models: in a file in Node, in IndexedDB in browsers. Results of the model stay the
 * same but for the rounding of sums. Rejects when the signal aborts.
 */
export async function tune(model: Tunable, args: TuneArgs = {}): Promise<TuneResult> {
  const tuner = await import('./tuner.js');
  return tuner.tune(model, args);
}
