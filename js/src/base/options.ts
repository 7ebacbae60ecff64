/** Objects of options: a name that nobody knows is a mistake, which would else pass in silence. */
import { LatheError } from './errors.js';

/** Every name of a type of options; one that is missing does not compile. */
export type OptionNames<Options> = { readonly [Name in keyof Options]-?: true };

/** Errors: no options; one that is not known, and the one that may be meant; undefined ones are left out. */
export function checkOptions(what: string, given: object, known: Record<string, true>): void {
  if (given == null) throw new LatheError(`${what}: an object of options is needed, got ${given}`);
  const names = Object.keys(known);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || Object.hasOwn(known, name)) continue;
    const near = nearest(name, names);
    const hint = near === undefined ? `known: ${names.join(', ')}` : `did you mean ${near}?`;
    throw new LatheError(`${what}: there is no option ${name}; ${hint}`);
  }
}

/**
 * The options without those that are null, and numbers for those of these names that are written as texts: TensorFlow.js
 * takes null for left out and `epochs: '2'` for 2. Null instead of all of them is none.
 */
export function given<Options extends object>(
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

/** Error unless the value is an integer, at least `least`. */
export function checkInteger(name: string, value: unknown, least = -Infinity): void {
  if (Number.isInteger(value) && (value as number) >= least) return;
  const range = least === -Infinity ? 'an integer' : `an integer ≥ ${least}`;
  throw new LatheError(`${name} must be ${range}, got ${String(value)}`);
}

/** The name that takes the fewest changes, at most two or a third of its letters. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((known) => ({ known, off: distance(name.toLowerCase(), known.toLowerCase()) }))
    .sort((a, b) => a.off - b.off);
  const [best] = ranked;
  return best !== undefined && best.off <= Math.max(2, best.known.length / 3)
    ? best.known
    : undefined;
}

/** Letters to insert, delete or replace (V. Levenshtein, 1966). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const same = row[j]! + (letter === b[j] ? 0 : 1);
      next.push(Math.min(same, row[j + 1]! + 1, next[j]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
