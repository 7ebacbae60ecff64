/** An instance of a generated module: its memory, its states, and runs of its entries. */
import { LatheError } from '../base/errors.js';
import { nextTask } from '../base/pause.js';
import { checkStop, currentStop } from '../base/stop.js';
import { type BufferInfo, byteLength, type EntryInfo, type ModuleMetadata } from '../core/abi.js';
import type { ModuleParts } from '../core/parts.js';
import { copyInto, type DataArray } from '../tensor/convert.js';
import { callEngine } from './engine_call.js';
import { Entry, windowOn } from './entry.js';
import type { SharedModule } from './pool.js';
import { RunQueue, type Task } from './run_queue.js';
import { States } from './states.js';
import {
  addModule,
  isStarting,
  jobOf,
  loadOnThreads,
  poolIsBusy,
  removeModule,
} from './threads.js';

/** Snapshots of states, reusing one copy; a snapshot returns a function that restores it. */
function snapshotter(states: readonly DataArray[]): (() => () => void) | undefined {
  if (states.length === 0) return undefined;
  let copies: DataArray[] | undefined;
  return () => {
    copies ??= states.map((each) => each.slice());
    copies.forEach((copy, at) => copyInto(copy, states[at]!));
    return () => copies!.forEach((copy, at) => copyInto(states[at]!, copy));
  };
}

/** Maximum wait for threads that are starting, as a share of the time of the single-threaded run before. */
const startWaitShare = 0.1;

/** Resources of an instance. */
interface InstanceResources {
  shared: SharedModule | undefined;
  bytes: number;
}

const finalizers = /* @__PURE__ */ new FinalizationRegistry<InstanceResources>(release);
const alive = { modules: 0, moduleBytes: 0 };

function release({ shared, bytes }: InstanceResources): void {
  if (shared !== undefined) removeModule(shared);
  alive.modules -= 1;
  alive.moduleBytes -= bytes;
}

/** Instances that are not disposed, and bytes of their memory. */
export const moduleCounts = (): typeof alive => ({ ...alive });

/** An instantiated module. Its memory stores weights and optimizer states between calls. */
export class Instance extends States {
  readonly #memory: WebAssembly.Memory;
  /** By name; threads may be running them. */
  readonly entries: ReadonlyMap<string, Entry>;
  readonly #shared: SharedModule | undefined;
  readonly #resources: InstanceResources;
  readonly #runs: RunQueue;

  /**
   * A failed multithreaded run restores the states named by `rollbackStates`. Errors: out of memory; an engine that
   * rejects the module.
   */
  constructor(
    parts: ModuleParts,
    readonly metadata: ModuleMetadata,
    rollbackStates: ReadonlySet<string> = new Set(),
    runs = new RunQueue(),
  ) {
    super();
    this.#runs = runs;
    const { module, instance } = instantiate(parts, metadata);
    this.#memory = instance.exports.memory as WebAssembly.Memory;
    if (metadata.threads) {
      const entries = metadata.entries.map(({ name }) => name);
      this.#shared = { module, memory: this.#memory, exports: instance.exports, entries };
      addModule(this.#shared);
    }
    this.#resources = { shared: this.#shared, bytes: this.#memory.buffer.byteLength };
    finalizers.register(this, this.#resources, this);
    alive.modules += 1;
    alive.moduleBytes += this.#resources.bytes;
    const snapshot = snapshotter(
      metadata.states
        .filter(({ name }) => rollbackStates.has(name))
        .map((info) => windowOn(this.#memory, info)),
    );
    this.entries = new Map(
      metadata.entries.map((entry) => [
        entry.name,
        new Entry(instance, entry, this.#shared, snapshot),
      ]),
    );
  }

  /** Ends the threads' work on the module. */
  dispose(): void {
    this.settle();
    if (finalizers.unregister(this)) release(this.#resources);
  }

  /** Blocks until no thread works on the memory; the main thread of a page spins. */
  settle(): void {
    this.#runs.drain();
    if (this.#shared !== undefined) jobOf(this.#shared)?.settle();
  }

  /** Whether threads are running any module, or runs are queued. */
  get isBusy(): boolean {
    return this.#runs.isBusy || poolIsBusy();
  }

  /**
   * Runs an entry asynchronously, after the queued runs and the current run of the threads. `write` stores its inputs
   * into the memory, `read` returns the result from it.
   */
  call<T>(name: string, write: () => void, read: () => T): Promise<T> {
    const stop = currentStop();
    if (stop?.hasSignal && this.#shared !== undefined) {
      // The event loop delivers a signal only while other threads run.
      return loadOnThreads(this.#shared, stop).then(() =>
        stop.within(() => this.#runs.call(this.#found(name), write, read)),
      );
    }
    const start = performance.now();
    const result = this.#runs.call(this.#found(name), write, read);
    const shared = this.#shared;
    if (shared === undefined || !isStarting(shared)) return result;
    // Loops that await every run would otherwise prevent the threads of a page from starting.
    return result.then(async (value) => {
      const now = performance.now();
      const end = now + startWaitShare * (now - start);
      do await nextTask();
      while (isStarting(shared) && performance.now() < end);
      return value;
    });
  }

  /** Starts a task; there must be no other. */
  begin(task: Task): void {
    this.#runs.begin(task);
  }

  /** Blocks until the task has ended; the main thread of a page spins. */
  finish(task: Task): void {
    this.#runs.drain(task);
  }

  /** Rejects all tasks that have not started. */
  drop(error: Error): void {
    this.#runs.drop(error);
  }

  /** A view. */
  state(info: BufferInfo): Uint8Array {
    this.settle();
    return new Uint8Array(this.#memory.buffer, info.offset, byteLength(info));
  }

  setState(info: BufferInfo, bytes: Uint8Array): void {
    this.state(info).set(bytes);
  }

  synced(): undefined {
    return undefined;
  }

  /** A view of the calls and milliseconds of an entry; undefined without timing. */
  times({ times }: EntryInfo): Float64Array | undefined {
    return times && new Float64Array(this.#memory.buffer, times.offset, 1 + times.parts.length);
  }

  /** Copies the times of entries with equal parts from another instance. */
  copyTimesFrom(other: Instance): void {
    for (const entry of this.metadata.entries) {
      const before = other.metadata.entries.find(({ name }) => name === entry.name);
      const isSame = before?.times?.parts.join() === entry.times?.parts.join();
      if (isSame && before?.times) this.times(entry)!.set(other.times(before)!);
    }
  }

  /** An entry, after waiting for the threads. Error: there is none of this name. */
  entry(name: string): Entry {
    this.settle();
    return this.#found(name);
  }

  #found(name: string): Entry {
    const entry = this.entries.get(name);
    if (entry === undefined) throw new LatheError(`the module has no entry ${name}`);
    return entry;
  }
}

const pageBytes = 65536;

function instantiate(
  parts: ModuleParts,
  metadata: ModuleMetadata,
): WebAssembly.WebAssemblyInstantiatedSource {
  const { code, segments } = parts;
  const { memoryBytes, threads } = metadata;
  const megabytes = Math.ceil(memoryBytes / 2 ** 20);
  return callEngine(`the model needs ${megabytes} MiB of WebAssembly memory`, () => {
    const module = parts.module ?? new WebAssembly.Module(code);
    const pages = Math.ceil(memoryBytes / pageBytes);
    const limits = { initial: pages, maximum: pages, shared: true };
    const env: WebAssembly.ModuleImports = threads
      ? { memory: new WebAssembly.Memory(limits), check: checkStop }
      : { now: () => performance.now(), check: checkStop };
    const instance = new WebAssembly.Instance(module, { env });
    const memory = new Uint8Array((instance.exports.memory as WebAssembly.Memory).buffer);
    for (const { offset, data } of segments) memory.set(data, offset);
    return { module, instance };
  });
}
