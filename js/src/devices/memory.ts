/** Statistics of what JavaScript's memory does not include: the core, generated modules, threads. */
import { currentCore } from '../core/core.js';
import type { DeviceMemory } from '../runtime/device.js';
import { memoryBudget } from '../runtime/env.js';
import { moduleCounts } from '../runtime/instance.js';
import { threadCounts } from '../runtime/threads.js';
import { heapCounts } from '../runtime/wasm/heap.js';
import { wasmPrograms } from '../runtime/wasm/program.js';
import { loadedDevices } from './registry.js';

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
  /** The setting MEMORY_BUDGET: the maximum of bytes in use on each device. */
  budget: number;
  /** Memory by device; that of `wasm` is the heap. */
  devices: Record<string, DeviceMemory>;
}

/** Current statistics. */
export function memory(): MemoryCounts {
  const core = currentCore();
  const heap = heapCounts();
  return {
    liveObjects: core.run('memory', (exports) => exports.lathe_live_objects()),
    coreBytes: core.exports.memory.buffer.byteLength,
    ...moduleCounts(),
    ...threadCounts(),
    heapBytes: heap.bytes,
    heapBlocks: heap.buffers,
    heapReserved: heap.reserved,
    heapModules: wasmPrograms(),
    budget: memoryBudget,
    devices: Object.fromEntries(loadedDevices().map((each) => [each.name, each.memory()])),
  };
}
