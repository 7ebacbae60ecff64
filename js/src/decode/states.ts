/** The states of a decoder, such as rows of keys and values with spare capacity, and the tensors that callers see of them. */
import { currentStop } from '../base/stop.js';
import type { CoreGraph } from '../core/handles.js';
import type { Tensor } from '../tensor/tensor.js';
import { shareOf } from './device_tensor.js';
import { LazyTensorValue } from './lazy_value.js';
import type { TensorValue, TracedResult } from './model.js';
import type { ChunkProgram, StateMemory, StateSpec } from './state_memory.js';

/** A decoder traced for a certain number of new tokens. */
export interface TracedChunk {
  graph: CoreGraph;
  results: readonly (TracedResult | null)[];
}

interface Chunk {
  program: ChunkProgram;
  results: TracedChunk['results'];
}

/** The content of the states after a call: read from them until they are overwritten, then from a copy. */
export class StateSnapshot {
  /** Copies of states by index, shared by snapshots. */
  readonly #copies = new Map<number, Tensor>();
  #users = 0;

  constructor(
    private readonly memory: StateMemory,
    /** The number of valid rows at the time of the snapshot. */
    readonly rows: number,
  ) {}

  /** The elements of a state; of one with rows, only the valid rows. */
  read(index: number): Tensor {
    return this.memory.part(index, this.rows, this.#copies.get(index));
  }

  /** Whether somebody may read it. */
  get isUsed(): boolean {
    return this.#users > 0;
  }

  retain(): void {
    this.#users += 1;
  }

  /** The last user frees the copies. */
  release(): void {
    this.#users -= 1;
    if (this.#users > 0) return;
    for (const each of this.#copies.values()) each.dispose();
    this.#copies.clear();
  }

  /** Retains a copy, before the state is overwritten. */
  preserve(index: number, copy: Tensor): void {
    if (!this.#copies.has(index)) this.#copies.set(index, shareOf(copy));
  }
}

/** A state as an output. */
export class StateTensor extends LazyTensorValue {
  constructor(
    readonly snapshot: StateSnapshot,
    readonly stateIndex: number,
    type: string,
    shape: readonly number[],
    device: string | undefined,
  ) {
    super(type, shape, () => snapshot.read(stateIndex), { device, retained: snapshot });
  }
}

/** The states of a decoder, and the programs for chunks of several lengths that share them. */
export class DecoderStates {
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
    /** The states that calls change come first. */
    readonly memory: StateMemory,
    /** Types of the states that calls change. */
    readonly specs: readonly StateSpec[],
    /** How many rows the states have room for. */
    readonly capacity: number,
    private readonly traceChunk: (tokens: number) => TracedChunk,
  ) {}

  /** The program for a number of new tokens. Errors: those of compilation. */
  chunk(tokens: number): Chunk {
    if (this.memory.checksLimits && !this.#isStoppable && currentStop() !== undefined) {
      this.#isStoppable = true;
      for (const each of [...this.#chunks.keys()]) this.drop(each);
    }
    const compiled = this.#chunks.get(tokens);
    if (compiled !== undefined) return compiled;
    const { graph, results } = this.traceChunk(tokens);
    const chunk = { program: this.memory.compile(graph), results };
    this.#chunks.set(tokens, chunk);
    return chunk;
  }

  has(tokens: number): boolean {
    return this.#chunks.has(tokens);
  }

  /**
   * Frees the program for a number of new tokens. On Wasm, states are read and set through any other program, so one must be
   * compiled before the next access.
   */
  drop(tokens: number): void {
    this.#chunks.get(tokens)?.program.dispose();
    this.#chunks.delete(tokens);
  }

  /** Fills the states with these tensors, of `rows` rows, and zeros after them; live snapshots get copies first. */
  load(tensors: readonly Tensor[], rows: number): void {
    this.#preserve(this.#snapshots, this.specs.keys());
    this.#snapshots.clear();
    this.#newest = undefined;
    const isEmpty = rows === 0 && this.rows === 0;
    this.rows = rows;
    for (const [at, { axis }] of this.specs.entries()) {
      if (!isEmpty || axis === undefined) this.memory.fill(at, tensors[at]!);
    }
  }

  /**
   * To be called before each run. If runs replace states, the newest snapshot gets copies of these, and `contains` is false
   * for it from then on.
   */
  beginRun(): void {
    const replaced = [...this.specs.keys()].filter((at) => this.specs[at]!.axis === undefined);
    if (replaced.length === 0) return;
    if (this.#newest !== undefined) this.#preserve([this.#newest], replaced);
    this.#newest = undefined;
  }

  /** Whether a constant state is known to have this content already. `index`: among the constant states. */
  hasConstant(index: number, value: TensorValue): boolean {
    const origin = originOf(value);
    return origin !== undefined && this.#constantOrigins[index] === origin;
  }

  /** Sets a constant state to the elements of a value. */
  setConstant(index: number, value: TensorValue, tensor: Tensor): void {
    this.#constantOrigins[index] = undefined;
    this.memory.fill(this.specs.length + index, tensor);
    this.#constantOrigins[index] = originOf(value);
  }

  /** A snapshot of the current content. */
  snapshot(): StateSnapshot {
    const snapshot = new StateSnapshot(this.memory, this.rows);
    this.#newest = new WeakRef(snapshot);
    for (const each of this.#snapshots)
      if (each.deref()?.isUsed !== true) this.#snapshots.delete(each);
    this.#snapshots.add(this.#newest);
    return snapshot;
  }

  /** Whether the states still contain this snapshot. */
  contains(snapshot: StateSnapshot): boolean {
    return this.#newest !== undefined && this.#newest.deref() === snapshot;
  }

  dispose(): void {
    this.#preserve(this.#snapshots, this.specs.keys());
    this.#snapshots.clear();
    this.#newest = undefined;
    this.memory.dispose();
    this.#chunks.clear();
    this.#constantOrigins.length = 0;
  }

  /** Gives copies of states to the snapshots that may still be read. */
  #preserve(snapshots: Iterable<WeakRef<StateSnapshot>>, states: Iterable<number>): void {
    const used = [...snapshots].flatMap((each) => each.deref() ?? []).filter((each) => each.isUsed);
    if (used.length === 0) return;
    for (const at of states) {
      const copy = this.memory.copy(at);
      for (const each of used) each.preserve(at, copy);
      copy.dispose();
    }
  }
}

const originOf = (value: TensorValue) =>
  value instanceof LazyTensorValue && !value.isRead ? value.origin : undefined;
