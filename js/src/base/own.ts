/** Objects as maps whose keys are anyone's: `constructor` and `__proto__` are keys like others. */

/** The value of a key, undefined where the object itself has none. */
export function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Gives a key its value. */
export function setOwn<T>(record: Record<string, T>, key: string, value: T): void {
  if (key !== '__proto__') record[key] = value;
  else Object.defineProperty(record, key, { value, ...likeAny });
}

const likeAny = { writable: true, enumerable: true, configurable: true };
