/** How the pool and its workers speak: messages for what is rare, cells of shared memory for every run. */

/** Cells of the whole pool, in 32-bit words. A job is: these threads run this entry of this module. */
export const pooled = {
  module: 0,
  entry: 1,
  threads: 2,
  running: 3,
  failed: 4,
  awaited: 5,
} as const;

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
    }
  | { kind: 'drop'; id: number };

/** From a worker to the pool: a job that somebody waits for is done, or the worker cannot go on. */
export type FromWorker = { kind: 'done' } | { kind: 'broken'; reason: string };
