/** Norms and moments. */
import { LatheError } from '../../base/errors.js';
import { applyOperation } from '../../eager/apply.js';
import { toTensor } from '../../eager/operands.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import { add, mul, pow, sub } from '../elementwise/arithmetic.js';
import { type Axis, axesOf, reducedShape } from '../common/axes.js';
import { asFloats, checkSameShape } from '../common/floats.js';
import { max, mean, min, sum } from './reduce.js';
import { abs, sqrt, square } from '../elementwise/unary.js';

/** The order of a norm. */
export type NormOrder = number | 'euclidean' | 'fro';

/**
 * The norm of vectors along one axis or of matrices along two, by default of the flattened tensor: 1, 2 or
 * 'euclidean', ±Infinity; of matrices 1, ±Infinity, and 'fro' or 'euclidean'. Errors: another order; more axes.
 */
export function norm(
  x: TensorLike,
  ord: NormOrder = 'euclidean',
  axis: Axis = null,
  keepDims = false,
): Tensor {
  return tidy(() => {
    const source = toTensor(x, 'x', 'norm');
    if (source.rank === 0) return abs(source);
    if (axis === null && source.rank !== 1) {
      const found = vectorNorm(applyOperation('reshape', [source], [[source.size]]), ord, 0);
      return applyOperation('reshape', [found], [keepDims ? source.shape.map(() => 1) : []]);
    }
    const axes = axesOf(axis, source.rank);
    if (axes.length > 2) throw new LatheError(`Error in norm: invalid axis: ${String(axis)}`);
    const found =
      axes.length === 1 ? vectorNorm(source, ord, axes[0]!) : matrixNorm(source, ord, axes);
    const unreduced = reducedShape(source.shape, axes);
    const left = keepDims ? unreduced : source.shape.filter((_, at) => !axes.includes(at));
    return applyOperation('reshape', [found], [left]);
  });
}

/** Keeps the axis with size 1. */
function vectorNorm(x: Tensor, ord: NormOrder, axis: number): Tensor {
  if (ord === 1) return sum(abs(x), axis, true);
  if (ord === Infinity) return max(abs(x), axis, true);
  if (ord === -Infinity) return min(abs(x), axis, true);
  if (ord === 'euclidean' || ord === 2) return sqrt(sum(square(x), axis, true));
  throw new LatheError(`Error in norm: invalid ord value: ${ord}`);
}

/** Keeps the axes with size 1. */
function matrixNorm(x: Tensor, ord: NormOrder, axes: number[]): Tensor {
  const [rows, columns] = axes;
  if (ord === 1) return max(sum(abs(x), rows, true), columns, true);
  if (ord === Infinity) return max(sum(abs(x), columns, true), rows, true);
  if (ord === -Infinity) return min(sum(abs(x), columns, true), rows, true);
  if (ord === 'fro' || ord === 'euclidean') return sqrt(sum(square(x), axes, true));
  throw new LatheError(`Error in norm: invalid ord value: ${ord}`);
}

/** The Euclidean `norm`. */
export const euclideanNorm = (x: TensorLike, axis: Axis = null, keepDims = false): Tensor =>
  norm(x, 'euclidean', axis, keepDims);

/** Mean and variance along axes. */
export function moments(
  x: TensorLike,
  axis: Axis = null,
  keepDims = false,
): { mean: Tensor; variance: Tensor } {
  return tidy(() => {
    const source = asFloats(x, 'x', 'moments');
    const axes = axesOf(axis, source.rank);
    const center = mean(source, axes, true);
    const variance = mean(square(sub(source, center)), axes, keepDims);
    return { mean: keepDims ? center : mean(source, axes), variance };
  });
}

/**
 * The exponential moving average v + (x - v) · (1 - decay), by default debiased for a v that starts at 0, which requires the
 * step count. Errors: types or shapes that differ; no step.
 */
export function movingAverage(
  v: TensorLike,
  x: TensorLike,
  decay: TensorLike,
  step?: TensorLike,
  zeroDebias = true,
): Tensor {
  return tidy(() => {
    const [from, to] = [toTensor(v, 'v', 'movingAverage'), toTensor(x, 'x', 'movingAverage')];
    const rate = toTensor(decay, 'decay', 'movingAverage');
    if (from.dtype !== to.dtype) {
      throw new LatheError(
        `The dtypes of the first(${from.dtype}) and second(${to.dtype}) input must match`,
      );
    }
    checkSameShape(from.shape, to.shape, 'Shape mismatch in v and x:');
    const update = mul(sub(to, from), sub(1, rate));
    if (!zeroDebias) return add(from, update);
    if (step === undefined || step === null) {
      throw new LatheError('When using zeroDebias: true, step is required.');
    }
    const at = toTensor(step, 'step', 'movingAverage');
    return add(from, applyOperation('div', [update, sub(1, pow(rate, at))]));
  });
}
