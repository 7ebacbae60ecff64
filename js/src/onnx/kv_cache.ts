/** The key/value cache of decoders: states with spare capacity, and the tensors that callers see of them. */
import { currentStop } from '../base/stop.js';
import { elementCount } from '../base/shape.js';
import type { CoreGraph } from '../core/handles.js';
import type { DataArray } from '../tensor/convert.js';
import { arrayTypes, type DType } from '../tensor/dtypes.js';
import { Tensor } from '../tensor/tensor.js';
import { CompiledFunction, type InternalOptions } from '../trace/compiled_function.js';
import { SharedVariables } from '../trace/shared_variables.js';
import type { TracedVariable } from '../trace/trace.js';
import type { Port } from './file.js';
import { cropOrPad, type TensorValue } from './values.js';

/** The cache axis of [batch, heads, rows, size]. */
export const rowAxis = 2;

/** A decoder traced for a certain number of new tokens. */
export interface TracedChunk {
  graph: CoreGraph;
  results: Port[];
}

/** Type of a state. */
export interface StateSpec {
  dtype: DType;
  shape: readonly number[];
}

interface Chunk {
  run: CompiledFunction;
  results: Port[];
}

/** `count` slices along an axis from `from` on; beyond the end the last slice is repeated. */
export function sliceAlong<Data extends DataArray>(
  data: Data,
  shape: readonly number[],
  axis: number,
  from: number,
  count: number,
): Data {
  const inner = elementCount(shape.slice(axis + 1));
  const outer = elementCount(shape.slice(0, axis));
  const size = shape[axis]!;
  const make = data.constructor as new (length: number) => Data;
  const result = new make(outer * count * inner);
  const available = Math.max(0, Math.min(count, size - from));
  for (let row = 0; row < outer; row++) {
    const begin = (row * size + from) * inner;
    result.set(data.subarray(begin, begin + available * inner) as never, row * count * inner);
    for (let k = available; k < count; k++) {
      const last = ((row + 1) * size - 1) * inner;
      result.set(data.subarray(last, last + inner) as never, (row * count + k) * inner);
    }
  }
  return result;
}

/** The content of the cache after a call: read from the states until they are overwritten, then from a copy. */
export class CacheSnapshot {
  /** Copies of the states, shared by snapshots. */
  #copies: readonly DataArray[] | undefined;

  constructor(
    readonly states: KvCache,
    readonly length: number,
  ) {}

  read(state: number): DataArray {
    const data = this.#copies?.[state] ?? this.states.content(state);
    return sliceAlong(data, this.states.specs[state]!.shape, rowAxis, 0, this.length);
  }

  /** Retains these copies, before the states are overwritten. */
  retain(states: readonly DataArray[]): void {
    this.#copies ??= states;
  }
}

/** An output whose elements are computed on demand. Passed back as an input without having been read, it is recognized. */
export class LazyTensorValue {
  readonly kind = 'tensor';
  #pristine: DataArray | undefined;
  #exposed: DataArray | undefined;
  readonly #make: () => DataArray;
  /** Identity of the elements, shared by aliases. */
  readonly origin: object;

  constructor(
    readonly type: string,
    readonly shape: readonly number[],
    make: () => DataArray,
    origin?: LazyTensorValue,
  ) {
    this.#make = make;
    this.origin = origin?.origin ?? this;
  }

  /** The same elements as another output. */
  alias(): LazyTensorValue {
    return new LazyTensorValue(this.type, this.shape, () => this.#untouched(), this);
  }

  get data(): DataArray {
    return this.#exposed ?? this.#untouched();
  }

  get isRead(): boolean {
    return this.#exposed !== undefined;
  }

  /** The elements for the caller: a copy, as aliases may exist. */
  read(): DataArray {
    return (this.#exposed ??= this.#untouched().slice());
  }

  #untouched(): DataArray {
    return (this.#pristine ??= this.#make());
  }
}

/** Cache rows as an output. */
export class CacheTensor extends LazyTensorValue {
  constructor(
    readonly rows: CacheSnapshot,
    readonly state: number,
    type: string,
    shape: readonly number[],
  ) {
    super(type, shape, () => rows.read(state));
  }
}

/** The states of a decoder, and the programs for chunks of several lengths that share them. */
export class KvCache {
  #shared = new SharedVariables();
  /** Identity of the content of each constant state, if it is a lazy output. */
  readonly #fixed: (object | undefined)[] = [];
  readonly #chunks = new Map<number, Chunk>();
  /** Whether the chunks check the limits of calls: since the first call that has some. */
  #isStoppable = false;
  /** Snapshots that may still be read. */
  readonly #snapshots = new Set<WeakRef<CacheSnapshot>>();
  #newest: WeakRef<CacheSnapshot> | undefined;
  length = 0;

  constructor(
    /** Types of the cache states, [batch, heads, capacity, size]. */
    readonly specs: readonly StateSpec[],
    /** Types of the constant states after them. */
    private readonly fixed: readonly StateSpec[],
    private readonly traceChunk: (tokens: number) => TracedChunk,
    private readonly options: InternalOptions,
  ) {}

  get capacity(): number {
    return this.specs[0]!.shape[rowAxis]!;
  }

  /** The program for a number of new tokens. Errors: those of compilation. */
  chunk(tokens: number): Chunk {
    if (!this.#isStoppable && currentStop() !== undefined) {
      this.#isStoppable = true;
      for (const each of [...this.#chunks.keys()]) this.drop(each);
    }
    const compiled = this.#chunks.get(tokens);
    if (compiled !== undefined) return compiled;
    const { graph, results } = this.traceChunk(tokens);
    const variables = new Map(
      [...this.specs, ...this.fixed].map(({ dtype, shape }, at): [string, TracedVariable] => {
        const initial = new Tensor(new arrayTypes[dtype](elementCount(shape)), shape, dtype);
        return [`cache${at}`, { dtype, shape, initial } as unknown as TracedVariable];
      }),
    );
    const assigned = new Set([...variables.keys()].slice(0, this.specs.length));
    const traced = { graph, variables, assigned };
    // A run writes its rows before it reads them, and no earlier rows.
    const options = { ...this.options, isRepeatable: true };
    const run = new CompiledFunction(() => traced, {}, this.#shared, options);
    const chunk = { run, results };
    this.#chunks.set(tokens, chunk);
    return chunk;
  }

  has(tokens: number): boolean {
    return this.#chunks.has(tokens);
  }

  /** Frees the program for a number of new tokens; another one must have been compiled. */
  drop(tokens: number): void {
    this.#chunks.get(tokens)?.run.dispose();
    this.#chunks.delete(tokens);
  }

  /** A copy of a state. */
  content(state: number): DataArray {
    const [chunk] = this.#chunks.values();
    return chunk!.run.variable(`cache${state}`).dataSync<DType>();
  }

  /** Fills the states with `length` rows and zeros; live snapshots are copied first. */
  load(values: readonly DataArray[], length: number): void {
    this.#retainSnapshots();
    const isEmpty = length === 0 && this.length === 0;
    this.length = length;
    const [chunk] = this.#chunks.values();
    for (const [at, { shape, dtype }] of isEmpty ? [] : this.specs.entries()) {
      const [batch = 1, heads = 1, capacity = 0, size = 0] = shape;
      const all = new arrayTypes[dtype](elementCount(shape));
      for (let k = 0; length > 0 && k < batch * heads; k++) {
        const rows = values[at]!.subarray(k * length * size, (k + 1) * length * size);
        all.set(rows as never, k * capacity * size);
      }
      chunk!.run.setVariable(`cache${at}`, new Tensor(all, shape, dtype));
    }
  }

  /** Sets a constant state, unless it already has this content. */
  fix(state: number, value: TensorValue): void {
    const origin = value instanceof LazyTensorValue && !value.isRead ? value.origin : undefined;
    if (origin !== undefined && this.#fixed[state] === origin) return;
    this.#fixed[state] = undefined;
    const { shape, dtype } = this.fixed[state]!;
    const [chunk] = this.#chunks.values();
    const tensor = new Tensor(cropOrPad(value.data as DataArray, value.shape, shape), shape, dtype);
    chunk!.run.setVariable(`cache${this.specs.length + state}`, tensor);
    this.#fixed[state] = origin;
  }

  /** A snapshot of the current content. */
  snapshot(): CacheSnapshot {
    const rows = new CacheSnapshot(this, this.length);
    this.#newest = new WeakRef(rows);
    for (const each of this.#snapshots)
      if (each.deref() === undefined) this.#snapshots.delete(each);
    this.#snapshots.add(this.#newest);
    return rows;
  }

  /** Whether the states still contain this snapshot. */
  contains(rows: CacheSnapshot): boolean {
    return this.#newest !== undefined && this.#newest.deref() === rows;
  }

  get bytes(): number {
    return [...this.#chunks.values()].reduce((sum, { run }) => sum + run.bytes, 0);
  }

  dispose(): void {
    this.#retainSnapshots();
    for (const { run } of this.#chunks.values()) run.dispose();
    this.#chunks.clear();
    this.#fixed.length = 0;
    // Snapshots need not retain its memory.
    this.#shared = new SharedVariables();
  }

  #retainSnapshots(): void {
    let states: DataArray[] | undefined;
    for (const each of this.#snapshots) {
      each.deref()?.retain((states ??= this.specs.map((_, at) => this.content(at))));
    }
    this.#snapshots.clear();
    this.#newest = undefined;
  }
}
