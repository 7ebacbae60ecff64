// Every recurrent layer and option beside TensorFlow.js: the same results and losses from the same weights.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { Random } from '../../../examples/lib/random.mjs';

const rows = 5;
/** Training steps of the plain layers, and of the rest: TensorFlow.js is slow. */
const stepsOf = (name) =>
  /^(simpleRNN|lstm|gru|convLstm2d|bidirectional concat)$/.test(name) ? 100 : 25;
const sequence = [6, 3];
const film = [3, 4, 4, 2];

before(() => tf.setBackend('cpu'));

/** Makers of the layer under test by the names of the tests; `on` are the layers of either library. */
const cases = {
  simpleRNN: (on) => on.simpleRNN({ units: 4 }),
  'simpleRNN without bias, all steps': (on) =>
    on.simpleRNN({ units: 4, useBias: false, activation: 'sigmoid', returnSequences: true }),
  'simpleRNN backwards': (on) => on.simpleRNN({ units: 2, goBackwards: true }),
  lstm: (on) => on.lstm({ units: 4 }),
  'lstm of sigmoids, all steps': (on) =>
    on.lstm({ units: 4, recurrentActivation: 'sigmoid', returnSequences: true }),
  'lstm backwards, all steps': (on) =>
    on.lstm({ units: 5, goBackwards: true, returnSequences: true, unitForgetBias: true }),
  'lstm without bias': (on) => on.lstm({ units: 3, useBias: false }),
  gru: (on) => on.gru({ units: 4 }),
  'gru of sigmoids, all steps': (on) =>
    on.gru({ units: 4, recurrentActivation: 'sigmoid', returnSequences: true }),
  'gru backwards without bias': (on) => on.gru({ units: 3, goBackwards: true, useBias: false }),
  'rnn over one cell': (on) => on.rnn({ cell: on.gruCell({ units: 3 }), returnSequences: true }),
  'rnn over stacked cells': (on) =>
    on.rnn({
      cell: on.stackedRNNCells({
        cells: [
          on.lstmCell({ units: 3 }),
          on.simpleRNNCell({ units: 4 }),
          on.gruCell({ units: 2 }),
        ],
      }),
    }),
  timeDistributed: (on) =>
    on.timeDistributed({ layer: on.dense({ units: 4, activation: 'tanh' }) }),
};
for (const mergeMode of ['concat', 'sum', 'mul', 'ave']) {
  cases[`bidirectional ${mergeMode}`] = (on) =>
    on.bidirectional({ layer: on.lstm({ units: 3 }), mergeMode });
}
cases['bidirectional, all steps'] = (on) =>
  on.bidirectional({ layer: on.gru({ units: 3, returnSequences: true }), mergeMode: 'concat' });
const pictures = {
  convLstm2d: (on) => on.convLstm2d({ filters: 2, kernelSize: 2 }),
  'convLstm2d, all steps': (on) =>
    on.convLstm2d({ filters: 2, kernelSize: 3, padding: 'same', returnSequences: true }),
};

function twins(make, inputShape) {
  const build = (library, args) => {
    const model = library.sequential(args);
    model.add(library.layers.activation({ activation: 'linear', inputShape }));
    model.add(make(library.layers));
    if (model.outputShape.filter((size) => size !== null).length > 1) {
      model.add(library.layers.flatten());
    }
    model.add(library.layers.dense({ units: 2 }));
    return model;
  };
  const [ours, theirs] = [build(tl, { seed: 5 }), build(tf)];
  theirs.setWeights(ours.getWeights().map((each) => tf.tensor(each.dataSync(), [...each.shape])));
  return [ours, theirs];
}

/** Inputs and labels, and the same as tensors of TensorFlow.js. */
function someData(shape, seed = 1) {
  const random = new Random(seed);
  const numbers = (length) => Float32Array.from({ length }, () => random.between(-1, 1));
  const [values, labels] = [numbers(tf.util.sizeFromShape(shape)), numbers(2 * rows)];
  return [values, labels, tf.tensor(values, shape), tf.tensor(labels, [rows, 2])];
}

for (const [list, inputShape] of [
  [cases, sequence],
  [pictures, film],
]) {
  for (const [name, make] of Object.entries(list)) {
    test(`${name} is that of TensorFlow.js`, async () => {
      const [ours, theirs] = twins(make, inputShape);
      const shape = [rows, ...inputShape];
      const [values, labels, x, y] = someData(shape, name.length);
      const wanted = theirs.predict(x).dataSync();
      ours
        .predict(tl.tensor(values, shape))
        .dataSync()
        .forEach((value, at) => {
          assert.ok(Math.abs(value - wanted[at]) < 1e-5, `[${at}]: ${value}, not ${wanted[at]}`);
        });
      ours.compile({ loss: 'meanSquaredError', optimizer: tl.train.sgd(0.1) });
      theirs.compile({ loss: 'meanSquaredError', optimizer: tf.train.sgd(0.1) });
      for (let step = 0; step < stepsOf(name); ++step) {
        const mine = await ours.trainOnBatch(values, labels);
        const loss = await theirs.trainOnBatch(x, y);
        const difference = Math.abs(mine - loss) / Math.abs(loss);
        assert.ok(difference < 1e-3, `step ${step}: ${mine}, TensorFlow.js ${loss}`);
      }
    });
  }
}

/** What TensorFlow.js leaves out of its losses: the penalties of what a cell holds. */
function penalties(layer, rules) {
  const each = layer.trainableWeights.map((weight, at) => rules[at].apply(weight.read()));
  return each.reduce((total, penalty) => tf.add(total, penalty));
}

const regularizers = [{ l1: 0.02, l2: 0.01 }, { l1: 0, l2: 0.05 }, { l1: 0.03, l2: 0 }]; // prettier-ignore
const bounds = [0.5, 0.6, 0.02];
const ours = Object.fromEntries(
  ['kernel', 'recurrent', 'bias'].flatMap((weight, at) => [
    [`${weight}Regularizer`, { name: 'l1l2', ...regularizers[at] }],
    [`${weight}Constraint`, { name: 'maxNorm', maxValue: bounds[at] }],
    [`${weight}Initializer`, { name: 'randomUniform', minval: -0.6, maxval: 0.6 }],
  ]),
);
const theirs = Object.fromEntries(
  ['kernel', 'recurrent', 'bias'].map((weight, at) => [
    `${weight}Constraint`,
    tf.constraints.maxNorm({ maxValue: bounds[at] }),
  ]),
);
const ruled = {
  simpleRNN: [sequence, (on, rules) => on.simpleRNN({ units: 4, ...rules })],
  lstm: [sequence, (on, rules) => on.lstm({ units: 4, ...rules })],
  gru: [sequence, (on, rules) => on.gru({ units: 4, ...rules })],
  convLstm2d: [film, (on, rules) => on.convLstm2d({ filters: 2, kernelSize: 2, ...rules })],
  'rnn over a cell': [
    sequence,
    (on, rules) => on.rnn({ cell: on.lstmCell({ units: 3, ...rules }) }),
  ],
};
for (const [name, [inputShape, make]] of Object.entries(ruled)) {
  test(`${name} under rules is that of TensorFlow.js`, async () => {
    const [mine, other] = twins((on) => make(on, on === tl.layers ? ours : theirs), inputShape);
    const rules = regularizers.map((each) => tf.regularizers.l1l2(each));
    const [values, labels, x, y] = someData([rows, ...inputShape]);
    mine.setWeights(other.getWeights().map((each) => tl.tensor(each.dataSync(), each.shape)));
    mine.compile({ loss: 'meanSquaredError', optimizer: tl.train.sgd(0.1) });
    const optimizer = tf.train.sgd(0.1);
    for (let step = 0; step < stepsOf(name); ++step) {
      const got = await mine.trainOnBatch(values, labels);
      const lossOf = () =>
        tf.add(tf.losses.meanSquaredError(y, other.apply(x)), penalties(other.layers[1], rules));
      const [loss] = optimizer.minimize(lossOf, true).dataSync();
      for (const weight of other.weights) weight.write(weight.read().clone());
      const difference = Math.abs(got - loss) / loss;
      assert.ok(difference < 1e-3, `step ${step}: ${got}, TensorFlow.js ${loss}`);
    }
  });
}
