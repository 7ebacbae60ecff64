/** Asynchronous prediction of many rows in batches. */
import type { PendingData } from '../tensor/tensor.js';
import type { Entry } from '../runtime/entry.js';
import type { Instance } from '../runtime/instance.js';
import type { Task } from '../runtime/run_queue.js';
import type { BatchLoader } from './batch_loader.js';
import { copyExamples, type Examples } from './examples.js';

const noExamples: Examples = { count: 0, rows: new Map(), kinds: [] };

/** A prediction that starts when it is constructed. On a single thread it also ends in the constructor. */
export class Prediction implements Task {
  readonly #results: ReadonlyMap<string, Float32Array>;
  #data: Examples;
  /** The first row of the next batch. */
  #firstRow = 0;
  #isOver = false;
  #error: unknown;
  #endedPromise: Promise<void> | undefined;
  #resolveEnded: (() => void) | undefined;

  constructor(
    private readonly loader: BatchLoader,
    data: Examples,
    private readonly instance: Instance,
  ) {
    this.#data = data;
    this.#results = new Map(
      [...this.entry.outputs].map(([name, { length }]) => {
        const width = length / loader.batch;
        return [name, new Float32Array(data.count * width)];
      }),
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

  /**
   * Blocks until all results are available; the main thread of a page busy-waits. Error: the prediction failed.
   */
  finishSync(): void {
    if (!this.#isOver) this.instance.finish(this);
    if (this.#error !== undefined) throw this.#error;
  }

  /** Resolves when the prediction has ended, also if it failed. */
  get ended(): Promise<void> {
    return (this.#endedPromise ??= this.#isOver
      ? Promise.resolve()
      : new Promise((done) => (this.#resolveEnded = done)));
  }

  /** The number of rows in the next batch. */
  get #count(): number {
    return Math.min(this.loader.batch, this.#data.count - this.#firstRow);
  }

  get hasNext(): boolean {
    return this.#firstRow < this.#data.count;
  }

  load(): void {
    this.loader.load(this.#data, this.#firstRow, this.#count);
  }

  collect(): void {
    const count = this.#count;
    for (const [name, result] of this.#results) {
      const width = result.length / this.#data.count;
      result.set(this.entry.outputs.get(name)!.subarray(0, count * width), this.#firstRow * width);
    }
    this.#firstRow += count;
  }

  end(error?: unknown): void {
    this.#isOver = true;
    // Retaining the results must not retain the inputs.
    this.#data = noExamples;
    this.#error = error;
    this.#resolveEnded?.();
  }
}

/** The results of one output. Its promise is created by `readAsync`, so that a rejection is never unhandled. */
class Output implements PendingData {
  constructor(
    private readonly prediction: Prediction,
    private readonly values: Float32Array,
  ) {}

  readSync(): Float32Array {
    this.prediction.finishSync();
    return this.values;
  }

  readAsync(): Promise<Float32Array> {
    return this.prediction.ended.then(() => this.readSync());
  }
}
