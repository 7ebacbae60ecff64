/** What predictions are off by: `losses` of TensorFlow.js. */
import { LatheError } from '../base/errors.js';
import { toTensor } from '../eager/operands.js';
import { tidy } from '../tensor/scopes.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';
import { logSoftmax, relu } from './activations.js';
import { add, div, minimum, mul, squaredDifference, sub } from './arithmetic.js';
import { notEqual } from './compare.js';
import { cast, onesLike } from './create.js';
import { checkSameShape } from './floats.js';
import { mean, sum } from './reduce.js';
import { abs, exp, log, log1p, neg, square } from './unary.js';

/** What becomes of the losses: all of them, their mean by the weights, sum, or sum by how many weights are not 0. */
export enum Reduction {
  NONE,
  MEAN,
  SUM,
  SUM_BY_NONZERO_WEIGHTS,
}

type Weights = TensorLike | null | undefined;
const usual = Reduction.SUM_BY_NONZERO_WEIGHTS;

/** Losses, each times its weight, reduced. The weights' shape is broadcast. */
function computeWeightedLoss(losses: TensorLike, weights?: Weights, reduction = usual): Tensor {
  return tidy(() => {
    const all = toTensor(losses, 'losses', 'computeWeightedLoss');
    const by = weights == null ? undefined : toTensor(weights, 'weights', 'computeWeightedLoss');
    const weighted = by === undefined ? all : mul(all, by);
    if (reduction === Reduction.NONE) return weighted;
    if (reduction === Reduction.SUM) return sum(weighted);
    if (reduction === Reduction.MEAN) {
      if (by === undefined) return mean(weighted);
      const average = div(sum(weighted), sum(by));
      const times = all.size / by.size;
      return times > 1 ? div(average, times) : average;
    }
    if (reduction !== usual) throw new LatheError(`Unknown reduction: ${String(reduction)}`);
    if (by === undefined) return div(sum(weighted), all.size);
    const counted = notEqual(mul(by, onesLike(all)), 0);
    return div(sum(weighted), cast(sum(counted), 'float32'));
  });
}

/** Labels and predictions, of the same shape where the loss demands it, and their losses reduced. */
function loss(
  name: string,
  [labels, predictions]: readonly [TensorLike, TensorLike],
  [weights, reduction]: readonly [Weights, Reduction],
  action: (labels: Tensor, predictions: Tensor) => Tensor,
  [first, second]: readonly string[] = ['labels', 'predictions'],
): Tensor {
  return tidy(() => {
    const y = toTensor(labels, first!, name);
    const given = toTensor(predictions, second!, name);
    const by = weights == null ? undefined : toTensor(weights, 'weights', name);
    checkSameShape(y.shape, given.shape, `Error in ${name}: `);
    return computeWeightedLoss(action(y, given), by, reduction);
  });
}

/** |y - p|. */
function absoluteDifference(
  labels: TensorLike,
  predictions: TensorLike,
  weights?: Weights,
  reduction = usual,
): Tensor {
  return loss('absoluteDifference', [labels, predictions], [weights, reduction], (y, p) =>
    abs(sub(y, p)),
  );
}

/** 1 - Σ y · p along an axis. */
function cosineDistance(
  labels: TensorLike,
  predictions: TensorLike,
  axis: number,
  weights?: Weights,
  reduction = usual,
): Tensor {
  return loss('cosineDistance', [labels, predictions], [weights, reduction], (y, p) =>
    sub(1, sum(mul(y, p), axis, true)),
  );
}

/** max(0, 1 - (2y - 1) · p). */
function hingeLoss(
  labels: TensorLike,
  predictions: TensorLike,
  weights?: Weights,
  reduction = usual,
): Tensor {
  return loss('hingeLoss', [labels, predictions], [weights, reduction], (y, p) =>
    relu(sub(1, mul(sub(mul(y, 2), 1), p))),
  );
}

/** Half the square of the difference up to delta, beyond it a line. */
function huberLoss(
  labels: TensorLike,
  predictions: TensorLike,
  weights?: Weights,
  delta = 1,
  reduction = usual,
): Tensor {
  return loss('huberLoss', [labels, predictions], [weights, reduction], (y, p) => {
    const off = abs(sub(p, y));
    const bent = minimum(off, delta);
    return add(mul(square(bent), 0.5), mul(sub(off, bent), delta));
  });
}

/** -y · log(p + epsilon) - (1 - y) · log(1 - p + epsilon). */
function logLoss(
  labels: TensorLike,
  predictions: TensorLike,
  weights?: Weights,
  epsilon = 1e-7,
  reduction = usual,
): Tensor {
  return loss('logLoss', [labels, predictions], [weights, reduction], (y, p) => {
    const isOne = mul(y, log(add(p, epsilon)));
    return neg(add(isOne, mul(sub(1, y), log(add(sub(1, p), epsilon)))));
  });
}

/** (y - p)². */
function meanSquaredError(
  labels: TensorLike,
  predictions: TensorLike,
  weights?: Weights,
  reduction = usual,
): Tensor {
  return loss('meanSquaredError', [labels, predictions], [weights, reduction], squaredDifference);
}

/** The cross entropy of sigmoid(logits), each by itself; smoothing draws labels towards 1/2. */
function sigmoidCrossEntropy(
  multiClassLabels: TensorLike,
  logits: TensorLike,
  weights?: Weights,
  labelSmoothing = 0,
  reduction = usual,
): Tensor {
  const entropy = (y: Tensor, x: Tensor) => {
    const z = labelSmoothing > 0 ? add(mul(y, 1 - labelSmoothing), labelSmoothing / 2) : y;
    // x + relu(-x) is max(x, 0): its slope at 0 is 1, and with that of log1p there are left 1/2.
    return add(add(sub(x, mul(x, z)), relu(neg(x))), log1p(exp(neg(abs(x)))));
  };
  const names = ['multiClassLabels', 'logits'];
  const given = [multiClassLabels, logits] as const;
  return loss('sigmoidCrossEntropy', given, [weights, reduction], entropy, names);
}

/** The cross entropy of softmax(logits) along the last axis; smoothing draws labels towards 1/classes. */
function softmaxCrossEntropy(
  onehotLabels: TensorLike,
  logits: TensorLike,
  weights?: Weights,
  labelSmoothing = 0,
  reduction = usual,
): Tensor {
  const entropy = (y: Tensor, x: Tensor) => {
    const share = labelSmoothing / y.shape.at(-1)!;
    const z = labelSmoothing > 0 ? add(mul(y, 1 - labelSmoothing), share) : y;
    return neg(sum(mul(logSoftmax(x), z), -1));
  };
  const names = ['onehotLabels', 'logits'];
  const given = [onehotLabels, logits] as const;
  return loss('softmaxCrossEntropy', given, [weights, reduction], entropy, names);
}

export const losses = {
  absoluteDifference,
  computeWeightedLoss,
  cosineDistance,
  hingeLoss,
  huberLoss,
  logLoss,
  meanSquaredError,
  sigmoidCrossEntropy,
  softmaxCrossEntropy,
};
