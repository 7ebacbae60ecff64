/** Asynchronous prediction of many rows in batches. */
import type { PendingData } from '../tensor/tensor.js';
import type { Entry } from '../runtime/entry.js';
import type { Instance } from '../runtime/instance.js';
import type { Task } from '../runtime/run_queue.js';
import type { BatchLoader } from './batch_loader.js';
import { copyExamples, type Examples } from './examples.js';

const nothing: Examples = { count: 0, rows: new Map(), kinds: [] };

/** Starts immediately; single-threaded it also completes immediately. */
export class Prediction implements Task {
  readonly #results: ReadonlyMap<string, Float32Array>;
  #data: Examples;
  #from = 0;
  #isOver = false;
  #error: unknown;
  #later: Promise<void> | undefined;
  #resolveEnded: (() => void) | undefined;

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
    // The caller may modify its rows once it has the prediction.
    if (!this.#isOver) this.#data = copyExamples(data);
  }

  get entry(): Entry {
    return this.loader.entry;
  }

  /** The results of one output. */
  output(name: string): PendingData {
    return new Output(this, this.#results.get(name)!);
  }

  /** Blocks until all results are available; the main thread of a page spins. Error: a thread failed. */
  now(): void {
    if (!this.#isOver) this.instance.finish(this);
    if (this.#error !== undefined) throw this.#error;
  }

  /** Resolves when it has ended, also with an error. */
  get ended(): Promise<void> {
    return (this.#later ??= this.#isOver
      ? Promise.resolve()
      : new Promise((done) => (this.#resolveEnded = done)));
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
    // Retaining the results must not retain the inputs.
    this.#data = nothing;
    this.#error = error;
    this.#resolveEnded?.();
  }
}

/** Creates its promise on demand, so that no rejection is unhandled. */
class Output implements PendingData {
  constructor(
    private readonly prediction: Prediction,
    private readonly values: Float32Array,
  ) {}

  readSync(): Float32Array {
    this.prediction.now();
    return this.values;
  }

  readAsync(): Promise<Float32Array> {
    return this.prediction.ended.then(() => this.readSync());
  }
}
