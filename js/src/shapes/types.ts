/** Element types and plain data as TensorFlow.js names them, and how types join. */
import { LatheError } from '../base/errors.js';
import type { DType } from '../tensor/dtypes.js';

/** Element types: those of TensorFlow.js, and ours. */
export type DataType = DType | 'complex64' | 'string';
export type NumericDataType = Exclude<DataType, 'string'>;
export type TypedArray = Float32Array | Int32Array | Uint8Array;
/** What backends hold; strings as UTF-8. */
export type BackendValues = Float32Array | Int32Array | Uint8Array | Uint8Array[];
export type DataValues = TypedArray | string[];
export type FlatVector = boolean[] | number[] | TypedArray;
/** Values nested to any depth, also in objects whose keys are indices. */
export interface RecursiveArray<T> {
  [index: number]: T | RecursiveArray<T>;
}

/** What a tensor is to functions that only look at its shape and type. */
export interface TensorInfo {
  dataId?: object;
  shape: number[];
  dtype: string;
}

/** What a name of an operation ends with inside profiles. */
export const OP_SCOPE_SUFFIX = '__op';

/** The types of TensorFlow.js from the narrowest to the widest. */
const widths = ['bool', 'int32', 'float32', 'complex64'];

/** The narrowest type that holds both. Error: a string and a number. */
export function upcastType(a: DataType, b: DataType): DataType {
  if (a === b) return a;
  if (a === 'string' || b === 'string') throw new LatheError(`Can not upcast ${a} with ${b}`);
  const [widthA, widthB] = [widths.indexOf(a), widths.indexOf(b)];
  if (widthA < 0 || widthB < 0) return 'float32';
  return widths[Math.max(widthA, widthB)] as DataType;
}

/** The type that a sum of elements has: that of its elements, int32 of bool. */
export const sumOutType = (type: DataType): DataType => upcastType(type, 'int32');
