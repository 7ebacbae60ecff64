/**
 * Sequences of examples produced on demand, as tf.data of TensorFlow.js. Independent
 * of models.
 */
import { LatheError } from '../base/errors.js';
import { checkInteger } from '../base/options.js';
import { randomSeed, seedOf, uniform } from '../base/random.js';
import type { Batched } from './batch.js';
import type { Source } from './iterate.js';
import type { LazyIterator } from './lazy_iterator.js';
type Iterate = typeof import('./iterate.js');

/**
 * A lazy sequence of elements that can be iterated any number of times. Every method returns another
 * dataset and reads nothing; elements are read one at a time, when the consumer of the last dataset
 * reads them. Whoever stops early should call the iterator's `return`, as `for await` does.
 *
 * A subclass overrides `iterator` and returns an object with `next`; all other methods then use it.
 */
export class Dataset<T> implements AsyncIterable<T> {
  readonly #open: ((iterate: Iterate) => AsyncIterable<T>) | undefined;

  /** @internal */
  constructor(
    open?: (iterate: Iterate) => AsyncIterable<T>,
    /** Number of elements; Infinity if it never ends, null if unknown. */
    readonly size: number | null = null,
  ) {
    this.#open = open;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    const iterate = await import('./iterate.js');
    const isOverridden = this.iterator !== Dataset.prototype.iterator;
    return yield* isOverridden
      ? iterate.trackedIterator(await this.iterator())
      : this.#walk(iterate);
  }

  /** An iterator from the first element on. Error: a subclass does not implement it. */
  async iterator(): Promise<LazyIterator<T>> {
    const { LazyIterator } = await import('./lazy_iterator.js');
    return new LazyIterator(this.#walk(await import('./iterate.js'))[Symbol.asyncIterator]());
  }

  #walk(iterate: Iterate): AsyncIterable<T> {
    if (this.#open) return this.#open(iterate);
    throw new LatheError('a subclass of Dataset must override iterator()');
  }

  /** An iterator that has all methods, whatever `iterator` of a subclass returns. */
  async #lazy(): Promise<LazyIterator<T>> {
    const { LazyIterator } = await import('./lazy_iterator.js');
    return new LazyIterator(this[Symbol.asyncIterator]());
  }

  /** Applies the function to each element. */
  map<U>(transform: (value: T) => U): Dataset<Awaited<U>> {
    checkFunction('map', transform);
    return new Dataset(({ mapped }) => mapped(this, transform), this.size);
  }

  /** As `map`, with a function that returns a promise. */
  mapAsync<U>(transform: (value: T) => Promise<U>): Dataset<Awaited<U>> {
    checkFunction('mapAsync', transform);
    return this.map(transform);
  }

  /** The elements for which the function returns true. */
  filter(predicate: (value: T) => boolean): Dataset<T> {
    checkFunction('filter', predicate);
    return new Dataset(
      ({ filtered }) => filtered(this, predicate),
      this.size === Infinity ? Infinity : null,
    );
  }

  /**
   * Elements batched in groups of `batchSize`: numbers, strings, arrays of them and tensors become
   * tensors with the group as first axis, column by column in objects.
   * `smallLastBatch`: whether a smaller last group is included.
   */
  batch(batchSize: number, smallLastBatch = true): Dataset<Batched<T>> {
    checkInteger('batch: batchSize', batchSize, 1);
    const round = smallLastBatch ? Math.ceil : Math.floor;
    const size = this.size && round(this.size / batchSize);
    const source = this as Dataset<T>;
    return new Dataset(async function* ({ grouped, mapped }) {
      const { joinElements } = await import('./batch.js');
      const groups = grouped(source, batchSize, smallLastBatch);
      yield* mapped(groups, joinElements<T>) as AsyncIterable<Batched<T>>;
    }, size);
  }

  /** Another dataset after this one. */
  concatenate(dataset: Dataset<T>): Dataset<T> {
    if (!(dataset instanceof Dataset)) throw new LatheError('concatenate: a dataset is needed');
    const [first, second] = [this as Dataset<T>, dataset];
    const size = first.size == null || second.size == null ? null : first.size + second.size;
    return new Dataset(async function* () {
      yield* first;
      yield* second;
    }, size);
  }

  /**
   * A random order: each element is drawn from a buffer of `bufferSize`; a buffer as
   * large as the dataset shuffles it fully. The same seed, a number or a string, yields the same order;
   * `reshuffleEachIteration`: whether every iteration has a new one.
   */
  shuffle(bufferSize: number, seed?: number | string, reshuffleEachIteration = true): Dataset<T> {
    if (bufferSize == null || bufferSize < 0) {
      throw new LatheError(
        '`Dataset.shuffle()` requires bufferSize to be specified.' +
          (this.size == null
            ? ''
            : '  If your data fits in main memory (for regular JS objects), and/or GPU memory (for ' +
              `\`tf.Tensor\`s), consider setting bufferSize to the dataset size (${this.size} elements)`),
      );
    }
    checkInteger('shuffle: bufferSize', bufferSize);
    const start = typeof seed === 'string' ? seedOf(seed) : (seed ?? randomSeed());
    let round = 0;
    const next = () => uniform(start, reshuffleEachIteration ? round++ : 0);
    return new Dataset(({ shuffled }) => shuffled(this, bufferSize, next()), this.size);
  }

  /** Requests `bufferSize` elements in advance, so that producing them overlaps with their use. */
  prefetch(bufferSize: number): Dataset<T> {
    if (bufferSize == null) {
      throw new LatheError('`Dataset.prefetch()` requires bufferSize to be specified.');
    }
    checkInteger('prefetch: bufferSize', bufferSize, 1);
    return new Dataset(({ prefetched }) => prefetched(this, bufferSize), this.size);
  }

  /** The elements repeated `count` times; by default or if negative: indefinitely. */
  repeat(count = -1): Dataset<T> {
    checkInteger('repeat: count', count);
    const rounds = count < 0 ? Infinity : count;
    const isEmpty = this.size === 0 || rounds === 0;
    const size = isEmpty ? 0 : rounds === Infinity ? Infinity : this.size && this.size * rounds;
    return new Dataset(({ repeated }) => repeated(() => this, rounds), size);
  }

  /** The first `count` elements; by default or if negative: all. */
  take(count = -1): Dataset<T> {
    checkInteger('take: count', count);
    if (count < 0) return this;
    const size = count && this.size && Math.min(this.size, count);
    return new Dataset(({ sliced }) => sliced(this, 0, count), size);
  }

  /** All but the first `count` elements; by default or if negative: none. */
  skip(count = -1): Dataset<T> {
    checkInteger('skip: count', count);
    if (count < 0) return new Dataset(({ sliced }) => sliced(this, 0, 0), 0);
    const size = this.size && Math.max(this.size - count, 0);
    return new Dataset(({ sliced }) => sliced(this, count, Infinity), size);
  }

  /** Calls the function on every element, one after the other, and awaits its result; as `map`, it then disposes of their tensors. */
  async forEachAsync(action: (value: T) => unknown): Promise<void> {
    checkFunction('forEachAsync', action);
    return (await this.#lazy()).forEachAsync(action);
  }

  /** All elements. Error: an infinite dataset. */
  async toArray(): Promise<T[]> {
    if (this.size === Infinity) {
      throw new LatheError('Can not convert infinite data stream to array.');
    }
    return (await this.#lazy()).toArray();
  }
}

/** Datasets, nested in objects and arrays. */
export type DatasetContainer =
  Dataset<any> | readonly DatasetContainer[] | { readonly [key: string]: DatasetContainer };

/** The elements of `zip`: the same structure of elements. */
export type Zipped<C> =
  C extends Dataset<infer T>
    ? T
    : C extends object
      ? { -readonly [Key in keyof C]: Zipped<C[Key]> }
      : never;

/** Typed arrays, as iterables. */
export type TypedArrayOf<T> = ArrayBufferView & ArrayLike<T> & Iterable<T>;

/** A dataset of the values of an array, plain or typed. */
export function array<T>(items: readonly T[] | TypedArrayOf<T>): Dataset<T> {
  if (!Array.isArray(items) && !ArrayBuffer.isView(items))
    throw new LatheError('array: an array is needed');
  return new Dataset(async function* () {
    yield* items;
  }, items.length) as Dataset<T>;
}

/**
 * A dataset of what a generator yields; every iteration calls the function. Errors of the generator
 * reject the iteration and name the element that failed.
 */
export function generator<T>(open: () => Source<T> | Promise<Source<T>>): Dataset<T> {
  checkFunction('generator', open);
  return new Dataset(({ generated }) => generated(open));
}

/**
 * Datasets iterated in lockstep, until the first ends: of `{a: A, b: [B, C]}` elements `{a, b: [b, c]}`.
 * Error: a leaf that is not a dataset, no dataset, or a cyclic structure.
 */
export function zip<const C extends DatasetContainer>(datasets: C): Dataset<Zipped<C>> {
  const leaves: Dataset<unknown>[] = [];
  const build = numbered(datasets, leaves, []);
  if (leaves.length === 0) throw new LatheError('zip: there is no dataset in it');
  const sizes = leaves.map(({ size }) => size);
  const areSized = sizes.every((size) => size != null);
  const size = areSized ? Math.min(...(sizes as number[])) : null;
  const open = ({ mapped, zipped }: Iterate) => mapped(zipped(leaves), build);
  return new Dataset(open as (iterate: Iterate) => AsyncIterable<any>, size);
}

/** Collects the datasets of a nested structure; returns a function that builds the same structure of values. */
function numbered(
  node: DatasetContainer,
  leaves: Dataset<unknown>[],
  around: readonly object[],
): (values: unknown[]) => unknown {
  if (node instanceof Dataset) {
    const at = leaves.push(node) - 1;
    return (values) => values[at];
  }
  if (typeof node !== 'object' || node === null || ArrayBuffer.isView(node)) {
    throw new LatheError(
      around.length === 0
        ? 'The argument to zip() must be an object or array.'
        : 'Leaves of the structure passed to zip() must be Datasets, not primitives.',
    );
  }
  if (around.includes(node)) throw new LatheError('Circular references are not supported.');
  const parts = Object.entries(node).map(
    ([key, child]) => [key, numbered(child, leaves, [...around, node])] as const,
  );
  if (Array.isArray(node)) return (values) => parts.map(([, build]) => build(values));
  return (values) => Object.fromEntries(parts.map(([key, build]) => [key, build(values)]));
}

function checkFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') throw new LatheError(`${name}: a function is needed`);
}
