/** What is left of a tensor along some of its axes; without axes, along all. */
import { elementCount } from '../base/shape.js';
import type { OperationName } from '../core/names.js';
import { apply } from '../eager/apply.js';
import { castTo, toTensor, type Wanted } from '../eager/operands.js';
import { tidy } from '../tensor/scopes.js';
import type { DType } from '../tensor/dtypes.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import { type Axis, axesOf } from './axes.js';
import { integers } from './constants.js';
import { isFloat } from './floats.js';

/** Axis and `keepDims`: whether reduced axes stay, of size 1. */
type Reduction = (x: TensorLike, axis?: Axis, keepDims?: boolean) => Tensor;

/** @param prepare what the elements become before; the tensor itself where they are as they must be */
const reduction =
  (op: OperationName, wanted: Wanted = 'numeric', prepare: Prepare = asTheyAre): Reduction =>
  (x, axis = null, keepDims = false) => {
    const reduced = (given: Tensor, ready: Tensor) =>
      apply(op, [ready], [axesOf(axis, given.rank), keepDims]);
    const isReady = x instanceof Tensor && (wanted === 'numeric' || x.dtype === wanted);
    if (isReady && prepare.holds(x)) return reduced(x, x);
    return tidy(() => {
      const given = toTensor(x, 'x', op, wanted);
      return reduced(given, prepare.holds(given) ? given : castTo(given, prepare.to));
    });
  };

interface Prepare {
  readonly holds: (x: Tensor) => boolean;
  readonly to: DType;
}

const asTheyAre: Prepare = { holds: () => true, to: 'bool' };
const counted: Prepare = { holds: ({ dtype }) => dtype !== 'bool', to: 'int32' };
const floats: Prepare = { holds: isFloat, to: 'float32' };

const countable = (x: Tensor) => (x.dtype === 'bool' ? castTo(x, 'int32') : x);

/** The sum; of bools how many are true. */
export const sum = /* @__PURE__ */ reduction('sum', 'numeric', counted);
/** The mean, of integers a float. */
export const mean = /* @__PURE__ */ reduction('mean', 'numeric', floats);
export const prod = /* @__PURE__ */ reduction('prod', 'numeric', counted);
/** Whether all are true. Error: no bools. */
export const all = /* @__PURE__ */ reduction('all', 'bool');
/** Whether one is true. Error: no bools. */
export const any = /* @__PURE__ */ reduction('any', 'bool');
/** log Σ e^x. */
export const logSumExp = /* @__PURE__ */ reduction('logSumExp', 'numeric', floats);

/** The greatest. Elements that are as great share its gradient equally. */
export const max: Reduction = (x, axis = null, keepDims = false) =>
  extreme('max', x, axis, keepDims);
/** The least. Elements that are as small share its gradient equally. */
export const min: Reduction = (x, axis = null, keepDims = false) =>
  extreme('min', x, axis, keepDims);

function extreme(op: 'max' | 'min', x: TensorLike, axis: Axis, keepDims: boolean): Tensor {
  return tidy(() => {
    const given = toTensor(x, 'x', op);
    const found = apply(op, [countable(given)], [axesOf(axis, given.rank), keepDims]);
    return castTo(found, given.dtype);
  });
}

/** The place of the greatest along an axis, int32; of equal ones the first, of none 0. NaNs count in the first place alone. */
export const argMax = (x: TensorLike, axis = 0): Tensor => place('argMax', x, axis);
/** The place of the least, as `argMax`. */
export const argMin = (x: TensorLike, axis = 0): Tensor => place('argMin', x, axis);

function place(op: 'argMax' | 'argMin', x: TensorLike, axis: number): Tensor {
  return tidy(() => {
    const given = countable(toTensor(x, 'x', op));
    const along = axesOf(axis ?? 0, given.rank)[0]!;
    if (given.shape[along] !== 0) return apply(op, [given], [along]);
    const shape = given.shape.filter((_, at) => at !== along);
    return integers(new Int32Array(elementCount(shape)), shape);
  });
}

/** Sums of all elements up to each along an axis; exclusive: without it, reverse: from the end. */
export const cumsum = (x: TensorLike, axis = 0, exclusive = false, reverse = false): Tensor =>
  scan('cumsum', x, axis, exclusive, reverse);
/** Products, as `cumsum`. */
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
    const given = countable(toTensor(x, 'x', op));
    return apply(op, [given], [axesOf(axis, given.rank)[0]!, exclusive, reverse]);
  });
}
