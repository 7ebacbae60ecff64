/** The results of a model for many rows, batch after batch: threads go on with them while the caller does other things. */
import type { Entry } from './instance.js';
import type { Job } from './pool.js';
import type { Rows } from './rows.js';
import type { PendingData } from './tensor.js';

/** Begins at once, and is over at once where one thread does it. */
export class Prediction implements PendingData {
  readonly #entry: Entry;
  readonly #result: Float32Array;
  #rows: Rows;
  #from = 0;
  #job: Job | undefined;
  #error: unknown;
  #later: Promise<Float32Array> | undefined;

  constructor(entry: Entry, rows: Rows) {
    this.#entry = entry;
    this.#rows = rows;
    this.#result = new Float32Array(rows.count * entry.outputWidth);
    this.#begin();
    if (this.isOver) return;
    // The caller may change its rows as soon as it has the result in its hands.
    this.#rows = { ...rows, data: rows.data.slice() };
    this.later.catch(() => {});
  }

  get later(): Promise<Float32Array> {
    return (this.#later ??= this.#follow());
  }

  get isOver(): boolean {
    return this.#job === undefined;
  }

  /** Blocks until all is there; a page's own thread spins. Error: a thread failed. */
  now(): Float32Array {
    while (this.#job !== undefined) {
      this.#job.settle();
      this.#advance(this.#job);
    }
    if (this.#error !== undefined) throw this.#error;
    return this.#result;
  }

  async #follow(): Promise<Float32Array> {
    if (!this.isOver) await undefined; // a caller that wants the result at once helps with it
    while (this.#job !== undefined) {
      const job = this.#job;
      await job.over();
      this.#advance(job);
    }
    return this.now();
  }

  /** Takes the results of a run that is over, once, and begins the next. */
  #advance(job: Job): void {
    if (this.#job !== job) return;
    this.#job = undefined;
    try {
      job.wait();
      this.#collect();
      this.#begin();
    } catch (error) {
      this.#error = error;
    }
  }

  get #count(): number {
    return Math.min(this.#entry.batch, this.#rows.count - this.#from);
  }

  #begin(): void {
    while (this.#from < this.#rows.count) {
      this.#entry.load('x', this.#rows, this.#from, this.#count);
      this.#job = this.#entry.begin();
      if (this.#job !== undefined) return;
      this.#entry.runAlone();
      this.#collect();
    }
  }

  #collect(): void {
    const width = this.#entry.outputWidth;
    const values = this.#entry.output('y').subarray(0, this.#count * width);
    this.#result.set(values, this.#from * width);
    this.#from += this.#count;
  }
}
