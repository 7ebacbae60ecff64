/** Creation of tensors: constants, ranges, diagonals, casts, one-hot. */
import { LatheError } from '../../base/errors.js';
import { checkCount } from '../../base/limits.js';
import { elementCount } from '../../base/shape.js';
import { alias, applyOperation } from '../../eager/apply.js';
import { checkBytes, constant, full, isRecorded, ones, zeros } from '../../eager/constants.js';
import { engine } from '../../eager/engine.js';
import { castTo, toTensor } from '../../eager/operands.js';
import { checkDType, convert } from '../../tensor/convert.js';
import { scalar, tensor } from '../../tensor/create.js';
import type { DType } from '../../tensor/dtypes.js';
import { partsOf } from '../../tensor/string_complex.js';
import type { Tensor1D } from '../../tensor/ranked_tensors.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import { TracedTensor } from '../../trace/trace.js';
import { where } from '../elementwise/compare.js';
import { complex } from '../common/complex.js';

/** Zeros of the shape and type of x. */
export const zerosLike = (x: TensorLike): Tensor => like(x, 'zerosLike', 0);
/** Ones of the shape and type of x. */
export const onesLike = (x: TensorLike): Tensor => like(x, 'onesLike', 1);

function like(x: TensorLike, op: string, value: 0 | 1): Tensor {
  return tidy(() => {
    const input = toTensor(x, 'x', op);
    const { shape, dtype } = input;
    const parts = partsOf(input);
    if (parts !== undefined) return complex(like(parts.real, op, value), like(parts.imag, op, 0));
    if (input instanceof TracedTensor)
      return input.trace.constant(value, [], dtype).broadcastTo(shape);
    if (engine.tape.isRecording) return dependentConstant(input, value);
    return value === 0 ? zeros([...shape], dtype) : ones([...shape], dtype);
  });
}

/**
 * Zeros or ones of the shape and dtype of x, which a gradient tape records as computed from x; the gradient is zero. The
 * arctangent is never infinite, so `allFalse` has no true element.
 */
function dependentConstant(x: Tensor, value: 0 | 1): Tensor {
  const allFalse = applyOperation('isInf', [applyOperation('atan', [castTo(x, 'float32')])]);
  return castTo(value === 0 ? allFalse : applyOperation('logicalNot', [allFalse]), x.dtype);
}

/** A tensor filled with one value. Default dtype: bool for booleans, string for strings, else float32. */
export function fill(
  shape: readonly number[],
  value: number | boolean | string,
  dtype?: DType,
): Tensor {
  checkShape(shape);
  if (typeof value === 'string') {
    const count = checkCount('fill', `strings [${shape.join()}]`, elementCount(shape));
    const texts = new Array<string>(count).fill(value);
    return tensor(texts as never, [...shape], 'string' as DType);
  }
  const type = dtype ?? (typeof value === 'boolean' ? 'bool' : 'float32');
  return full('fill', shape, Number(value), type);
}

/** Error: not an array of integers ≥ 0. */
export function checkShape(shape: readonly number[] | undefined): void {
  if (shape?.every?.((size) => Number.isInteger(size) && size >= 0)) return;
  throw new LatheError(
    `Tensor must have a shape comprised of positive integers but got shape [${shape}].`,
  );
}

/**
 * The numbers start, start + step, … before stop, ascending or descending. Error: a step of 0.
 *
 * @param step default: 1; if stop < start a step of 1 counts as -1
 */
export function range(start: number, stop: number, step = 1, dtype: DType = 'float32'): Tensor1D {
  if (step === 0) throw new LatheError('Cannot have a step of zero');
  const by = stop < start && step === 1 ? -1 : step;
  const count = Math.max(0, Math.ceil((stop - start) / by));
  return sequence('range', start, by, count, dtype);
}

/** start + i * step for 0 ≤ i < count, computed in float64, then converted to the dtype. Errors: those of `checkBytes`. */
function sequence(op: string, start: number, step: number, count: number, dtype: DType): Tensor1D {
  checkBytes(op, [count], dtype);
  const isSame = (value: number) => Number(convert([value], dtype)[0]) === value;
  const isExact =
    dtype.includes('float') ||
    count === 0 ||
    [start, step, start + (count - 1) * step].every(isSame);
  if (isExact) return constant('range', [start, step], [count, dtype], [count], dtype, 'float64');
  // The dtype cannot represent all of these numbers, so `tensor` converts them: it truncates and wraps, or throws for int64
  // and uint64; of bool, all but 0 are true.
  const values = new Float64Array(count);
  for (let at = 0; at < count; at += 1) values[at] = start + at * step;
  return tensor(values, [count], dtype);
}

/** `num` evenly spaced numbers from start to stop, inclusive. Error: fewer than one. */
export function linspace(start: number, stop: number, num: number): Tensor1D {
  if (!(num > 0)) throw new LatheError('The number of values should be positive.');
  const by = num === 1 ? 0 : (stop - start) / (num - 1);
  return sequence('linspace', start, by, num, 'float32');
}

/** An identity matrix per batch index, [...batchShape, rows, columns]. Error: `batchShape` of more than four axes. */
export function eye(
  numRows: number,
  numColumns: number = numRows,
  batchShape?: readonly number[],
  dtype: DType = 'float32',
): Tensor {
  const columns = numColumns ?? numRows;
  const batch = batchShape ?? [];
  if (batch.length > 4) {
    throw new LatheError(
      `eye() currently supports only 1D, 2D, 3D and 4D batchShapes, but received ${batch.length}D.`,
    );
  }
  const shape = [...batch, numRows, columns];
  checkBytes('eye', shape, dtype);
  if (isRecorded(shape)) return recordedEye(shape, numRows, columns, dtype);
  const size = numRows * columns;
  const values = new Float32Array(elementCount(shape));
  for (let from = 0; from < values.length; from += size) {
    for (let at = 0; at < Math.min(numRows, columns); at += 1)
      values[from + at * (columns + 1)] = 1;
  }
  return tensor(values, shape, dtype);
}

const recordedEye = (shape: number[], rows: number, columns: number, dtype: DType): Tensor =>
  tidy(() => {
    const rowIndices = applyOperation('reshape', [range(0, rows, 1, 'int32')], [[rows, 1]]);
    const isDiagonal = applyOperation('equal', [rowIndices, range(0, columns, 1, 'int32')]);
    return applyOperation('broadcastTo', [castTo(isDiagonal, dtype)], [shape]);
  });

/** The elements on the diagonal of a tensor of shape [...x.shape, ...x.shape], zeros elsewhere. */
export function diag(x: TensorLike): Tensor {
  return tidy(() => {
    const input = toTensor(x, 'x', 'diag');
    const { size, shape } = input;
    const isDiagonal = eye(size, size, undefined, 'bool');
    const column = applyOperation('reshape', [input], [[size, 1]]);
    const spread = where(isDiagonal, column, zerosLike(column));
    return applyOperation('reshape', [spread], [[...shape, ...shape]]);
  });
}

/**
 * The elements in another type: fractions are truncated, everything but 0 is true, complex numbers are reduced to
 * their real parts. Errors: an unknown type.
 */
export function cast(x: TensorLike, dtype: DType | 'complex64'): Tensor {
  return tidy((): Tensor => {
    const input = toTensor(x, 'x', 'cast');
    const parts = partsOf(input);
    if (dtype === 'complex64') {
      return parts === undefined ? complex(input, zeros([...input.shape])) : alias(input);
    }
    if (parts !== undefined) return cast(parts.real, dtype);
    checkDType('Failed to cast to unknown dtype', dtype);
    return input.dtype === dtype ? alias(input) : castTo(input, dtype);
  });
}

/** A new tensor with the same elements. */
export const identity = (x: TensorLike): Tensor => alias(toTensor(x, 'x', 'identity'));

/**
 * onValue at the index, offValue elsewhere, [...indices.shape, depth]; an index outside the depth yields only offValue. Errors:
 * indices that are not int32; fewer than two classes.
 */
export function oneHot(
  indices: TensorLike,
  depth: number,
  onValue = 1,
  offValue = 0,
  dtype: DType = 'int32',
): Tensor {
  if (!(depth >= 2)) throw new LatheError(`Error in oneHot: depth must be >=2, but it is ${depth}`);
  return tidy(() => {
    const input = toTensor(indices, 'indices', 'oneHot', 'int32');
    const flat = input.rank === 1 ? input : applyOperation('reshape', [input], [[input.size]]);
    const rows = applyOperation('oneHot', [flat], [depth]);
    const hot =
      input.rank === 1 ? rows : applyOperation('reshape', [rows], [[...input.shape, depth]]);
    if (onValue === 1 && offValue === 0) return castTo(hot, dtype);
    return where(castTo(hot, 'bool'), scalar(onValue, dtype), scalar(offValue, dtype));
  });
}

/** Prints the elements of a tensor to the console; verbose: also its dtype and shape. */
export const print = (x: TensorLike, verbose = false): void =>
  console.log(toTensor(x, 'x', 'print').toString(verbose));
