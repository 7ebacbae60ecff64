/** `metrics` of TensorFlow.js on tensors, composed of operations, so they are differentiable. */
import { toTensor } from '../../eager/operands.js';
import { metrics as described } from '../../model/loss_functions.js';
import { clipByValue, softplus } from '../../ops/elementwise/activations.js';
import { argMax, mean, sum } from '../../ops/reductions/reduce.js';
import {
  add,
  div,
  maximum,
  mul,
  squaredDifference,
  sub,
} from '../../ops/elementwise/arithmetic.js';
import { equal, greater, logicalAnd, where } from '../../ops/elementwise/compare.js';
import { cast } from '../../ops/arrays/create.js';
import { squeeze } from '../../ops/common/shapes.js';
import { abs, log, neg, sqrt, square } from '../../ops/elementwise/unary.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';

type Values = (labels: Tensor, predictions: Tensor) => Tensor;

const epsilon = 1e-7;

const meanSquaredError: Values = (y, p) => mean(squaredDifference(p, y), -1);

const meanAbsolutePercentageError: Values = (y, p) =>
  mul(100, mean(abs(div(sub(y, p), clipByValue(abs(y), epsilon, Infinity))), -1));

/** Normalizes rows to unit length. */
const unit = (x: Tensor): Tensor =>
  div(x, sqrt(maximum(sum(square(cast(x, 'float32')), -1, true), epsilon)));

/** Counts pairs of a label and a prediction. */
const count = (y: Tensor, label: number, p: Tensor, prediction: number): Tensor =>
  cast(sum(logicalAnd(equal(y, label), equal(p, prediction))), 'float32');

/** a / (a + b), 0 if both are 0. */
const share = (a: Tensor, b: Tensor): Tensor => {
  const all = add(a, b);
  return where(greater(all, 0), div(a, all), 0);
};

const values = {
  binaryAccuracy: (y, p) => mean(equal(y, cast(greater(p, 0.5), y.dtype)), -1),
  binaryCrossentropy(y, p) {
    const sure = clipByValue(p, epsilon, 1 - epsilon);
    const logits = log(div(sure, sub(1, sure)));
    return mean(sub(softplus(logits), mul(logits, y)), -1);
  },
  categoricalAccuracy: (y, p) => cast(equal(argMax(y, -1), argMax(p, -1)), 'float32'),
  categoricalCrossentropy(y, p) {
    const sure = clipByValue(div(p, sum(p, -1, true)), epsilon, 1 - epsilon);
    return neg(sum(mul(cast(y, 'float32'), log(sure)), -1));
  },
  cosineProximity: (y, p) => neg(sum(mul(unit(y), unit(p)), -1)),
  mape: meanAbsolutePercentageError,
  meanAbsoluteError: (y, p) => mean(abs(sub(p, y)), -1),
  meanAbsolutePercentageError,
  meanSquaredError,
  mse: meanSquaredError,
  precision: (y, p) => share(count(y, 1, p, 1), count(y, 0, p, 1)),
  r2Score: (y, p) => sub(1, div(sum(squaredDifference(y, p)), sum(squaredDifference(y, mean(y))))),
  recall: (y, p) => share(count(y, 1, p, 1), count(y, 1, p, 0)),
  sparseCategoricalAccuracy(y, p) {
    const classes = y.rank === p.rank ? squeeze(y, [y.rank - 1]) : y;
    return cast(equal(classes, cast(argMax(p, -1), classes.dtype)), 'float32');
  },
} satisfies Record<string, Values>;

type Name = keyof typeof values;

const called = (name: Name): unknown => {
  const metric = (...args: TensorLike[]) => {
    if (args.length < 2) return (described[name] as (...args: unknown[]) => unknown)(...args);
    const [labels, predictions] = args as [TensorLike, TensorLike];
    return tidy(() =>
      values[name](toTensor(labels, 'yTrue', name), toTensor(predictions, 'yPred', name)),
    );
  };
  return Object.assign(metric, { config: described[name].config });
};

const byName = /* @__PURE__ */ Object.fromEntries(
  /* @__PURE__ */ (Object.keys(values) as Name[]).map((name) => [name, called(name)]),
) as unknown as Pick<typeof described, Name>;

/** As those of `tensorlathe`, but on tensors they return the results of operations. */
export const metrics = { ...described, ...byName, MSE: byName.mse, MAPE: byName.mape };
