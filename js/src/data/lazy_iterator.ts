/** An iterator of a dataset, with the methods of LazyIterator of TensorFlow.js. */
import { checkInteger } from '../base/options.js';
import { randomSeed, seedOf, uniform } from '../base/random.js';
import { Tensor } from '../tensor/tensor.js';
import {
  grouped,
  trackPassing,
  disposePassing,
  nextOf,
  packageIterators,
  prefetched,
  shuffled,
  sliced,
} from './iterate.js';

/** Combines the values at one position of several elements, or requests recursion into them. */
export type Zip = (values: any[]) => { value: any; recurse: boolean };

const zipToList: Zip = (values) => ({ value: values, recurse: isNested(values[0]) });

const isNested = (value: unknown) =>
  Array.isArray(value) ||
  (typeof value === 'object' &&
    value !== null &&
    !ArrayBuffer.isView(value) &&
    !(value instanceof Tensor));

function columns(rows: any[], zip: Zip): unknown {
  const { value, recurse } = zip(rows);
  if (!recurse) return value;
  const [first] = rows;
  const column = (key: string | number) =>
    columns(
      rows.map((row) => row[key]),
      zip,
    );
  if (Array.isArray(first)) return first.map((_, at) => column(at));
  return Object.fromEntries(Object.keys(first).map((key) => [key, column(key)]));
}

/** Yields its elements once. Its methods return iterators that continue from this one; a full read closes it on failure. */
export class LazyIterator<T> implements AsyncIterableIterator<T> {
  readonly #source: AsyncIterator<T> | undefined;

  /** @internal A subclass without a source overrides `next`. */
  constructor(source?: AsyncIterator<T>) {
    this.#source = source;
    if (source) packageIterators.add(this);
  }

  /** The next element; after the last one `{ value: null, done: true }`. */
  async next(): Promise<IteratorResult<T, any>> {
    const { done = false, value } = await this.#source!.next();
    return { value: done ? (value ?? null) : value, done };
  }

  /** Closes the source. */
  async return(): Promise<IteratorResult<T, any>> {
    await this.#source?.return?.();
    return { value: null, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Applies the function to each element. */
  map<U>(transform: (value: T) => U): LazyIterator<Awaited<U>> {
    return this.#from(async () => {
      const { done, value } = await nextOf(this);
      if (done) return { done, value };
      const next = await trackPassing(() => transform(value) as Awaited<U>);
      disposePassing(value, next);
      return { done: false, value: next };
    });
  }

  mapAsync<U>(transform: (value: T) => Promise<U>): LazyIterator<Awaited<U>> {
    return this.map(transform);
  }

  serialMapAsync<U>(transform: (value: T) => Promise<U>): LazyIterator<Awaited<U>> {
    return this.map(transform);
  }

  /** The elements of the arrays that the function returns. */
  flatmap<U>(transform: (value: T) => U[]): LazyIterator<U> {
    const lists = this.map(transform);
    const walk = async function* () {
      for await (const list of lists) yield* list as U[];
    };
    return new LazyIterator(walk());
  }

  /** The elements for which the function returns true. */
  filter(predicate: (value: T) => boolean): LazyIterator<T> {
    return this.#from(async () => {
      for (;;) {
        const result = await this.next();
        if (result.done || predicate(result.value)) return result;
        disposePassing(result.value);
      }
    });
  }

  /** Decides on an error whether to continue with the next element or to end. */
  handleErrors(handler: (error: Error) => boolean): LazyIterator<T> {
    return this.#from(async () => {
      for (;;) {
        try {
          return await this.next();
        } catch (error) {
          if (!handler(error as Error)) return { value: null, done: true };
        }
      }
    });
  }

  /** The first `count` elements; negative: all. This one continues after them. */
  take(count = -1): LazyIterator<T> {
    let left = count;
    return this.#from(async () =>
      count < 0 || left-- > 0 ? this.next() : { value: null, done: true },
    );
  }

  /** All but the first `count` elements; negative: all. */
  skip(count = -1): LazyIterator<T> {
    return count < 0 ? this : new LazyIterator(sliced(this, count, Infinity));
  }

  /** Arrays of `batchSize` elements. `smallLastBatch`: whether a shorter last one is included. */
  rowMajorBatch(batchSize: number, smallLastBatch = true): LazyIterator<T[]> {
    checkInteger('rowMajorBatch: batchSize', batchSize, 1);
    return new LazyIterator(grouped(this, batchSize, smallLastBatch));
  }

  /** As `rowMajorBatch`, column by column: of elements `{a, b}` objects of arrays. `zip` combines the values at one position. */
  columnMajorBatch(
    batchSize: number,
    smallLastBatch = true,
    zip: Zip = zipToList,
  ): LazyIterator<any> {
    return this.rowMajorBatch(batchSize, smallLastBatch).map((rows) => columns(rows, zip));
  }

  /** Another iterator after this one. */
  concatenate(iterator: AsyncIterable<T>): LazyIterator<T> {
    const first: AsyncIterable<T> = this;
    const walk = async function* () {
      yield* first;
      yield* iterator;
    };
    return new LazyIterator(walk());
  }

  /** As of datasets. */
  prefetch(bufferSize: number): LazyIterator<T> {
    checkInteger('prefetch: bufferSize', bufferSize, 1);
    return new LazyIterator(prefetched(this, bufferSize));
  }

  /** As of datasets. */
  shuffle(windowSize: number, seed?: number | string): LazyIterator<T> {
    checkInteger('shuffle: windowSize', windowSize, 0);
    const start = typeof seed === 'string' ? seedOf(seed) : (seed ?? randomSeed());
    return new LazyIterator(shuffled(this, windowSize, uniform(start, 0)));
  }

  /** The iterator itself: elements are always read sequentially. */
  serial(): this {
    return this;
  }

  /** Calls the function on every element, one after the other, and awaits its result; as `map`, it then disposes of their tensors. */
  async forEachAsync(action: (value: T) => unknown): Promise<void> {
    await this.map(action).resolveFully();
  }

  /** The same until the function returns false. */
  async serialForEach(action: (value: T) => boolean | Promise<boolean>): Promise<void> {
    await this.map(action).resolveWhile((goesOn) => goesOn);
  }

  /** Reads all elements and drops them. */
  async resolveFully(): Promise<void> {
    await this.resolveWhile(() => true);
  }

  /** Reads elements and drops them, up to the first for which the function returns false. */
  async resolveWhile(predicate: (value: T) => boolean): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await this.next();
        if (done || !predicate(value)) return;
      }
    } catch (error) {
      await this.return();
      throw error;
    }
  }

  /** All elements. */
  async toArray(): Promise<T[]> {
    const values: T[] = [];
    await this.resolveWhile((value) => values.push(value) > 0);
    return values;
  }

  #from<U>(next: () => Promise<IteratorResult<U, any>>): LazyIterator<U> {
    return new LazyIterator({ next, return: () => this.return() as Promise<any> });
  }
}
