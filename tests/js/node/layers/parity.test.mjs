// Every activation, loss and optimizer of the core equals TensorFlow.js, from equal weights and batches.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { tables } from 'tensorlathe/tables';
import { blobs, oneHot } from '../../lib.mjs';

const steps = 100;
const rows = 30;
const examples = blobs(rows)[0].dataSync();
const classes = blobs(rows)[1].dataSync();
const certain = oneHot(classes, 3);

before(() => tf.setBackend('cpu'));

/** The two libraries' models of two inputs, six hidden units and three outputs, with equal weights. */
function modelPair(last, rules = {}, tfRules = {}) {
  const ours = tl.sequential({ seed: 11 });
  const biasInitializer = { name: 'constant', value: 0.1 };
  ours.add(
    tl.layers.dense({ units: 6, activation: 'tanh', inputShape: [2], biasInitializer, ...rules }),
  );
  ours.add(tl.layers.dense({ units: 3, activation: last, ...rules }));
  const theirs = tf.sequential();
  theirs.add(tf.layers.dense({ units: 6, activation: 'tanh', inputShape: [2], ...tfRules }));
  theirs.add(tf.layers.dense({ units: 3, activation: last, ...tfRules }));
  theirs.setWeights(ours.getWeights().map((each) => tf.tensor(each.dataSync(), [...each.shape])));
  return [ours, theirs];
}

async function expectEqualSteps([ours, theirs], labels) {
  const [x, y] = [tf.tensor(examples, [rows, 2]), tf.tensor(labels, [rows, 3])];
  for (let step = 0; step < steps; ++step) {
    const mine = await ours.trainOnBatch(examples, labels);
    const expected = await theirs.trainOnBatch(x, y);
    const difference = Math.abs(mine - expected) / Math.abs(expected);
    assert.ok(difference < 1e-3, `step ${step}: ${mine}, TensorFlow.js ${expected}`);
  }
}

const optimizers = {
  sgd: [0.1],
  momentum: [0.05, 0.8],
  nesterov: [0.05, 0.8, true],
  adagrad: [0.1, 0.2],
  adadelta: [0.5, 0.9],
  adam: [0.02],
  adamax: [0.02, 0.9, 0.999, 1e-7, 0.01],
  rmsprop: [0.01, 0.8],
};
for (const [name, parameters] of Object.entries(optimizers)) {
  const maker = name === 'nesterov' ? 'momentum' : name;
  test(`${name} steps as in TensorFlow.js`, async () => {
    const [ours, theirs] = modelPair('softmax');
    const loss = 'categoricalCrossentropy';
    ours.compile({ loss, optimizer: tl.train[maker](...parameters) });
    theirs.compile({ loss, optimizer: tf.train[maker](...parameters) });
    await expectEqualSteps([ours, theirs], certain);
  });
}

// Centered, TensorFlow.js subtracts the epsilon that it adds elsewhere: one of 0 is none.
test('rmsprop with momentum and centered steps as in TensorFlow.js', async () => {
  const [ours, theirs] = modelPair('linear');
  ours.compile({ loss: 'mse', optimizer: tl.train.rmsprop(0.001, 0.9, 0.5, 1e-12, true) });
  theirs.compile({
    loss: 'meanSquaredError',
    optimizer: tf.train.rmsprop(0.001, 0.9, 0.5, 1e-12, true),
  });
  await expectEqualSteps([ours, theirs], certain);
});

const soft = certain.map((value) => 0.1 + 0.7 * value);
const signs = certain.map((value) => 2 * value - 1);
/** The last activation of each model, and the labels. */
const losses = {
  meanSquaredError: ['linear', certain],
  meanAbsoluteError: ['linear', certain],
  meanAbsolutePercentageError: ['sigmoid', soft],
  meanSquaredLogarithmicError: ['sigmoid', soft],
  squaredHinge: ['tanh', signs],
  hinge: ['tanh', signs],
  categoricalHinge: ['linear', certain],
  logcosh: ['linear', certain],
  categoricalCrossentropy: ['softmax', soft],
  binaryCrossentropy: ['sigmoid', certain],
  kullbackLeiblerDivergence: ['softmax', soft],
  poisson: ['softplus', soft],
  cosineProximity: ['linear', certain],
};
for (const [loss, [last, labels]] of Object.entries(losses)) {
  test(`${loss} trains as in TensorFlow.js`, async () => {
    const [ours, theirs] = modelPair(last);
    ours.compile({ loss, optimizer: tl.train.sgd(0.01) });
    theirs.compile({ loss, optimizer: tf.train.sgd(0.01) });
    await expectEqualSteps([ours, theirs], labels);
  });
}

const regularizers = {
  l1: { l1: 0.02 },
  l2: { l2: 0.05 },
  l1l2: { l1: 0.01, l2: 0.02 },
};
for (const [name, parameters] of Object.entries(regularizers)) {
  test(`${name} on kernels and biases trains as in TensorFlow.js`, async () => {
    const rule = { name, ...parameters };
    const tfRule = tf.regularizers[name](parameters);
    const [ours, theirs] = modelPair(
      'softmax',
      { kernelRegularizer: rule, biasRegularizer: rule, biasInitializer: 'ones' },
      { kernelRegularizer: tfRule, biasRegularizer: tfRule },
    );
    const loss = 'categoricalCrossentropy';
    ours.compile({ loss, optimizer: tl.train.sgd(0.05) });
    theirs.compile({ loss, optimizer: tf.train.sgd(0.05) });
    await expectEqualSteps([ours, theirs], certain);
  });
}

// TensorFlow.js applies a constraint when a weight is assigned, ours after each update.
const constraints = {
  maxNorm: { maxValue: 0.8 },
  minMaxNorm: { minValue: 0.5, maxValue: 0.9, rate: 0.5 },
  unitNorm: {},
  nonNeg: {},
};
for (const [name, parameters] of Object.entries(constraints)) {
  test(`${name} produces the weights of TensorFlow.js`, async () => {
    const [ours] = modelPair('linear', { kernelConstraint: { name, ...parameters } });
    const [free] = modelPair('linear');
    for (const model of [ours, free]) {
      model.compile({ loss: 'mse', optimizer: tl.train.sgd(0.1) });
      await model.trainOnBatch(examples, certain);
    }
    const constraint = tf.constraints[name](parameters);
    const kernel = free.getWeights()[2];
    const expected = constraint.apply(tf.tensor(kernel.dataSync(), [6, 3])).dataSync();
    ours
      .getWeights()[2]
      .dataSync()
      .forEach((value, at) => {
        assert.ok(Math.abs(value - expected[at]) < 1e-5, `${value}, TensorFlow.js ${expected[at]}`);
      });
  });
}

for (const [loss, last] of [
  ['categoricalCrossentropy', 'sigmoid'],
  ['binaryCrossentropy', 'softmax'],
]) {
  test(`${loss} after ${last} trains as in TensorFlow.js`, async () => {
    const [ours, theirs] = modelPair(last);
    ours.compile({ loss, optimizer: tl.train.sgd(0.1) });
    theirs.compile({ loss, optimizer: tf.train.sgd(0.1) });
    await expectEqualSteps([ours, theirs], certain);
  });
}

test('class numbers train as in TensorFlow.js', async () => {
  const [ours, theirs] = modelPair('softmax');
  const loss = 'sparseCategoricalCrossentropy';
  ours.compile({ loss, optimizer: tl.train.sgd(0.1) });
  theirs.compile({ loss, optimizer: tf.train.sgd(0.1) });
  for (let step = 0; step < steps; ++step) {
    const mine = await ours.trainOnBatch(examples, classes);
    const [x, y] = [tf.tensor(examples, [rows, 2]), tf.tensor(Float32Array.from(classes))];
    const expected = await theirs.trainOnBatch(x, y);
    assert.ok(Math.abs(mine - expected) < 1e-3 * expected, `step ${step}: ${mine}, ${expected}`);
  }
});

for (const [loss, tfLoss] of [
  ['softmaxCrossEntropy', tf.losses.softmaxCrossEntropy],
  ['sigmoidCrossEntropy', tf.losses.sigmoidCrossEntropy],
  ['huber', tf.losses.huberLoss],
]) {
  test(`${loss} of the last layer's output equals TensorFlow.js`, () => {
    const [ours, theirs] = modelPair('linear');
    ours.compile({ loss });
    const prediction = theirs.predict(tf.tensor(examples, [rows, 2]));
    const expected = tfLoss(tf.tensor(certain, [rows, 3]), prediction).dataSync()[0];
    const mine = ours.evaluate(examples, certain, { asObject: true }).loss;
    assert.ok(Math.abs(mine - expected) < 1e-5 * expected, `${mine}, TensorFlow.js ${expected}`);
  });
}

const grid = Float32Array.from({ length: 120 }, (_, at) => (at - 60) / 8);
for (const { name } of tables.activations) {
  if (name === 'leakyRelu') continue;
  test(`${name} has the values of TensorFlow.js`, () => {
    const ours = tl.sequential();
    ours.add(tl.layers.activation({ activation: name, inputShape: [4] }));
    const theirs = tf.layers.activation({ activation: name });
    const expected = theirs.apply(tf.tensor(grid, [30, 4])).dataSync();
    ours
      .predict(grid)
      .dataSync()
      .forEach((value, at) => {
        const difference = Math.abs(value - expected[at]) / Math.max(1, Math.abs(expected[at]));
        assert.ok(
          difference < 2e-6,
          `${name}(${grid[at]}): ${value}, TensorFlow.js ${expected[at]}`,
        );
      });
  });
}
