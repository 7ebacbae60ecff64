// Stateful recurrent layers called on tensors continue from the last call, as in TensorFlow.js.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe/tfjs';
import { waves } from '../../compare_tfjs.mjs';

before(() => tf.setBackend('cpu'));

const rows = 2;
const numbers = (tensors) => [tensors].flat().map((each) => [each.shape, ...each.dataSync()]);

function near(ours, theirs, path = 'result') {
  if (typeof theirs === 'number') {
    assert.ok(Math.abs(ours - theirs) < 1e-5, `${path}: ${ours}, TensorFlow.js ${theirs}`);
    return;
  }
  assert.equal(ours.length, theirs.length, path);
  theirs.forEach((each, at) => near(ours[at], each, `${path}.${at}`));
}

/** The layer, with the same weights in either library. */
function made(lib, make, input) {
  const layer = make(lib.layers);
  layer.apply(lib.zeros(input));
  layer.setWeights(layer.getWeights().map(({ shape }, at) => waves(lib, shape, at + 2)));
  layer.resetStates();
  return layer;
}

const ones = { stateful: true, units: 3 };
const layers = {
  simpleRNN: [(l) => l.simpleRNN({ ...ones }), [4, 2]],
  lstm: [(l) => l.lstm({ ...ones, returnSequences: true }), [4, 2]],
  'lstm that returns its states': [(l) => l.lstm({ ...ones, returnState: true }), [4, 2]],
  'gru, backwards': [(l) => l.gru({ ...ones, goBackwards: true }), [4, 2]],
  'gru of batches of a size': [(l) => l.gru({ ...ones, batchInputShape: [rows, 4, 2] }), [4, 2]],
  convLstm2d: [(l) => l.convLstm2d({ stateful: true, filters: 2, kernelSize: 2 }), [3, 5, 4, 2]],
  'stacked cells': [
    (l) =>
      l.rnn({ stateful: true, cell: [l.gruCell({ units: 3 }), l.simpleRNNCell({ units: 2 })] }),
    [4, 2],
  ],
};

for (const [name, [make, shape]] of Object.entries(layers)) {
  test(`${name}: outputs and states of each call`, () => {
    const run = (lib) => {
      const input = [rows, ...shape];
      assert.ok(make(lib.layers).states.every((each) => each === null));
      const layer = made(lib, make, input);
      const found = [numbers(layer.states)];
      const call = (seed, args) => {
        found.push(numbers(layer.apply(waves(lib, input, seed), args)), numbers(layer.states));
      };
      call(1);
      call(2);
      call(3, { training: true });
      layer.resetStates();
      found.push(numbers(layer.states));
      call(2);
      layer.resetStates(layer.states.map((each, at) => waves(lib, each.shape, at + 5)));
      call(1);
      const initialState = layer.states.map((each, at) => waves(lib, each.shape, at + 7));
      call(4, { initialState });
      call(5);
      return found;
    };
    near(run(tl), run(tf));
  });
}

test('masked steps do not change the states', () => {
  const run = (lib) => {
    const layer = made(lib, (l) => l.lstm({ ...ones }), [rows, 3, 2]);
    const mask = lib.tensor2d([[1, 0, 1], [1, 1, 0]], [rows, 3], 'bool'); // prettier-ignore
    const call = () => numbers(layer.apply(waves(lib, [rows, 3, 2]), { mask }));
    return [call(), call(), numbers(layer.states)];
  };
  near(run(tl), run(tf));
});

test('gradients flow from one call into the one before', () => {
  const run = (lib) => {
    const layer = made(lib, (l) => l.gru({ ...ones }), [rows, 4, 2]);
    const calls = () => {
      layer.apply(waves(lib, [rows, 4, 2]));
      return layer
        .apply(waves(lib, [rows, 4, 2], 3))
        .square()
        .sum();
    };
    const { value, grads } = lib.variableGrads(calls);
    return [numbers(value), ...Object.values(grads).map(numbers)];
  };
  near(run(tl), run(tf));
});

test('a model on tensors and its predictions share states', () => {
  const run = (lib) => {
    const layer = lib.layers.gru({ ...ones, batchInputShape: [rows, 4, 2] });
    const model = lib.sequential({ layers: [layer, lib.layers.dense({ units: 1 })] });
    model.setWeights(model.getWeights().map(({ shape }, at) => waves(lib, shape, at + 2)));
    const x = waves(lib, [rows, 4, 2]);
    const found = [model.predict(x), model.apply(x), model.predict(x), layer.apply(x)].map(numbers);
    model.resetStates();
    found.push(numbers(model.apply(x, { training: true })), numbers(layer.states));
    const weights = model.trainableWeights.map(({ val }) => val);
    const { grads } = lib.variableGrads(() => model.apply(x).square().sum(), weights);
    found.push(...weights.map(({ name }) => numbers(grads[name])));
    const optimizer = lib.train.sgd(0.1);
    for (let step = 0; step < 3; ++step) {
      optimizer.minimize(() => model.predict(x).sub(1).square().mean());
      found.push(numbers(layer.states), ...model.getWeights().map(numbers));
    }
    assert.throws(() => model.apply(lib.ones([rows + 1, 4, 2])));
    return found;
  };
  near(run(tl), run(tf));
});

test('calls leak no tensors', () => {
  const layer = tl.layers.lstm({ ...ones });
  const x = tl.ones([rows, 4, 2]);
  layer.apply(x).dispose();
  const { numTensors } = tl.memory();
  for (let call = 0; call < 3; ++call) {
    layer.apply(x).dispose();
    layer.resetStates();
  }
  assert.equal(tl.memory().numTensors, numTensors);
});

test('errors where states are not possible', () => {
  const throws = (action, message) => assert.throws(action, { name: 'LatheError', message });
  const x = tl.ones([rows, 4, 2]);
  const layer = tl.layers.lstm({ ...ones, name: 'memory' });
  throws(() => layer.resetStates(), /part of no model/);
  const jitted = tl.jit((y) => layer.apply(y));
  throws(() => jitted(x), /jit: the function assigns the variable/);
  layer.apply(x);
  throws(() => jitted(x), /jit: the function assigns the variable/);
  throws(() => layer.apply(tl.ones([3, 4, 2])), /has states for a batch of 2, got 3 rows/);
  throws(() => layer.resetStates([tl.ones([2, 3])]), /has states of shapes \[2,3\], \[2,3\]/);
  const both = tl.layers.bidirectional({ layer: tl.layers.gru({ ...ones }), mergeMode: 'concat' });
  throws(() => both.apply(x), /a layer in "bidirectional" is stateful/);
});
