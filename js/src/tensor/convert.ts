/** Conversion between numbers and elements of a dtype. */
import { LatheError } from '../base/errors.js';
import { isArrayOf, kindOf } from '../base/kinds.js';
import { entryOf } from '../base/records.js';
import {
  arrayTypes,
  type BigIntDType,
  coreDTypes,
  type DataTypeMap,
  type DType,
} from './dtypes.js';
import { decodeBfloat16, decodeFloat16, encodeBfloat16, encodeFloat16 } from './float16.js';

/** The dtypes whose typed arrays have elements of type number. */
export type NumberDType = Exclude<DType, BigIntDType>;
/** The element types of data sets, labels and saved weights. */
export type StoredDType = 'float32' | 'int32' | 'bool';
/** The typed arrays of elements. */
export type DataArray = DataTypeMap[DType];
/** Those whose elements are of type number. */
export type NumberArray = DataTypeMap[NumberDType];
/** A value that can be converted to an element. */
export type Scalar = number | boolean | bigint;

/** Dtypes that are stored as bits. */
const bitFormats = {
  float16: { read: decodeFloat16, write: encodeFloat16 },
  bfloat16: { read: decodeBfloat16, write: encodeBfloat16 },
};
const ranges = {
  int64: { min: -(2n ** 63n), max: 2n ** 63n - 1n },
  uint64: { min: 0n, max: 2n ** 64n - 1n },
};

/** Error: an unknown dtype. */
export function checkDType(what: string, dtype: unknown): asserts dtype is DType {
  if (entryOf(arrayTypes, String(dtype)) !== undefined) return;
  const known = Object.keys(arrayTypes).join(', ');
  throw new LatheError(`${what}: unknown dtype "${String(dtype)}"; known: ${known}`);
}

/** The name of a dtype in the core. Error: an unknown dtype. */
export function coreDType(what: string, dtype: DType): (typeof coreDTypes)[DType] {
  checkDType(what, dtype);
  return coreDTypes[dtype];
}

/** A view of elements in a buffer. */
export function arrayOn(
  dtype: DType,
  buffer: ArrayBufferLike,
  offset: number,
  length: number,
): DataArray {
  return new (arrayTypes[dtype] as Float32ArrayConstructor)(buffer, offset, length);
}

/** An array of zeros. */
export function zeros(dtype: DType, length: number): DataArray {
  return new (arrayTypes[dtype] as Float32ArrayConstructor)(length);
}

/** Whether an array has the type for elements of the dtype; false for bool, whose elements must be 0 or 1. */
export function isArrayOfDType(values: ArrayBufferView, dtype: DType): values is DataArray {
  return dtype !== 'bool' && isArrayOf<DataArray>(values, arrayTypes[dtype]);
}

/** Error: a dtype that saved models and data sets do not support. */
export function checkStored(what: string, dtype: DType): asserts dtype is StoredDType {
  if (dtype === 'float32' || dtype === 'int32' || dtype === 'bool') return;
  throw new LatheError(`${what} has dtype ${dtype}; known here: float32, int32, bool`);
}

/** Whether `copyInto` converts them to the dtype. */
export function fits(values: ArrayBufferView, dtype: DType): values is DataArray {
  if (isArrayOfDType(values, dtype)) return true;
  const isBigint = /^Big/.test(kindOf(values));
  return !isBigint && !['bool', 'int64', 'uint64', 'float16', 'bfloat16'].includes(dtype);
}

/** A copy of elements of the dtype. */
export function copyOf(data: DataArray, dtype: DType): DataArray {
  const Elements = arrayTypes[dtype] as Float32ArrayConstructor;
  if (!isGecko || data.byteLength > slowCopyBytes) return new Elements(data as Float32Array);
  const copy = new Elements(data.length);
  copyInto(copy, data);
  return copy;
}

/** Up to this many bytes, copying by the constructor is four times slower in Firefox than `set` on a new array. */
const slowCopyBytes = 2 ** 19;
const isGecko = 'InternalError' in globalThis;

/** Copies elements of the same dtype, or numbers that the typed array itself converts. */
export function copyInto(to: DataArray, from: DataArray): void {
  (to as Float32Array).set(from as Float32Array);
}

/** The decoded elements: numbers, bigints for 64-bit types; possibly not a copy. */
export function decodeElements(
  data: DataArray,
  dtype: DType,
): ArrayLike<number> | ArrayLike<bigint> {
  const half = entryOf(bitFormats, dtype);
  return half === undefined ? data : half.read(data as Uint16Array);
}

/**
 * Elements of a dtype nearest to numbers: int64 and uint64 accept integers within
 * their range, other integer types what JavaScript's typed arrays do, which drop fractions and wrap.
 */
export function convert(values: ArrayLike<Scalar>, dtype: DType): DataArray {
  checkDType('tensor', dtype);
  const { length } = values;
  if (dtype === 'bool') {
    const truths = new Uint8Array(length);
    for (let at = 0; at < length; at += 1) truths[at] = Number(values[at]) === 0 ? 0 : 1;
    return truths;
  }
  if (dtype === 'int64' || dtype === 'uint64') {
    const toLong = (value: Scalar) => longOf(value, dtype);
    return (arrayTypes[dtype] as BigInt64ArrayConstructor).from(Array.from(values, toLong));
  }
  const half = entryOf(bitFormats, dtype);
  const isFloat = dtype.includes('float');
  const toNumber = (value: Scalar) =>
    typeof value !== 'bigint' ? Number(value) : isFloat ? oddNumber(value, dtype) : low(value);
  if (half !== undefined) {
    const bits = new Uint16Array(length);
    for (let at = 0; at < length; at += 1) bits[at] = half.write(toNumber(values[at]!));
    return bits;
  }
  const type = arrayTypes[dtype] as Float32ArrayConstructor;
  if (typeof values[0] !== 'bigint') return new type(values as ArrayLike<number>);
  return type.from(Array.from(values, toNumber));
}

function longOf(value: Scalar, dtype: BigIntDType): bigint {
  const { min, max } = ranges[dtype];
  const isInteger = typeof value === 'bigint' || Number.isInteger(Number(value));
  const long = isInteger ? BigInt(value ?? 0) : undefined;
  if (long !== undefined && long >= min && long <= max) return long;
  throw new LatheError(
    `tensor: ${dtype} accepts integers from ${min} to ${max}, got ${String(value)}`,
  );
}

/** The lowest 32 bits, which determine the value in smaller types. */
const low = (value: bigint): number => Number(BigInt.asIntN(32, value));

/** For float64 the nearest number; for less, one that rounds as the bigint itself would. */
function oddNumber(value: bigint, dtype: DType): number {
  const isExact = dtype === 'float64' || BigInt(Number(value)) === value;
  return isExact ? Number(value) : Number((value >> 11n) | 1n) * 2048;
}
