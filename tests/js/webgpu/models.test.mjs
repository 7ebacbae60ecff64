// Models of layers on a GPU: the same losses, predictions and weights as on Wasm; losses of the GPU; memory.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import * as tl from 'tensorlathe';
import { loadedDevice } from '../../../js/dist/devices/registry.js';

before(async () => {
  await tl.ready();
  await tl.setDevice('webgpu');
});
after(() => tl.setDevice('wasm'));

const { layers } = tl;
const numbers = (count, step = 1.7) =>
  Float32Array.from({ length: count }, (_, at) => Math.sin(at * step));
const rows = 40;
const labels = Int32Array.from({ length: rows }, (_, at) => (at * at) % 3);

const networks = {
  'a multilayer perceptron': {
    shape: [8],
    hidden: () => [layers.dense({ units: 16, activation: 'relu' }), layers.dropout({ rate: 0.2 })],
    optimizer: 'adam',
  },
  'a convolutional network': {
    shape: [8, 8, 2],
    hidden: () => [
      layers.conv2d({ filters: 4, kernelSize: 3, activation: 'relu' }),
      layers.batchNormalization(),
      layers.maxPooling2d({ poolSize: 2 }),
      layers.flatten(),
    ],
    optimizer: tl.train.momentum(0.05, 0.9),
  },
  'an LSTM': {
    shape: [6, 3],
    hidden: () => [layers.lstm({ units: 5 })],
    optimizer: 'rmsprop',
  },
};

function network({ shape, hidden, optimizer = 'adam' }, device, options = {}) {
  const [first, ...others] = hidden();
  const input = tl.input({ shape });
  const output = layers.dense({ units: 3, activation: 'softmax' });
  const y = [...others, output].reduce((x, each) => each.apply(x), first.apply(input));
  const model = tl.model({ inputs: input, outputs: y, seed: 3 });
  const loss = 'sparseCategoricalCrossentropy';
  model.compile({ loss, optimizer, metrics: ['accuracy'], device, ...options });
  return model;
}

const mlp = networks['a multilayer perceptron'];
const dataOf = ({ shape }) => numbers(rows * shape.reduce((product, size) => product * size, 1));

function near(actual, expected, tolerance = 1e-3) {
  assert.equal(actual.length, expected.length);
  const largest = Math.max(...Array.from(expected, Math.abs), 1e-6);
  Array.from(actual).forEach((each, at) => {
    const difference = Math.abs(each - expected[at]);
    assert.ok(difference <= tolerance * largest, `${at}: ${each}, expected ${expected[at]}`);
  });
}

/** What training, evaluation and prediction return on a device. */
async function trained(config, device) {
  const model = network(config, device);
  const x = dataOf(config);
  // 50 steps: 5 batches an epoch, the last one smaller.
  const fit = { epochs: 10, batchSize: 9, validationSplit: 0.1, verbose: 0 };
  const { history } = await model.fit(x, labels, fit);
  const scores = await model.evaluateAsync(x, labels, { asObject: true });
  const y = await model.predict(x).data();
  const one = await model.predict(x.subarray(0, x.length / rows)).data();
  const weights = await Promise.all(model.getWeights().map((each) => each.data()));
  model.dispose();
  return { history, scores, y, one, weights };
}

test('models free what they have on the GPU', async () => {
  const bytes = () => tl.memory().devices.webgpu;
  const start = { ...bytes() };
  for (let round = 0; round < 5; ++round) {
    const model = network(mlp, 'webgpu');
    const x = dataOf(mlp);
    await model.fit(x, labels, { verbose: 0, batchSize: 8 + round });
    const y = model.predict(x);
    await y.data();
    y.dispose();
    model.dispose();
  }
  assert.equal(bytes().bytes, start.bytes);
  assert.equal(bytes().buffers, start.buffers);
});

for (const [name, config] of Object.entries(networks)) {
  test(`${name} trains to the same loss, twice to equal bits`, async () => {
    const expected = await trained(config, 'wasm');
    const actual = await trained(config, 'webgpu');
    near(actual.history.loss, expected.history.loss, 1e-2);
    near(actual.history.val_loss, expected.history.val_loss, 1e-2);
    near([actual.scores.loss], [expected.scores.loss], 1e-2);
    near(actual.y, expected.y, 1e-2);
    near(actual.one, actual.y.subarray(0, 3), 1e-5);
    assert.deepEqual(await trained(config, 'webgpu'), actual);
  });
}

test('weights go back and forth between tensors of any device and models', async () => {
  const [on, off] = [network(mlp, 'webgpu'), network(mlp, 'wasm')];
  const x = dataOf(mlp);
  off.setWeights(on.getWeights());
  near(await on.predict(x).data(), await off.predict(x).data());
  await on.trainOnBatch(x, labels);
  const learnt = on.getWeights();
  on.setWeights(learnt.map((each) => each.mul(2)));
  near(
    await on.getWeights()[0].data(),
    (await learnt[0].data()).map((each) => 2 * each),
  );
  assert.throws(() => on.setWeights(learnt.slice(1)), /setWeights: .* has 4 weights, got 3/);
  on.dispose();
  off.dispose();
});

test('a tensor on the GPU is predicted there, and trained on', async () => {
  const model = network(mlp, 'webgpu');
  const plain = dataOf(mlp);
  const x = tl.tensor(plain, [rows, 8]);
  const expected = await model.predict(plain).data();
  const shifted = x.add(1).sub(1);
  const y = model.predict(shifted);
  near(
    await y.mul(2).data(),
    expected.map((each) => 2 * each),
  );
  await model.fit(x.add(1).sub(1), tl.tensor(labels, [rows], 'int32').add(0), { verbose: 0 });
  assert.throws(() => model.evaluate(plain, labels), /await model\.evaluateAsync\(x, y\)/);
  model.dispose();
});

test('an index that no row has is an error, as on Wasm', async () => {
  const model = tl.sequential({
    layers: [layers.embedding({ inputDim: 4, outputDim: 2, inputLength: 3 })],
  });
  model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
  assert.throws(() => model.predict(Float32Array.of(0, 3, 4)), /input x.*4/);
  assert.equal((await model.predict(Float32Array.of(0, 3, 1)).data()).length, 6);
  model.dispose();
});

test('a model without weights of its own, of several inputs and null axes', async () => {
  const [a, b] = [tl.input({ shape: [null, 2] }), tl.input({ shape: [null, 2] })];
  const sum = tl.model({ inputs: [a, b], outputs: layers.add().apply([a, b]) });
  for (const steps of [1, 4, 2]) {
    const x = tl.tensor(numbers(3 * steps * 2), [3, steps, 2]);
    const y = await sum.predict([x, x]).data();
    near(
      y,
      (await x.data()).map((each) => 2 * each),
    );
  }
  sum.dispose();
});

test('layers in two models share weights, also with variables', async () => {
  const shared = layers.dense({ units: 4, inputShape: [3], name: 'shared' });
  const whole = tl.sequential({ layers: [shared, layers.dense({ units: 1 })] });
  const part = tl.sequential({ layers: [shared] });
  whole.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
  const x = numbers(30);
  const before = await part.predict(x).data();
  await whole.trainOnBatch(x, numbers(10));
  const after = await part.predict(x).data();
  assert.notDeepEqual(after, before);
  near(await shared.apply(tl.tensor(x, [10, 3])).data(), after);
  whole.dispose();
  part.dispose();
});

test('a trained model is saved and loaded', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'webgpu-'));
  const model = network(mlp, 'webgpu');
  const x = dataOf(mlp);
  await model.trainOnBatch(x, labels);
  await model.save(`file://${folder}`);
  const loaded = await tl.loadLayersModel(`file://${folder}/model.json`);
  const y = await model.predict(x).data();
  near(await loaded.predict(x).data(), y);
  await model.trainOnBatch(x, labels);
  const learnt = await model.predict(x).data();
  const onnx = await tl.loadModel(await tl.toOnnx(model));
  const [result] = Object.values(await onnx.run({ [onnx.inputs[0].name]: x }));
  near(await result.data(), learnt);
  const [wasm, sync] = [await model.toWasmAsync(), model.toWasm()];
  assert.deepEqual(wasm, sync, 'the weights have been copied');
  model.dispose();
  loaded.dispose();
  onnx.dispose();
  await rm(folder, { recursive: true });
});

test('numbers that are not finite are found, and the step undone', async () => {
  const model = network(mlp, 'webgpu', { checkNumerics: true });
  const x = dataOf(mlp);
  const before = await model.getWeights()[0].data();
  x[20] = NaN;
  await assert.rejects(model.trainOnBatch(x, labels), /x contains NaN in row 2/);
  assert.deepEqual(await model.getWeights()[0].data(), before);
  model.dispose();
});

test('training goes on after a loss of the GPU, and predictions', async () => {
  const x = dataOf(mlp);
  const losses = [];
  for (const isLost of [false, true]) {
    const model = network(mlp, 'webgpu');
    let gpu;
    const onBatchEnd = (batch) => {
      if (!isLost || model.epochsTrained !== 1 || batch !== 2 || gpu !== undefined) return;
      gpu = loadedDevice('webgpu').gpuDevice;
      gpu.destroy();
    };
    const fit = { epochs: 4, batchSize: 8, verbose: 0, callbacks: { onBatchEnd } };
    const { history } = await model.fit(x, labels, fit);
    losses.push(history.loss);
    const y = await model.predict(x).data();
    const current = loadedDevice('webgpu').gpuDevice;
    assert.notEqual(current, gpu);
    current.destroy();
    await current.lost;
    near(await model.predict(x).data(), y, 1e-5);
    model.dispose();
  }
  near(losses[1], losses[0], 1e-4);
});

test('pipelines are compiled for what runs', async () => {
  const { gpuDevice } = loadedDevice('webgpu');
  const { createComputePipelineAsync } = gpuDevice;
  let count = 0;
  gpuDevice.createComputePipelineAsync = (descriptor) => {
    count += 1;
    return createComputePipelineAsync.call(gpuDevice, descriptor);
  };
  try {
    // Sizes of no other test, whose pipelines are shared.
    const model = network({ shape: [11], hidden: () => [layers.dense({ units: 23 })] });
    await model.predict(tl.ones([5, 11])).data();
    const predicting = count;
    await model.trainOnBatch(tl.ones([5, 11]), tl.zeros([5]));
    assert.ok(predicting > 0 && count > 2 * predicting, `${predicting} of ${count}`);
    model.dispose();
  } finally {
    delete gpuDevice.createComputePipelineAsync;
  }
});
