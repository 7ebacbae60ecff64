/**
 * Constant tensors and sequences. Large ones are recorded as operations, so that their readers need no memory for them.
 */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import { checkDType, convert, zeros as zeroArray } from '../tensor/convert.js';
import { tensor } from '../tensor/create.js';
import { arrayTypes, type DType } from '../tensor/dtypes.js';
import type { Rank, ShapeOf } from '../tensor/ranks.js';
import { tracked } from '../tensor/live_tensors.js';
import { checkedShape, Tensor } from '../tensor/tensor.js';
import { applyOperation } from './apply.js';
import { engine } from './engine.js';
import { fillConstant, fillRange } from './graph/fill.js';

/** Constants of up to this many elements are arrays: filling one is faster than compiling a different module. */
const maxArrayElements = 2 ** 16;
/** The heap has 32-bit addresses. */
const heapBytes = 2 ** 32;

/** Error: a tensor of 4 GiB or more; names shape and bytes. */
export function checkBytes(op: string, shape: readonly number[], dtype: DType): void {
  checkDType(op, dtype);
  const bytes = elementCount(shape) * arrayTypes[dtype].BYTES_PER_ELEMENT;
  if (bytes < heapBytes) return;
  throw new LatheError(
    `${op}: ${dtype} [${shape.join(',')}] needs ${bytes} bytes; tensors are limited to less than ${heapBytes}`,
  );
}

/** Whether a constant of a shape is recorded as an operation. */
export const isRecorded = (shape: readonly number[]): boolean =>
  elementCount(shape) > maxArrayElements && engine.watcher === undefined;

/** An operation on numbers of the dtype `type`; for small shapes the filled array. */
export function constant(
  op: 'broadcastTo' | 'range',
  numbers: readonly number[],
  values: readonly unknown[],
  shape: readonly number[],
  dtype: DType,
  type: DType,
): Tensor {
  if (isRecorded(shape)) return applyOperation(op, numbers, values, type);
  const made = zeroArray(dtype, elementCount(shape));
  (op === 'range' ? fillRange : fillConstant)(made, numbers, dtype, true);
  // Debug mode inspects the values of new tensors.
  return engine.watcher === undefined
    ? new Tensor(made, shape, dtype)[tracked]()
    : tensor(made, [...shape], dtype);
}

/**
 * A tensor filled with a number. Errors: an invalid shape; an unknown dtype; a number that the dtype does not have; 4
 * GiB or more.
 */
export function full(op: string, shape: readonly number[], value: number, dtype: DType): Tensor {
  const sizes = checkedShape(shape);
  checkBytes(op, sizes, dtype);
  const element = dtype.includes('float') ? value : Number(convert([value], dtype)[0]);
  return constant('broadcastTo', [element], [sizes], sizes, dtype, dtype);
}

/** A tensor of zeros. Default: float32. Errors: an invalid shape; an unknown dtype; 4 GiB or more. */
export const zeros = <R extends Rank = any>(
  shape: ShapeOf<R>,
  dtype: DType = 'float32',
): Tensor<R> => full('zeros', shape, 0, dtype);

/** A tensor of ones. Default: float32. Errors as of `zeros`. */
export const ones = <R extends Rank = any>(
  shape: ShapeOf<R>,
  dtype: DType = 'float32',
): Tensor<R> => full('ones', shape, 1, dtype);
