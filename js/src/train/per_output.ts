/** Options per output of models with several outputs. */
import { LatheError } from '../base/errors.js';
import { entryOf } from '../base/records.js';

/** A value for all outputs, or one for each, in order or by name. */
export type PerOutput<T> = T | readonly T[] | Readonly<Record<string, T>>;

/** The value for each output; `standard` for an omitted name. */
export function perOutput<T>(
  values: PerOutput<T>,
  outputs: readonly { name: string }[],
  standard: T,
  what: string,
): T[] {
  const names = outputs.map(({ name }) => name);
  if (Array.isArray(values)) {
    if (values.length === names.length) return [...(values as T[])];
    throw new LatheError(
      `${what} has ${values.length} values, but the outputs are ${names.join(', ')}`,
    );
  }
  if (typeof values !== 'object' || values === null) return names.map(() => values as T);
  const record = values as Readonly<Record<string, T>>;
  const unknown = Object.keys(record).find((name) => !names.includes(name));
  if (unknown === undefined) return names.map((name) => entryOf(record, name) ?? standard);
  throw new LatheError(`${what} names "${unknown}", but the outputs are ${names.join(', ')}`);
}
