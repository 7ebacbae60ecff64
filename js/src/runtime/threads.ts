/**
 * The thread pool of this page or process: started by the first run that is large enough, stopped with the last module.
 */
import { nodeProcess } from '../base/node.js';
import type { Stop } from '../base/stop.js';
import { env } from './env.js';
import type { Job, Pool, SharedModule } from './pool.js';

const modules = new Set<SharedModule>();
type PoolModule = typeof import('./pool.js');

/** The module of the pool, loaded by the first run that is large enough. */
let poolModule: PoolModule | undefined;
let pool: Pool | undefined;
/** Whether that module, or the inlined script of threads, is being loaded. */
let isFetching = false;
let dropped = 0;

/** Sleeping threads do not collect garbage, so the pool is restarted after this many dropped modules. */
const maxDropped = 1024;
/** Additional weight of a dropped memory: Chromium has address space for about a hundred, Node for thousands. */
const memoryCost = nodeProcess === undefined ? 32 : 1;
/** Bytes of a dropped memory that weigh as much as one module. */
const bytesOfOne = 2 ** 19;
/**
 * Bytes of dropped memories that the engine does not account for, their limit, and the size of the array that triggers
 * a collection.
 */
let unaccounted = 0;
const maxUnaccounted = 2 ** 28;
const accountedBytes = 2 ** 26;

/** Registers a module until `removeModule`. */
export function addModule(module: SharedModule): void {
  modules.add(module);
}

/** Ends the current run of the module and drops it. */
export function removeModule(module: SharedModule): void {
  if (!modules.delete(module)) return;
  jobOf(module)?.settle();
  pool?.drop(module);
  dropped += hasSeparateMemory(module) ? costOf(module) : 1;
  if (modules.size === 0 || (dropped >= maxDropped && pool?.job === undefined)) stopPool();
}

/**
 * The weight of a dropped module with a separate memory. Engines ignore shared memories when they schedule garbage
 * collections, but account for arrays.
 */
function costOf({ memory }: SharedModule): number {
  const bytes = memory.buffer.byteLength;
  unaccounted += bytes;
  // Always 0; computed, so that bundlers do not remove the array.
  if (unaccounted >= maxUnaccounted)
    unaccounted = new ArrayBuffer(accountedBytes).byteLength % accountedBytes;
  return memoryCost + bytes / bytesOfOne;
}

/** Resolves when the threads have loaded the module, or there are none. Error: a limit of the call is reached. */
export async function loadOnThreads(module: SharedModule, stop: Stop): Promise<void> {
  await loadPool();
  if (!modules.has(module)) return;
  while (poolFor(Infinity)?.has(module) === false) await stop.pause();
}

/** The current run of this module. */
export function jobOf(module: SharedModule): Job | undefined {
  return pool?.job?.module === module ? pool.job : undefined;
}

/**
 * Starts a run; undefined where one thread should run it, as always before the threads have started. `snapshot` is
 * called before the run and its result if the run fails.
 */
export function beginJob(
  module: SharedModule,
  entry: number,
  maxThreads: number,
  isBrief: boolean,
  snapshot?: () => () => void,
): Job | undefined {
  if (!modules.has(module)) return undefined;
  return poolFor(maxThreads)?.begin(module, entry, maxThreads, isBrief, snapshot);
}

/** The pool for runs on up to `maxThreads` threads; undefined with fewer than two, or before they have started. */
function poolFor(maxThreads: number): Pool | undefined {
  const { count } = env().threads;
  if (pool !== undefined && pool.size !== count && pool.job === undefined) stopPool();
  if (Math.min(count, maxThreads) < 2) return undefined;
  if (poolModule === undefined) void loadPool();
  if (poolModule === undefined || isFetching) return undefined;
  pool ??= new poolModule.Pool(count, (reason, isFinal) => {
    pool = undefined;
    if (isFinal) env().giveUpThreads(reason);
    else void inlineScripts(poolModule!, reason);
  });
  return pool;
}

/** Installs the pool's module for programs that never yield and so could not load it. */
export function installPool(loaded: PoolModule): void {
  poolModule = loaded;
}

/** Loads the pool's module. */
export async function loadPool(): Promise<void> {
  if (isFetching || poolModule !== undefined) return;
  isFetching = true;
  try {
    poolModule = await import('./pool.js');
  } catch (error) {
    env().giveUpThreads(String(error));
  }
  isFetching = false;
}

/** Inlines the script of the next threads, where none has ever run. */
async function inlineScripts({ inlineThreads }: PoolModule, reason: string): Promise<void> {
  isFetching = true;
  await inlineThreads().catch(() => env().giveUpThreads(reason));
  isFetching = false;
}

/** Whether threads requested by the module have not started. */
export const isStarting = (module: SharedModule) => isFetching || pool?.isStarting(module) === true;

/** Whether a run is active. */
export const poolIsBusy = () => pool?.job !== undefined;

/** Resolves when no run is active. */
export async function poolIsIdle(): Promise<void> {
  while (pool?.job !== undefined) await pool.job.over();
}

const hasSeparateMemory = ({ firstPhase }: SharedModule) => firstPhase === undefined;

/** Whether a thread has messages that it has not handled. */
export const threadsAreStarting = () => isFetching || pool?.hasUnhandledMessages === true;

/** The numbers of threads and of modules with separate shared memories, and the bytes of these. */
export function threadCounts(): { threads: number; sharedModules: number; sharedBytes: number } {
  const bytes = [...modules]
    .filter(hasSeparateMemory)
    .map(({ memory }) => memory.buffer.byteLength);
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
