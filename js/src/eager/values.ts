/** Operations on values, and tensors that show them. */
import type { OperationName } from '../core/names.js';
import { HeapValue } from '../runtime/heap_value.js';
import type { DType } from '../tensor/dtypes.js';
import { trackElements, tracked } from '../tensor/scopes.js';
import { elements, Tensor } from '../tensor/tensor.js';
import { limitDepth } from './compute.js';
import { Operation, type Source } from './formulas.js';
import { type Signature, signatureOf, type ValueType } from './signature.js';

/** A type and how it is spelled. */
export const valueType = (shape: readonly number[], dtype: DType): ValueType => ({
  shape,
  dtype,
  type: `${dtype} [${shape.join(',')}]`,
});

/** The value of an operation, for one tensor that is still to be made. */
export function pending(signature: Signature, sources: readonly Source[]): HeapValue {
  const formula = new Operation(signature, sources);
  const value = new HeapValue(signature.dtype, signature.shape, formula);
  limitDepth(value, formula);
  return value;
}

/** As `apply`, for one tensor that is still to be made. `numbers`: the types of numbers among the sources. */
export function operation(
  op: OperationName,
  sources: readonly Source[],
  values: readonly unknown[] = [],
  numbers: DType = 'float32',
): HeapValue {
  const types = sources.map((each) =>
    typeof each === 'number' ? valueType([], numbers) : valueType(each.shape, each.dtype),
  );
  return pending(signatureOf(op, types, values), sources);
}

/** Another tensor that shows a value, or the first again. */
export function shownAgain(value: HeapValue): Tensor {
  const { isShown } = value;
  value.share();
  return new Tensor(value, value.shape, value.dtype)[tracked](isShown);
}

/** Another value of the same elements. The core sees no second one behind a change of shape that is none. */
export function same(value: HeapValue): HeapValue {
  if (!value.dtype.includes('float')) return operation('reshape', [value], [value.shape]);
  const opposite = operation('neg', [value]);
  const found = operation('neg', [opposite]);
  opposite.free();
  return found;
}

/** A tensor by which derivatives are taken has elements of its own, so that they are not those of another one. */
export function separate(x: Tensor): void {
  const value = HeapValue.of(x);
  if (value.tensors === 1) return;
  x[elements] = value.isThere ? value.twin() : same(value);
  if (!value.free()) trackElements(x);
}
