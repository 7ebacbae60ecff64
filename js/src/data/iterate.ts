/** Steps over async iterables that leave no source open: whoever stops early closes what it reads from. */
import { LatheError, reasonOf } from '../base/errors.js';
import { scoped, tensorsIn } from '../tensor/scopes.js';
import { lastTensor } from '../tensor/tensor.js';
import type { Source } from './dataset.js';

/** An iterator as something that `for await` walks once and closes. */
export function once<T>(iterator: AsyncIterator<T> | Iterator<T>): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => iterator as AsyncIterator<T> };
}

/** Tensors that functions of datasets have made: whoever makes something else of them, or drops them, disposes of them. */
const passing = new WeakSet<object>();

/** Disposes of what functions of datasets have made and nobody needs any more, as TensorFlow.js does. */
export function letGo(value: unknown, next?: unknown): void {
  const kept = tensorsIn(next);
  for (const each of tensorsIn(value)) {
    if (passing.has(each) && !kept.includes(each)) each.dispose();
  }
}

/** What a function of a dataset gives; `letGo` knows the tensors that it has made, those after the tensor `before`. */
export async function handedOn<T>(give: () => T | Promise<T>, before = lastTensor()): Promise<T> {
  const next = await give();
  for (const each of tensorsIn(next)) if (each.id > before) passing.add(each);
  return next;
}

/** Iterators of this package; all others were written by programs. */
export const ownIterators = new WeakSet<object>();

/**
 * The next element, which comes with its tensors: of iterators that programs have written all of them, as in TensorFlow.js,
 * of others those that are made after the tensor `before`.
 */
export const nextOf = <T>(iterator: AsyncIterator<T>, before?: number) =>
  handedOn(() => iterator.next(), ownIterators.has(iterator) ? before : 0);

/** What the iterator of a subclass gives. */
export const owned = <T>(iterator: AsyncIterator<T>): AsyncIterable<T> =>
  once<T>({
    next: () => nextOf(iterator),
    return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
  });

/** Calls the function on every value; of the tensors that it makes at once only those of its result stay. */
export async function* mapped<T, U>(
  source: AsyncIterable<T>,
  change: (value: T) => U | Promise<U>,
): AsyncGenerator<Awaited<U>> {
  for await (const value of source) {
    const next = await handedOn(() => scoped(() => change(value)));
    letGo(value, next);
    yield next;
  }
}

/** The values for which the test holds. */
export async function* filtered<T>(
  source: AsyncIterable<T>,
  test: (value: T) => boolean,
): AsyncGenerator<T> {
  for await (const value of source) {
    if (scoped(() => test(value))) yield value;
    else letGo(value);
  }
}

/** The values from number `from` up to, and without, number `to`. */
export async function* sliced<T>(
  source: AsyncIterable<T>,
  from: number,
  to: number,
): AsyncGenerator<T> {
  let at = 0;
  if (to <= from) return;
  for await (const value of source) {
    if (at++ >= from) yield value;
    else letGo(value);
    if (at === to) return;
  }
}

/** Arrays of `count` values; the last one may be shorter, or is left out. */
export async function* grouped<T>(
  source: AsyncIterable<T>,
  count: number,
  keepsLast: boolean,
): AsyncGenerator<T[]> {
  let group: T[] = [];
  for await (const value of source) {
    group.push(value);
    if (group.length < count) continue;
    yield group;
    group = [];
  }
  if (group.length > 0 && keepsLast) yield group;
}

/** The source again and again, opened anew each time; an empty one ends it. */
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

/** Every value takes a random place of a buffer and gives out what was there. */
export async function* shuffled<T>(
  source: AsyncIterable<T>,
  count: number,
  random: () => number,
): AsyncGenerator<T> {
  const buffer: T[] = [];
  const take = () => {
    const chosen = Math.floor(random() * buffer.length);
    const value = buffer[chosen]!;
    buffer[chosen] = buffer[buffer.length - 1]!;
    buffer.pop();
    return value;
  };
  for await (const value of source) {
    buffer.push(value);
    if (buffer.length > count) yield take();
  }
  while (buffer.length > 0) yield take();
}

/** Asks for up to `count` values before they are wanted. */
export async function* prefetched<T>(source: AsyncIterable<T>, count: number): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  const ahead: Promise<IteratorResult<T>>[] = [];
  try {
    for (;;) {
      while (ahead.length < count) {
        const next = iterator.next();
        // Whoever takes it out of the queue hears of the failure.
        next.catch(() => undefined);
        ahead.push(next);
      }
      const { done, value } = await ahead.shift()!;
      if (done) return value;
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}

/** Walks several sources in step until the first ends. */
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

/** As Promise.all, but no promise is still running when it rejects. */
async function allOf<T>(promises: (Promise<T> | undefined)[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises) as Promise<T[]>;
}

/**
 * What a generator yields, and what it returns, which training takes for a last batch. Errors: those of the generator,
 * with the element that failed; it gives no iterator.
 */
export async function* generated<T>(open: () => Source<T> | Promise<Source<T>>): AsyncGenerator<T> {
  let count = 0;
  try {
    const source = walked(await open());
    let end: unknown;
    const next = async () => {
      const { done = false, value } = await handedOn(() => source.next());
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
  const given = source as Partial<AsyncIterable<T> & Iterable<T> & Iterator<T>> | undefined;
  const iterator = given?.[Symbol.asyncIterator]?.() ?? given?.[Symbol.iterator]?.() ?? given;
  if (typeof iterator?.next === 'function') return iterator as Iterator<T>;
  throw new LatheError('generator: the function must give an iterator');
}
