/** Combinators of async iterables that close their sources when they stop early. */
import { LatheError, reasonOf } from '../base/errors.js';
import { scoped } from '../tensor/live_tensors.js';
import { tensorsIn } from '../tensor/scopes.js';
import { lastTensor } from '../tensor/tensor.js';

/** What the function of `generator` may return. */
export type Source<T> = Iterator<T> | AsyncIterator<T> | Iterable<T> | AsyncIterable<T>;

/** Wraps an iterator as an iterable for a single `for await`, which closes it. */
export function once<T>(iterator: AsyncIterator<T> | Iterator<T>): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => iterator as AsyncIterator<T> };
}

/** Tensors created by dataset functions: the stage that replaces or drops them disposes of them. */
const passing = new WeakSet<object>();

/** Disposes of the tensors of `value` that dataset functions made and `next` does not contain, as TensorFlow.js does. */
export function disposePassing(value: unknown, next?: unknown): void {
  const passedOn = tensorsIn(next);
  for (const each of tensorsIn(value)) {
    if (passing.has(each) && !passedOn.includes(each)) each.dispose();
  }
}

/** Calls a function of a dataset and marks the tensors it made, those with an id above `before`, for `disposePassing`. */
export async function trackPassing<T>(
  produce: () => T | Promise<T>,
  before = lastTensor(),
): Promise<T> {
  const next = await produce();
  for (const each of tensorsIn(next)) if (each.id > before) passing.add(each);
  return next;
}

/** Iterators of this package; all others are user code. */
export const packageIterators = new WeakSet<object>();

/**
 * The next element, with its tensors marked: of user iterators all of them, as in TensorFlow.js,
 * of others those created after the tensor `before`.
 */
export const nextOf = <T>(iterator: AsyncIterator<T>, before?: number) =>
  trackPassing(() => iterator.next(), packageIterators.has(iterator) ? before : 0);

/** Wraps the iterator of a subclass so that its tensors are marked. */
export const trackedIterator = <T>(iterator: AsyncIterator<T>): AsyncIterable<T> =>
  once<T>({
    next: () => nextOf(iterator),
    return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
  });

/** Calls the function on every value; tensors that it creates synchronously are disposed of unless they are in its result. */
export async function* mapped<T, U>(
  source: AsyncIterable<T>,
  change: (value: T) => U | Promise<U>,
): AsyncGenerator<Awaited<U>> {
  for await (const value of source) {
    const next = await trackPassing(() => scoped(() => change(value)));
    disposePassing(value, next);
    yield next;
  }
}

/** The values that pass the test. */
export async function* filtered<T>(
  source: AsyncIterable<T>,
  test: (value: T) => boolean,
): AsyncGenerator<T> {
  for await (const value of source) {
    if (scoped(() => test(value))) yield value;
    else disposePassing(value);
  }
}

/** The values with indices from `from` to `to` - 1. */
export async function* sliced<T>(
  source: AsyncIterable<T>,
  from: number,
  to: number,
): AsyncGenerator<T> {
  let at = 0;
  if (to <= from) return;
  for await (const value of source) {
    if (at++ >= from) yield value;
    else disposePassing(value);
    if (at === to) return;
  }
}

/** Arrays of `count` values; a shorter last one is optional. */
export async function* grouped<T>(
  source: AsyncIterable<T>,
  count: number,
  includesLast: boolean,
): AsyncGenerator<T[]> {
  let group: T[] = [];
  for await (const value of source) {
    group.push(value);
    if (group.length < count) continue;
    yield group;
    group = [];
  }
  if (group.length > 0 && includesLast) yield group;
}

/** The source repeated, reopened for each round; an empty one ends it. */
export async function* repeated<T>(
  open: () => AsyncIterable<T>,
  rounds: number,
): AsyncGenerator<T> {
  for (let round = 0; round < rounds; ++round) {
    let isEmpty = true;
    for await (const value of open()) {
      isEmpty = false;
      yield value;
    }
    if (isEmpty) return;
  }
}

/** Shuffles within a buffer of `count` values: each value read replaces a random one, which is yielded. */
export async function* shuffled<T>(
  source: AsyncIterable<T>,
  count: number,
  random: () => number,
): AsyncGenerator<T> {
  const buffer: T[] = [];
  const takeRandom = () => {
    const chosen = Math.floor(random() * buffer.length);
    const value = buffer[chosen]!;
    buffer[chosen] = buffer[buffer.length - 1]!;
    buffer.pop();
    return value;
  };
  for await (const value of source) {
    buffer.push(value);
    if (buffer.length > count) yield takeRandom();
  }
  while (buffer.length > 0) yield takeRandom();
}

/** Requests up to `count` values in advance. */
export async function* prefetched<T>(source: AsyncIterable<T>, count: number): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  const pending: Promise<IteratorResult<T>>[] = [];
  try {
    for (;;) {
      while (pending.length < count) {
        const next = iterator.next();
        // The rejection is reported when the promise leaves the queue.
        next.catch(() => undefined);
        pending.push(next);
      }
      const { done, value } = await pending.shift()!;
      if (done) return value;
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}

/** Iterates several sources in lockstep until the first ends. */
export async function* zipped(sources: AsyncIterable<unknown>[]): AsyncGenerator<unknown[]> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]());
  try {
    for (;;) {
      const results = await allOf(iterators.map((each) => each.next()));
      if (results.some(({ done }) => done)) return;
      yield results.map(({ value }) => value as unknown);
    }
  } finally {
    await allOf(iterators.map((each) => each.return?.()));
  }
}

/** Promise.all that rejects only after all promises have settled. */
async function allOf<T>(promises: (Promise<T> | undefined)[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises) as Promise<T[]>;
}

/**
 * What a generator yields, and what it returns, which training uses as a last batch. Errors: those of the generator,
 * with the index of the element that failed; the function returns no iterator.
 */
export async function* generated<T>(open: () => Source<T> | Promise<Source<T>>): AsyncGenerator<T> {
  let count = 0;
  try {
    const source = walked(await open());
    let end: unknown;
    const next = async () => {
      const { done = false, value } = await trackPassing(() => source.next());
      if (done) end = value as unknown;
      return { done, value: await value };
    };
    const close = async () => {
      await source.return?.();
      return { done: true, value: undefined };
    };
    for await (const value of once<T>({ next, return: close } as AsyncIterator<T>)) {
      yield value;
      ++count;
    }
    return end;
  } catch (error) {
    if (error instanceof LatheError) throw error;
    const reason = reasonOf(error);
    throw new LatheError(`generator: it failed at element ${count}: ${reason}`, { cause: error });
  }
}

function walked<T>(source: Source<T>): AsyncIterator<T> | Iterator<T> {
  const candidate = source as Partial<AsyncIterable<T> & Iterable<T> & Iterator<T>> | undefined;
  const iterator =
    candidate?.[Symbol.asyncIterator]?.() ?? candidate?.[Symbol.iterator]?.() ?? candidate;
  if (typeof iterator?.next === 'function') return iterator as Iterator<T>;
  throw new LatheError('generator: the function must return an iterator');
}
