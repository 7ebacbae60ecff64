/** A generated module at work: its memory, its states, the runs of its entries. */
import { LatheError } from '../base/errors.js';
import { nextTask } from '../base/pause.js';
import { type BufferPlace, byteLength, type EntryPlace, type ModuleMetadata } from '../core/abi.js';
import type { ModuleParts } from '../core/parts.js';
import { copyInto, type DataArray, type NumberArray } from '../tensor/convert.js';
import { askEngine } from './ask_engine.js';
import { Entry, windowOn } from './entry.js';
import type { SharedModule } from './pool.js';
import { Runs, type Task } from './runs.js';
import { addModule, isStarting, jobOf, poolIsBusy, removeModule } from './threads.js';

/** Copies states, into the same memory every time; what it returns brings them back. */
function keeper(states: readonly DataArray[]): (() => () => void) | undefined {
  if (states.length === 0) return undefined;
  let copies: DataArray[] | undefined;
  return () => {
    copies ??= states.map((each) => each.slice());
    copies.forEach((copy, at) => copyInto(copy, states[at]!));
    return () => copies!.forEach((copy, at) => copyInto(states[at]!, copy));
  };
}

/** Of the time that a run has taken alone: how long at most threads are waited for that shall take part in the next one. */
const shareForStart = 0.1;

/** What an instance holds. */
interface Held {
  shared: SharedModule | undefined;
  bytes: number;
}

const forgotten = /* @__PURE__ */ new FinalizationRegistry<Held>(release);
const alive = { modules: 0, moduleBytes: 0 };

function release({ shared, bytes }: Held): void {
  if (shared !== undefined) removeModule(shared);
  alive.modules -= 1;
  alive.moduleBytes -= bytes;
}

/** Instances that are not disposed, and bytes of their memory. */
export const moduleCounts = (): typeof alive => ({ ...alive });

/** An instantiated module. Its memory holds weights and optimiser states between calls. */
export class Instance {
  readonly #memory: WebAssembly.Memory;
  /** By name; threads may be at work on them. */
  readonly entries: ReadonlyMap<string, Entry>;
  readonly #shared: SharedModule | undefined;
  readonly #held: Held;
  readonly #runs: Runs;

  /**
   * A run on threads that fails leaves the states `kept` as they were. Errors: no memory for it, or
   * an engine that refuses the module.
   */
  constructor(
    parts: ModuleParts,
    readonly metadata: ModuleMetadata,
    kept: ReadonlySet<string> = new Set(),
    runs = new Runs(),
  ) {
    this.#runs = runs;
    const { module, instance } = instantiate(parts, metadata);
    this.#memory = instance.exports.memory as WebAssembly.Memory;
    if (metadata.threads) {
      const entries = metadata.entries.map(({ name }) => name);
      this.#shared = { module, memory: this.#memory, exports: instance.exports, entries };
      addModule(this.#shared);
    }
    this.#held = { shared: this.#shared, bytes: this.#memory.buffer.byteLength };
    forgotten.register(this, this.#held, this);
    alive.modules += 1;
    alive.moduleBytes += this.#held.bytes;
    const keep = keeper(
      metadata.states
        .filter(({ name }) => kept.has(name))
        .map((place) => windowOn(this.#memory, place)),
    );
    this.entries = new Map(
      metadata.entries.map((place) => [place.name, new Entry(instance, place, this.#shared, keep)]),
    );
  }

  /** Ends what threads do with the module. */
  dispose(): void {
    this.settle();
    if (forgotten.unregister(this)) release(this.#held);
  }

  /** Waits for what threads do with the memory; a page's own thread spins. */
  settle(): void {
    this.#runs.now();
    if (this.#shared !== undefined) jobOf(this.#shared)?.settle();
  }

  /** Whether threads work for anyone, or runs wait for them. */
  get isBusy(): boolean {
    return this.#runs.isBusy || poolIsBusy();
  }

  /**
   * A run of an entry that need not be waited for: at once, or after those before it and what
   * threads do for others. `write` puts its inputs into the memory, `read` makes the result of what
   * it left there.
   */
  call<T>(name: string, write: () => void, read: () => T): Promise<T> {
    const start = performance.now();
    const result = this.#runs.call(this.#found(name), write, read);
    const shared = this.#shared;
    if (shared === undefined || !isStarting(shared)) return result;
    // Loops that await every run would else keep the threads of a page from starting.
    return result.then(async (value) => {
      const now = performance.now();
      const end = now + shareForStart * (now - start);
      do await nextTask();
      while (isStarting(shared) && performance.now() < end);
      return value;
    });
  }

  /** Begins runs that belong together; nothing else is under way. */
  begin(task: Task): void {
    this.#runs.begin(task);
  }

  /** Blocks until they are over; a page's own thread spins. */
  finish(task: Task): void {
    this.#runs.now(task);
  }

  /** Ends all of those that have not begun. */
  drop(error: Error): void {
    this.#runs.drop(error);
  }

  /** The elements of a state in the module's memory, not a copy. Those of models are numbers. */
  elements<Elements extends DataArray = NumberArray>(place: BufferPlace): Elements {
    this.settle();
    return windowOn(this.#memory, place) as Elements;
  }

  /** The bytes of a state in the module's memory, not a copy. */
  state(place: BufferPlace): Uint8Array {
    this.settle();
    return new Uint8Array(this.#memory.buffer, place.offset, byteLength(place));
  }

  /** The calls and milliseconds of an entry in the module's memory; nothing without timing. */
  times({ times }: EntryPlace): Float64Array | undefined {
    return times && new Float64Array(this.#memory.buffer, times.offset, 1 + times.parts.length);
  }

  /** All states one after the other in the order of the metadata. */
  states(): Uint8Array<ArrayBuffer> {
    const result = new Uint8Array(this.statesLength);
    let at = 0;
    for (const place of this.metadata.states) {
      result.set(this.state(place), at);
      at += byteLength(place);
    }
    return result;
  }

  /** The reverse of `states`. */
  setStates(content: Uint8Array): void {
    let at = 0;
    for (const place of this.metadata.states) {
      this.state(place).set(content.subarray(at, at + byteLength(place)));
      at += byteLength(place);
    }
  }

  /** Bytes of all states together. */
  get statesLength(): number {
    return this.metadata.states.reduce((total, place) => total + byteLength(place), 0);
  }

  /**
   * Copies from another instance every state of the same name and shape that is wanted. Returns the
   * states that got nothing.
   */
  carryStates(
    other: Instance,
    isWanted: (place: BufferPlace) => boolean = () => true,
  ): BufferPlace[] {
    return this.metadata.states.filter((place) => {
      const source = other.metadata.states.find(({ name }) => name === place.name);
      const isSame = source !== undefined && source.shape.join() === place.shape.join();
      if (!isSame || !isWanted(place)) return true;
      this.state(place).set(other.state(source));
      return false;
    });
  }

  /** Goes on with the times of another instance, for entries of the same parts. */
  carryTimes(other: Instance): void {
    for (const place of this.metadata.entries) {
      const before = other.metadata.entries.find(({ name }) => name === place.name);
      const isSame = before?.times?.parts.join() === place.times?.parts.join();
      if (isSame && before?.times) this.times(place)!.set(other.times(before)!);
    }
  }

  /** An entry, and no thread at work on the memory. Error: there is none of this name. */
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
  return askEngine(`the model needs ${megabytes} MiB of WebAssembly memory`, () => {
    const module = parts.module ?? new WebAssembly.Module(code);
    const pages = Math.ceil(memoryBytes / pageBytes);
    const imports: WebAssembly.Imports = threads
      ? {
          env: { memory: new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true }) },
        }
      : { env: { now: () => performance.now() } };
    const instance = new WebAssembly.Instance(module, imports);
    const memory = new Uint8Array((instance.exports.memory as WebAssembly.Memory).buffer);
    for (const { offset, data } of segments) memory.set(data, offset);
    return { module, instance };
  });
}
