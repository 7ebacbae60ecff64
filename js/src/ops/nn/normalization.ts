/** Batch normalization and local response normalization. */
import { LatheError } from '../../base/errors.js';
import { applyOperation } from '../../eager/apply.js';
import { elementwise, toTensor } from '../../eager/operands.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import { constant } from '../common/constants.js';
import { batched, checkRank } from '../windows/windows.js';

type Maybe = TensorLike | null | undefined;

/**
 * (x - mean) / √(variance + varianceEpsilon) · scale + offset.
 *
 * @param mean 1-D over the last axis of x, or of the rank of x; variance, offset and scale too
 *
 * Errors: shapes that do not fit.
 */
export function batchNorm(
  x: TensorLike,
  mean: TensorLike,
  variance: TensorLike,
  offset?: Maybe,
  scale?: Maybe,
  varianceEpsilon?: number,
): Tensor {
  const op = 'batchNorm';
  return tidy(() => {
    const input = toTensor(x, 'x', op);
    const [middle, spread] = [toTensor(mean, 'mean', op), toTensor(variance, 'variance', op)];
    const factor = scale == null ? undefined : toTensor(scale, 'scale', op);
    const shift = offset == null ? undefined : toTensor(offset, 'offset', op);
    for (const [what, other] of [
      ['variance', spread],
      ['offset', shift],
      ['scale', factor],
    ] as const) {
      if (other === undefined || other.rank === middle.rank) continue;
      throw new LatheError(
        `Batch normalization gradient requires mean and ${what} to have equal ranks.`,
      );
    }
    const epsilon = varianceEpsilon ?? 0.001;
    const root = applyOperation('rsqrt', [
      elementwise('add', ['variance', 'epsilon'], [spread, epsilon]),
    ]);
    const by = factor === undefined ? root : elementwise('mul', ['scale', 'x'], [factor, root]);
    const centered = elementwise('sub', ['x', 'mean'], [input, middle]);
    const result = elementwise('mul', ['x', 'scale'], [centered, by]);
    return shift === undefined ? result : elementwise('add', ['x', 'offset'], [result, shift]);
  });
}

function ofRank(rank: number): typeof batchNorm {
  const op = `batchNorm${rank}d`;
  return (x, mean, variance, offset, scale, varianceEpsilon) =>
    tidy(() => {
      const input = toTensor(x, 'x', 'batchNorm');
      checkRank(op, 'x', input, rank);
      const others = { mean, variance, scale, offset };
      const [middle, spread, factor, shift] = Object.entries(others).map(([what, other]) => {
        if (other == null) return undefined;
        const tensor = toTensor(other, what, 'batchNorm');
        if (tensor.rank === rank || tensor.rank === 1) return tensor;
        throw new LatheError(
          `Error in ${op}: ${what} must be rank ${rank} or rank 1 but got rank ${tensor.rank}.`,
        );
      });
      return batchNorm(input, middle!, spread!, shift, factor, varianceEpsilon);
    });
}

/** `batchNorm` of x [batch, channels]. Error: another rank. */
export const batchNorm2d = /* @__PURE__ */ ofRank(2);
/** `batchNorm` of x of three axes. Error: another rank. */
export const batchNorm3d = /* @__PURE__ */ ofRank(3);
/** `batchNorm` of x of four axes. Error: another rank. */
export const batchNorm4d = /* @__PURE__ */ ofRank(4);

/**
 * x / (bias + alpha · sum of squares over channels within `depthRadius`)^beta, of [batch, height, width, channels]
 * or without batch (Krizhevsky et al., 2012). Errors: rank; a radius that is not an integer.
 */
export function localResponseNormalization(
  x: TensorLike,
  depthRadius = 5,
  bias = 1,
  alpha = 1,
  beta = 0.5,
): Tensor {
  const op = 'localResponseNormalization';
  return tidy(() => {
    const input = toTensor(x, 'x', op, 'float32');
    if (!Number.isInteger(depthRadius) || depthRadius < 0) {
      throw new LatheError(
        `Error in ${op}: depthRadius must be an integer but got depthRadius ${depthRadius}.`,
      );
    }
    return batched(op, input, 4, (tensor) => {
      const channels = tensor.shape[3]!;
      const radius = Math.min(depthRadius, Math.max(channels - 1, 0));
      const sums = nearby(applyOperation('square', [tensor]), radius);
      const base = applyOperation('add', [applyOperation('mul', [sums, alpha]), bias]);
      return applyOperation('mul', [tensor, applyOperation('pow', [base, -beta])]);
    });
  });
}

/** Sums over channels within `radius`. */
function nearby(x: Tensor, radius: number): Tensor {
  if (radius === 0) return x;
  const channels = x.shape[3]!;
  const near = Float32Array.from({ length: channels * channels }, (_, at) => {
    return Number(Math.abs(Math.floor(at / channels) - (at % channels)) <= radius);
  });
  const rows = applyOperation('reshape', [x], [[x.size / channels, channels]]);
  const sums = applyOperation('matMul', [rows, constant(near, [channels, channels])]);
  return applyOperation('reshape', [sums], [x.shape]);
}
