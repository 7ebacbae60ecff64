/** Constants, ranges, random numbers, and identity operators. */
import * as tf from '../../ops/index.js';
import type { Tensor } from '../../tensor/tensor.js';
import type { Call, Operator } from '../call.js';
import { Handle } from '../resources.js';

type DType = Tensor['dtype'];

const dtypeOf = (call: Call, name: string, otherwise: DType = 'float32') =>
  call.attribute<DType>(name, otherwise);
const same: Operator = (call) => {
  const [value] = call.values;
  return value instanceof Handle ? value : tf.clone(call.tensor(0));
};

/** In TensorFlow the seed 0 means none. */
const seedOf = (call: Call) => call.attribute('seed', 0) || undefined;

export const creation = (): Record<string, Operator> => ({
  Fill: (call) =>
    tf.fill(call.numbers(0)!, call.tensor(1).dataSync()[0] as number, dtypeOf(call, 'T')),
  Identity: same,
  IdentityN: (call) => call.tensors().map((each) => tf.clone(each)),
  ListDiff: (call) => tf.setdiff1d(call.tensor(0), call.tensor(1)),
  Multinomial: (call) => tf.multinomial(call.tensor(0), call.number(1), seedOf(call)),
  NoOp: () => tf.scalar(0, 'int32'),
  Ones: (call) => tf.ones(call.numbers(0)!, dtypeOf(call, 'T')),
  PlaceholderWithDefault: same,
  Print: (call) => {
    console.log(call.attribute('message', ''));
    for (const each of call.tensors(1)) console.log(String(each));
    return tf.clone(call.tensor(0));
  },
  RandomStandardNormal: (call) => tf.randomNormal(call.numbers(0)!, 0, 1, 'float32', seedOf(call)),
  RandomUniform: (call) =>
    tf.randomUniform(
      call.numbers(0)!,
      call.attribute('minval', 0),
      call.attribute('maxval', 1),
      'float32',
      seedOf(call),
    ),
  RandomUniformInt: (call) =>
    tf.randomUniform(
      call.numbers(0)!,
      call.attribute('minval', call.number(1, 0)),
      call.attribute('maxval', call.number(2, 1)),
      'int32',
      seedOf(call),
    ),
  Snapshot: same,
  StopGradient: same,
  TruncatedNormal: (call) =>
    tf.truncatedNormal(
      call.numbers(0)!,
      call.attribute('means', 0),
      call.attribute('stddev', 1),
      'float32',
      seedOf(call),
    ),
  Where: (call) => tf.trueIndices(tf.cast(call.tensor(0), 'bool')),
  Zeros: (call) => tf.zeros(call.numbers(0)!, dtypeOf(call, 'T')),
});
