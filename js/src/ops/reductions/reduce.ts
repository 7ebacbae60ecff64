/** Reductions and cumulative sums over some axes; by default over all. */
import { elementCount } from '../../base/shape.js';
import type { OperationName } from '../../core/names.js';
import { applyOperation } from '../../eager/apply.js';
import { castTo, toTensor, type ExpectedDType } from '../../eager/operands.js';
import { tidy } from '../../tensor/scopes.js';
import type { DType } from '../../tensor/dtypes.js';
import { Tensor, type TensorLike } from '../../tensor/tensor.js';
import { type Axis, axesOf } from '../common/axes.js';
import { integers } from '../common/constants.js';
import { isFloat } from '../common/floats.js';

/** Axis and `keepDims`: whether reduced axes stay, of size 1. */
type Reduction = (x: TensorLike, axis?: Axis, keepDims?: boolean) => Tensor;

/** @param prepare the cast that precedes the reduction, unless the dtype is accepted */
const reduction =
  (
    op: OperationName,
    accepted: ExpectedDType = 'numeric',
    prepare: Prepare = asTheyAre,
  ): Reduction =>
  (x, axis = null, keepDims = false) => {
    const reduced = (input: Tensor, ready: Tensor) =>
      applyOperation(op, [ready], [axesOf(axis, input.rank), keepDims]);
    const isReady = x instanceof Tensor && (accepted === 'numeric' || x.dtype === accepted);
    if (isReady && prepare.accepts(x)) return reduced(x, x);
    return tidy(() => {
      const input = toTensor(x, 'x', op, accepted);
      return reduced(input, prepare.accepts(input) ? input : castTo(input, prepare.to));
    });
  };

interface Prepare {
  readonly accepts: (x: Tensor) => boolean;
  readonly to: DType;
}

const asTheyAre: Prepare = { accepts: () => true, to: 'bool' };
const asIntegers: Prepare = { accepts: ({ dtype }) => dtype !== 'bool', to: 'int32' };
const floats: Prepare = { accepts: isFloat, to: 'float32' };

const countable = (x: Tensor) => (x.dtype === 'bool' ? castTo(x, 'int32') : x);

/** The sum; for bools the number of true ones. */
export const sum = /* @__PURE__ */ reduction('sum', 'numeric', asIntegers);
/** The mean; a float for integers. */
export const mean = /* @__PURE__ */ reduction('mean', 'numeric', floats);
export const prod = /* @__PURE__ */ reduction('prod', 'numeric', asIntegers);
/** Whether all are true. Error: not bool. */
export const all = /* @__PURE__ */ reduction('all', 'bool');
/** Whether any is true. Error: not bool. */
export const any = /* @__PURE__ */ reduction('any', 'bool');
/** log Σ e^x. */
export const logSumExp = /* @__PURE__ */ reduction('logSumExp', 'numeric', floats);

/** The maximum. Equal maxima share its gradient equally. */
export const max: Reduction = (x, axis = null, keepDims = false) =>
  extreme('max', x, axis, keepDims);
/** The minimum. Equal minima share its gradient equally. */
export const min: Reduction = (x, axis = null, keepDims = false) =>
  extreme('min', x, axis, keepDims);

function extreme(op: 'max' | 'min', x: TensorLike, axis: Axis, keepDims: boolean): Tensor {
  return tidy(() => {
    const input = toTensor(x, 'x', op);
    const found = applyOperation(op, [countable(input)], [axesOf(axis, input.rank), keepDims]);
    return castTo(found, input.dtype);
  });
}

/** The index of the maximum along an axis, int32; the first of equal ones, 0 of none. NaN counts only at index 0. */
export const argMax = (x: TensorLike, axis = 0): Tensor => argExtreme('argMax', x, axis);
/** The index of the minimum, as `argMax`. */
export const argMin = (x: TensorLike, axis = 0): Tensor => argExtreme('argMin', x, axis);

function argExtreme(op: 'argMax' | 'argMin', x: TensorLike, axis: number): Tensor {
  return tidy(() => {
    const input = countable(toTensor(x, 'x', op));
    const along = axesOf(axis ?? 0, input.rank)[0]!;
    if (input.shape[along] !== 0) return applyOperation(op, [input], [along]);
    const shape = input.shape.filter((_, at) => at !== along);
    return integers(new Int32Array(elementCount(shape)), shape);
  });
}

/** Cumulative sums along an axis; exclusive: without the element itself, reverse: from the end. */
export const cumsum = (x: TensorLike, axis = 0, exclusive = false, reverse = false): Tensor =>
  scan('cumsum', x, axis, exclusive, reverse);
/** Cumulative products, as `cumsum`. */
export const cumprod = (x: TensorLike, axis = 0, exclusive = false, reverse = false): Tensor =>
  scan('cumprod', x, axis, exclusive, reverse);

function scan(
  op: 'cumsum' | 'cumprod',
  x: TensorLike,
  axis: number,
  exclusive: boolean,
  reverse: boolean,
): Tensor {
  return tidy(() => {
    const input = countable(toTensor(x, 'x', op));
    return applyOperation(op, [input], [axesOf(axis, input.rank)[0]!, exclusive, reverse]);
  });
}
