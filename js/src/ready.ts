/** Makes the package usable: the core, and what was measured on this machine before. */
import { compileCore, coreUrl } from './core/core_module.js';
import { currentCore, useCoreModule } from './core/core.js';
import { LatheError } from './base/errors.js';
import { schedulesRead } from './tune/schedules.js';
import { probeTarget } from './tune/target.js';

/** How long the first use waits for a slow cache of schedules once the core is there. */
const mostWaitMs = 20;
let loading: Promise<void> | undefined;

/**
 * Resolves when the compiler core is loaded. Importing the package already waits for it, so a call
 * is needed only to learn why loading failed, or to try again. Rejects with LatheError.
 */
export function ready(): Promise<void> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    const reason = error instanceof Error ? error.message : String(error);
    throw new LatheError(`cannot load ${coreUrl.href}: ${reason}`, { cause: error });
  });
  return loading;
}

async function load(): Promise<void> {
  const remembered = Promise.all([probeTarget(), schedulesRead]);
  useCoreModule(await compileCore());
  currentCore();
  await Promise.race([remembered, new Promise((done) => setTimeout(done, mostWaitMs))]);
}
