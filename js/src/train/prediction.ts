/** The results of a model for many rows, batch after batch: threads go on with them while the caller does other things. */
import type { PendingData } from '../tensor/tensor.js';
import type { Entry } from '../runtime/entry.js';
import type { Instance } from '../runtime/instance.js';
import type { Task } from '../runtime/runs.js';
import type { BatchLoader } from './batch_loader.js';
import { copied, type Examples } from './rows.js';

const nothing: Examples = { count: 0, rows: new Map(), kinds: [] };

/** Begins at once, and is over at once where one thread does it. */
export class Prediction implements Task {
  readonly #results: ReadonlyMap<string, Float32Array>;
  #data: Examples;
  #from = 0;
  #isOver = false;
  #error: unknown;
  #later: Promise<void> | undefined;
  #tell: (() => void) | undefined;

  constructor(
    private readonly loader: BatchLoader,
    data: Examples,
    private readonly instance: Instance,
  ) {
    this.#data = data;
    const { outputs } = this.entry;
    const sizes = [...outputs].map(([name, { length }]) => [name, length / loader.batch]);
    this.#results = new Map(
      (sizes as [string, number][]).map(([name, width]) => [
        name,
        new Float32Array(data.count * width),
      ]),
    );
    instance.begin(this);
    // The caller may change its rows as soon as it has the result in its hands.
    if (!this.#isOver) this.#data = copied(data);
  }

  get entry(): Entry {
    return this.loader.entry;
  }

  /** The results of one output. */
  output(name: string): PendingData {
    return new Output(this, this.#results.get(name)!);
  }

  /** Blocks until all is there; a page's own thread spins. Error: a thread failed. */
  now(): void {
    if (!this.#isOver) this.instance.finish(this);
    if (this.#error !== undefined) throw this.#error;
  }

  /** Resolves when it is over, whatever its end. */
  get ended(): Promise<void> {
    return (this.#later ??= this.#isOver
      ? Promise.resolve()
      : new Promise((done) => (this.#tell = done)));
  }

  get #count(): number {
    return Math.min(this.loader.batch, this.#data.count - this.#from);
  }

  get hasNext(): boolean {
    return this.#from < this.#data.count;
  }

  load(): void {
    this.loader.load(this.#data, this.#from, this.#count);
  }

  collect(): void {
    const count = this.#count;
    for (const [name, result] of this.#results) {
      const width = result.length / this.#data.count;
      result.set(this.entry.outputs.get(name)!.subarray(0, count * width), this.#from * width);
    }
    this.#from += count;
  }

  end(error?: unknown): void {
    this.#isOver = true;
    // Who keeps the results does not keep what they were made of.
    this.#data = nothing;
    this.#error = error;
    this.#tell?.();
  }
}

/** There is no promise before somebody asks for it, so nobody misses its error. */
class Output implements PendingData {
  constructor(
    private readonly prediction: Prediction,
    private readonly values: Float32Array,
  ) {}

  now(): Float32Array {
    this.prediction.now();
    return this.values;
  }

  get later(): Promise<Float32Array> {
    return this.prediction.ended.then(() => this.now());
  }
}
