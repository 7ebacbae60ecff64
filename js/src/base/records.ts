/** Objects as maps with arbitrary keys, including `constructor` and `__proto__`. */
import { LatheError } from './errors.js';
import { describeKind } from './kinds.js';

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

/** An input, as errors describe it. */
export interface InputPort {
  readonly name: string;
  readonly dtype: string;
  /** Sizes and names of sizes; undefined if they are unknown. */
  readonly shape?: readonly (number | string | null)[] | undefined;
}

/**
 * The values of inputs in their order, undefined for optional ones without. `dtypes` has other names of dtypes for errors.
 * Errors: no object of inputs by name; an unknown or a missing one.
 */
export function orderInputs<T>(
  ports: readonly InputPort[],
  inputs: Readonly<Record<string, T>>,
  dtypes: Readonly<Record<string, string>> = {},
  isOptional: (index: number) => boolean = () => false,
): (T | undefined)[] {
  const fail = (what: string): never => {
    const all = ports.map(
      ({ name, dtype, shape }) =>
        `${name} ${dtypes[dtype] ?? dtype} [${shape?.map((size) => size ?? '?').join() ?? '…'}]`,
    );
    throw new LatheError(`run: ${what}; inputs: ${all.join(', ')}`);
  };
  const kind = describeKind(inputs);
  if (kind !== 'an object') fail(`expects an object of values by name, got ${kind}`);
  for (const name of Object.keys(inputs)) {
    if (!ports.some((each) => each.name === name)) fail(`there is no input ${name}`);
  }
  return ports.map(({ name }, at) => {
    const value = entryOf(inputs, name);
    return value === undefined && !isOptional(at) ? fail(`input ${name} is missing`) : value;
  });
}
