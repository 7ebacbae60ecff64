/** Element types and their typed arrays: functions of `tf.util`. */
import { LatheError } from '../../base/errors.js';
import { isArrayOf, kindOf } from '../../base/kinds.js';
import { elementCount } from '../../base/shape.js';
import { env } from '../platform/environment.js';
import { isTfjsTypedArray } from '../platform/platform.js';
import type { BackendValues, DataType, DataValues, TypedArray } from '../../shapes/types.js';

const arrays = { float32: Float32Array, int32: Int32Array, bool: Uint8Array } as const;
const bytes: Record<string, number> = { float32: 4, int32: 4, complex64: 8, bool: 1 };
const types = ['bool', 'complex64', 'float32', 'int32', 'string'];

const unknown = (dtype: unknown) => new LatheError(`Unknown data type ${String(dtype)}`);

/** An array of zeros for numbers. Error: another dtype than float32, int32 and bool. */
export function getTypedArrayFromDType(
  dtype: DataType | null | undefined,
  size: number,
): TypedArray {
  const found = arrays[(dtype ?? 'float32') as keyof typeof arrays];
  if (!found) throw unknown(dtype);
  return new found(size);
}

/** An empty array for the elements of a tensor, also of strings. */
export const getArrayFromDType = (dtype: DataType, size: number): DataValues =>
  dtype === 'string' ? new Array<string>(size) : getTypedArrayFromDType(dtype, size);

/** Zeros. */
export const makeZerosTypedArray = (size: number, dtype: DataType): TypedArray =>
  getTypedArrayFromDType(dtype === 'complex64' ? 'float32' : dtype, size);

/** Ones. */
export const makeOnesTypedArray = (size: number, dtype: DataType): TypedArray =>
  makeZerosTypedArray(size, dtype).fill(1) as TypedArray;

/** Error: NaN or infinity in values of this dtype. */
export function checkConversionForErrors(values: ArrayLike<number>, dtype: DataType): void {
  for (let i = 0; i < values.length; ++i) {
    if (!Number.isFinite(values[i])) {
      throw new LatheError(`A tensor of type ${dtype} being uploaded contains ${values[i]}.`);
    }
  }
}

export const isValidDtype = (dtype: string): boolean => types.includes(dtype);

/** Whether a cast from one type to the other can change values. */
export function hasEncodingLoss(from: DataType, to: DataType): boolean {
  const order = ['bool', 'int32', 'float32', 'complex64'];
  return order.indexOf(to) < order.indexOf(from);
}

/** Bytes per element. Error: strings, whose lengths differ. */
export function bytesPerElement(dtype: DataType): number {
  if (!(dtype in bytes)) throw unknown(dtype);
  return bytes[dtype]!;
}

/** The byte size of encoded strings; 0 for null. */
export const bytesFromStringArray = (strings: readonly Uint8Array[] | null): number =>
  (strings ?? []).reduce((sum, each) => sum + each.length, 0);

export const isString = (value: unknown): value is string =>
  typeof value === 'string' || kindOf(value) === 'String';
export const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
export const isNumber = (value: unknown): value is number => typeof value === 'number';
export const isFunction = (value: unknown): boolean =>
  Boolean(
    value &&
    (value as Function).constructor &&
    (value as Function).call &&
    (value as Function).apply,
  );
export const isPromise = (value: unknown): value is Promise<unknown> =>
  typeof (value as Promise<unknown> | null)?.then === 'function';

/** Whether this is an array of numbers that TensorFlow.js accepts: Float32Array, Int32Array, Uint8Array, Uint8ClampedArray. */
export const isTypedArray = (value: unknown): value is TypedArray =>
  (env().platform?.isTypedArray ?? isTfjsTypedArray)(value);

/** The dtype inferred from values; for nested arrays, from the first element. */
export function inferDtype(values: unknown): DataType {
  if (Array.isArray(values)) return inferDtype(values[0]);
  if (isArrayOf(values, Float32Array)) return 'float32';
  if (isTfjsTypedArray(values)) return 'int32';
  if (isString(values)) return 'string';
  return isBoolean(values) ? 'bool' : 'float32';
}

/** Elements as nested arrays of the shape, complex ones interleaved; for a scalar the element itself. Error: too few or too many. */
export function toNestedArray(
  shape: readonly number[],
  values: ArrayLike<unknown>,
  isComplex = false,
): any {
  if (shape.length === 0) return values[0];
  const width = isComplex ? 2 : 1;
  const size = elementCount(shape) * width;
  if (size === 0) return [];
  if (size !== values.length) {
    const twice = isComplex ? ' for a complex tensor' : '';
    throw new LatheError(`[${shape}] does not match the input size ${values.length}${twice}.`);
  }
  let next = 0;
  const build = (axis: number): unknown[] =>
    axis === shape.length - 1
      ? Array.from({ length: shape[axis]! * width }, () => values[next++])
      : Array.from({ length: shape[axis]! }, () => build(axis + 1));
  return build(0);
}

/** Nested arrays of zeros of the shape; the innermost are typed. */
export function makeZerosNestedTypedArray(shape: readonly number[], dtype: DataType): any {
  if (shape.length === 0) return 0;
  if (shape.length === 1) return makeZerosTypedArray(shape[0]!, dtype);
  return Array.from({ length: shape[0]! }, () => makeZerosNestedTypedArray(shape.slice(1), dtype));
}

/** The values of a backend as an array of this dtype; bytes are reinterpreted. Error: an unknown dtype. */
export function convertBackendValuesAndArrayBuffer(
  data: BackendValues | ArrayBuffer,
  dtype: DataType,
): BackendValues {
  if (Array.isArray(data)) return data;
  const type = dtype === 'complex64' ? Float32Array : arrays[dtype as keyof typeof arrays];
  if (type === Float32Array || type === Int32Array) {
    return isArrayOf<TypedArray>(data, type) ? data : new type(data as ArrayBuffer);
  }
  if (dtype === 'bool' || dtype === 'string')
    return Uint8Array.from(new Int32Array(data as ArrayBuffer));
  throw unknown(dtype);
}

/** Flattens nested arrays, and objects whose keys are indices; typed arrays optionally as elements. */
export function flatten<T = any>(values: unknown, result: T[] = [], skipTypedArray = false): T[] {
  const isArray = Array.isArray(values) || isTypedArray(values);
  const isOne = typeof values !== 'object' || values === null || isPromise(values);
  if (isOne || (skipTypedArray && !Array.isArray(values) && isArray)) {
    result.push(values as T);
    return result;
  }
  const list = values as Record<number, unknown>;
  const keys = Object.keys(list)
    .map(Number)
    .filter((key) => Number.isInteger(key) && key >= 0);
  const length = isArray
    ? (values as unknown[]).length
    : keys.reduce((a, b) => Math.max(a, b + 1), 0);
  for (let i = 0; i < length; ++i) flatten(list[i], result, skipTypedArray);
  return result;
}

/** Converts numbers to the typed array of this dtype; returned unchanged if they already are. Errors: strings; in debug mode NaN and infinities. */
export function toTypedArray(values: unknown, dtype: DataType | null): TypedArray {
  if (dtype === 'string') throw new LatheError('strings do not go into a typed array');
  const list = (Array.isArray(values) ? flatten(values) : values) as number[] | TypedArray;
  if (env().getBool('DEBUG')) checkConversionForErrors(list, dtype as DataType);
  const name = dtype == null || dtype === 'complex64' ? 'float32' : dtype;
  const type = arrays[name as keyof typeof arrays];
  if (!type) throw unknown(dtype);
  if (isArrayOf<TypedArray>(list, type)) return list;
  if (type !== Uint8Array) return new type(list);
  const truths = new Uint8Array(list.length);
  for (let at = 0; at < truths.length; at += 1) {
    truths[at] = Number(Math.round(list[at]!) !== 0 && !Number.isNaN(list[at]));
  }
  return truths;
}
