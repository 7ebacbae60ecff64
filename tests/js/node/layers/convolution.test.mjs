// Convolutional networks compared with TensorFlow.js on its cpu backend: equal initial weights, equal losses and trained weights.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { largestDifference, throws } from '../../lib.mjs';

await tf.setBackend('cpu');

/** Deterministic pseudo-random numbers from -1 to 1. */
const noise = (count, seed) => {
  let state = seed >>> 0;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
};

const small = (api) => [
  api.conv2d({ filters: 8, kernelSize: 3, activation: 'relu', inputShape: [28, 28, 1] }),
  api.maxPooling2d({ poolSize: 2 }),
  api.conv2d({ filters: 16, kernelSize: 3, activation: 'relu' }),
  api.maxPooling2d({ poolSize: 2, strides: 2 }),
  api.flatten(),
  api.dense({ units: 10 }),
];

const everyLayer = (api) => [
  api.zeroPadding2d({
    padding: [
      [1, 0],
      [2, 1],
    ],
    inputShape: [11, 10, 3],
  }),
  api.conv2d({ filters: 8, kernelSize: [3, 2], strides: [2, 1], padding: 'same', useBias: false }),
  api.batchNormalization({ momentum: 0.8 }),
  api.activation({ activation: 'relu' }),
  api.depthwiseConv2d({ kernelSize: 3, depthMultiplier: 2, padding: 'same', strides: 2 }),
  api.batchNormalization(),
  api.averagePooling2d({ poolSize: 2, strides: 1 }),
  api.maxPooling2d({ poolSize: [2, 3], strides: [1, 2], padding: 'same' }),
  api.conv2d({ filters: 12, kernelSize: 1, activation: 'tanh' }),
  api.reshape({ targetShape: [-1, 2, 6] }),
  api.conv2d({ filters: 6, kernelSize: 2, padding: 'same' }),
  api.globalAveragePooling2d({}),
  api.dense({ units: 4 }),
];

/** Compares the losses of `steps` batches in both libraries, which start with equal weights. */
async function compare(layersOf, { shape, classes, batch, steps, rate, tolerance }) {
  const theirs = tf.sequential({ layers: layersOf(tf.layers) });
  theirs.compile({ loss: tf.losses.softmaxCrossEntropy, optimizer: tf.train.sgd(rate) });
  const ours = tl.sequential({ layers: layersOf(tl.layers), seed: 1 });
  ours.compile({ loss: 'softmaxCrossEntropy', optimizer: tl.train.sgd(rate) });

  const start = theirs.getWeights().map((weight, at) => {
    const values = noise(weight.size, 100 + at);
    const scale = weight.shape.length > 1 ? 0.3 : 0.1;
    return tf.tensor(
      values.map((value) => (weight.shape.length === 1 ? 0.5 : 0) + scale * value),
      weight.shape,
    );
  });
  theirs.setWeights(start);
  ours.setWeights(start.map((weight) => tl.tensor(weight.dataSync(), weight.shape)));

  const size = shape.reduce((product, each) => product * each, batch);
  for (let step = 0; step < steps; ++step) {
    const x = noise(size, 7 + step);
    const y = new Float32Array(batch * classes);
    for (let row = 0; row < batch; ++row) y[row * classes + ((row * 7 + step) % classes)] = 1;
    const expected = await theirs.trainOnBatch(
      tf.tensor(x, [batch, ...shape]),
      tf.tensor(y, [batch, classes]),
    );
    const actual = await ours.trainOnBatch(
      tl.tensor(x, [batch, ...shape]),
      tl.tensor(y, [batch, classes]),
    );
    assert.ok(
      Math.abs(actual - expected) < tolerance,
      `step ${step}: TensorFlow.js ${expected}, ours ${actual}`,
    );
  }
  const weights = ours.getWeights();
  theirs.getWeights().forEach((weight, at) => {
    assert.deepEqual(weights[at].shape, weight.shape);
    const difference = largestDifference(weights[at].dataSync(), weight.dataSync());
    assert.ok(difference < tolerance, `weight ${at}: ${difference}`);
  });
  const x = noise(size, 3);
  const expected = theirs.predict(tf.tensor(x, [batch, ...shape])).dataSync();
  const actual = ours.predict(tl.tensor(x, [batch, ...shape]));
  assert.deepEqual(actual.shape, [batch, classes]);
  assert.ok(largestDifference(actual.dataSync(), expected) < 10 * tolerance);
  ours.dispose();
}

test('a small convolutional network trains as in TensorFlow.js', async () => {
  await compare(small, {
    ...{ shape: [28, 28, 1], classes: 10, batch: 4, steps: 20, rate: 0.05, tolerance: 1e-4 },
  });
});

test('every layer trains and predicts as in TensorFlow.js', async () => {
  await compare(everyLayer, {
    ...{ shape: [11, 10, 3], classes: 4, batch: 6, steps: 10, rate: 0.02, tolerance: 1e-4 },
  });
});

/** Applies one method several times in sequence, with each of several options. */
const resized = (x, name) =>
  [
    ...[
      [[10, 12], false, true],
      [[30, 24], false, false],
    ],
    ...[
      [[11, 29], true, false],
      [[7, 8], false, true],
      [[7, 4], true, false],
    ],
  ].reduce((value, options) => value[name](...options), x);

test('traced operations return the results of TensorFlow.js', () => {
  const cases = {
    conv1d: [[2, 9, 3], [4, 3, 5], (x, w) => x.conv1d(w, 2, 'same')],
    conv2d: [[2, 7, 6, 3], [3, 2, 3, 5], (x, w) => x.conv2d(w, [2, 1], 'same')],
    depthwiseConv2d: [[1, 7, 6, 4], [3, 3, 4, 2], (x, w) => x.depthwiseConv2d(w, 2, 'same')],
    conv2dTranspose: [
      ...[
        [1, 3, 4, 2],
        [3, 3, 5, 2],
      ],
      (x, w) => x.conv2dTranspose(w, [1, 6, 7, 5], 2, 'same'),
    ],
    maxPool: [[2, 7, 6, 3], [1], (x) => x.maxPool(3, 2, 'same')],
    avgPool: [[2, 7, 6, 3], [1], (x) => x.avgPool([2, 3], [2, 1], 'same')],
    resizeBilinear: [[2, 5, 6, 3], [1], (x) => resized(x, 'resizeBilinear')],
    resizeNearestNeighbor: [[2, 5, 6, 3], [1], (x) => resized(x, 'resizeNearestNeighbor')],
    relu6: [[50], [1], (x) => x.mul(20).relu6()],
  };
  for (const [name, [shape, filterShape, apply]] of Object.entries(cases)) {
    const x = noise(
      shape.reduce((a, b) => a * b),
      1,
    );
    const w = noise(
      filterShape.reduce((a, b) => a * b),
      2,
    );
    const { y } = tl
      .compile({}, (_, g) => ({ y: apply(g.constant(x, shape), g.constant(w, filterShape)) }))
      .run({});
    const expected = apply(tf.tensor(x, shape), tf.tensor(w, filterShape));
    assert.deepEqual(y.shape, expected.shape, name);
    assert.ok(largestDifference(y.dataSync(), expected.dataSync()) < 1e-4, name);
  }
  throws(
    () => tl.compile({ x: [1, 4, 4, 3] }, ({ x }) => ({ y: x.maxPool(2, 2, 'full') })),
    /maxPool.pad: must be "valid" or "same", got "full"/,
  );
});

test('the absent rows of a partial batch are excluded from batch statistics', async () => {
  const make = () => {
    const model = tl.sequential({ seed: 2 });
    model.add(tl.layers.batchNormalization({ momentum: 0.5, inputShape: [2, 2, 3] }));
    model.add(tl.layers.globalMaxPooling2d());
    model.add(tl.layers.dense({ units: 2 }));
    model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
    return model;
  };
  const rows = (count) => [
    tl.tensor(noise(count * 12, 5), [count, 2, 2, 3]),
    tl.tensor(noise(count * 2, 6), [count, 2]),
  ];
  const exact = make();
  await exact.trainOnBatch(...rows(3));
  const padded = make();
  await padded.fit(...rows(3), { batchSize: 8, epochs: 1, shuffle: false });
  padded.getWeights().forEach((weight, at) => {
    const expected = exact.getWeights()[at].dataSync();
    assert.ok(largestDifference(weight.dataSync(), expected) < 1e-6, `weight ${at}`);
  });
  exact.dispose();
  padded.dispose();
});

test('errors of invalid layers name the argument and the shapes', () => {
  const add =
    (...layers) =>
    () =>
      tl.sequential({ layers });
  const { conv2d, maxPooling2d, reshape, zeroPadding2d, batchNormalization } = tl.layers;
  const inputShape = [8, 8, 3];
  throws(
    add(conv2d({ filters: 4, kernelSize: 3, inputShape: [8, 8] })),
    /\[height, width, channels\], got \[8,8\]/,
  );
  throws(() => conv2d({ filters: 4, inputShape }), /kernelSize is needed/);
  throws(
    () => conv2d({ kernelSize: 3, inputShape }),
    /Expected filters to be a 'number' > 0, got nothing/,
  );
  throws(
    add(conv2d({ filters: 4, kernelSize: 9, inputShape })),
    /a window of 9 does not fit spatial axis 0 of size 8/,
  );
  throws(
    () => conv2d({ filters: 4, kernelSize: 3, padding: 'full', inputShape }),
    /"valid" or "same" or "causal", got "full"/,
  );
  throws(
    () => maxPooling2d({ poolSize: 'a', inputShape }),
    /poolSize must be a positive integer, or an array/,
  );
  throws(
    add(reshape({ targetShape: [5, -1], inputShape })),
    /\[5,-1\] does not have the 192 elements/,
  );
  throws(
    () => zeroPadding2d({ padding: [1, 2, 3], inputShape }),
    /padding argument must be an integer or tuple of 2 integers/,
  );
  throws(add(batchNormalization({ epsilon: 2, inputShape })), /epsilon must be/);
});
