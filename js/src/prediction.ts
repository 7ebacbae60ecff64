/** The results of a model for many rows, batch after batch: threads go on with them while the caller does other things. */
import type { Entry } from './instance.js';
import type { Job } from './pool.js';
import type { Examples } from './rows.js';
import type { PendingData } from './tensor.js';

/** Begins at once, and is over at once where one thread does it. */
export class Prediction {
  readonly #entry: Entry;
  readonly #results: ReadonlyMap<string, Float32Array>;
  #data: Examples;
  #from = 0;
  #job: Job | undefined;
  #error: unknown;
  #later: Promise<void> | undefined;

  constructor(entry: Entry, data: Examples) {
    this.#entry = entry;
    this.#data = data;
    const sizes = [...entry.outputs].map(([name, { length }]) => [name, length / entry.batch]);
    this.#results = new Map(
      (sizes as [string, number][]).map(([name, width]) => [
        name,
        new Float32Array(data.count * width),
      ]),
    );
    this.#begin();
    if (this.isOver) return;
    // The caller may change its rows as soon as it has the result in its hands.
    const copies = [...data.rows].map(
      ([name, rows]) => [name, { ...rows, data: rows.data.slice() }] as const,
    );
    this.#data = { ...data, rows: new Map(copies) };
    this.later.catch(() => {});
  }

  /** The results of one output. */
  output(name: string): PendingData {
    const values = () => this.#results.get(name)!;
    return {
      now: () => (this.now(), values()),
      later: this.isOver ? Promise.resolve(values()) : this.later.then(values),
    };
  }

  get later(): Promise<void> {
    return (this.#later ??= this.#follow());
  }

  get isOver(): boolean {
    return this.#job === undefined;
  }

  /** Blocks until all is there; a page's own thread spins. Error: a thread failed. */
  now(): void {
    while (this.#job !== undefined) {
      this.#job.settle();
      this.#advance(this.#job);
    }
    if (this.#error !== undefined) throw this.#error;
  }

  async #follow(): Promise<void> {
    if (!this.isOver) await undefined; // a caller that wants the result at once helps with it
    while (this.#job !== undefined) {
      const job = this.#job;
      await job.over();
      this.#advance(job);
    }
    this.now();
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
    return Math.min(this.#entry.batch, this.#data.count - this.#from);
  }

  #begin(): void {
    while (this.#from < this.#data.count) {
      this.#entry.loadAll(this.#data, this.#from, this.#count);
      this.#job = this.#entry.begin();
      if (this.#job !== undefined) return;
      this.#entry.runAlone();
      this.#collect();
    }
  }

  #collect(): void {
    const count = this.#count;
    for (const [name, result] of this.#results) {
      const width = result.length / this.#data.count;
      result.set(this.#entry.output(name).subarray(0, count * width), this.#from * width);
    }
    this.#from += count;
  }
}
