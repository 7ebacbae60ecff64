/** Tunes new models in idle moments, for models compiled later. */
import { nextTask } from '../base/pause.js';
import { env } from '../runtime/env.js';
import { schedules } from './schedules.js';
import { type Tunable, tunable } from './tunable.js';

const budgetMs = 200;
/** Minimum delay after the creation of a model, so that its first use is not disturbed. */
const delayMs = 500;
/** Minimum multiply-adds of a model to tune. */
const leastWork = 1e6;

const waiting: WeakRef<Tunable>[] = [];
let armed = false;

/** Registers a new model. The model itself is not changed, so that its results do not depend on timing. */
export function queueForTuning(model: Tunable): void {
  if (!env().get('AUTO_TUNE')) return;
  waiting.push(new WeakRef(model));
  if (armed) return;
  armed = true;
  whenIdle(() => void tuneWaiting());
}

async function tuneWaiting(): Promise<void> {
  let left = budgetMs;
  for (const model of waiting.splice(0)) {
    const start = performance.now();
    await tuneOne(model.deref(), left);
    left -= performance.now() - start;
    if (left <= 0) break;
    await nextTask();
  }
  if (left < budgetMs) await schedules.save();
  armed = false;
}

/** Skips disposed models. */
async function tuneOne(model: Tunable | undefined, budget: number): Promise<void> {
  try {
    const executable = model?.[tunable].executable();
    if (executable === undefined) return;
    try {
      const { tuneExecutable } = await import('./tuner.js');
      await tuneExecutable(executable, { budgetMs: budget, leastWork, onlyNew: true });
    } finally {
      executable.free();
    }
  } catch {
    return;
  }
}

function whenIdle(action: () => void): void {
  const timer: unknown = setTimeout(() => {
    if (typeof requestIdleCallback === 'undefined') action();
    else requestIdleCallback(action);
  }, delayMs);
  // Does not prevent a Node process from exiting.
  (timer as { unref?(): void }).unref?.();
}
