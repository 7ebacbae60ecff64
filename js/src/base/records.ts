/** Objects as maps with arbitrary keys, including `constructor` and `__proto__`. */

/** The value of a key, undefined if the object itself does not have it. */
export function entryOf<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Sets the value of a key. */
export function setEntry<T>(record: Record<string, T>, key: string, value: T): void {
  if (key !== '__proto__') record[key] = value;
  else Object.defineProperty(record, key, { value, ...likeAny });
}

const likeAny = { writable: true, enumerable: true, configurable: true };
