/** What lives outside the memory that JavaScript counts: in the core, in generated modules, as threads. */
import { currentCore } from '../core/core.js';
import { heapCounts } from './heap.js';
import { heapModules } from './heap_module.js';
import { moduleCounts } from './instance.js';
import { threadCounts } from './threads.js';

/** What `memory` counts. */
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
  /** Those of them that run on several threads, and bytes of their memory. */
  sharedModules: number;
  sharedBytes: number;
  /** Bytes and blocks in use of the memory that tensors and functions of the heap share, and its bytes. */
  heapBytes: number;
  heapBlocks: number;
  heapReserved: number;
  /** Modules that work there: functions of the heap, and operations on tensors, which are kept. */
  heapModules: number;
}

/** What is alive. */
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
