// Losses, metrics, regularizers, constraints, activations and class indices, as the functions of TensorFlow.js.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { blobs, oneHot, throws, smallModel } from '../../lib.mjs';

before(() => tf.setBackend('cpu'));

const rows = 6;
const random = (salt) => (_, at) => 0.5 + 0.45 * Math.sin(12.9898 * (at + salt * 100));
const predictions = Float32Array.from({ length: rows * 3 }, random(1));
for (let row = 0; row < rows; ++row) {
  const part = predictions.subarray(3 * row, 3 * row + 3);
  const sum = part.reduce((a, b) => a + b);
  part.forEach((value, at) => (part[at] = value / sum));
}
const classes = [0, 2, 1, 1, 0, 2];
const certain = oneHot(classes, 3);
const close = (a, b, what) =>
  assert.ok(
    a.length === b.length &&
      [...a].every((each, at) => Math.abs(each - b[at]) <= 1e-5 * (1 + Math.abs(b[at]))),
    `${what}: ${a}, TensorFlow.js ${b}`,
  );

test('every name of TensorFlow.js is exported', () => {
  const namesOf = (all) => Object.keys(all).sort();
  const upper = ['MAPE', 'MSE'];
  for (const name of namesOf(tf.metrics)) {
    if (!upper.includes(name)) assert.equal(typeof tl.metrics[name], 'function', `metrics.${name}`);
  }
  for (const kind of ['regularizers', 'constraints', 'initializers']) {
    for (const name of namesOf(tf[kind])) assert.equal(typeof tl[kind][name], 'function', name);
  }
  for (const name of ['sgd', 'momentum', 'adadelta', 'adagrad', 'rmsprop', 'adamax', 'adam']) {
    assert.equal(typeof tl.train[name], 'function', name);
  }
});

test('metrics of tensors equal those of TensorFlow.js', () => {
  const names = [
    'binaryCrossentropy',
    'categoricalAccuracy',
    'categoricalCrossentropy',
    'cosineProximity',
  ];
  names.push('meanAbsoluteError', 'meanAbsolutePercentageError', 'meanSquaredError', 'mse', 'mape');
  names.push('binaryAccuracy');
  for (const name of names) {
    const ours = tl.metrics[name](tl.tensor(certain, [rows, 3]), tl.tensor(predictions, [rows, 3]));
    const theirs = tf.metrics[name](
      tf.tensor(certain, [rows, 3]),
      tf.tensor(predictions, [rows, 3]),
    );
    assert.deepEqual(ours.shape, [rows], name);
    close(ours.dataSync(), theirs.dataSync(), name);
  }
  const labels = [classes, tl.tensor(predictions, [rows, 3])];
  const theirs = tf.metrics.sparseCategoricalAccuracy(
    tf.tensor(classes, [rows, 1]),
    tf.tensor(predictions, [rows, 3]),
  );
  close(tl.metrics.sparseCategoricalAccuracy(...labels).dataSync(), theirs.dataSync(), 'sparse');
  for (const name of ['precision', 'recall']) {
    const ours = tl.metrics[name](tl.tensor(certain, [rows, 3]), tl.tensor(predictions, [rows, 3]));
    const positives = [...predictions].map((p) => Number(p > 0.5));
    const right = positives.reduce((count, each, at) => count + each * certain[at], 0);
    const all = name === 'precision' ? positives.reduce((a, b) => a + b) : rows;
    assert.deepEqual(ours.shape, []);
    close(ours.dataSync(), [right / all], name);
  }
  const r2 = [tl.tensor(certain, [rows, 3]), tl.tensor(predictions, [rows, 3])];
  const theirR2 = tf.metrics.r2Score(tf.tensor(certain), tf.tensor(predictions)).dataSync();
  close(tl.metrics.r2Score(...r2).dataSync(), theirR2, 'r2Score');
  const matrix = tl.metrics.confusionMatrix(...r2);
  const predicted = tf.tensor(predictions, [rows, 3]).argMax(1);
  const theirMatrix = tf.math.confusionMatrix(tf.tensor1d(classes, 'int32'), predicted, 3);
  assert.deepEqual(matrix.arraySync(), theirMatrix.arraySync());
});

test('losses of tensors equal those of TensorFlow.js', () => {
  const shapes = [tl.tensor(certain, [2, 3, 3]), tl.tensor(predictions, [2, 3, 3])];
  assert.deepEqual(tl.metrics.meanSquaredError(...shapes).shape, [2, 3]);
  for (const [ours, theirs] of [
    ['meanSquaredError', 'meanSquaredError'],
    ['meanAbsoluteError', 'absoluteDifference'],
    ['huber', 'huberLoss'],
    ['sigmoidCrossEntropy', 'sigmoidCrossEntropy'],
    ['softmaxCrossEntropy', 'softmaxCrossEntropy'],
    ['binaryCrossentropy', 'logLoss'],
  ]) {
    const value = tl.losses[ours](...shapes);
    assert.deepEqual(value.shape, []);
    const args = [tf.tensor(certain, [6, 3]), tf.tensor(predictions, [6, 3])];
    close(value.dataSync(), tf.losses[theirs](...args).dataSync(), ours);
  }
});

test('compile accepts these functions, with parameters and per output', async () => {
  const [x, y] = blobs(30);
  const labels = oneHot(y.dataSync(), 3);
  const scores = (loss, metrics) => {
    const model = smallModel();
    model.compile({ loss, metrics, optimizer: tl.train.sgd(0.1) });
    const result = model.evaluate(x, labels, { asObject: true });
    model.dispose();
    return result;
  };
  const expected = scores('huber', ['accuracy', 'precision', { name: 'recall', threshold: 0.3 }]);
  const { huber } = tl.losses;
  const { accuracy, precision, recall } = tl.metrics;
  assert.deepEqual(scores(huber, [accuracy, precision, recall({ threshold: 0.3 })]), expected);
  assert.deepEqual(
    scores([huber], { dense_Dense2: [accuracy, precision, recall({ threshold: 0.3 })] }),
    expected,
  );
  assert.notEqual(scores(huber({ delta: 0.1 }), []).loss, expected.loss);
  const model = smallModel();
  model.compile({ loss: huber({ delta: 0.1 }), optimizer: 'sgd' });
  let saved;
  await model.save({ save: (artifacts) => ((saved = artifacts), {}) }, { includeOptimizer: true });
  const loaded = await tl.loadLayersModel({ load: () => saved });
  assert.equal(
    loaded.evaluate(x, labels, { asObject: true }).loss,
    model.evaluate(x, labels, { asObject: true }).loss,
  );
});

test('regularizers, constraints and activations are options of layers', async () => {
  const { l1, l2, l1l2 } = tl.regularizers;
  assert.deepEqual(
    [l1(), l2({ l2: 0.5 }), l1l2({ l1: 1 })].map((each) => ({ ...each })),
    [{ name: 'l1' }, { name: 'l2', l2: 0.5 }, { name: 'l1l2', l1: 1 }],
  );
  const model = tl.sequential({
    layers: [
      tl.layers.dense({
        units: 1,
        inputShape: [1],
        kernelInitializer: tl.initializers.constant({ value: 2 }),
        kernelRegularizer: l2({ l2: 0.5 }),
        kernelConstraint: tl.constraints.maxNorm({ maxValue: 1 }),
        activation: tl.activations.leakyRelu({ alpha: 0.5 }),
      }),
    ],
  });
  assert.deepEqual(model.predict(tl.tensor([[-1]])).arraySync(), [[-1]]);
  model.compile({ loss: 'mse', optimizer: 'sgd' });
  assert.equal(model.evaluate([[0]], [[0]], { asObject: true }).loss, 0, 'without penalties');
  const { history } = await model.fit([[0]], [[0]], { verbose: 0 });
  assert.deepEqual(history.loss, [2]);
});

test('class indices become one-hot rows and a confusion matrix', () => {
  assert.deepEqual(tl.oneHot([0, 2, 5], 3).arraySync(), [
    [1, 0, 0],
    [0, 0, 1],
    [0, 0, 0],
  ]);
  const grid = [[[1], [0]]];
  const theirs = tf.oneHot(tf.tensor(grid, undefined, 'int32'), 2, 7, -1);
  const ours = tl.oneHot(grid, 2, 7, -1);
  assert.deepEqual(
    [ours.dtype, ours.shape, ours.arraySync()],
    [theirs.dtype, theirs.shape, theirs.arraySync()],
  );
  const matrix = tl.math.confusionMatrix([0, 1, 1, 2], [0, 1, 2, 2], 3);
  assert.deepEqual(matrix.arraySync(), [
    [1, 0, 0],
    [0, 1, 1],
    [0, 0, 1],
  ]);
  assert.equal(matrix.dtype, 'int32');
  const { confusionMatrix } = tl.math;
  throws(
    () => confusionMatrix([0], [0], 0),
    'confusionMatrix: numClasses must be a positive integer, got 0',
  );
  throws(() => confusionMatrix([0, 1], [0], 2), 'confusionMatrix: 2 labels, but 1 predictions');
  throws(
    () => confusionMatrix([0, 2], [0, 0], 2),
    'confusionMatrix: labels: 2 at 1 is not a class number from 0 to 1',
  );
  throws(
    () => confusionMatrix([0], [0.5], 2),
    'confusionMatrix: predictions: 0.5 at 0 is not a class number from 0 to 1',
  );
  throws(
    () => confusionMatrix([[0]], [0], 2),
    'confusionMatrix: labels must be class numbers [n], got the shape [1,1]',
  );
  throws(() => tl.oneHot([0.5], 2), 'oneHot: indices: 0.5 at 0 is not an integer');
  throws(() => tl.oneHot([0], 2.5), 'oneHot: depth must be a positive integer, got 2.5');
  throws(
    () =>
      tl.metrics.mse(
        [
          [1, 2],
          [3, 4],
        ],
        [[1, 2, 3]],
      ),
    'mse: the labels [2,2] do not fit predictions [1,3]',
  );
  throws(() => tl.losses.mse(1, 1), 'mse: predictions must be [n, …, c], got []');
});
