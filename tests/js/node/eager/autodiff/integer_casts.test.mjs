// Gradients through casts to integers and bools and through floorDiv: straight-through, as in TensorFlow.js.
import test from 'node:test';
import * as theirs from '@tensorflow/tfjs';
import * as ours from 'tensorlathe/tfjs';
import { closeTo } from '../lib.mjs';

await theirs.setBackend('cpu');
await ours.ready();

/** Functions of a vector of three elements. */
const functions = {
  'only a cast': (tf, x) => x.cast('int32'),
  'its square': (tf, x) => x.cast('int32').square().sum(),
  'a cast and back': (tf, x) => x.cast('int32').cast('float32').mul(x).sum(),
  'a cast to bools': (tf, x) => x.cast('bool').cast('float32').mul(x).mul(3).sum(),
  'the product of integers': (tf, x) =>
    x
      .cast('int32')
      .mul(tf.tensor1d([3, 4, 5], 'int32'))
      .square()
      .sum(),
  'floorDiv of floats': (tf, x) => x.floorDiv(2).cast('float32').mul(x).sum(),
  'floorDiv of integers': (tf, x) =>
    x.cast('int32').floorDiv(tf.scalar(2, 'int32')).cast('float32').mul(x).sum(),
  'rounding to tenths': (tf, x) =>
    x.mul(10).add(0.5).cast('int32').cast('float32').div(10).sub(x.square()).square().sum(),
  'combined with other operations': (tf, x) => {
    const truncated = tf.stack([x.sin(), x]).mul(9).cast('int32').cast('float32');
    return tf
      .concat([truncated.transpose(), x.reshape([3, 1])], 1)
      .norm()
      .add(truncated.max());
  },
  'after a custom gradient': (tf, x) => {
    const scaled = tf.customGrad((x, save) => {
      save([x]);
      return { value: x.mul(5), gradFunc: (dy, [x]) => dy.mul(x).mul(0.1) };
    });
    return scaled(scaled(x).cast('int32').cast('float32')).mul(x).sum();
  },
  'on a long path': (tf, x) => {
    let h = x;
    for (let at = 0; at < 300; at += 1)
      h = h
        .mul(4)
        .cast('int32')
        .cast('float32')
        .mul(0.2)
        .add(x.mul(at % 5));
    return h.sum();
  },
};

for (const [name, f] of Object.entries(functions)) {
  test(name, () => {
    const results = [theirs, ours].map((tf) => [
      ...tf
        .grad((x) => f(tf, x))(tf.tensor1d([2.5, -1.7, 0.4]))
        .dataSync(),
    ]);
    closeTo(results[1], results[0]);
  });
}

test('training differentiates through casts of weights, but not of labels', () => {
  const trained = (tf) => {
    const x = tf.tensor2d([[1.5], [-0.5], [2.25]]);
    const labels = tf.tensor1d([0.2, 1.3, 1.9]);
    const w = tf.variable(tf.tensor2d([[0.7, -0.4]]));
    const optimizer = tf.train.sgd(0.05);
    const loss = () => {
      const coarse = x.matMul(w).mul(4).cast('int32').cast('float32').div(4);
      return coarse
        .sub(tf.oneHot(labels.cast('int32'), 2))
        .square()
        .mean();
    };
    const losses = Array.from({ length: 5 }, () => optimizer.minimize(loss, true));
    return [...losses, w].flatMap((each) => [...each.dataSync()]);
  };
  closeTo(trained(ours), trained(theirs));
});
