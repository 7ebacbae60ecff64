/** Checks of option objects: an unknown name is an error, which would otherwise be ignored. */
import { LatheError } from './errors.js';

/** The names of a type of options; TypeScript checks that none is missing. */
export type OptionNames<Options> = { readonly [Name in keyof Options]-?: true };

/** Error: no object of these. */
export function checkObject(what: string, value: unknown, kind = 'options'): void {
  const isArray = Array.isArray(value);
  if (value && typeof value === 'object' && !isArray) return;
  const got = isArray ? 'an array' : value && typeof value;
  throw new LatheError(`${what}: an object of ${kind} is needed, got ${got}`);
}

/** Errors: no object; an unknown option, with the nearest name. Undefined options are ignored. */
export function checkOptions(what: string, options: object, names: Record<string, true>): void {
  checkObject(what, options);
  const all = Object.keys(names);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(names, name)) continue;
    const near = nearest(name, all);
    const hint = near === undefined ? `known: ${all.join(', ')}` : `did you mean ${near}?`;
    throw new LatheError(`${what}: there is no option ${name}; ${hint}`);
  }
}

/**
 * The options as TensorFlow.js reads them: without those that are null, and with numeric strings of the options
 * `numbers` as numbers, such as `epochs: '2'`. Null options are empty.
 */
export function normalizeOptions<Options extends object>(
  options: Options,
  numbers: readonly string[] = [],
): Options {
  const asNumber = (name: string, value: unknown) =>
    typeof value === 'string' && value.trim() !== '' && numbers.includes(name)
      ? Number(value)
      : value;
  const entries = Object.entries(options ?? {}).filter(([, value]) => value !== null);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, asNumber(name, value)]),
  ) as Options;
}

/** Error unless the value is a positive integer. */
export function checkCount(name: string, value: unknown): void {
  if (!Number.isInteger(value) || (value as number) < 1) {
    throw new LatheError(`${name} must be a positive integer, got ${String(value)}`);
  }
}

/** Error unless the value is an integer, at least `min`. */
export function checkInteger(name: string, value: unknown, min = -Infinity): void {
  if (Number.isInteger(value) && (value as number) >= min) return;
  const range = min === -Infinity ? 'an integer' : `an integer ≥ ${min}`;
  throw new LatheError(`${name} must be ${range}, got ${String(value)}`);
}

/** The name of the least edit distance: up to two or a third of its letters, of short ones one. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((candidate) => ({ candidate, off: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate: { length }, off }) => off <= (length < 5 ? 1 : Math.max(2, length / 3)))
    .sort((a, b) => a.off - b.off);
  return best?.candidate;
}

/** The edit distance (V. Levenshtein, 1966), in which two letters swapped are one edit. */
function distance(a: string, b: string): number {
  const rows = [[...b, ''].map((_, at) => at)];
  for (let i = 0; i < a.length; i++) {
    const row = (rows[i + 1] = [i + 1]);
    for (let j = 0; j < b.length; j++) {
      const isSwapped = a[i] === b[j - 1] && a[i - 1] === b[j];
      const swapped = isSwapped ? rows[i - 1]![j - 1]! : i + j;
      const replaced = rows[i]![j]! - (a[i] === b[j] ? 1 : 0);
      row.push(1 + Math.min(replaced, swapped, rows[i]![j + 1]!, row[j]!));
    }
  }
  return rows.at(-1)!.at(-1)!;
}
