// Gradients through casts to whole numbers and bools, and through whole quotients: as if nothing was cut off, as in TensorFlow.js.
import test from 'node:test';
import * as theirs from '@tensorflow/tfjs';
import * as ours from 'tensorlathe/tfjs';
import { closeTo } from './eager_lib.mjs';

await theirs.setBackend('cpu');
await ours.ready();

/** Functions of a vector of three. */
const functions = {
  'a cast alone': (tf, x) => x.cast('int32'),
  'its square': (tf, x) => x.cast('int32').square().sum(),
  'a cast and back': (tf, x) => x.cast('int32').cast('float32').mul(x).sum(),
  'a cast to bools': (tf, x) => x.cast('bool').cast('float32').mul(x).mul(3).sum(),
  'the product of whole numbers': (tf, x) =>
    x
      .cast('int32')
      .mul(tf.tensor1d([3, 4, 5], 'int32'))
      .square()
      .sum(),
  'a whole quotient': (tf, x) => x.floorDiv(2).cast('float32').mul(x).sum(),
  'a whole quotient of whole numbers': (tf, x) =>
    x.cast('int32').floorDiv(tf.scalar(2, 'int32')).cast('float32').mul(x).sum(),
  'what is rounded to tenths': (tf, x) =>
    x.mul(10).add(0.5).cast('int32').cast('float32').div(10).sub(x.square()).square().sum(),
  'beside operations of other kinds': (tf, x) => {
    const whole = tf.stack([x.sin(), x]).mul(9).cast('int32').cast('float32');
    return tf
      .concat([whole.transpose(), x.reshape([3, 1])], 1)
      .norm()
      .add(whole.max());
  },
  "behind somebody's gradient": (tf, x) => {
    const own = tf.customGrad((x, save) => {
      save([x]);
      return { value: x.mul(5), gradFunc: (dy, [x]) => dy.mul(x).mul(0.1) };
    });
    return own(own(x).cast('int32').cast('float32')).mul(x).sum();
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
    const found = [theirs, ours].map((tf) => [
      ...tf
        .grad((x) => f(tf, x))(tf.tensor1d([2.5, -1.7, 0.4]))
        .dataSync(),
    ]);
    closeTo(found[1], found[0]);
  });
}

test('steps of training go through them, and not through labels that are cast', () => {
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
