/**
 * Encoding of calls of the core as 64-bit floats during tracing, and of its results; src/api/lathe.h describes both.
 */
import { TextEncoder } from '../base/text.js';
import type { Pointer, ValueId, ValueType } from './abi.js';
import { dtypes, tags } from './names.js';

/** A value of a graph. */
export interface GraphValue extends ValueType {
  id: ValueId;
}

/** Bytes of a word. */
export const wordBytes = Float64Array.BYTES_PER_ELEMENT;

/** Maximum nesting of list arguments. */
const maxDepth = 4;
const encoder = new TextEncoder();

/** Appends a value of any kind; the core rejects invalid ones. */
export function appendValue(words: number[], value: unknown, depth = 0): void {
  if (typeof value === 'number') words.push(tags.number, value);
  else if (typeof value === 'boolean') words.push(value ? tags.true : tags.false);
  else if (value === undefined) words.push(depth === 0 ? tags.absent : tags.null);
  else if (value === null) words.push(tags.null);
  else if (typeof value === 'string') {
    const bytes = encoder.encode(value);
    words.push(tags.text, bytes.length);
    for (const byte of bytes) words.push(byte);
  } else if (Array.isArray(value) && depth < maxDepth) {
    words.push(tags.list, value.length);
    for (const each of value) appendValue(words, each, depth + 1);
  } else words.push(tags.object);
}

/** The words of a type. */
export function typeWords({ dtype, shape }: ValueType, words: number[] = []): number[] {
  words.push(dtypes.indexOf(dtype));
  appendValue(words, shape);
  return words;
}

/** The words of an input or state. */
export function declarationWords(name: string, type: ValueType): number[] {
  const words: number[] = [];
  appendValue(words, name);
  return typeWords(type, words);
}

/** Reads `count` values from the core's memory. */
export function readValues(words: Float64Array, pointer: Pointer, count: number): GraphValue[] {
  let at = pointer / wordBytes;
  const values: GraphValue[] = [];
  while (values.length < count) {
    const [id, dtype, rank] = [words[at]!, dtypes[words[at + 1]!]!, words[at + 2]!];
    const shape: number[] = [];
    for (at += 3; shape.length < rank; ++at) shape.push(words[at]!);
    values.push({ id, dtype, shape });
  }
  return values;
}
