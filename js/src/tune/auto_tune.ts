/** Tunes new models in idle moments, for the models that come after them. */
import { nextTask } from '../base/pause.js';
import { env } from '../runtime/env.js';
import { schedules } from './schedules.js';
import { type Tunable, tunable } from './tunable.js';

const budgetMs = 200;
/** How long after a model was made it begins, at the earliest: in first use nothing disturbs it. */
const delayMs = 500;
/** Multiply-adds below which a model is not worth it. */
const leastWork = 1e6;

const waiting: WeakRef<Tunable>[] = [];
let armed = false;

/** Takes note of a new model. It stays as it is, so that its results do not depend on when this runs. */
export function noticeNew(model: Tunable): void {
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

/** A model that was disposed of is left out. */
async function tuneOne(model: Tunable | undefined, budget: number): Promise<void> {
  try {
    const executable = model?.[tunable].executable();
    if (executable === undefined) return;
    try {
      const { measureInto } = await import('./tune.js');
      await measureInto(executable, { budgetMs: budget, leastWork, onlyNew: true });
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
  // A process of Node does not wait for it.
  (timer as { unref?(): void }).unref?.();
}
