// An embedding and attention made of Dense, Dot, Softmax and Permute: the same losses as TensorFlow.js over 100 steps.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { Random } from '../../../../examples/lib/random.mjs';
import { oneHot } from '../../lib.mjs';

const steps = 100;
const rows = 12;
const length = 6;
const words = 9;
const width = 8;

before(() => tf.setBackend('cpu'));

/** Softmax(q kᵀ) v over an embedding, in either library. */
function network(lib) {
  const { layers } = lib;
  const tokens = lib.input({ shape: [length], name: 'tokens' });
  const x = layers
    .embedding({ inputDim: words, outputDim: width, name: 'embedding' })
    .apply(tokens);
  const project = (name) => layers.dense({ units: width, useBias: false, name }).apply(x);
  const [query, key, value] = [project('query'), project('key'), project('value')];
  const scores = layers.dot({ axes: [2, 2], name: 'scores' }).apply([query, key]);
  const shares = layers.softmax({ axis: -1, name: 'shares' }).apply(scores);
  const columns = layers.permute({ dims: [2, 1], name: 'columns' }).apply(value);
  const mixed = layers.dot({ axes: [2, 2], name: 'mixed' }).apply([shares, columns]);
  const added = layers.add({ name: 'added' }).apply([x, mixed]);
  const normal = layers.layerNormalization({ name: 'normal' }).apply(added);
  const pooled = layers.globalAveragePooling1d({ name: 'pooled' }).apply(normal);
  const outputs = layers.dense({ units: 3, activation: 'softmax', name: 'last' }).apply(pooled);
  return lib.model({ inputs: tokens, outputs, name: 'net', seed: 5 });
}

/** Rows of word ids; the class is the mode of the ids modulo 3. */
function sentences(random) {
  const tokens = Float32Array.from({ length: rows * length }, () =>
    Math.floor(words * random.unit()),
  );
  const classes = Int32Array.from({ length: rows }, (_, row) => {
    const counts = [0, 0, 0];
    for (const word of tokens.subarray(row * length, (row + 1) * length)) counts[word % 3] += 1;
    return counts.indexOf(Math.max(...counts));
  });
  return [tokens, oneHot(classes, 3)];
}

test('an embedding with attention loses as in TensorFlow.js', async (context) => {
  const random = new Random(7);
  const [ours, theirs] = [network(tl), network(tf)];
  for (const layer of theirs.layers) {
    if (layer.weights.length === 0) continue;
    const weights = ours.getLayer(layer.name).getWeights();
    layer.setWeights(weights.map((each) => tf.tensor(each.dataSync(), [...each.shape])));
  }
  const loss = 'categoricalCrossentropy';
  ours.compile({ loss, optimizer: tl.train.adam(0.01) });
  theirs.compile({ loss, optimizer: tf.train.adam(0.01) });
  let [first, last, worst] = [0, 0, 0];
  for (let step = 0; step < steps; ++step) {
    const [tokens, labels] = sentences(random);
    const mine = await ours.trainOnBatch(tokens, labels);
    const expected = await theirs.trainOnBatch(
      tf.tensor(tokens, [rows, length]),
      tf.tensor(labels, [rows, 3]),
    );
    const difference = Math.abs(mine - expected) / expected;
    assert.ok(difference < 1e-3, `step ${step}: ${mine}, TensorFlow.js ${expected}`);
    worst = Math.max(worst, difference);
    if (step === 0) first = mine;
    last = mine;
  }
  assert.ok(last < 0.7 * first, `${first}, ${last}`);
  context.diagnostic(`largest relative difference ${worst.toExponential(1)}`);
  ours.dispose();
  theirs.dispose();
});
