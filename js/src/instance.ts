/** A generated module at work: its memory, its states, one call per entry. */
import { type BufferPlace, byteLength, elementCount, type ModuleMetadata } from './abi.js';
import { LatheError } from './errors.js';
import type { Rows } from './rows.js';
import type { DataArray } from './tensor.js';

/** One entry point with typed windows on its buffers. */
export class Entry {
  readonly inputs: ReadonlyMap<string, DataArray>;
  readonly outputs: ReadonlyMap<string, DataArray>;
  readonly #call: () => void;

  constructor(
    memory: WebAssembly.Memory,
    call: () => void,
    readonly place: ModuleMetadata['entries'][number],
  ) {
    this.#call = call;
    const windows = (places: BufferPlace[]) =>
      new Map(places.map((each) => [each.name, windowOn(memory, each)]));
    this.inputs = windows(place.inputs);
    this.outputs = windows(place.outputs);
  }

  /** Rows of the first input. */
  get batch(): number {
    return this.place.inputs[0]!.shape[0]!;
  }

  /** Elements of the first output per row of the first input. */
  get outputWidth(): number {
    return elementCount(this.place.outputs[0]!.shape) / this.batch;
  }

  /** Copies rows `order[from]` … into an input; rows `from` … when there is no order. */
  load(name: string, rows: Rows, from: number, count: number, order?: Uint32Array): void {
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

  run(): void {
    this.#call();
  }

  output(name: string): DataArray {
    return this.outputs.get(name)!;
  }
}

/** The elements of a buffer, not a copy. */
function windowOn(memory: WebAssembly.Memory, { dtype, shape, offset }: BufferPlace): DataArray {
  const Type = { f32: Float32Array, i32: Int32Array, bool: Uint8Array }[dtype];
  return new Type(memory.buffer, offset, elementCount(shape));
}

/** Loss summed over rows, hits, and the rows they are of. */
export interface Score {
  loss: number;
  correct: number;
  rows: number;
}

/** An instantiated module. Its memory holds weights and optimiser states between calls. */
export class Instance {
  readonly #memory: WebAssembly.Memory;
  readonly #entries = new Map<string, Entry>();

  /** Errors: no memory for it, or an engine that refuses the module. */
  constructor(
    readonly bytes: Uint8Array<ArrayBuffer>,
    readonly metadata: ModuleMetadata,
  ) {
    const { exports } = instantiate(bytes, metadata.memoryBytes);
    this.#memory = exports.memory as WebAssembly.Memory;
    for (const place of metadata.entries) {
      const call = exports[place.name] as () => void;
      this.#entries.set(place.name, new Entry(this.#memory, call, place));
    }
  }

  /** The batch size an entry is made for. */
  batch(name: string): number {
    return this.entry(name).batch;
  }

  /** Runs train or evaluate on `count` rows from `from` on. Returns the mean loss and the hits. */
  score(
    name: 'train' | 'evaluate',
    x: Rows,
    y: Rows,
    from: number,
    count: number,
    order?: Uint32Array,
  ): Score {
    const entry = this.entry(name);
    entry.load('x', x, from, count, order);
    entry.load('y', y, from, count, order);
    entry.setRows(count);
    entry.run();
    return { loss: entry.output('loss')[0]!, correct: entry.output('correct')[0]!, rows: count };
  }

  /** Predicts every row of x into one array. */
  predict(x: Rows): Float32Array {
    const entry = this.entry(x.count === 1 ? 'predict_1' : 'predict');
    const result = new Float32Array(x.count * entry.outputWidth);
    for (let from = 0; from < x.count; from += entry.batch) {
      const count = Math.min(entry.batch, x.count - from);
      entry.load('x', x, from, count);
      entry.run();
      result.set(
        entry.output('y').subarray(0, count * entry.outputWidth),
        from * entry.outputWidth,
      );
    }
    return result;
  }

  /** The elements of a state in the module's memory, not a copy. */
  elements(place: BufferPlace): DataArray {
    return windowOn(this.#memory, place);
  }

  /** The bytes of a state in the module's memory, not a copy. */
  state(place: BufferPlace): Uint8Array {
    return new Uint8Array(this.#memory.buffer, place.offset, byteLength(place));
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

  /** Copies from another instance every state of the same name and shape. */
  carryFrom(other: Instance, onlyTrainable: boolean): void {
    for (const place of this.metadata.states) {
      const source = other.metadata.states.find(({ name }) => name === place.name);
      if (source === undefined || source.shape.join() !== place.shape.join()) continue;
      if (place.trainable || !onlyTrainable) this.state(place).set(other.state(source));
    }
  }

  /** Error: there is no entry of this name. */
  entry(name: string): Entry {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new LatheError(`the module has no entry ${name}`);
    return entry;
  }
}

function instantiate(bytes: Uint8Array<ArrayBuffer>, memoryBytes: number): WebAssembly.Instance {
  try {
    return new WebAssembly.Instance(new WebAssembly.Module(bytes), {});
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
