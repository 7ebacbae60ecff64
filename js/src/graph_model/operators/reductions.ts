/** Reductions, cumulative sums, searches and counts. */
import * as tf from '../../ops/index.js';
import type { Tensor } from '../../tensor/tensor.js';
import type { Operator } from '../call.js';

const reduced =
  (f: (x: Tensor, axis?: number[], keepDims?: boolean) => Tensor): Operator =>
  (call) =>
    f(call.tensor(0), call.numbers(1), call.attribute('keep_dims', false));
const running =
  (f: typeof tf.cumsum): Operator =>
  (call) =>
    f(
      call.tensor(0),
      call.number(1, 0),
      call.attribute('exclusive', false),
      call.attribute('reverse', false),
    );
const argReduction =
  (f: typeof tf.argMax): Operator =>
  (call) =>
    f(call.tensor(0), call.number(1, 0));

export const reductions = (): Record<string, Operator> => ({
  All: reduced(tf.all),
  Any: reduced(tf.any),
  ArgMax: argReduction(tf.argMax),
  ArgMin: argReduction(tf.argMin),
  Bincount: (call) => tf.bincount(call.tensor(0), call.tensor(2), call.number(1)),
  Cumprod: running(tf.cumprod),
  Cumsum: running(tf.cumsum),
  DenseBincount: (call) =>
    tf.denseBincount(
      call.tensor(0),
      call.tensor(2),
      call.number(1),
      call.attribute('binary_output', false),
    ),
  EuclideanNorm: (call) =>
    tf.euclideanNorm(call.tensor(0), call.numbers(1), call.attribute('keep_dims', false)),
  LowerBound: (call) => tf.lowerBound(call.tensor(0), call.tensor(1)),
  Max: reduced(tf.max),
  Mean: reduced(tf.mean),
  Min: reduced(tf.min),
  Prod: reduced(tf.prod),
  Sum: reduced(tf.sum),
  TopKV2: (call) => {
    const { values, indices } = tf.topk(
      call.tensor(0),
      call.number(1),
      call.attribute('sorted', true),
    );
    return [values, indices];
  },
  Unique: (call) => {
    const { values, indices } = tf.unique(call.tensor(0));
    return [values, indices];
  },
  UniqueV2: (call) => {
    const { values, indices } = tf.unique(call.tensor(0), call.number(1, 0));
    return [values, indices];
  },
  UpperBound: (call) => tf.upperBound(call.tensor(0), call.tensor(1)),
});
