/** Makers of tensors, with the names of TensorFlow.js. */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import type { Scalar } from './convert.js';
import type { Scalar as Tensor0D, Tensor1D } from './ranked_tensors.js';
import type { Rank, ShapeOf } from './ranks.js';
import { type AnyDType, stringTensor } from './string_complex.js';
import { tracked } from './live_tensors.js';
import { maxNesting, shapeOf, type Tensor, tensor as make, type TensorLike } from './tensor.js';

/**
 * A tensor of values.
 *
 * @param values a number, nested arrays of equal lengths, a typed array, or a tensor to copy
 * @param shape sizes of the axes. Default: that of the nesting
 * @param dtype Default: float32 for numbers, bool for booleans, int64 for bigints, int32 for integer
 *   typed arrays, uint32 for Uint32Array, int64 and uint64 for those of bigints. float16 and bfloat16 round numbers to the
 *   nearest, ties to even, but read a Uint16Array as the bits of their elements. int64 and uint64
 *   accept integers, other integer types drop fractions and wrap as typed arrays do
 *
 * Errors: ragged nesting, values that are not numbers, a shape that does not fit, an unknown dtype,
 * numbers that int64 or uint64 cannot represent, bigints among the values of other types.
 */
export function tensor<R extends Rank = any>(
  values: TensorLike,
  shape?: ShapeOf<R>,
  dtype?: AnyDType,
): Tensor<R> {
  if (dtype === 'complex64') {
    throw new LatheError(
      'Cannot construct a complex64 tensor directly. Please use tf.complex(real, imag).',
    );
  }
  if (dtype === 'string' || (dtype === undefined && isStringLike(values))) {
    return stringTensorOf(values, shape) as Tensor<R>;
  }
  return make<R>(values, shape, dtype)[tracked]();
}

/** Whether the first of nested values is a string. */
export function isStringLike(values: unknown): boolean {
  let first = values;
  for (let depth = 0; Array.isArray(first) && depth <= maxNesting; depth++) first = first[0];
  return typeof first === 'string';
}

/**
 * A string tensor, from flat values with a shape or nested ones; bytes are UTF-8. Errors: ragged nesting; a shape that
 * does not fit.
 */
export function stringTensorOf(values: unknown, shape?: readonly number[]): Tensor {
  const nested = ArrayBuffer.isView(values) ? [] : shapeOf(values);
  const flat = (Array.isArray(values) ? values.flat(Infinity) : [values]) as unknown[];
  const size = elementCount(nested);
  if (flat.length !== size || elementCount(shape ?? nested) !== size) {
    throw new LatheError(
      `tensor: ${flat.length} strings do not fill the shape [${(shape ?? nested).join(',')}]`,
    );
  }
  const read = (each: unknown) =>
    ArrayBuffer.isView(each) ? new TextDecoder().decode(each) : String(each);
  return stringTensor(flat.map(read), shape ?? nested);
}

/** Errors: another number of axes; a flat array of numbers without a shape. */
function ofRank<R extends Rank>(
  rank: number,
  values: TensorLike,
  shape?: ShapeOf<R>,
  dtype?: AnyDType,
): Tensor<R> {
  const what = `tensor${rank}d`;
  if (shape != null && shape.length !== rank) {
    throw new LatheError(`${what}: shape must have ${rank} sizes, got [${shape.join(',')}]`);
  }
  const nested = Array.isArray(values) ? shapeOf(values).length : 1;
  if (nested !== rank && (nested !== 1 || shape == null)) {
    throw new LatheError(
      nested === 1
        ? `${what}: flat values need a shape`
        : `${what}: values must be flat or arrays nested ${rank} deep, got ${nested} deep`,
    );
  }
  return tensor<R>(values, shape ?? undefined, dtype);
}

const maker =
  <R extends Rank>(rank: number) =>
  (values: TensorLike, shape?: ShapeOf<R>, dtype?: AnyDType) =>
    ofRank<R>(rank, values, shape, dtype);

/** A tensor of one axis. Error: values of another rank. */
export const tensor1d = (values: TensorLike, dtype?: AnyDType): Tensor1D =>
  ofRank(1, values, undefined, dtype);
/** A tensor of two axes. Errors: a shape or values of another rank; flat values without a shape. */
export const tensor2d = /* @__PURE__ */ maker<'R2'>(2);
/** A tensor of three axes. Errors as of `tensor2d`. */
export const tensor3d = /* @__PURE__ */ maker<'R3'>(3);
/** A tensor of four axes. Errors as of `tensor2d`. */
export const tensor4d = /* @__PURE__ */ maker<'R4'>(4);
/** A tensor of five axes. Errors as of `tensor2d`. */
export const tensor5d = /* @__PURE__ */ maker<'R5'>(5);
/** A tensor of six axes. Errors as of `tensor2d`. */
export const tensor6d = /* @__PURE__ */ maker<'R6'>(6);

/** A tensor without axes. Error: an array. */
export function scalar(value: Scalar | string, dtype?: AnyDType): Tensor0D {
  if (typeof value !== 'object') return tensor<Rank.R0>(value as Scalar, [], dtype);
  throw new LatheError('scalar: one number is needed, got an array; use tensor1d');
}

/** Prints the elements of a tensor to the console; verbose: also its dtype and shape. */
export const print = (x: Tensor, verbose = false): void => x.print(verbose);
