/** Data types with the names of TensorFlow.js, and type promotion. */
import { LatheError } from '../base/errors.js';
import type { DType } from '../tensor/dtypes.js';

/** The dtypes of TensorFlow.js and of this package. */
export type DataType = DType | 'complex64' | 'string';
export type NumericDataType = Exclude<DataType, 'string'>;
export type TypedArray = Float32Array | Int32Array | Uint8Array;
/** The values of backends; strings as UTF-8. */
export type BackendValues = Float32Array | Int32Array | Uint8Array | Uint8Array[];
export type DataValues = TypedArray | string[];
export type FlatVector = boolean[] | number[] | TypedArray;
/** Values nested to any depth, also in objects whose keys are indices. */
export interface RecursiveArray<T> {
  [index: number]: T | RecursiveArray<T>;
}

/** A tensor as seen by functions of its shape and dtype. */
export interface TensorInfo {
  dataId?: object;
  shape: number[];
  dtype: string;
}

/** Suffix of operation names in profiles. */
export const OP_SCOPE_SUFFIX = '__op';

/** The dtypes of TensorFlow.js in the order of promotion. */
const widths = ['bool', 'int32', 'float32', 'complex64'];

/** The narrowest common type. Error: a string and a number. */
export function upcastType(a: DataType, b: DataType): DataType {
  if (a === b) return a;
  if (a === 'string' || b === 'string') throw new LatheError(`Can not upcast ${a} with ${b}`);
  const [widthA, widthB] = [widths.indexOf(a), widths.indexOf(b)];
  if (widthA < 0 || widthB < 0) return 'float32';
  return widths[Math.max(widthA, widthB)] as DataType;
}

/** The dtype of a sum: that of its elements, int32 of bool. */
export const sumOutType = (type: DataType): DataType => upcastType(type, 'int32');
