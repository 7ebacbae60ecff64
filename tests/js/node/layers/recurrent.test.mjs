// Every recurrent layer and option: the same results and losses as TensorFlow.js from the same weights.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { Random } from '../../../../examples/lib/random.mjs';

const rows = 5;
/** Training steps of the plain layers, and of the rest: TensorFlow.js is slow. */
const stepsOf = (name) =>
  /^(simpleRNN|lstm|gru|convLstm2d|bidirectional concat)$/.test(name) ? 100 : 25;
const sequence = [6, 3];
const film = [3, 4, 4, 2];
const layeredFilm = [3, 2, 5, 4];

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
  'timeDistributed normalization': (on) =>
    on.timeDistributed({ layer: on.batchNormalization({ momentum: 0.9 }) }),
};
for (const mergeMode of ['concat', 'sum', 'mul', 'ave']) {
  cases[`bidirectional ${mergeMode}`] = (on) =>
    on.bidirectional({ layer: on.lstm({ units: 3 }), mergeMode });
}
cases['bidirectional, all steps'] = (on) =>
  on.bidirectional({ layer: on.gru({ units: 3, returnSequences: true }), mergeMode: 'concat' });
const imageLayers = {
  convLstm2d: (on) => on.convLstm2d({ filters: 2, kernelSize: 2 }),
  'convLstm2d, all steps': (on) =>
    on.convLstm2d({ filters: 2, kernelSize: 3, padding: 'same', returnSequences: true }),
};
const dataFormat = 'channelsFirst';
const channelsFirstLayers = {
  'convLstm2d, channels first': (on) =>
    on.convLstm2d({ filters: 3, kernelSize: [2, 3], dataFormat }),
  'convLstm2d, channels first, all steps backwards': (on) =>
    on.convLstm2d({
      filters: 2,
      kernelSize: 2,
      dataFormat,
      returnSequences: true,
      goBackwards: true,
    }),
};

function modelPair(make, inputShape) {
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
  [imageLayers, film],
  [channelsFirstLayers, layeredFilm],
]) {
  for (const [name, make] of Object.entries(list)) {
    test(`${name} is that of TensorFlow.js`, async () => {
      const [ours, theirs] = modelPair(make, inputShape);
      const shape = [rows, ...inputShape];
      const [values, labels, x, y] = someData(shape, name.length);
      const expected = theirs.predict(x).dataSync();
      ours
        .predict(tl.tensor(values, shape))
        .dataSync()
        .forEach((value, at) => {
          assert.ok(
            Math.abs(value - expected[at]) < 1e-5,
            `[${at}]: ${value}, not ${expected[at]}`,
          );
        });
      ours.compile({ loss: 'meanSquaredError', optimizer: tl.train.sgd(0.1) });
      theirs.compile({ loss: 'meanSquaredError', optimizer: tf.train.sgd(0.1) });
      for (let step = 0; step < stepsOf(name); ++step) {
        const mine = await ours.trainOnBatch(values, labels);
        const loss = await theirs.trainOnBatch(x, y);
        const difference = Math.abs(mine - loss) / Math.abs(loss);
        assert.ok(difference < 1e-3, `step ${step}: ${mine}, TensorFlow.js ${loss}`);
      }
      const trained = theirs.predict(x).dataSync();
      ours
        .predict(values)
        .dataSync()
        .forEach((value, at) => assert.ok(Math.abs(value - trained[at]) < 1e-3, `[${at}]`));
    });
  }
}

/** Regularization penalties of a cell's weights, which TensorFlow.js omits from its losses. */
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
  test(`${name} with regularizers and constraints is that of TensorFlow.js`, async () => {
    const [mine, other] = modelPair((on) => make(on, on === tl.layers ? ours : theirs), inputShape);
    const rules = regularizers.map((each) => tf.regularizers.l1l2(each));
    const [values, labels, x, y] = someData([rows, ...inputShape]);
    mine.setWeights(other.getWeights().map((each) => tl.tensor(each.dataSync(), each.shape)));
    mine.compile({ loss: 'meanSquaredError', optimizer: tl.train.sgd(0.1) });
    const optimizer = tf.train.sgd(0.1);
    for (let step = 0; step < stepsOf(name); ++step) {
      const actual = await mine.trainOnBatch(values, labels);
      const lossOf = () =>
        tf.add(tf.losses.meanSquaredError(y, other.apply(x)), penalties(other.layers[1], rules));
      const [loss] = optimizer.minimize(lossOf, true).dataSync();
      for (const weight of other.weights) weight.write(weight.read().clone());
      const difference = Math.abs(actual - loss) / loss;
      assert.ok(difference < 1e-3, `step ${step}: ${actual}, TensorFlow.js ${loss}`);
    }
  });
}

const unitsOf = 4;
const full = (shape, value) =>
  tl.tensor(new Float32Array(tf.util.sizeFromShape([...shape])).fill(value), [...shape]);
/** The masks of the dropout layer `name` at step 1, 2, … as its gradient shows them, for the shapes of two calls. */
async function masksOf(name, rate, shapes, count) {
  const inputs = shapes.map((shape) => tl.input({ shape }));
  const layer = tl.layers.dropout({ rate, name });
  const flatten = (x) => (x.shape.length > 2 ? tl.layers.flatten().apply(x) : x);
  const rowsOf = inputs.map((each) =>
    tl.layers
      .dense({ units: rows, useBias: false, kernelInitializer: 'zeros' })
      .apply(flatten(layer.apply(each))),
  );
  const model = tl.model({ inputs, outputs: rowsOf, seed: 5 });
  // Each output depends on one row only, so that the gradient of its kernel is the masked row.
  model.compile({ loss: 'meanSquaredError', optimizer: tl.train.sgd(1) });
  const ones = shapes.map((shape) => full([rows, ...shape], 1));
  const label = Float32Array.from({ length: rows * rows }, (_, at) =>
    at % (rows + 1) === 0 ? -(rows * rows) / 2 : 0,
  );
  const masks = [];
  for (let step = 0; step < count; ++step) {
    model.setWeights(model.getWeights().map((each) => full(each.shape, 0)));
    await model.trainOnBatch(ones, [label, label]);
    masks.push(
      model.getWeights().map((kernel, at) => {
        const [width] = kernel.shape;
        const left = tf.tensor(kernel.dataSync(), [width, rows]).transpose().neg();
        return left.reshape([rows, ...shapes[at]]);
      }),
    );
  }
  model.dispose();
  return masks;
}

for (const [name, make, inputShape, stateShape] of [
  ['simpleRNN', (on, args) => on.simpleRNN({ units: unitsOf, ...args }), sequence, [unitsOf]],
  ['lstm', (on, args) => on.lstm({ units: unitsOf, ...args }), sequence, [unitsOf]],
  ['gru', (on, args) => on.gru({ units: unitsOf, ...args }), sequence, [unitsOf]],
  ['convLstm2d', (on, args) => on.convLstm2d({ filters: 2, kernelSize: 2, ...args }), film, [3, 3, 2]], // prettier-ignore
  ['convLstm2d', (on, args) => on.convLstm2d({ filters: 3, kernelSize: 2, dataFormat, ...args }), layeredFilm, [3, 4, 3]], // prettier-ignore
]) {
  test(`${name} with dropout is that of TensorFlow.js with the same masks`, async () => {
    const rate = 0.4;
    const args = { dropout: rate, recurrentDropout: rate, name: 'under_test' };
    const masks = await masksOf('under_test', rate, [inputShape.slice(1), stateShape], 10);
    const zeros = masks.flat().map((mask) => tf.equal(mask, 0).mean().dataSync()[0]);
    assert.ok(
      zeros.every((share) => share > 0 && share < 1),
      `${zeros}`,
    );
    let step = 0;
    // TensorFlow.js generates the masks of the input first, then those of the state.
    const dropoutFunc = (x) => masks[step].find((mask) => mask.shape.join() === x.shape.join());
    const [mine, other] = modelPair(
      (on) => make(on, on === tl.layers ? args : { ...args, dropoutFunc }),
      inputShape,
    );
    const [values, labels, x, y] = someData([rows, ...inputShape]);
    const before = mine.predict(values).dataSync();
    other
      .predict(x)
      .dataSync()
      .forEach((value, at) => assert.ok(Math.abs(value - before[at]) < 1e-5));
    mine.compile({ loss: 'meanSquaredError', optimizer: tl.train.sgd(0.1) });
    other.compile({ loss: 'meanSquaredError', optimizer: tf.train.sgd(0.1) });
    for (; step < masks.length; ++step) {
      const actual = await mine.trainOnBatch(values, labels);
      const loss = await other.trainOnBatch(x, y);
      const difference = Math.abs(actual - loss) / loss;
      assert.ok(difference < 1e-3, `step ${step}: ${actual}, TensorFlow.js ${loss}`);
    }
  });
}

for (const name of ['simpleRNN', 'lstm', 'gru']) {
  test(`a stateful ${name} continues from the last batch, as in TensorFlow.js`, async () => {
    const build = (library, args) => {
      const model = library.sequential(args);
      const batchInputShape = [rows, ...sequence];
      model.add(library.layers[name]({ units: 4, stateful: true, batchInputShape }));
      model.add(library.layers.dense({ units: 2 }));
      return model;
    };
    const [mine, other] = [build(tl, { seed: 5 }), build(tf)];
    other.setWeights(mine.getWeights().map((each) => tf.tensor(each.dataSync(), [...each.shape])));
    const [values, labels, x, y] = someData([rows, ...sequence]);
    const same = () => {
      const expected = other.predict(x, { batchSize: rows }).dataSync();
      const actual = mine.predict(values).dataSync();
      actual.forEach((value, at) =>
        assert.ok(Math.abs(value - expected[at]) < 1e-5, `${at}: ${value}`),
      );
      return actual;
    };
    const [first, second] = [same(), same()];
    assert.ok(Math.abs(first[0] - second[0]) > 1e-4);
    for (const model of [mine, other]) model.resetStates();
    assert.deepEqual(same(), first);
    mine.compile({ loss: 'meanSquaredError', optimizer: tl.train.sgd(0.1) });
    other.compile({ loss: 'meanSquaredError', optimizer: tf.train.sgd(0.1) });
    for (const model of [mine, other]) model.resetStates();
    for (let step = 0; step < 10; ++step) {
      const [actual, loss] = [
        await mine.trainOnBatch(values, labels),
        await other.trainOnBatch(x, y),
      ];
      assert.ok(
        Math.abs(actual - loss) < 1e-3 * loss,
        `step ${step}: ${actual}, TensorFlow.js ${loss}`,
      );
    }
    assert.throws(() => mine.predict(values.subarray(18)), /requires complete batches of 5 rows, got 4 rows/); // prettier-ignore
    mine.dispose();
  });
}

test('a stateful layer without a batch size is rejected with the fix', () => {
  const model = tl.sequential();
  model.add(tl.layers.lstm({ units: 2, stateful: true, inputShape: sequence }));
  assert.throws(() => model.predict(full([rows, ...sequence], 0)), /batchInputShape/);
});

for (const name of ['simpleRNN', 'lstm', 'gru']) {
  test(`states are inputs and outputs of ${name} as in TensorFlow.js`, () => {
    const build = (library) => {
      const { layers } = library;
      const x = library.input({ shape: sequence, name: 'x' });
      const [output, ...states] = layers[name]({ units: 4, returnState: true, name: 'encoder' }).apply(x); // prettier-ignore
      const decoder = layers[name]({ units: 4, returnSequences: true, unroll: true, name: 'decoder' }); // prettier-ignore
      const outputs = [output, ...states, decoder.apply(x, { initialState: states })];
      return library.model({ inputs: x, outputs });
    };
    const [mine, other] = [build(tl), build(tf)];
    for (const layer of ['encoder', 'decoder']) {
      const weights = mine.getLayer(layer).getWeights();
      other.getLayer(layer).setWeights(weights.map((each) => tf.tensor(each.dataSync(), [...each.shape]))); // prettier-ignore
    }
    const [values, , x] = someData([rows, ...sequence]);
    const expected = other.predict(x);
    mine.predict(values).forEach((actual, at) => {
      const theirs = expected[at].dataSync();
      actual.dataSync().forEach((value, i) => assert.ok(Math.abs(value - theirs[i]) < 1e-5));
    });
  });
}
