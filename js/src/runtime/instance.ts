/** A generated module at work: its memory, its states, one call per entry. */
import { type BufferPlace, byteLength, type EntryPlace, type ModuleMetadata } from '../core/abi.js';
import { elementCount } from '../base/shape.js';
import { LatheError } from '../base/errors.js';
import type { MetricSums } from '../train/metrics.js';
import { checkNumbers, watches } from '../train/numerics.js';
import { type Begin, type Job, mayBlock, type SharedModule } from './pool.js';
import { nextTask } from '../base/pause.js';
import { Prediction } from '../train/prediction.js';
import type { ModuleParts } from '../core/handles.js';
import { how } from './protocol.js';
import { copied, type Examples, type Rows } from '../train/rows.js';
import { Runs } from './runs.js';
import type { DataArray } from '../tensor/tensor.js';
import { addModule, beginJob, isStarting, jobOf, poolIsBusy, removeModule } from './threads.js';

/** Nanoseconds of work that a page may do itself: half a frame of the screen. */
const mostBriefWork = 8e6;

/** The rows that lie in the memory of an entry for several batches. */
interface Resident {
  data: WeakRef<Examples>;
  /** Whether they are all, in their own order. */
  whole: boolean;
  order: Uint32Array | undefined;
  from: number;
  to: number;
}

/** One entry point with typed windows on its buffers. */
export class Entry {
  readonly inputs: ReadonlyMap<string, DataArray>;
  readonly outputs: ReadonlyMap<string, DataArray>;
  readonly #call: (how: number) => void;
  readonly #shared: SharedModule | undefined;
  #resident: Resident | undefined;

  constructor(
    { exports }: WebAssembly.Instance,
    readonly place: EntryPlace,
    shared: SharedModule | undefined,
    /** Notes what a run changes, to give it back where the run fails. */
    private readonly keep: (() => () => void) | undefined,
  ) {
    this.#call = exports[place.name] as (how: number) => void;
    this.#shared = shared;
    const memory = exports.memory as WebAssembly.Memory;
    const windows = (places: BufferPlace[]) =>
      new Map(places.map((each) => [each.name, windowOn(memory, each)]));
    this.inputs = windows(place.inputs);
    this.outputs = windows(place.outputs);
  }

  /** Rows of the first input. */
  get batch(): number {
    return this.place.inputs[0]!.shape[0]!;
  }

  /** Has the entry work on rows `order[from]` …; rows `from` … when there is no order. */
  loadAll(data: Examples, from: number, count: number, order?: Uint32Array): void {
    const picked = this.inputs.get('order');
    if (picked === undefined) return this.#copy(data, from, count, order);
    if (!this.#holds(data, from, count, order)) this.#fill(data, from, order);
    const { whole, from: first } = this.#resident!;
    for (let at = 0; at < count; ++at) {
      picked[at] = whole ? (order?.[from + at] ?? from + at) : from + at - first;
    }
    repeat(picked, count);
  }

  #holds(data: Examples, from: number, count: number, order?: Uint32Array): boolean {
    const held = this.#resident;
    if (held?.data.deref() !== data) return false;
    return held.whole || (held.order === order && from >= held.from && from + count <= held.to);
  }

  /** Takes all rows in their own order if they fit, else as many as fit from `from` on. */
  #fill(data: Examples, from: number, order?: Uint32Array): void {
    const most = this.place.inputs.find(({ name }) => name !== 'order')!.shape[0]!;
    const whole = data.count <= most;
    const first = whole ? 0 : from;
    const to = Math.min(first + most, data.count);
    this.#copy(data, first, to - first, whole ? undefined : order);
    this.#resident = { data: new WeakRef(data), order, whole, from: first, to };
  }

  #copy({ rows }: Examples, from: number, count: number, order?: Uint32Array): void {
    for (const [name, each] of rows) {
      this.load(name, each, from, count, order);
      repeat(this.inputs.get(name)!, count * each.width);
    }
  }

  private load(name: string, rows: Rows, from: number, count: number, order?: Uint32Array): void {
    const target = this.inputs.get(name)!;
    const { data, width } = rows;
    if (order === undefined) {
      target.set(data.subarray(from * width, (from + count) * width));
      return;
    }
    for (let at = 0; at < count; ++at) {
      const row = order[from + at]!;
      if (width === 1) target[at] = data[row]!;
      else target.set(data.subarray(row * width, (row + 1) * width), at * width);
    }
  }

  /** Says how many rows of the batch are real. */
  setRows(count: number): void {
    this.inputs.get('rows')![0] = count;
  }

  /** Runs to its end: with other threads where this one may sleep for them, else alone. */
  run(): void {
    const job = mayBlock ? this.begin() : undefined;
    if (job === undefined) this.runAlone();
    else job.wait();
  }

  runAlone(): void {
    if (this.#shared !== undefined) {
      (this.#shared.exports['threads.begin'] as Begin)(this.#index, 1);
    }
    this.#call(how.alone);
  }

  /** Starts a run on threads; nothing where this thread should do it alone. */
  begin(): Job | undefined {
    const { threads, work } = this.place;
    if (this.#shared === undefined || threads < 2) return undefined;
    return beginJob(this.#shared, this.#index, threads, work < mostBriefWork, this.keep);
  }

  get #index(): number {
    return this.#shared!.entries.indexOf(this.place.name);
  }

  output(name: string): DataArray {
    return this.outputs.get(name)!;
  }
}

/** Copies states, into the same memory every time; what it returns brings them back. */
function keeper(states: readonly DataArray[]): (() => () => void) | undefined {
  if (states.length === 0) return undefined;
  let copies: DataArray[] | undefined;
  return () => {
    copies ??= states.map((each) => each.slice());
    copies.forEach((copy, at) => copy.set(states[at]!));
    return () => copies!.forEach((copy, at) => states[at]!.set(copy));
  };
}

/**
 * Fills the rest of a batch with its first elements. Those rows count nothing, but zeros may become NaN,
 * which no factor of 0 takes out of a sum.
 */
function repeat(values: DataArray, count: number): void {
  for (let have = count; have < values.length; have *= 2) values.copyWithin(have, 0, have);
}

/** The elements of a buffer, not a copy. */
function windowOn(memory: WebAssembly.Memory, { dtype, shape, offset }: BufferPlace): DataArray {
  const Type = { f32: Float32Array, i32: Int32Array, bool: Uint8Array }[dtype];
  return new Type(memory.buffer, offset, elementCount(shape));
}

/**
 * Means over some rows by name: loss, acc; of a model with several outputs loss, NAME_loss, NAME_acc.
 * Beside them the sums of the other metrics.
 */
export interface Score {
  means: Readonly<Record<string, number>>;
  sums: Readonly<Record<string, MetricSums>>;
  rows: number;
}

/** What an instance holds. */
interface Held {
  shared: SharedModule | undefined;
  bytes: number;
}

const forgotten = new FinalizationRegistry<Held>(release);
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
  readonly #entries = new Map<string, Entry>();
  readonly #shared: SharedModule | undefined;
  readonly #held: Held;
  readonly #runs = new Runs();

  /**
   * A run on threads that fails leaves the states `kept` as they were. Errors: no memory for it, or
   * an engine that refuses the module.
   */
  constructor(
    parts: ModuleParts,
    readonly metadata: ModuleMetadata,
    kept: ReadonlySet<string> = new Set(),
  ) {
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
    for (const place of metadata.entries) {
      this.#entries.set(place.name, new Entry(instance, place, this.#shared, keep));
    }
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
    const result = this.#runs.call(this.#found(name), write, read);
    if (this.#shared === undefined || !isStarting(this.#shared)) return result;
    // Loops that await every run would else keep the threads of a page from starting.
    return result.then(async (value) => (await nextTask(), value));
  }

  /** Ends all of those that have not begun. */
  drop(error: Error): void {
    this.#runs.drop(error);
  }

  /** The batch size an entry is made for. */
  batch(name: string): number {
    return this.#found(name).batch;
  }

  /** Runs train or evaluate on `count` rows from `from` on. Returns their scores. */
  score(
    name: 'train' | 'evaluate',
    data: Examples,
    from: number,
    count: number,
    order?: Uint32Array,
  ): Score {
    const entry = this.entry(name);
    entry.loadAll(data, from, count, order);
    entry.setRows(count);
    const before = this.#statesToKeep;
    entry.run();
    return this.#scoreOf(entry, data, from, count, order, before);
  }

  /** As `score`, without keeping a page waiting for its threads. */
  async scoreAsync(
    name: 'train' | 'evaluate',
    data: Examples,
    from: number,
    count: number,
    order?: Uint32Array,
  ): Promise<Score> {
    if (mayBlock) return this.score(name, data, from, count, order);
    const entry = this.#found(name);
    let before: Uint8Array | undefined;
    const write = () => {
      entry.loadAll(data, from, count, order);
      entry.setRows(count);
      before = this.#statesToKeep;
    };
    return this.call(name, write, () => this.#scoreOf(entry, data, from, count, order, before));
  }

  /** A step on all rows, of a caller that may change them as soon as it has the promise. */
  step(data: Examples): Promise<Score> {
    const own = mayBlock || !this.isBusy ? data : copied(data);
    return this.scoreAsync('train', own, 0, data.count);
  }

  /** What a step may have to give back. */
  get #statesToKeep(): Uint8Array | undefined {
    return watches(this.metadata) ? this.states() : undefined;
  }

  #scoreOf(
    entry: Entry,
    data: Examples,
    from: number,
    count: number,
    order: Uint32Array | undefined,
    before: Uint8Array | undefined,
  ): Score {
    if (before !== undefined) {
      const rows = Array.from({ length: count }, (_, at) => order?.[from + at] ?? from + at);
      try {
        checkNumbers(this, entry, data, rows);
      } catch (error) {
        this.setStates(before);
        throw error;
      }
    }
    return scoreOf(entry, count, this.metadata);
  }

  /** Predicts every row of x. */
  predict(x: Examples): Prediction {
    const entry = this.entry(
      x.count === 1 && this.#entries.has('predict_1') ? 'predict_1' : 'predict',
    );
    return new Prediction(entry, x, this.#runs);
  }

  /** The elements of a state in the module's memory, not a copy. */
  elements(place: BufferPlace): DataArray {
    this.settle();
    return windowOn(this.#memory, place);
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
   * Copies from another instance every state of the same name and shape, and times; or only the
   * weights. Returns the states that got nothing.
   */
  carryFrom(other: Instance, onlyWeights: boolean): BufferPlace[] {
    const fresh = this.metadata.states.filter((place) => {
      const source = other.metadata.states.find(({ name }) => name === place.name);
      const isSame = source !== undefined && source.shape.join() === place.shape.join();
      if (!isSame || (onlyWeights && place.name.startsWith('optimizer/'))) return true;
      this.state(place).set(other.state(source));
      return false;
    });
    if (!onlyWeights) this.#carryTimes(other);
    return fresh;
  }

  #carryTimes(other: Instance): void {
    for (const place of this.metadata.entries) {
      const before = other.metadata.entries.find(({ name }) => name === place.name);
      const isSame = before?.times?.parts.join() === place.times?.parts.join();
      if (isSame && before?.times) this.times(place)!.set(other.times(before)!);
    }
  }

  /** Error: negative, NaN, no optimiser. */
  setLearningRate(learningRate: number): void {
    const place = this.metadata.states.find(({ name }) => name === 'optimizer/learning_rate');
    if (place === undefined)
      throw new LatheError('setLearningRate: compile with an optimizer first');
    if (!(learningRate >= 0 && learningRate < Infinity)) {
      throw new LatheError(`setLearningRate: must be a finite number ≥ 0, got ${learningRate}`);
    }
    this.elements(place)[0] = learningRate;
  }

  /** Sets to zero what layers keep between batches. */
  resetStates(): void {
    for (const place of this.metadata.states) {
      if (place.name.startsWith('states/')) this.state(place).fill(0);
    }
  }

  /** An entry, and no thread at work on the memory. Error: there is none of this name. */
  entry(name: string): Entry {
    this.settle();
    return this.#found(name);
  }

  #found(name: string): Entry {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new LatheError(`the module has no entry ${name}`);
    return entry;
  }
}

function scoreOf(entry: Entry, rows: number, { metrics = [] }: ModuleMetadata): Score {
  const means: Record<string, number> = {};
  const sums: Record<string, MetricSums> = {};
  for (const [name, values] of entry.outputs) {
    const metric = metrics.find((each) => each.output === name);
    if (metric !== undefined) {
      sums[metric.name] = { final: metric.final, sums: Array.from(values) };
      continue;
    }
    const [kind, output] = name.split('/');
    if (kind === 'not_finite') continue;
    const prefix = output === undefined ? '' : `${output}_`;
    if (kind === 'loss') means[`${prefix}loss`] = values[0]!;
    else means[`${prefix}acc`] = values[0]! / rows;
  }
  return { means, sums, rows };
}

/** Threads that some entry of a module keeps busy. */
export function threadsOf({ entries }: ModuleMetadata): number {
  return Math.max(...entries.map(({ threads }) => threads));
}

const pageBytes = 65536;

function instantiate(
  { code, segments }: ModuleParts,
  { memoryBytes, threads }: ModuleMetadata,
): WebAssembly.WebAssemblyInstantiatedSource {
  try {
    const module = new WebAssembly.Module(code);
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
  } catch (error) {
    if (error instanceof WebAssembly.CompileError) {
      throw new LatheError(`this engine refuses the generated module: ${error.message}`, {
        cause: error,
      });
    }
    const megabytes = Math.ceil(memoryBytes / 2 ** 20);
    throw new LatheError(
      `out of memory: the model needs ${megabytes} MiB of WebAssembly memory (${String(error)})`,
      { cause: error },
    );
  }
}
