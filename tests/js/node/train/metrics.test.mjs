// Metrics, class weights and sample weights in logs, history and evaluate.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { blobs, oneHot, throws, rejects, smallModel } from '../../lib.mjs';

const rows = 45;
const [x, y] = blobs(rows);
const classes = y.dataSync();
const certain = oneHot(classes, 3);
const loss = 'categoricalCrossentropy';

before(() => tf.setBackend('cpu'));

function compiled(metrics, options = {}) {
  const model = smallModel();
  model.compile({ loss, optimizer: 'sgd', metrics, ...options });
  return model;
}

/** The confusion matrix of a model: labels by predictions. */
function confusion(model) {
  const predicted = model
    .predict(x)
    .arraySync()
    .map((row) => row.indexOf(Math.max(...row)));
  const matrix = [0, 1, 2].map(() => [0, 0, 0]);
  predicted.forEach((each, row) => (matrix[classes[row]][each] += 1));
  return matrix;
}

test('evaluate returns every metric over all rows, for any batch size', () => {
  const model = compiled(['accuracy', 'mse', 'precision', 'recall', 'confusionMatrix', 'auc']);
  const scores = model.evaluate(x, certain, { batchSize: 7, asObject: true });
  const matrix = confusion(model);
  assert.deepEqual(scores.confusionMatrix, matrix);
  const hits = matrix[0][0] + matrix[1][1] + matrix[2][2];
  assert.ok(Math.abs(scores.acc - hits / rows) < 1e-6);
  const prediction = model.predict(x);
  const theirs = tf.tensor(prediction.dataSync(), prediction.shape);
  const labels = tf.tensor(certain, [rows, 3]);
  const mse = tf.metrics.meanSquaredError(labels, theirs).mean().dataSync()[0];
  assert.ok(Math.abs(scores.mse - mse) < 1e-6, `${scores.mse}, TensorFlow.js ${mse}`);
  const sure = prediction.dataSync().map((p) => Number(p > 0.5));
  const right = sure.reduce((count, each, at) => count + each * certain[at], 0);
  const positives = sure.reduce((a, b) => a + b);
  assert.ok(Math.abs(scores.precision - (positives === 0 ? 0 : right / positives)) < 1e-6);
  assert.ok(Math.abs(scores.recall - right / rows) < 1e-6);
  assert.ok(scores.auc > 0 && scores.auc < 1);
  assert.deepEqual(
    model.evaluate(x, certain, { batchSize: 45, asObject: true }).precision,
    scores.precision,
  );
  model.dispose();
});

test('fit records metrics of every epoch and of validation, and resets them at each epoch', async () => {
  const model = compiled(['confusionMatrix', { name: 'precision', threshold: 0.3 }]);
  const { history } = await model.fit(x, y, { epochs: 3, batchSize: 10, validationSplit: 0.2 });
  assert.equal(history.acc, undefined);
  assert.equal(history.precision.length, 3);
  for (const matrix of history.confusionMatrix)
    assert.equal(
      matrix.flat().reduce((a, b) => a + b),
      36,
    );
  for (const matrix of history.val_confusionMatrix)
    assert.equal(
      matrix.flat().reduce((a, b) => a + b),
      9,
    );
  model.dispose();
});

test('the error of an unknown metric lists the valid ones', () => {
  const model = smallModel();
  throws(
    () => model.compile({ loss, optimizer: 'sgd', metrics: 'precison' }),
    /unknown metric "precison"; did you mean "precision"\?/,
  );
  model.dispose();
});

test('the accuracy of a single output counts only labels 0 and 1, as in TensorFlow.js', () => {
  const predictions = [[0.3], [0.7], [2], [1]];
  for (const labels of [
    [0, 1, 2, 1],
    [0.4, 0.6, 1, 0],
    [-1, 1, 1, -1],
  ]) {
    for (const metric of ['accuracy', 'binaryAccuracy']) {
      const [here, there] = [tl, tf].map((each) => {
        const model = each.sequential({
          layers: [
            each.layers.dense({
              units: 1,
              inputShape: [1],
              useBias: false,
              kernelInitializer: 'ones',
            }),
          ],
        });
        model.compile({ loss: 'meanSquaredError', optimizer: 'sgd', metrics: [metric] });
        const y = each.tensor2d(labels, [4, 1]);
        return model.evaluate(each.tensor2d(predictions), y)[1].dataSync()[0];
      });
      assert.equal(here, there, `${metric} of ${labels}`);
    }
  }
});

test('sample and class weights scale the loss', async () => {
  const model = compiled('accuracy');
  const sampleWeight = Float32Array.from({ length: rows }, (_, row) => (row < 15 ? 2 : 0));
  const first = model.evaluate(x.dataSync().subarray(0, 30), classes.subarray(0, 15), {
    asObject: true,
  }).loss;
  const weighted = model.evaluate(x, y, { sampleWeight, asObject: true }).loss;
  assert.ok(Math.abs(weighted - (2 * 15 * first) / rows) < 1e-5);
  const plain = model.evaluate(x, y, { asObject: true }).loss;
  const doubled = model.evaluate(x, y, { classWeight: { 0: 2, 1: 2, 2: 2 }, asObject: true }).loss;
  assert.ok(Math.abs(doubled - 2 * plain) < 1e-5);
  const dense = model.evaluate(x, certain, { classWeight: { 1: 3 }, asObject: true }).loss;
  const sparse = model.evaluate(x, y, { classWeight: { 1: 3 }, asObject: true }).loss;
  assert.ok(Math.abs(dense - sparse) < 1e-6);
  model.dispose();
});

test('a class weight of 2 in fit equals repeating the rows of the class', async () => {
  const twice = compiled('accuracy');
  const weighted = compiled('accuracy');
  const repeated = [...classes.keys()].filter((row) => classes[row] === 1);
  const order = [...classes.keys(), ...repeated];
  const gatherRows = (from, width) =>
    Float32Array.from(order.flatMap((row) => [...from.subarray(row * width, (row + 1) * width)]));
  const many = [
    tl.tensor(gatherRows(x.dataSync(), 2), [order.length, 2]),
    tl.tensor(Int32Array.from(order, (row) => classes[row])),
  ];
  const rate = order.length / rows;
  twice.setLearningRate(0.1 * rate);
  weighted.setLearningRate(0.1);
  await twice.fit(...many, { epochs: 5, batchSize: order.length });
  await weighted.fit(x, y, {
    epochs: 5,
    batchSize: rows,
    classWeight: { 1: 2 },
    validationData: [x, y],
  });
  const [a, b] = [twice, weighted].map((model) => model.getWeights()[0].dataSync());
  a.forEach((value, at) => assert.ok(Math.abs(value - b[at]) < 1e-4, `${value}, ${b[at]}`));
  await weighted.fit(x, y);
  for (const model of [twice, weighted]) model.dispose();
});

test('weights of wrong lengths are rejected and change nothing', async () => {
  const model = compiled('accuracy');
  const before = model.getWeights()[0].dataSync().slice();
  await rejects(model.fit(x, y, { sampleWeight: [1, 2] }), 'fit: 45 rows, but sampleWeight has 2');
  await rejects(
    model.fit(x, y, { classWeight: { 0: -1 } }),
    'fit: the weight -1 must be at least 0',
  );
  assert.deepEqual(model.getWeights()[0].dataSync(), before);
  model.dispose();
});

test('absent rows of a partial batch contribute nothing to loss and gradients', async () => {
  const model = tl.sequential({
    layers: [
      tl.layers.dense({
        units: 3,
        inputShape: [2],
        kernelInitializer: 'ones',
        activation: 'relu',
      }),
    ],
  });
  model.compile({ loss, optimizer: 'sgd' });
  const ones = tl.tensor(new Float32Array(6).fill(1), [3, 2]);
  const score = model.evaluate(ones, [0, 1, 2], { batchSize: 4, asObject: true }).loss;
  assert.ok(Math.abs(score - Math.log(3)) < 1e-5);
  await model.fit(ones, [0, 1, 2], { batchSize: 2 });
  assert.ok(model.getWeights()[0].dataSync().every(Number.isFinite));
});

test('sample weights per output are rejected', () => {
  const input = tl.input({ shape: [2] });
  const outputs = [1, 2].map(() => tl.layers.dense({ units: 1 }).apply(input));
  const model = tl.model({ inputs: input, outputs });
  model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
  const [ones, weights] = [tl.ones([3, 1]), tl.ones([3])];
  throws(
    () => model.evaluate(tl.ones([3, 2]), [ones, ones], { sampleWeight: [weights, weights] }),
    'evaluate: sampleWeight is one weight for each row, the same for all outputs',
  );
  model.dispose();
});
