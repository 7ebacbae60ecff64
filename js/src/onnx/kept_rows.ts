/** Rows that decoders keep from call to call: states with room for more, and what callers hold of them. */
import { elementCount } from '../base/shape.js';
import type { CoreGraph } from '../core/handles.js';
import type { DataArray } from '../tensor/convert.js';
import { arrayTypes, type DType } from '../tensor/dtypes.js';
import { Tensor } from '../tensor/tensor.js';
import { CompiledFunction, type Terms } from '../trace/compiled_function.js';
import { SharedVariables } from '../trace/shared_variables.js';
import type { TracedVariable } from '../trace/trace.js';
import type { Port } from './file.js';
import { resized, type TensorValue } from './values.js';

/** Along which rows stand, of [batch, heads, rows, size]. */
export const rowAxis = 2;

/** A decoder written down for so many new tokens. */
export interface WrittenPiece {
  graph: CoreGraph;
  results: Port[];
}

/** A state. */
export interface Place {
  dtype: DType;
  shape: readonly number[];
}

interface Piece {
  run: CompiledFunction;
  results: Port[];
}

/** `count` slices along an axis from `from` on, the last one again where there are fewer. */
export function slices<Data extends DataArray>(
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
  const there = Math.max(0, Math.min(count, size - from));
  for (let row = 0; row < outer; row++) {
    const begin = (row * size + from) * inner;
    result.set(data.subarray(begin, begin + there * inner) as never, row * count * inner);
    for (let k = there; k < count; k++) {
      const last = ((row + 1) * size - 1) * inner;
      result.set(data.subarray(last, last + inner) as never, (row * count + k) * inner);
    }
  }
  return result;
}

/** What all states of a decoder hold after a call, as somebody may still read it. */
export class Rows {
  /** Whole states, which others read too. */
  #kept: readonly DataArray[] | undefined;

  constructor(
    readonly states: RowStates,
    readonly length: number,
  ) {}

  read(state: number): DataArray {
    const data = this.#kept?.[state] ?? this.states.content(state);
    return slices(data, this.states.places[state]!.shape, rowAxis, 0, this.length);
  }

  /** Before the states are overwritten. */
  keep(states: readonly DataArray[]): void {
    this.#kept ??= states;
  }
}

/** An output that comes back as an input, unless somebody reads its elements, and may have changed them, as it was. */
export class HeldTensor {
  readonly kind = 'tensor';
  #pristine: DataArray | undefined;
  #handed: DataArray | undefined;
  readonly #make: () => DataArray;
  /** Same of all that hold the same elements. */
  readonly origin: object;

  constructor(
    readonly type: string,
    readonly shape: readonly number[],
    make: () => DataArray,
    origin?: HeldTensor,
  ) {
    this.#make = make;
    this.origin = origin?.origin ?? this;
  }

  /** The same once more, as another output. */
  again(): HeldTensor {
    return new HeldTensor(this.type, this.shape, () => this.#untouched(), this);
  }

  get data(): DataArray {
    return this.#handed ?? this.#untouched();
  }

  get isRead(): boolean {
    return this.#handed !== undefined;
  }

  /** The elements, for those who called the model: a copy, as others may hold the same. */
  read(): DataArray {
    return (this.#handed ??= this.#untouched().slice());
  }

  #untouched(): DataArray {
    return (this.#pristine ??= this.#make());
  }
}

/** Kept rows as an output. */
export class KeptTensor extends HeldTensor {
  constructor(
    readonly rows: Rows,
    readonly state: number,
    type: string,
    shape: readonly number[],
  ) {
    super(type, shape, () => rows.read(state));
  }
}

/** The states of a decoder, and what is compiled for pieces of tokens of several lengths that share them. */
export class RowStates {
  #shared = new SharedVariables();
  /** What the states that stay as they are hold, where that comes back. */
  readonly #fixed: (object | undefined)[] = [];
  readonly #pieces = new Map<number, Piece>();
  /** What was given away and may still be read. */
  readonly #given = new Set<WeakRef<Rows>>();
  #newest: WeakRef<Rows> | undefined;
  length = 0;

  constructor(
    /** Of the states, [batch, heads, capacity, size]. */
    readonly places: readonly Place[],
    /** Of those behind them, which no call changes. */
    private readonly fixed: readonly Place[],
    private readonly write: (tokens: number) => WrittenPiece,
    private readonly terms: Terms,
  ) {}

  get capacity(): number {
    return this.places[0]!.shape[rowAxis]!;
  }

  /** What runs so many new tokens. Errors: whatever compiling throws. */
  piece(tokens: number): Piece {
    const known = this.#pieces.get(tokens);
    if (known !== undefined) return known;
    const { graph, results } = this.write(tokens);
    const variables = new Map(
      [...this.places, ...this.fixed].map(({ dtype, shape }, at): [string, TracedVariable] => {
        const initial = new Tensor(new arrayTypes[dtype](elementCount(shape)), shape, dtype);
        return [`cache${at}`, { dtype, shape, initial } as unknown as TracedVariable];
      }),
    );
    const assigned = new Set([...variables.keys()].slice(0, this.places.length));
    const written = { graph, variables, assigned };
    // A run writes its own rows before it reads them, and none before them.
    const terms = { ...this.terms, isRepeatable: true };
    const run = new CompiledFunction(() => written, {}, this.#shared, terms);
    const piece = { run, results };
    this.#pieces.set(tokens, piece);
    return piece;
  }

  has(tokens: number): boolean {
    return this.#pieces.has(tokens);
  }

  /** Lets go what runs so many new tokens, where something else has been compiled since. */
  drop(tokens: number): void {
    this.#pieces.get(tokens)?.run.dispose();
    this.#pieces.delete(tokens);
  }

  /** A copy of a state. */
  content(state: number): DataArray {
    const [piece] = this.#pieces.values();
    return piece!.run.variable(`cache${state}`).dataSync<DType>();
  }

  /** Fills the states with so many rows and zeros, after what may still be read of them is copied. */
  load(values: readonly DataArray[], length: number): void {
    this.#keepGiven();
    const isEmpty = length === 0 && this.length === 0;
    this.length = length;
    const [piece] = this.#pieces.values();
    for (const [at, { shape, dtype }] of isEmpty ? [] : this.places.entries()) {
      const [batch = 1, heads = 1, capacity = 0, size = 0] = shape;
      const all = new arrayTypes[dtype](elementCount(shape));
      for (let k = 0; length > 0 && k < batch * heads; k++) {
        const rows = values[at]!.subarray(k * length * size, (k + 1) * length * size);
        all.set(rows as never, k * capacity * size);
      }
      piece!.run.setVariable(`cache${at}`, new Tensor(all, shape, dtype));
    }
  }

  /** Fills a state that stays as it is, unless it holds just this. */
  fix(state: number, value: TensorValue): void {
    const origin = value instanceof HeldTensor && !value.isRead ? value.origin : undefined;
    if (origin !== undefined && this.#fixed[state] === origin) return;
    this.#fixed[state] = undefined;
    const { shape, dtype } = this.fixed[state]!;
    const [piece] = this.#pieces.values();
    const tensor = new Tensor(resized(value.data as DataArray, value.shape, shape), shape, dtype);
    piece!.run.setVariable(`cache${this.places.length + state}`, tensor);
    this.#fixed[state] = origin;
  }

  /** What the states hold now. */
  give(): Rows {
    const rows = new Rows(this, this.length);
    this.#newest = new WeakRef(rows);
    for (const each of this.#given) if (each.deref() === undefined) this.#given.delete(each);
    this.#given.add(this.#newest);
    return rows;
  }

  /** Whether these are they. */
  hold(rows: Rows): boolean {
    return this.#newest !== undefined && this.#newest.deref() === rows;
  }

  get bytes(): number {
    return [...this.#pieces.values()].reduce((sum, { run }) => sum + run.bytes, 0);
  }

  dispose(): void {
    this.#keepGiven();
    for (const { run } of this.#pieces.values()) run.dispose();
    this.#pieces.clear();
    this.#fixed.length = 0;
    // Who holds rows of it need not hold its memory.
    this.#shared = new SharedVariables();
  }

  #keepGiven(): void {
    let states: DataArray[] | undefined;
    for (const each of this.#given) {
      each.deref()?.keep((states ??= this.places.map((_, at) => this.content(at))));
    }
    this.#given.clear();
    this.#newest = undefined;
  }
}
