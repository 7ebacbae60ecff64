/**
 * Collects unreachable values where a program waits anyway. Engines do not know how many bytes values have on devices, so they would
 * collect them too late; but they account for arrays.
 */
import { nextTask } from '../base/pause.js';
import type { Device } from './device.js';
import { memoryBudget } from './env.js';

/** Bytes in use beyond those that were reachable, from which there is a collection. */
const minGrowth = 2 ** 28;
/** What a memory of WebAssembly can have. */
const capacity = 2 ** 32;
/** Arrays that are allocated, one in each task, until the engine collects garbage. */
const arrayBytes = 2 ** 26;
const maxArrays = 128;

/** Bytes of values, and those after the last collection. */
let inUse = 0;
let reachable = 0;
let collecting: Promise<void> | undefined;
let collections = 0;
/** Always 0; computed, so that bundlers do not remove the arrays. */
let unused = 0;

/** What garbage collection frees. One registry for all: its finalizers run together. */
export interface Releasable {
  release(): void;
}

export const finalizers = /* @__PURE__ */ new FinalizationRegistry<Releasable>((each) =>
  each.release(),
);

/** Counts bytes that are allocated; freed ones are negative. */
export function countBytes(bytes: number): void {
  inUse += bytes;
}

/** Starts a collection if there may be many unreachable values, or an unreachable memory: resolves once they are freed. */
export function relievePressure(device: Pick<Device, 'shrink'>): Promise<unknown> | undefined {
  if (device.shrink?.() === true) return collect();
  const room = Math.min(memoryBudget, capacity) - reachable;
  // At least an eighth: what is reachable may be more than fits in a memory of WebAssembly.
  const growth = Math.min(Math.max(minGrowth, reachable), Math.max(room / 2, reachable / 8));
  return inUse > reachable + growth ? collect() : undefined;
}

/** Resolves once unreachable values are freed; whether there were any. */
export async function collect(): Promise<boolean> {
  const before = inUse;
  await (collecting ??= collectNow().finally(() => (collecting = undefined)));
  return inUse < before;
}

async function collectNow(): Promise<void> {
  const before = collections;
  registerGarbage();
  for (let count = 0; count < maxArrays && collections === before; count += 1) {
    try {
      unused = new ArrayBuffer(arrayBytes).byteLength % arrayBytes;
    } catch {
      break; // The engine has collected garbage before it refuses.
    }
    await nextTask();
  }
  reachable = inUse + unused;
}

/** In a function of its own, whose frame does not retain the object. */
function registerGarbage(): void {
  finalizers.register({}, { release: () => void (collections += 1) });
}
