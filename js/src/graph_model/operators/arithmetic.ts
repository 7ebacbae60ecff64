/** Arithmetic and counts that no kernel shares. */
import * as tf from '../../ops/index.js';
import type { Operator } from '../call.js';

export const arithmetic = (): Record<string, Operator> => ({
  BiasAdd: (call) => {
    const [x, bias] = [call.tensor(0), call.tensor(1)];
    if (call.attribute<string>('data_format', 'NHWC') !== 'NCHW' || x.rank < 2)
      return tf.add(x, bias);
    return tf.add(x, tf.reshape(bias, [-1, ...x.shape.slice(2).map(() => 1)]));
  },
  Bincount: (call) => tf.bincount(call.tensor(0), call.tensor(2), call.number(1)),
  EuclideanNorm: (call) =>
    tf.euclideanNorm(call.tensor(0), call.numbers(1), call.attribute('keep_dims', false)),
  FakeQuantWithMinMaxVars: (call) => tf.clone(call.tensor(0)),
});
