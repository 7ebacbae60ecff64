/** Checks of option objects: an unknown name is an error, which would otherwise be ignored. */
import { LatheError } from './errors.js';
import { describeKind } from './kinds.js';

/** The names of a type of options; TypeScript checks that none is missing. */
export type OptionNames<Options> = { readonly [Name in keyof Options]-?: true };

/** Errors: no object; an unknown option, with the nearest name. Undefined options are ignored. */
export function checkOptions(what: string, options: object, names: Record<string, true>): void {
  if (describeKind(options) !== 'an object')
    throw new LatheError(`${what}: an object of options is needed, got ${describeKind(options)}`);
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

/** The name of the least edit distance: one, or below half of its letters, up to two or a third of them. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((candidate) => ({ candidate, off: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.off - b.off);
  const [best] = ranked;
  if (best === undefined) return undefined;
  const { candidate, off } = best;
  const limit = Math.min(candidate.length / 2 - 0.5, Math.max(2, candidate.length / 3));
  return off <= Math.max(1, limit) ? candidate : undefined;
}

/** The edit distance (V. Levenshtein, 1966), in which two letters swapped are one edit. */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i++) {
    const row = (rows[i] = [i]);
    for (let j = 1; j <= b.length; j++) {
      const same = rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = i > 1 && j > 1 && isSwapped ? rows[i - 2]![j - 2]! + 1 : same;
      row.push(Math.min(same, swapped, rows[i - 1]![j]! + 1, row[j - 1]! + 1));
    }
  }
  return rows.at(-1)!.at(-1)!;
}
