// Every optimiser and loss of the core beside TensorFlow.js: the same losses from the same weights and batches.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { blobs, oneHot } from '../lib.mjs';

const steps = 100;
const labels = oneHot(blobs(30)[1].dataSync(), 3);
const examples = blobs(30)[0].dataSync();

const optimizers = {
  sgd: () => [tl.train.sgd(0.1), tf.train.sgd(0.1)],
  momentum: () => [tl.train.momentum(0.05, 0.8), tf.train.momentum(0.05, 0.8)],
  nesterov: () => [tl.train.momentum(0.05, 0.8, true), tf.train.momentum(0.05, 0.8, true)],
  adam: () => [tl.train.adam(0.02), tf.train.adam(0.02)],
};
const losses = {
  softmaxCrossEntropy: tf.losses.softmaxCrossEntropy,
  sigmoidCrossEntropy: tf.losses.sigmoidCrossEntropy,
  meanSquaredError: tf.losses.meanSquaredError,
};

for (const [optimizerName, make] of Object.entries(optimizers)) {
  for (const [loss, tfLoss] of Object.entries(losses)) {
    test(`${optimizerName} with ${loss} steps as in TensorFlow.js`, async () => {
      await tf.setBackend('cpu');
      const [optimizer, tfOptimizer] = make();
      const model = tl.sequential({ seed: 11 });
      model.add(tl.layers.dense({ units: 6, activation: 'tanh', inputShape: [2] }));
      model.add(tl.layers.dense({ units: 3 }));
      model.compile({ loss, optimizer });
      const [w1, b1, w2, b2] = model
        .getWeights()
        .map((weight) => tf.variable(tf.tensor(weight.dataSync(), [...weight.shape])));
      const [x, y] = [tf.tensor(examples, [30, 2]), tf.tensor(labels, [30, 3])];
      for (let step = 0; step < steps; ++step) {
        const ours = await model.trainOnBatch(examples, labels);
        const theirs = tfOptimizer
          .minimize(() => tfLoss(y, x.matMul(w1).add(b1).tanh().matMul(w2).add(b2)), true)
          .dataSync()[0];
        const difference = Math.abs(ours - theirs) / theirs;
        assert.ok(difference < 1e-4, `step ${step}: ${ours}, TensorFlow.js ${theirs}`);
      }
    });
  }
}
