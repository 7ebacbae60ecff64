/** The elements of tensors from numbers, and numbers from the elements. */
import { LatheError } from '../base/errors.js';
import { isArrayOf, kindOf } from '../base/kinds.js';
import { own } from '../base/own.js';
import {
  arrayTypes,
  type BigIntDType,
  coreDTypes,
  type DataTypeMap,
  type DType,
} from './dtypes.js';
import { fromBrains, fromHalves, toBrain, toHalf } from './half.js';

/** The element types whose typed arrays hold numbers. */
export type NumberDType = Exclude<DType, BigIntDType>;
/** The element types of data sets, labels and saved weights. */
export type StoredDType = 'float32' | 'int32' | 'bool';
/** The typed arrays that hold elements. */
export type DataArray = DataTypeMap[DType];
/** Those of them that hold numbers. */
export type NumberArray = DataTypeMap[NumberDType];
/** What an element can be made of. */
export type Scalar = number | boolean | bigint;

/** Numbers that are stored as their bits. */
const halves = {
  float16: { read: fromHalves, write: toHalf },
  bfloat16: { read: fromBrains, write: toBrain },
};
const ranges = {
  int64: { least: -(2n ** 63n), most: 2n ** 63n - 1n },
  uint64: { least: 0n, most: 2n ** 64n - 1n },
};

/** Error: it is none of the element types. */
export function checkDType(what: string, dtype: unknown): asserts dtype is DType {
  if (own(arrayTypes, String(dtype)) !== undefined) return;
  const known = Object.keys(arrayTypes).join(', ');
  throw new LatheError(`${what}: unknown dtype "${String(dtype)}"; known: ${known}`);
}

/** What the core calls a dtype. Error: it is none. */
export function coreDType(what: string, dtype: DType): (typeof coreDTypes)[DType] {
  checkDType(what, dtype);
  return coreDTypes[dtype];
}

/** The elements of a dtype that lie in a buffer. */
export function arrayOn(
  dtype: DType,
  buffer: ArrayBufferLike,
  offset: number,
  length: number,
): DataArray {
  return new (arrayTypes[dtype] as Float32ArrayConstructor)(buffer, offset, length);
}

/** So many elements, all zero. */
export function zeros(dtype: DType, length: number): DataArray {
  return new (arrayTypes[dtype] as Float32ArrayConstructor)(length);
}

/** Whether an array is the one that shows elements of the dtype; those of bool are 0 or 1. */
export function holds(values: ArrayBufferView, dtype: DType): values is DataArray {
  return dtype !== 'bool' && isArrayOf<DataArray>(values, arrayTypes[dtype]);
}

/** Error: saved models and data sets have no such elements. */
export function checkStored(what: string, dtype: DType): asserts dtype is StoredDType {
  if (dtype === 'float32' || dtype === 'int32' || dtype === 'bool') return;
  throw new LatheError(`${what} has dtype ${dtype}; known here: float32, int32, bool`);
}

/** Whether `copyInto` makes elements of the dtype of them. */
export function fits(values: ArrayBufferView, dtype: DType): values is DataArray {
  if (holds(values, dtype)) return true;
  const isBigint = /^Big/.test(kindOf(values));
  return !isBigint && !['bool', 'int64', 'uint64', 'float16', 'bfloat16'].includes(dtype);
}

/** A copy as elements of the dtype, which it fits. */
export function copyOf(data: DataArray, dtype: DType): DataArray {
  const Elements = arrayTypes[dtype] as Float32ArrayConstructor;
  if (!isGecko || data.byteLength > mostIntoNew) return new Elements(data as Float32Array);
  const copy = new Elements(data.length);
  copyInto(copy, data);
  return copy;
}

/** Firefox makes a copy of so many bytes in four times what it takes to make an array and to copy into it; other engines do not. */
const mostIntoNew = 2 ** 19;
const isGecko = 'InternalError' in globalThis;

/** Copies elements of the same dtype, or numbers that the typed array itself converts. */
export function copyInto(to: DataArray, from: DataArray): void {
  (to as Float32Array).set(from as Float32Array);
}

/** What the elements stand for: numbers, bigints for types of 64 bits; not always a copy. */
export function readable(data: DataArray, dtype: DType): ArrayLike<number> | ArrayLike<bigint> {
  const half = own(halves, dtype);
  return half === undefined ? data : half.read(data as Uint16Array);
}

/**
 * Elements of a dtype as near as they can be to numbers: int64 and uint64 take integers within
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
  const half = own(halves, dtype);
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
  const { least, most } = ranges[dtype];
  const isWhole = typeof value === 'bigint' || Number.isInteger(Number(value));
  const long = isWhole ? BigInt(value ?? 0) : undefined;
  if (long !== undefined && long >= least && long <= most) return long;
  throw new LatheError(
    `tensor: ${dtype} takes integers from ${least} to ${most}, got ${String(value)}`,
  );
}

/** The lowest 32 bits, which decide what smaller types take. */
const low = (value: bigint): number => Number(BigInt.asIntN(32, value));

/** For float64 the nearest number; for less, one that rounds as the bigint itself would. */
function oddNumber(value: bigint, dtype: DType): number {
  const isExact = dtype === 'float64' || BigInt(Number(value)) === value;
  return isExact ? Number(value) : Number((value >> 11n) | 1n) * 2048;
}
