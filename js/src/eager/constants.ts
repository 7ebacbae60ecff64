/** Tensors of one number everywhere and of sequences: recorded where they are large, so that what reads them stores none. */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import { checkDType, convert, zeros as zeroArray } from '../tensor/convert.js';
import { tensor } from '../tensor/create.js';
import { arrayTypes, type DType } from '../tensor/dtypes.js';
import type { Rank, ShapeOf } from '../tensor/ranks.js';
import { tracked } from '../tensor/scopes.js';
import { checkedShape, Tensor } from '../tensor/tensor.js';
import { apply, isWatched } from './apply.js';
import { count, repeat } from './fill.js';

/** Up to so many elements making them takes less than another module does that recording them may need. */
const mostMade = 2 ** 16;
/** Addresses of the memory of tensors end here. */
const mostBytes = 2 ** 32;

/** Error: no tensor can be as large; names shape and bytes. */
export function checkBytes(op: string, shape: readonly number[], dtype: DType): void {
  checkDType(op, dtype);
  const bytes = elementCount(shape) * arrayTypes[dtype].BYTES_PER_ELEMENT;
  if (bytes < mostBytes) return;
  throw new LatheError(
    `${op}: ${dtype} [${shape.join(',')}] takes ${bytes} bytes; tensors have less than ${mostBytes}`,
  );
}

/** Whether a constant of a shape is recorded as an operation. */
export const isRecorded = (shape: readonly number[]): boolean =>
  elementCount(shape) > mostMade && !isWatched();

/** The operation on numbers of the dtype `type`; of few elements their array. */
export function constant(
  op: 'broadcastTo' | 'range',
  numbers: readonly number[],
  values: readonly unknown[],
  shape: readonly number[],
  dtype: DType,
  type: DType,
): Tensor {
  if (isRecorded(shape)) return apply(op, numbers, values, type);
  const made = zeroArray(dtype, elementCount(shape));
  (op === 'range' ? count : repeat)(made, numbers, dtype, true);
  // Debug mode looks at what tensors are made of.
  return isWatched() ? tensor(made, [...shape], dtype) : new Tensor(made, shape, dtype)[tracked]();
}

/** A tensor of one number everywhere. Errors: no shape; an unknown dtype; one that has no such number; too many bytes. */
export function full(op: string, shape: readonly number[], value: number, dtype: DType): Tensor {
  const sizes = checkedShape(shape);
  checkBytes(op, sizes, dtype);
  const element = dtype.includes('float') ? value : Number(convert([value], dtype)[0]);
  return constant('broadcastTo', [element], [sizes], sizes, dtype, dtype);
}

/** A tensor of zeros. Default: float32. Errors: no shape; an unknown dtype; 4 GiB or more. */
export const zeros = <R extends Rank = any>(
  shape: ShapeOf<R>,
  dtype: DType = 'float32',
): Tensor<R> => full('zeros', shape, 0, dtype);

/** A tensor of ones. Default: float32. Errors as of `zeros`. */
export const ones = <R extends Rank = any>(
  shape: ShapeOf<R>,
  dtype: DType = 'float32',
): Tensor<R> => full('ones', shape, 1, dtype);
