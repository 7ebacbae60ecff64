/** How the pool, or who compiles in the background, and their workers speak: messages for what is rare, cells of shared memory for every run. */

/**
 * Cells of the whole pool, in 32-bit words. `job` says which entry of which module runs, `number`
 * counts runs, `done` is the number of the last one that is over, `awaited` whether anybody wants a
 * message about it.
 */
export const pooled = { job: 0, number: 1, done: 2, failed: 3, awaited: 4 } as const;

/**
 * How a thread takes part in a run, the sum of these: an entry's argument. `alone` is that of the
 * one thread of a run that was begun for one; all others find it over.
 */
export const how = { maySleep: 1, fromBack: 2, alone: 4 } as const;

/** What an entry returns when its thread has nothing to do: others are at tasks that more may follow, or at the last. */
export const state = { moreToCome: 0, over: 1, ending: 2 } as const;

/** A module and one of its entries in one word, so that nobody reads half of it. */
export const packJob = (module: number, entry: number) => module * 256 + entry;
/** The reverse of `packJob`. */
export const unpackJob = (job: number) => [Math.floor(job / 256), job % 256] as const;

/**
 * Cells of one worker. `bell` changes with everything that concerns it, `posted` and `handled` count
 * messages, `ticket` its jobs and `finished` the last one it has left.
 */
export const own = { bell: 0, posted: 1, handled: 2, ticket: 3, finished: 4 } as const;

const stride = 16; // a cache line

/** The place of a worker's cell. */
export function cellOf(worker: number, cell: number): number {
  return stride * (worker + 1) + cell;
}

/** Says that a run is over, unless a later one is known to be. Returns whether that is news. */
export function noteDone(control: Int32Array, number: number): boolean {
  for (let known = Atomics.load(control, pooled.done); known < number;) {
    const found = Atomics.compareExchange(control, pooled.done, known, number);
    if (found === known) return true;
    known = found;
  }
  return false;
}

const longestText = 200;

/** The words that a pool shares with its workers. */
export function makeControl(workers: number): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(4 * (stride * (workers + 1) + longestText)));
}

/** Leaves the reason of a failure behind the cells. */
export function writeReason(control: Int32Array, reason: string): void {
  const start = control.length - longestText;
  for (let i = 0; i < longestText; ++i) control[start + i] = reason.charCodeAt(i) || 0;
}

/** What `writeReason` left. */
export function readReason(control: Int32Array): string {
  const codes = [...control.subarray(control.length - longestText)];
  return String.fromCharCode(...codes).replace(/\0+$/, '');
}

/** From the pool to a worker. */
export type ToWorker =
  | { kind: 'start'; control: Int32Array<SharedArrayBuffer>; index: number }
  | {
      kind: 'load';
      id: number;
      module: WebAssembly.Module;
      memory: WebAssembly.Memory;
      entries: readonly string[];
      firstPhase: number | undefined;
    }
  | { kind: 'drop'; id: number }
  | CopyOfCore;

/** A core at rest, whose memory is all that there is of it, and what in it shall be compiled. */
export interface CopyOfCore {
  kind: 'compile';
  core: WebAssembly.Module;
  memory: ArrayBuffer;
  what: 'graph' | 'model';
  handle: number;
  request: Uint8Array;
}

/** From a worker: a job that somebody waits for is done, something is compiled, or the worker cannot go on. */
export type FromWorker = { kind: 'done' } | CompiledCopy | { kind: 'broken'; reason: string };

/** The memory of a core that has compiled, the handle of what it made, and its module. */
export interface CompiledCopy {
  kind: 'compiled';
  memory: ArrayBuffer;
  executable: number;
  module: WebAssembly.Module;
}

const pageBytes = 65536;

/** The memory of a new core takes the size of the one that it becomes a copy of. */
export function growTo(memory: WebAssembly.Memory, bytes: number): void {
  memory.grow((bytes - memory.buffer.byteLength) / pageBytes);
}
