/** The states of a decoder, such as rows of keys and values with spare capacity, and the tensors that callers see of them. */
import { currentStop } from '../base/stop.js';
import { elementCount } from '../base/shape.js';
import type { CoreGraph } from '../core/handles.js';
import type { DataArray } from '../tensor/convert.js';
import { arrayTypes, type DType } from '../tensor/dtypes.js';
import { cropOrPad, sliceAlong, withSize } from '../tensor/parts.js';
import { Tensor } from '../tensor/tensor.js';
import { type InternalOptions, ModuleFunction } from '../trace/module_function.js';
import { SharedVariables } from '../trace/shared_variables.js';
import type { TracedVariable } from '../trace/trace.js';
import { LazyTensorValue } from './lazy_value.js';
import type { TensorValue, TracedResult } from './model.js';

/** A decoder traced for a certain number of new tokens. */
export interface TracedChunk {
  graph: CoreGraph;
  results: readonly (TracedResult | null)[];
}

/** Shape and dtype of a state. */
export interface StateSpec {
  dtype: DType;
  shape: readonly number[];
  /** The axis along which calls append rows; undefined: each call replaces the whole content. */
  axis?: number | undefined;
}

interface Chunk {
  run: ModuleFunction;
  results: TracedChunk['results'];
}

/** The content of the states after a call: read from them until they are overwritten, then from a copy. */
export class StateSnapshot {
  /** Copies of states by index, shared by snapshots. */
  readonly #copies = new Map<number, DataArray>();

  constructor(
    readonly states: DecoderStates,
    /** The number of valid rows at the time of the snapshot. */
    readonly rows: number,
  ) {}

  /** The elements of a state; of one with rows, only the valid rows. */
  read(stateIndex: number): DataArray {
    const data = this.#copies.get(stateIndex) ?? this.states.content(stateIndex);
    const { shape, axis } = this.states.specs[stateIndex]!;
    return axis === undefined ? data : sliceAlong(data, shape, axis, 0, this.rows);
  }

  /** Retains copies, before the states are overwritten. */
  retain(copies: ReadonlyMap<number, DataArray>): void {
    for (const [index, data] of copies) if (!this.#copies.has(index)) this.#copies.set(index, data);
  }
}

/** A state as an output. */
export class StateTensor extends LazyTensorValue {
  constructor(
    readonly snapshot: StateSnapshot,
    readonly stateIndex: number,
    type: string,
    shape: readonly number[],
  ) {
    super(type, shape, () => snapshot.read(stateIndex));
  }
}

/** The states of a decoder, and the programs for chunks of several lengths that share them. */
export class DecoderStates {
  #shared = new SharedVariables();
  /** The origin of the content of each constant state, if it is a lazy output that was not read. */
  readonly #constantOrigins: (object | undefined)[] = [];
  readonly #chunks = new Map<number, Chunk>();
  /** Whether the chunks check the limits of calls: since the first call that has some. */
  #isStoppable = false;
  /** Snapshots that may still be read. */
  readonly #snapshots = new Set<WeakRef<StateSnapshot>>();
  #newest: WeakRef<StateSnapshot> | undefined;
  /** How many rows are valid. */
  rows = 0;

  constructor(
    /** Types of the states that calls change. */
    readonly specs: readonly StateSpec[],
    /** Types of the constant states after them. */
    private readonly constantSpecs: readonly StateSpec[],
    /** How many rows the states have room for. */
    readonly capacity: number,
    private readonly traceChunk: (tokens: number) => TracedChunk,
    private readonly options: InternalOptions,
  ) {}

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
      [...this.specs, ...this.constantSpecs].map(
        ({ dtype, shape }, at): [string, TracedVariable] => {
          const initial = new Tensor(new arrayTypes[dtype](elementCount(shape)), shape, dtype);
          return [`cache${at}`, { dtype, shape, initial } as unknown as TracedVariable];
        },
      ),
    );
    const assigned = new Set([...variables.keys()].slice(0, this.specs.length));
    const traced = { graph, variables, assigned };
    // A run may follow a failed one without a rollback: it writes its new rows before it reads them and changes no earlier
    // rows, and states that it replaces are loaded again.
    const options = { ...this.options, isRepeatable: true };
    const run = new ModuleFunction(() => traced, {}, this.#shared, options);
    const chunk = { run, results };
    this.#chunks.set(tokens, chunk);
    return chunk;
  }

  has(tokens: number): boolean {
    return this.#chunks.has(tokens);
  }

  /**
   * Frees the program for a number of new tokens. States are read and set through any other program, so one must be
   * compiled before the next access.
   */
  drop(tokens: number): void {
    this.#chunks.get(tokens)?.run.dispose();
    this.#chunks.delete(tokens);
  }

  /** A copy of the whole content of a state, unused rows included. */
  content(stateIndex: number): DataArray {
    const [chunk] = this.#chunks.values();
    return chunk!.run.variable(`cache${stateIndex}`).dataSync<DType>();
  }

  /** Fills the states with these values, of `rows` rows, and zeros after them; live snapshots get copies first. */
  load(values: readonly DataArray[], rows: number): void {
    this.#retainSnapshots();
    const isEmpty = rows === 0 && this.rows === 0;
    this.rows = rows;
    const [chunk] = this.#chunks.values();
    for (const [at, { shape, dtype, axis }] of this.specs.entries()) {
      if (isEmpty && axis !== undefined) continue;
      const from = axis === undefined ? shape : withSize(shape, axis, rows);
      const all = cropOrPad(values[at]!, from, shape);
      chunk!.run.setVariable(`cache${at}`, new Tensor(all, shape, dtype));
    }
  }

  /**
   * To be called before each run. If runs replace states, the newest snapshot gets copies of these, and `contains` is false
   * for it from then on.
   */
  beginRun(): void {
    const replaced = [...this.specs.keys()].filter((at) => this.specs[at]!.axis === undefined);
    if (replaced.length === 0) return;
    this.#newest?.deref()?.retain(this.#copies(replaced));
    this.#newest = undefined;
  }

  /** Sets a constant state, unless it is known to have this content already. `index`: among the constant states. */
  setConstant(index: number, value: TensorValue): void {
    const origin = value instanceof LazyTensorValue && !value.isRead ? value.origin : undefined;
    if (origin !== undefined && this.#constantOrigins[index] === origin) return;
    this.#constantOrigins[index] = undefined;
    const { shape, dtype } = this.constantSpecs[index]!;
    const [chunk] = this.#chunks.values();
    const tensor = new Tensor(cropOrPad(value.data, value.shape, shape), shape, dtype);
    chunk!.run.setVariable(`cache${this.specs.length + index}`, tensor);
    this.#constantOrigins[index] = origin;
  }

  /** A snapshot of the current content. */
  snapshot(): StateSnapshot {
    const snapshot = new StateSnapshot(this, this.rows);
    this.#newest = new WeakRef(snapshot);
    for (const each of this.#snapshots)
      if (each.deref() === undefined) this.#snapshots.delete(each);
    this.#snapshots.add(this.#newest);
    return snapshot;
  }

  /** Whether the states still contain this snapshot. */
  contains(snapshot: StateSnapshot): boolean {
    return this.#newest !== undefined && this.#newest.deref() === snapshot;
  }

  get bytes(): number {
    return [...this.#chunks.values()].reduce((sum, { run }) => sum + run.bytes, 0);
  }

  dispose(): void {
    this.#retainSnapshots();
    for (const { run } of this.#chunks.values()) run.dispose();
    this.#chunks.clear();
    this.#constantOrigins.length = 0;
    // Live snapshots refer to this object; they have copies, so they need not keep the memory of the programs alive.
    this.#shared = new SharedVariables();
  }

  #copies(states: Iterable<number>): Map<number, DataArray> {
    return new Map([...states].map((at) => [at, this.content(at)]));
  }

  #retainSnapshots(): void {
    let copies: Map<number, DataArray> | undefined;
    for (const each of this.#snapshots) {
      each.deref()?.retain((copies ??= this.#copies(this.specs.keys())));
    }
    this.#snapshots.clear();
    this.#newest = undefined;
  }
}
