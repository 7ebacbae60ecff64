// The columns of a table as features: what a person enters becomes numbers, and numbers become entries.
import { type Scale, scaled, unscaled } from './data_set';

/** One feature of standardized numbers, or one for each word. */
export type Column = { name: string } & (
  { kind: 'number'; scale: Scale } | { kind: 'words'; words: string[] }
);

export const widthOf = (column: Column) => (column.kind === 'number' ? 1 : column.words.length);

/** The features of a row. Error: an entry that is no number. */
export function encodeRow(columns: readonly Column[], entries: readonly string[]): Float32Array {
  const features = columns.flatMap((column, at) => {
    const entry = entries[at]!;
    if (column.kind === 'words') return column.words.map((word) => Number(word === entry));
    const value = entry.trim() === '' ? NaN : Number(entry);
    if (!Number.isFinite(value)) throw new Error(`${column.name}: enter a number`);
    return [scaled(value, column.scale)];
  });
  return Float32Array.from(features);
}

/** The entries that encode to these features. */
export function decodeRow(columns: readonly Column[], features: ArrayLike<number>): string[] {
  let from = 0;
  return columns.map((column) => {
    const at = from;
    from += widthOf(column);
    if (column.kind === 'number')
      return String(+unscaled(features[at]!, column.scale).toPrecision(6));
    return column.words.find((_, word) => features[at + word] === 1) ?? column.words[0]!;
  });
}
