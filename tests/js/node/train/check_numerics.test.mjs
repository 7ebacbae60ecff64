// checkNumerics: errors name the first non-finite value and its step, weights are unchanged, and it costs nothing when off.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { blobs, largestDifference, throws, rejects, smallModel } from '../../lib.mjs';

const [x, y] = blobs(12);
const loss = 'categoricalCrossentropy';
const checked = (model = smallModel(), options = {}) => {
  model.compile({ loss, optimizer: 'sgd', checkNumerics: true, ...options });
  return model;
};
const withBroken = (row, value) => {
  const values = x.dataSync().slice();
  values[2 * row + 1] = value;
  return tl.tensor(values, [12, 2]);
};
const bytes = (model) => model.getWeights().map((each) => each.dataSync());

test('without it the module is byte-identical, with it training is equal within rounding', async () => {
  const [plain, off, on] = [{}, { checkNumerics: false }, { checkNumerics: true }].map((options) =>
    checked(smallModel(), { checkNumerics: undefined, ...options }),
  );
  const texts = await Promise.all([plain, off, on].map((model) => model.toWat()));
  assert.equal(texts[0], texts[1]);
  assert.notEqual(texts[0], texts[2]);
  const histories = [];
  for (const model of [plain, on]) {
    histories.push(
      (await model.fit(x, y, { epochs: 3, batchSize: 5, validationSplit: 0.2 })).history,
    );
  }
  // Different fusion changes rounding.
  const close = (a, b) => assert.ok(largestDifference(a, b) < 1e-6);
  for (const key of ['loss', 'val_loss']) close(histories[0][key], histories[1][key]);
  assert.deepEqual(Object.keys(histories[0]).sort(), Object.keys(histories[1]).sort());
  bytes(plain).forEach((weight, at) => close(weight, bytes(on)[at]));
  close(
    [plain.evaluate(x, y, { asObject: true }).loss],
    [on.evaluate(x, y, { asObject: true }).loss],
  );
});

test('non-finite data are named with their row, in any order', async () => {
  const model = checked();
  await model.trainOnBatch(x, y);
  const before = bytes(model);
  for (const [row, value] of [
    [7, NaN],
    [11, Infinity],
  ]) {
    await rejects(
      model.fit(withBroken(row, value), y, { batchSize: 5, shuffle: false, epochs: 2 }),
      `fit: epoch 1, batch ${1 + Math.floor(row / 5)}: x contains ${value} in row ${row}`,
    );
    await rejects(
      model.fit(withBroken(row, value), y, { batchSize: 5 }),
      new RegExp(`^fit: epoch 1, batch \\d: x contains ${value} in row ${row}$`),
    );
    await rejects(
      model.trainOnBatch(withBroken(row, value), y),
      `train: x contains ${value} in row ${row}`,
    );
    throws(
      () => model.evaluate(withBroken(row, value), y, { asObject: true }),
      `evaluate: x contains ${value} in row ${row}`,
    );
  }
  const data = tl.data
    .array([0, 1])
    .map((at) => ({ xs: at === 1 ? withBroken(2, NaN) : x, ys: y }));
  await rejects(
    model.fitDataset(data, { epochs: 3 }),
    'fitDataset: epoch 1, batch 2: x contains NaN in row 2',
  );
  assert.notDeepEqual(bytes(model), before);
});

test('a failed step leaves weights and optimizer state unchanged', async () => {
  const [model, other] = [
    checked(smallModel(), { optimizer: 'adam' }),
    checked(smallModel(), { optimizer: 'adam' }),
  ];
  await model.trainOnBatch(x, y);
  await rejects(model.trainOnBatch(withBroken(0, NaN), y), 'train: x contains NaN in row 0');
  await model.trainOnBatch(x, y);
  for (let step = 0; step < 2; ++step) await other.trainOnBatch(x, y);
  assert.deepEqual(bytes(model), bytes(other));
});

test('the first layer that returns NaN or infinity is named, also nested and custom ones', async () => {
  const layer = tl.layers.lambda((values) => values.sub(3).log(), { name: 'logarithm' });
  const inner = tl.sequential({
    name: 'inner',
    layers: [tl.layers.dense({ units: 2, inputShape: [2], name: 'first' }), layer],
  });
  const model = checked(
    tl.sequential({
      layers: [inner, tl.layers.dense({ units: 3, activation: 'softmax', name: 'last' })],
    }),
  );
  await rejects(
    model.fit(x, y),
    'fit: epoch 1, batch 1: layer "inner/logarithm" has a result that is NaN or infinite',
  );
  const weights = model.getWeights();
  weights[0] = tl.tensor([
    [1e38, 1e38],
    [1e38, 1e38],
  ]);
  model.setWeights(weights);
  const large = tl.tensor(new Float32Array(24).fill(9), [12, 2]);
  throws(
    () => model.evaluate(large, y, { asObject: true }),
    'evaluate: layer "inner/first" has a result that is NaN or infinite',
  );
});

test('non-finite losses and weights are named', async () => {
  const linear = () =>
    tl.sequential({ layers: [tl.layers.dense({ units: 1, inputShape: [1], name: 'line' })] });
  const model = checked(linear(), { loss: 'meanSquaredError' });
  const [one, far] = [tl.tensor([[1]]), tl.tensor([[1e30]])];
  throws(() => model.evaluate(one, far, { asObject: true }), 'evaluate: the loss is Infinity');
  const wild = checked(linear(), { loss: 'meanSquaredError', optimizer: tl.train.sgd(1e38) });
  const before = bytes(wild);
  await rejects(
    wild.trainOnBatch(one, tl.tensor([[1e6]])),
    'train: the step made a number of "line/kernel" Infinity',
  );
  assert.deepEqual(bytes(wild), before);
});
