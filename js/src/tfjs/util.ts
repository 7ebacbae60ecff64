/** `tf.util`: shapes, arrays, strings, chance and time. */
import { LatheError } from '../base/errors.js';
import { toTypedArray } from './arrays.js';
import { env } from './environment.js';
import type { BackendValues, DataType, FlatVector } from '../shapes/types.js';

export * from './arrays.js';
export * from '../shapes/hash_util.js';
export * from '../shapes/shapes.js';

type Shuffled = unknown[] | Uint32Array | Int32Array | Float32Array;

/** Exchanges two elements. */
export function swap<T>(list: { [index: number]: T }, left: number, right: number): void {
  const kept = list[left]!;
  list[left] = list[right]!;
  list[right] = kept;
}

/** Puts arrays of equal lengths in one random order, each in place (Fisher and Yates). */
function shuffleAll(lists: readonly Shuffled[]): void {
  for (let left = lists[0]!.length; left > 1; --left) {
    const chosen = Math.floor(Math.random() * left);
    for (const list of lists) swap(list as unknown[], left - 1, chosen);
  }
}

/** Puts the elements in a random order, in place. */
export const shuffle = (array: Shuffled): void => shuffleAll([array]);

/** Puts both in the same random order, in place. Error: their lengths differ. */
export function shuffleCombo(array: Shuffled, array2: Shuffled): void {
  if (array.length !== array2.length) {
    throw new LatheError(
      `Array sizes must match to be shuffled together First array length was ${array.length}` +
        `Second array length was ${array2.length}`,
    );
  }
  shuffleAll([array, array2]);
}

/** The numbers 0 … n-1 in a random order. */
export function createShuffledIndices(n: number): Uint32Array {
  const indices = Uint32Array.from({ length: n }, (_, at) => at);
  shuffle(indices);
  return indices;
}

export const nearestLargerEven = (value: number): number => (value % 2 === 0 ? value : value + 1);
export const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
export const tanh = (x: number): number => Math.tanh(x);

/** A random number of [a, b). */
export function randUniform(a: number, b: number): number {
  const share = Math.random();
  return b * share + (1 - share) * a;
}

/** The square of the Euclidean distance. */
export function distSquared(a: FlatVector, b: FlatVector): number {
  let total = 0;
  for (let i = 0; i < a.length; ++i) total += (Number(a[i]) - Number(b[i])) ** 2;
  return total;
}

/** The text with spaces up to this length. */
export const rightPad = (text: string, size: number): string => text.padEnd(size);

/**
 * Calls `check` until it gives true, each time after `delay(times)` milliseconds, and rejects after `most` delays.
 * `schedule` stands for `setTimeout`.
 */
export function repeatedTry(
  check: () => boolean,
  delay: (times: number) => number = () => 0,
  most?: number,
  schedule?: (action: Function, delay: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let times = 0;
    const later = schedule ?? ((action, wait) => void setTimeout(action as () => void, wait));
    const attempt = () => {
      if (check()) return resolve();
      times += 1;
      if (most != null && times >= most) return reject();
      later(attempt, delay(times));
    };
    attempt();
  });
}

/** A scalar as a backend holds it. */
export const createScalarValue = (value: unknown, dtype: DataType): BackendValues =>
  dtype === 'string'
    ? (encodeString(value as string) as BackendValues)
    : toTypedArray([value], dtype);

/** Milliseconds since some moment, with fractions. */
export const now = (): number => env().platform.now();

/** As of pages, by the platform of `env()`. */
export const fetch = (path: string, init?: RequestInit): Promise<Response> =>
  env().platform.fetch(path, init);

/** A text as bytes. Error: another encoding than utf-8. */
export const encodeString = (text: string, encoding = 'utf-8'): Uint8Array =>
  env().platform.encode(text, encoding || 'utf-8');

/** Bytes as a text, by default of utf-8. */
export const decodeString = (bytes: Uint8Array, encoding = 'utf-8'): string =>
  env().platform.decode(bytes, encoding || 'utf-8');
