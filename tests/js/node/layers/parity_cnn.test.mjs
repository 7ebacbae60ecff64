// A convolutional network with batch normalization: the same losses as TensorFlow.js over 100 steps from the same weights.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { Random } from '../../../../examples/lib/random.mjs';
import { oneHot } from '../../lib.mjs';

const steps = 100;
const rows = 16;
const side = 8;
const pixels = side * side;
const units = 12;
const rate = 0.4;

before(() => tf.setBackend('cpu'));

/** Images of three kinds of stripes, in consecutive batches. */
function stripes(random, count) {
  const classes = Int32Array.from({ length: count }, () => Math.floor(3 * random.unit()));
  const images = Float32Array.from({ length: count * pixels }, (_, at) => {
    const [y, x] = [Math.floor((at % pixels) / side), at % side];
    const phase = [x, y, x + y][classes[Math.floor(at / pixels)]];
    return Math.sin(1.5 * phase) + 0.5 * random.bell();
  });
  return { images, labels: oneHot(classes, 3) };
}

/** Masks of dropout, scaled: the second input of the network. */
const dropoutMasks = (random, count) =>
  Float32Array.from({ length: count * units }, () => (random.unit() < rate ? 0 : 1 / (1 - rate)));

/** The network in either library; dropout multiplies by masks, which are the second input. */
function network(lib) {
  const { layers } = lib;
  const images = lib.input({ shape: [side, side, 1], name: 'images' });
  const mask = lib.input({ shape: [units], name: 'mask' });
  const rowOf =
    (...list) =>
    (from) =>
      list.reduce((value, layer) => layer.apply(value), from);
  const hidden = rowOf(
    layers.conv2d({ filters: 4, kernelSize: 3, padding: 'same', name: 'c1' }),
    layers.batchNormalization({ name: 'n1', momentum: 0.9 }),
    layers.activation({ activation: 'relu', name: 'a1' }),
    layers.maxPooling2d({ poolSize: 2, name: 'p1' }),
    layers.conv2d({ filters: 6, kernelSize: 3, useBias: false, name: 'c2' }),
    layers.batchNormalization({ name: 'n2', momentum: 0.9 }),
    layers.activation({ activation: 'tanh', name: 'a2' }),
    layers.flatten({ name: 'f' }),
    layers.dense({ units, activation: 'relu', name: 'd1' }),
  )(images);
  const dropped = layers.multiply({ name: 'drop' }).apply([hidden, mask]);
  const outputs = layers.dense({ units: 3, activation: 'softmax', name: 'd2' }).apply(dropped);
  return lib.model({ inputs: [images, mask], outputs, name: 'net', seed: 5 });
}

/** Copies the weights of our model to theirs, layer by layer. */
function copyWeights(ours, theirs) {
  for (const layer of theirs.layers) {
    if (layer.weights.length === 0) continue;
    const weights = ours.getLayer(layer.name).getWeights();
    layer.setWeights(weights.map((each) => tf.tensor(each.dataSync(), [...each.shape])));
  }
}

for (const [name, makeOptimizer] of [
  ['sgd', (lib) => lib.train.sgd(0.05)],
  ['adam', (lib) => lib.train.adam(0.003)],
]) {
  const title = `a CNN with batch normalization and dropout loses as in TensorFlow.js by ${name}`;
  test(title, async (context) => {
    const random = new Random(3);
    const [ours, theirs] = [network(tl), network(tf)];
    copyWeights(ours, theirs);
    const loss = 'categoricalCrossentropy';
    ours.compile({ loss, optimizer: makeOptimizer(tl) });
    theirs.compile({ loss, optimizer: makeOptimizer(tf) });
    let [first, last, worst] = [0, 0, 0];
    for (let step = 0; step < steps; ++step) {
      const { images, labels } = stripes(random, rows);
      const mask = dropoutMasks(random, rows);
      const mine = await ours.trainOnBatch([images, mask], labels);
      const xs = [tf.tensor(images, [rows, side, side, 1]), tf.tensor(mask, [rows, units])];
      const y = tf.tensor(labels, [rows, 3]);
      const expected = await theirs.trainOnBatch(xs, y);
      tf.dispose([xs, y]);
      const difference = Math.abs(mine - expected) / expected;
      assert.ok(difference < 1e-3, `step ${step}: ${mine}, TensorFlow.js ${expected}`);
      worst = Math.max(worst, difference);
      if (step === 0) first = mine;
      last = mine;
    }
    assert.ok(last < 0.7 * first, `${first}, ${last}`);
    const { images } = stripes(random, rows);
    const mask = new Float32Array(rows * units).fill(1);
    const expected = theirs
      .predict([tf.tensor(images, [rows, side, side, 1]), tf.tensor(mask, [rows, units])])
      .dataSync();
    const actual = ours.predict([images, mask]).dataSync();
    actual.forEach((each, at) => assert.ok(Math.abs(each - expected[at]) < 1e-3, `${at}: ${each}`));
    context.diagnostic(`largest relative difference ${worst.toExponential(1)}`);
    ours.dispose();
    theirs.dispose();
  });
}
