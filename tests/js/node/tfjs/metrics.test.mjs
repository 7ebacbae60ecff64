// Metrics as functions of tensors: values, gradients, and within custom losses, compared with TensorFlow.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as theirs from '@tensorflow/tfjs';
import * as ours from 'tensorlathe/tfjs';
import { closeTo, random } from '../eager/lib.mjs';

await theirs.setBackend('cpu');
await ours.ready();

const draw = random(5);
const shape = [4, 3];
const numbers = Array.from({ length: 12 }, () => 0.05 + 0.9 * draw());
const bits = Array.from({ length: 12 }, () => Math.round(draw()));
const oneHot = [0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0];

/** Labels and predictions of each; the labels' type. */
const cases = {
  binaryAccuracy: [bits, numbers],
  binaryCrossentropy: [bits, numbers],
  categoricalAccuracy: [oneHot, numbers],
  categoricalCrossentropy: [oneHot, numbers],
  cosineProximity: [oneHot, numbers],
  meanAbsoluteError: [oneHot, numbers],
  meanAbsolutePercentageError: [numbers.map((each) => each + 1), numbers],
  meanSquaredError: [oneHot, numbers],
  precision: [bits, oneHot],
  r2Score: [bits, numbers],
  recall: [bits, oneHot],
};
const derived = Object.keys(cases).filter((name) => !/Accuracy|precision|recall/.test(name));

for (const [name, [labels, predictions]] of Object.entries(cases)) {
  test(`${name} of tensors`, () => {
    const tried = (tf) => {
      const [y, p] = [tf.tensor2d(labels, shape), tf.tensor2d(predictions, shape)];
      const before = tf.memory().numTensors;
      const value = tf.metrics[name](y, p);
      assert.equal(tf.memory().numTensors, before + 1);
      return value;
    };
    const [actual, expected] = [tried(ours), tried(theirs)];
    assert.deepEqual([actual.shape, actual.dtype], [expected.shape, expected.dtype]);
    closeTo([...actual.dataSync()], [...expected.dataSync()]);
  });
}

for (const name of derived) {
  test(`${name}: its gradient`, () => {
    const [labels, predictions] = cases[name];
    const tried = (tf) => {
      const y = tf.tensor2d(labels, shape);
      const value = (p) => tf.metrics[name](y, p).mean();
      return [...tf.grad(value)(tf.tensor2d(predictions, shape)).dataSync()];
    };
    closeTo(tried(ours), tried(theirs));
  });

  test(`${name} in a loss of the program`, async () => {
    const [labels] = cases[name];
    const tried = async (tf) => {
      const start = tf.initializers.constant({ value: 0.1 });
      const layer = { units: 3, activation: 'sigmoid', inputShape: [3], kernelInitializer: start };
      const model = tf.sequential({ layers: [tf.layers.dense(layer)] });
      const loss = (y, p) => tf.tidy(() => tf.metrics[name](y.mul([1, 2, 0.5]), p));
      model.compile({ loss, optimizer: tf.train.sgd(0.1) });
      const [x, y] = [tf.tensor2d(numbers, shape), tf.tensor2d(labels, shape)];
      const { history } = await model.fit(x, y, { epochs: 3, batchSize: 2, shuffle: false });
      return history.loss;
    };
    closeTo(await tried(ours), await tried(theirs));
  });
}

test('sparseCategoricalAccuracy of classes and of a column of them', () => {
  for (const size of [[4], [4, 1]]) {
    for (const dtype of ['int32', 'float32']) {
      const tried = (tf) => {
        const p = tf.tensor2d(numbers, shape);
        return tf.metrics.sparseCategoricalAccuracy(tf.tensor([1, 0, 2, 1], size, dtype), p);
      };
      closeTo([...tried(ours).dataSync()], [...tried(theirs).dataSync()]);
    }
  }
});

test('compile accepts them too, also with parameters', () => {
  assert.deepEqual(ours.metrics.precision({ threshold: 0.7 }), {
    name: 'precision',
    threshold: 0.7,
  });
  assert.equal(ours.metrics.recall.config.name, 'recall');
});
