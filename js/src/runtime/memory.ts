/** Statistics of what JavaScript's memory does not include: the core, generated modules, threads. */
import { currentCore } from '../core/core.js';
import { heapCounts } from './heap.js';
import { heapModules } from './heap_module.js';
import { moduleCounts } from './instance.js';
import { threadCounts } from './threads.js';

/** The result of `memory`. */
export interface MemoryCounts {
  /** Models, graphs and executables in the core that are not freed. */
  liveObjects: number;
  /** Bytes of the core's memory. */
  coreBytes: number;
  /** Threads that have been started and not stopped. */
  threads: number;
  /** Generated modules that are not disposed, and bytes of their memory. */
  modules: number;
  moduleBytes: number;
  /** Multithreaded ones among them, and bytes of their memory. */
  sharedModules: number;
  sharedBytes: number;
  /** Bytes and blocks in use in the heap that tensors and functions share, and its size. */
  heapBytes: number;
  heapBlocks: number;
  heapReserved: number;
  /** Modules of heap functions, and cached modules of operations on tensors. */
  heapModules: number;
}

/** Current statistics. */
export function memory(): MemoryCounts {
  const core = currentCore();
  return {
    liveObjects: core.run('memory', (exports) => exports.lathe_live_objects()),
    coreBytes: core.exports.memory.buffer.byteLength,
    ...moduleCounts(),
    ...threadCounts(),
    ...heapCounts(),
    heapModules: heapModules(),
  };
}
