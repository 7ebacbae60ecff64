// Every recurrent layer and option beside TensorFlow.js: the same results and losses from the same weights.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { Random } from '../../../examples/lib/random.mjs';

const rows = 5;
const steps = 25;
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

for (const [list, inputShape] of [
  [cases, sequence],
  [pictures, film],
]) {
  for (const [name, make] of Object.entries(list)) {
    test(`${name} is that of TensorFlow.js`, async () => {
      const [ours, theirs] = twins(make, inputShape);
      const shape = [rows, ...inputShape];
      const random = new Random(name.length);
      const next = () => random.between(-1, 1);
      const values = Float32Array.from({ length: tf.util.sizeFromShape(shape) }, () => next());
      const labels = Float32Array.from({ length: 2 * rows }, () => next());
      const x = tf.tensor(values, shape);
      const wanted = theirs.predict(x).dataSync();
      ours
        .predict(tl.tensor(values, shape))
        .dataSync()
        .forEach((value, at) => {
          assert.ok(Math.abs(value - wanted[at]) < 1e-5, `[${at}]: ${value}, not ${wanted[at]}`);
        });
      ours.compile({ loss: 'meanSquaredError', optimizer: tl.train.sgd(0.1) });
      theirs.compile({ loss: 'meanSquaredError', optimizer: tf.train.sgd(0.1) });
      const y = tf.tensor(labels, [rows, 2]);
      for (let step = 0; step < steps; ++step) {
        const mine = await ours.trainOnBatch(
          tl.tensor(values, shape),
          tl.tensor(labels, [rows, 2]),
        );
        const loss = await theirs.trainOnBatch(x, y);
        const difference = Math.abs(mine - loss) / Math.abs(loss);
        assert.ok(difference < 1e-3, `step ${step}: ${mine}, TensorFlow.js ${loss}`);
      }
    });
  }
}
