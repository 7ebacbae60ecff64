/** Loss functions: `losses` of TensorFlow.js. */
import { LatheError } from '../../base/errors.js';
import { toTensor } from '../../eager/operands.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import { logSoftmax, relu } from '../elementwise/activations.js';
import { add, div, minimum, mul, squaredDifference, sub } from '../elementwise/arithmetic.js';
import { notEqual } from '../elementwise/compare.js';
import { cast, onesLike } from '../arrays/create.js';
import { checkSameShape } from '../common/floats.js';
import { mean, sum } from '../reductions/reduce.js';
import { abs, exp, log, log1p, neg, square } from '../elementwise/unary.js';

/** How losses are reduced: not, weighted mean, sum, or sum divided by the number of nonzero weights. */
export enum Reduction {
  NONE,
  MEAN,
  SUM,
  SUM_BY_NONZERO_WEIGHTS,
}

type Weights = TensorLike | null | undefined;
const usual = Reduction.SUM_BY_NONZERO_WEIGHTS;

/** Multiplies losses by weights, which are broadcast, and reduces them. */
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
    const nonzero = notEqual(mul(by, onesLike(all)), 0);
    return div(sum(weighted), cast(sum(nonzero), 'float32'));
  });
}

/** Reads labels and predictions, checks their shapes if the loss requires it, and reduces their losses. */
function loss(
  name: string,
  [labels, predictions]: readonly [TensorLike, TensorLike],
  [weights, reduction]: readonly [Weights, Reduction],
  action: (labels: Tensor, predictions: Tensor) => Tensor,
  [first, second]: readonly string[] = ['labels', 'predictions'],
): Tensor {
  return tidy(() => {
    const y = toTensor(labels, first!, name);
    const input = toTensor(predictions, second!, name);
    const by = weights == null ? undefined : toTensor(weights, 'weights', name);
    checkSameShape(y.shape, input.shape, `Error in ${name}: `);
    return computeWeightedLoss(action(y, input), by, reduction);
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

/** Huber loss: quadratic up to delta, linear beyond. */
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

/** Elementwise cross entropy of sigmoid(logits); smoothing moves labels towards 1/2. */
function sigmoidCrossEntropy(
  multiClassLabels: TensorLike,
  logits: TensorLike,
  weights?: Weights,
  labelSmoothing = 0,
  reduction = usual,
): Tensor {
  const entropy = (y: Tensor, x: Tensor) => {
    const z = labelSmoothing > 0 ? add(mul(y, 1 - labelSmoothing), labelSmoothing / 2) : y;
    // x + relu(-x) is max(x, 0) with slope 1 at 0; minus that of log1p, the total slope is 1/2.
    return add(add(sub(x, mul(x, z)), relu(neg(x))), log1p(exp(neg(abs(x)))));
  };
  const names = ['multiClassLabels', 'logits'];
  const input = [multiClassLabels, logits] as const;
  return loss('sigmoidCrossEntropy', input, [weights, reduction], entropy, names);
}

/** The cross entropy of softmax(logits) along the last axis; smoothing moves labels towards 1/classes. */
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
  const input = [onehotLabels, logits] as const;
  return loss('softmaxCrossEntropy', input, [weights, reduction], entropy, names);
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
