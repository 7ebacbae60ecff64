/** How GPUs store elements: as the host does, but bool and integers of 64 bits, which have 32. */
import { LatheError } from '../../base/errors.js';
import { convert, type DataArray } from '../../tensor/convert.js';
import { arrayTypes, type DType } from '../../tensor/dtypes.js';

const wordBytes = 4;

/** Stored arrays where they are not those of the host. Shaders reject float64. */
const storedTypes = {
  bool: Uint32Array,
  int64: Int32Array,
  uint64: Uint32Array,
};
const storedType = (dtype: DType) =>
  (storedTypes as Partial<Record<DType, Int32ArrayConstructor | Uint32ArrayConstructor>>)[dtype];

/** Rounded up to words; at least one, as bindings are not empty. */
export const wholeWords = (bytes: number): number =>
  Math.max(wordBytes, Math.ceil(bytes / wordBytes) * wordBytes);

/** Bytes of an element in a buffer. */
export const storedBytesEach = (dtype: DType): number =>
  (storedType(dtype) ?? arrayTypes[dtype]).BYTES_PER_ELEMENT;

/** Bytes of a buffer of so many elements. */
export const storedBytes = (dtype: DType, size: number): number =>
  wholeWords(size * storedBytesEach(dtype));

/**
 * The bytes of elements as stored, in whole words; a view of `data` where it can be. Error: an integer that 32 bits cannot
 * hold.
 */
export function encode(data: DataArray, dtype: DType): Uint8Array {
  const { buffer, byteOffset, byteLength } = toStored(data, dtype);
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  if (byteLength % wordBytes === 0) return bytes;
  const words = new Uint8Array(wholeWords(byteLength));
  words.set(bytes);
  return words;
}

function toStored(data: DataArray, dtype: DType): DataArray {
  const Stored = storedType(dtype);
  if (Stored === undefined) return data;
  if (!(data instanceof BigInt64Array || data instanceof BigUint64Array)) {
    return Stored.from(data as Uint8Array);
  }
  const stored = Stored.from(Array.from<bigint, number>(data, Number));
  const lost = data.findIndex((each, at) => BigInt(stored[at]!) !== each);
  if (lost < 0) return stored;
  throw new LatheError(
    `${data[lost]} is no ${dtype} that WebGPU has: its integers have 32 bits; compute it on wasm`,
  );
}

/** A number as stored. */
export const encodeNumber = (value: number, dtype: DType): Uint8Array =>
  encode(convert([value], dtype), dtype);

/** A copy of elements as the host stores them. */
export function decode(stored: ArrayBuffer, dtype: DType, size: number): DataArray {
  const Stored = storedType(dtype);
  if (Stored === undefined) return new arrayTypes[dtype](stored, 0, size).slice();
  const words = new Stored(stored, 0, size);
  return dtype === 'int64' || dtype === 'uint64'
    ? arrayTypes[dtype].from(Array.from(words, BigInt))
    : arrayTypes[dtype].from(words);
}
