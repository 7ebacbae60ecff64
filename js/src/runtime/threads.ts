/** The one pool of this page or process: started by the first run that is worth it, stopped with the last module. */
import { nodeProcess } from '../base/node.js';
import { env } from './env.js';
import type { Job, Pool, SharedModule } from './pool.js';

const modules = new Set<SharedModule>();
type Found = typeof import('./pool.js');

/** What runs them, fetched with the first run that is worth it. */
let found: Found | undefined;
let pool: Pool | undefined;
/** Whether that is being fetched, or the script of threads that could not start. */
let isFetching = false;
let dropped = 0;

/** Sleeping threads collect no garbage: after so many dropped modules they are replaced. */
const mostDropped = 1024;
/** As how many a dropped memory counts: Chromium has address space for about a hundred, Node for thousands. */
const memoryCost = nodeProcess === undefined ? 32 : 1;
/** So many of its bytes count as one more. */
const bytesOfOne = 2 ** 19;
/** Bytes of those that the engine has not been told of, how many are too many, and how large the array is that tells of them. */
let untold = 0;
const mostUntold = 2 ** 28;
const toldAtOnce = 2 ** 26;

/** Registers a module; `remove` takes it out again. */
export function addModule(module: SharedModule): void {
  modules.add(module);
}

/** Ends a run of the module that is under way, and forgets it. */
export function removeModule(module: SharedModule): void {
  if (!modules.delete(module)) return;
  jobOf(module)?.settle();
  pool?.drop(module);
  dropped += ownsMemory(module) ? costOf(module) : 1;
  if (modules.size === 0 || (dropped >= mostDropped && pool?.job === undefined)) stopPool();
}

/**
 * Engines do not count shared memories when they decide to collect garbage, and would let dropped ones pile up; of arrays they
 * see the size.
 */
function costOf({ memory }: SharedModule): number {
  const bytes = memory.buffer.byteLength;
  untold += bytes;
  // Zero; used, lest bundlers take the array away.
  if (untold >= mostUntold) untold = new ArrayBuffer(toldAtOnce).byteLength % toldAtOnce;
  return memoryCost + bytes / bytesOfOne;
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
  if (found === undefined) void fetchThreads();
  if (found === undefined || isFetching) return undefined;
  pool ??= new found.Pool(count, (reason, isFinal) => {
    pool = undefined;
    if (isFinal) env().giveUpThreads(reason);
    else void mend(found!, reason);
  });
  return pool.begin(module, entry, most, isBrief, keep);
}

/** What runs them is there: programs that never wait could not fetch it. */
export function useThreads(there: Found): void {
  found = there;
}

/** Fetches what runs them. */
export async function fetchThreads(): Promise<void> {
  if (isFetching || found !== undefined) return;
  isFetching = true;
  try {
    found = await import('./pool.js');
  } catch (error) {
    env().giveUpThreads(String(error));
  }
  isFetching = false;
}

/** Has the next threads start another way where none has ever run. */
async function mend({ inlineThreads }: Found, reason: string): Promise<void> {
  isFetching = true;
  await inlineThreads().catch(() => env().giveUpThreads(reason));
  isFetching = false;
}

/** Whether threads that the module has asked for are not up yet. */
export const isStarting = (module: SharedModule) => isFetching || pool?.isStarting(module) === true;

/** Whether a run is under way. */
export const poolIsBusy = () => pool?.job !== undefined;

/** Resolves when no run is under way. */
export async function poolIsIdle(): Promise<void> {
  while (pool?.job !== undefined) await pool.job.over();
}

const ownsMemory = ({ firstPhase }: SharedModule) => firstPhase === undefined;

/** Whether a thread has not got all that it has been sent. */
export const threadsAreStarting = () => isFetching || pool?.isBehind === true;

/** Threads, modules with a memory that they share, and the bytes of those. */
export function threadCounts(): { threads: number; sharedModules: number; sharedBytes: number } {
  const bytes = [...modules].filter(ownsMemory).map(({ memory }) => memory.buffer.byteLength);
  return {
    threads: pool?.size ?? 0,
    sharedModules: bytes.length,
    sharedBytes: bytes.reduce((total, each) => total + each, 0),
  };
}

function stopPool(): void {
  pool?.job?.settle();
  pool?.stop();
  pool = undefined;
  dropped = 0;
}
