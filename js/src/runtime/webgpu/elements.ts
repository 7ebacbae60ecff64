/** How GPUs store the elements of a dtype: as the host does, but bool as u32, in whole words of four bytes. */
import { arrayOn, convert, type DataArray } from '../../tensor/convert.js';
import { arrayTypes, type DType } from '../../tensor/dtypes.js';

const wordBytes = 4;

/** Rounded up to words; at least one, as bindings are not empty. */
export const wholeWords = (bytes: number): number =>
  Math.max(wordBytes, Math.ceil(bytes / wordBytes) * wordBytes);

/** Bytes of so many elements in a buffer. */
export function storedBytes(dtype: DType, size: number): number {
  return wholeWords(size * (dtype === 'bool' ? wordBytes : arrayTypes[dtype].BYTES_PER_ELEMENT));
}

/** The bytes of elements as stored, in whole words; a view of `data` where it can be. */
export function encode(data: DataArray, dtype: DType): Uint8Array {
  const stored = dtype === 'bool' ? Uint32Array.from(data as Uint8Array) : data;
  const bytes = new Uint8Array(stored.buffer, stored.byteOffset, stored.byteLength);
  if (bytes.length % wordBytes === 0) return bytes;
  const padded = new Uint8Array(wholeWords(bytes.length));
  padded.set(bytes);
  return padded;
}

/** A number as stored. */
export const encodeNumber = (value: number, dtype: DType): Uint8Array =>
  encode(convert([value], dtype), dtype);

/** A copy of elements as the host stores them. */
export function decode(stored: ArrayBuffer, dtype: DType, size: number): DataArray {
  if (dtype === 'bool') return Uint8Array.from(new Uint32Array(stored, 0, size));
  return arrayOn(dtype, stored, 0, size).slice();
}
