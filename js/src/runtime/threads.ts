/** The one pool of this page or process: started by the first run that is worth it, stopped with the last module. */
import { nodeProcess } from '../base/node.js';
import { env } from './env.js';
import { type Job, Pool, type SharedModule } from './pool.js';
import { inlineThreads } from './thread.js';

const modules = new Set<SharedModule>();
let pool: Pool | undefined;
/** Whether the script of threads that could not start is being fetched. */
let isMending = false;
let dropped = 0;

/**
 * Sleeping threads collect no garbage, and Chromium has address space for about a hundred memories,
 * Node for thousands: after so many dropped modules the threads are replaced.
 */
const mostDropped = nodeProcess === undefined ? 32 : 1024;

/** Registers a module; `remove` takes it out again. */
export function addModule(module: SharedModule): void {
  modules.add(module);
}

/** Ends a run of the module that is under way, and forgets it. */
export function removeModule(module: SharedModule): void {
  if (!modules.delete(module)) return;
  jobOf(module)?.settle();
  pool?.drop(module);
  ++dropped;
  if (modules.size === 0 || (dropped >= mostDropped && pool?.job === undefined)) stopPool();
}

/** The run of this module that is under way. */
export function jobOf(module: SharedModule): Job | undefined {
  return pool?.job?.module === module ? pool.job : undefined;
}

/**
 * Starts a run. Nothing where one thread should do it: always before the threads are up. What `keep`
 * returns just before is called where the run fails.
 */
export function beginJob(
  module: SharedModule,
  entry: number,
  most: number,
  isBrief: boolean,
  keep?: () => () => void,
): Job | undefined {
  const { count } = env().threads;
  if (pool !== undefined && pool.size !== count && pool.job === undefined) stopPool();
  if (Math.min(count, most) < 2 || !modules.has(module)) return undefined;
  if (isMending) return undefined;
  pool ??= new Pool(count, (reason, isStarted) => {
    pool = undefined;
    if (isStarted) env().giveUpThreads(reason);
    else void mend(reason);
  });
  return pool.begin(module, entry, most, isBrief, keep);
}

/** Has the next threads start another way where none has ever run. */
async function mend(reason: string): Promise<void> {
  isMending = true;
  const isNew = await inlineThreads().catch(() => false);
  isMending = false;
  if (!isNew) env().giveUpThreads(reason);
}

/** Whether threads that the module has asked for are not up yet. */
export const isStarting = (module: SharedModule) => isMending || pool?.isStarting(module) === true;

/** Whether a run is under way. */
export const poolIsBusy = () => pool?.job !== undefined;

/** Resolves when no run is under way. */
export async function poolIsIdle(): Promise<void> {
  while (pool?.job !== undefined) await pool.job.over();
}

/** Threads, modules they share, and the bytes of those. */
export function threadCounts(): { threads: number; sharedModules: number; sharedBytes: number } {
  const bytes = [...modules].map(({ memory }) => memory.buffer.byteLength);
  return {
    threads: pool?.size ?? 0,
    sharedModules: modules.size,
    sharedBytes: bytes.reduce((total, each) => total + each, 0),
  };
}

function stopPool(): void {
  pool?.job?.settle();
  pool?.stop();
  pool = undefined;
  dropped = 0;
}
