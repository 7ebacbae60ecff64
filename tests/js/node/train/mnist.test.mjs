// Training on MNIST in Node: accuracy after five epochs, and losses of each step compared with TensorFlow.js.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import '@tensorflow/tfjs-backend-wasm';
import * as tl from 'tensorlathe';
import { mnistAbsent, oneHot, readMnist, tensors } from '../../lib.mjs';
import { trainMnist } from '../../mnist_run.mjs';

const batch = 64;
const steps = 200;
const rate = 0.02;

test('five epochs reach 97.5 % on MNIST', { skip: mnistAbsent }, async (context) => {
  const accuracy = await trainMnist(tl, await readMnist(), tensors);
  context.diagnostic(`test accuracy ${(100 * accuracy).toFixed(2)} %`);
  assert.ok(accuracy >= 0.975, String(accuracy));
});

function network(depth, width) {
  const model = tl.sequential({ seed: depth * 1000 + width });
  for (let at = 0; at < depth; ++at) {
    const inputShape = at === 0 ? [784] : undefined;
    model.add(tl.layers.dense({ units: width, activation: 'sigmoid', inputShape }));
  }
  model.add(tl.layers.dense({ units: 10 }));
  model.compile({ loss: 'softmaxCrossEntropy', optimizer: tl.train.sgd(rate) });
  return model;
}

/** One step of the same network in TensorFlow.js; returns the loss before it. */
function tfStep(variables, optimizer, x, y) {
  const loss = optimizer.minimize(() => {
    let value = x;
    for (let at = 0; at < variables.length; at += 2) {
      value = value.matMul(variables[at]).add(variables[at + 1]);
      if (at + 2 < variables.length) value = value.sigmoid();
    }
    return tf.losses.softmaxCrossEntropy(y, value);
  }, true);
  const result = loss.dataSync()[0];
  loss.dispose();
  return result;
}

for (const depth of [1, 2, 4]) {
  for (const width of [64, 128]) {
    const name = `784-${depth}×${width}-10 loses as in TensorFlow.js over ${steps} steps`;
    test(name, { skip: mnistAbsent }, async (context) => {
      await tf.setBackend('wasm');
      const [x, y] = tensors((await readMnist()).train, batch * steps);
      const model = network(depth, width);
      const variables = model
        .getWeights()
        .map((weight) => tf.variable(tf.tensor(weight.dataSync(), [...weight.shape])));
      const optimizer = tf.train.sgd(rate);
      let worst = 0;
      for (let step = 0; step < steps; ++step) {
        const images = x.dataSync().subarray(step * batch * 784, (step + 1) * batch * 784);
        const labels = y.dataSync().subarray(step * batch, (step + 1) * batch);
        const ours = await model.trainOnBatch(images, labels);
        const [tfX, tfY] = [
          tf.tensor(images, [batch, 784]),
          tf.tensor(oneHot(labels, 10), [batch, 10]),
        ];
        const theirs = tfStep(variables, optimizer, tfX, tfY);
        tf.dispose([tfX, tfY]);
        const difference = Math.abs(ours - theirs) / theirs;
        worst = Math.max(worst, difference);
        assert.ok(difference < 1e-3, `step ${step}: ${ours}, TensorFlow.js ${theirs}`);
      }
      context.diagnostic(`largest relative difference ${worst.toExponential(1)}`);
      tf.dispose(variables);
      model.dispose();
    });
  }
}
