/** `tf.util`: shapes, arrays, strings, randomness and time. */
import { LatheError } from '../base/errors.js';
import { toTypedArray } from './util/arrays.js';
import { env } from './platform/environment.js';
import type { BackendValues, DataType, FlatVector } from '../shapes/types.js';

export * from './util/arrays.js';
export * from '../shapes/hash_util.js';
export * from '../shapes/shapes.js';

type Shuffled = unknown[] | Uint32Array | Int32Array | Float32Array;

/** Exchanges two elements. */
export function swap<T>(list: { [index: number]: T }, left: number, right: number): void {
  const swapped = list[left]!;
  list[left] = list[right]!;
  list[right] = swapped;
}

/** Puts arrays of equal lengths in the same random order (Fisher and Yates); modifies them. */
function shuffleAll(lists: readonly Shuffled[]): void {
  for (let left = lists[0]!.length; left > 1; --left) {
    const chosen = Math.floor(Math.random() * left);
    for (const list of lists) swap(list as unknown[], left - 1, chosen);
  }
}

/** Shuffles the array itself. */
export const shuffle = (array: Shuffled): void => shuffleAll([array]);

/** Shuffles both arrays in the same order. Error: their lengths differ. */
export function shuffleCombo(array: Shuffled, array2: Shuffled): void {
  if (array.length !== array2.length) {
    throw new LatheError(
      `Array sizes must match to be shuffled together First array length was ${array.length}` +
        `Second array length was ${array2.length}`,
    );
  }
  shuffleAll([array, array2]);
}

/** A random permutation of 0 … n-1. */
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

/** The squared Euclidean distance. */
export function distSquared(a: FlatVector, b: FlatVector): number {
  let total = 0;
  for (let i = 0; i < a.length; ++i) total += (Number(a[i]) - Number(b[i])) ** 2;
  return total;
}

/** Pads the string with spaces to this length. */
export const rightPad = (text: string, size: number): string => text.padEnd(size);

/**
 * Calls `check` until it returns true, each time after `delay(times)` milliseconds, and rejects after `maxCounter` delays.
 * `schedule` replaces `setTimeout`.
 */
export function repeatedTry(
  check: () => boolean,
  delay: (times: number) => number = () => 0,
  maxCounter?: number,
  schedule?: (action: Function, delay: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let times = 0;
    const later = schedule ?? ((action, wait) => void setTimeout(action as () => void, wait));
    const attempt = () => {
      if (check()) return resolve();
      times += 1;
      if (maxCounter != null && times >= maxCounter) return reject();
      later(attempt, delay(times));
    };
    attempt();
  });
}

/** A scalar as backend data. */
export const createScalarValue = (value: unknown, dtype: DataType): BackendValues =>
  dtype === 'string'
    ? (encodeString(value as string) as BackendValues)
    : toTypedArray([value], dtype);

/** A clock in fractional milliseconds. */
export const now = (): number => env().platform.now();

/** `fetch` of the platform of `env()`. */
export const fetch = (path: string, init?: RequestInit): Promise<Response> =>
  env().platform.fetch(path, init);

/** Encodes a string. Error: another encoding than utf-8. */
export const encodeString = (text: string, encoding = 'utf-8'): Uint8Array =>
  env().platform.encode(text, encoding || 'utf-8');

/** Decodes bytes, by default utf-8. */
export const decodeString = (bytes: Uint8Array, encoding = 'utf-8'): string =>
  env().platform.decode(bytes, encoding || 'utf-8');
