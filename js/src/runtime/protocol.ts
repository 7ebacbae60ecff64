/**
 * The protocol between the pool, or background compilation, and workers: messages for rare events, shared memory for
 * each run.
 */

/**
 * 32-bit cells of the pool: `job` is the current entry and its module, `number` the sequence number of the current run,
 * `done` that of the last finished run, `awaited` whether its end is to be reported by a message.
 */
export const poolCell = { job: 0, number: 1, done: 2, failed: 3, awaited: 4 } as const;

/** Packs a module id and the index of an entry into one word, which is read atomically. */
export const packJob = (module: number, entry: number) => module * 256 + entry;
/** The reverse of `packJob`. */
export const unpackJob = (job: number) => [Math.floor(job / 256), job % 256] as const;

/**
 * Cells of a worker: `bell` changes with every event for it, `posted` and `handled` count messages, `ticket` its jobs,
 * and `finished` is the last job that it has left.
 */
export const workerCell = { bell: 0, posted: 1, handled: 2, ticket: 3, finished: 4 } as const;

const stride = 16; // a cache line

/** The index of a worker's cell. */
export function cellOf(worker: number, cell: number): number {
  return stride * (worker + 1) + cell;
}

/** Records the end of a run unless a later one has been recorded. Returns whether it was recorded. */
export function recordDone(control: Int32Array, number: number): boolean {
  for (let last = Atomics.load(control, poolCell.done); last < number;) {
    const found = Atomics.compareExchange(control, poolCell.done, last, number);
    if (found === last) return true;
    last = found;
  }
  return false;
}

const maxReasonLength = 200;

/** The shared memory of a pool and its workers. */
export function makeControl(workers: number): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(4 * (stride * (workers + 1) + maxReasonLength)));
}

/** Stores the reason of a failure after the cells. */
export function writeReason(control: Int32Array, reason: string): void {
  const start = control.length - maxReasonLength;
  for (let i = 0; i < maxReasonLength; ++i) control[start + i] = reason.charCodeAt(i) || 0;
}

/** The reason stored by `writeReason`. */
export function readReason(control: Int32Array): string {
  const codes = [...control.subarray(control.length - maxReasonLength)];
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

/** A copy of an idle core, and the model or graph in it to compile. */
export interface CopyOfCore {
  kind: 'compile';
  core: WebAssembly.Module;
  memory: ArrayBuffer;
  what: 'graph' | 'model';
  handle: number;
  request: Uint8Array;
}

/** From a worker: an awaited job is done, a compilation has finished, or the worker has failed. */
export type FromWorker = { kind: 'done' } | CompiledCopy | { kind: 'broken'; reason: string };

/** The memory of a core after a compilation, the handle of the executable, and its module. */
export interface CompiledCopy {
  kind: 'compiled';
  memory: ArrayBuffer;
  executable: number;
  module: WebAssembly.Module;
}

const pageBytes = 65536;

/** Grows the memory of a new core to that of the core that is copied into it. */
export function growTo(memory: WebAssembly.Memory, bytes: number): void {
  memory.grow((bytes - memory.buffer.byteLength) / pageBytes);
}
