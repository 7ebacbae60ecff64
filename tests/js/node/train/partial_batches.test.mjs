// Partial batches: results of the padding rows have no effect, even if they are NaN.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';

const lambda = (call, args) => tl.layers.lambda(call, args);

/** Layers that return NaN or infinities for a row of zeros. */
const functions = {
  logarithm: (x) => x.log(),
  inverse: (x) => x.reciprocal(),
  'division by the norm': (x) => x.div(x.square().sum(-1, true).sqrt()),
  'square root': (x) => x.sqrt(),
  'division by the mean': (x) => x.div(x.mean(-1, true)),
};

const width = 3;
const rows = (count) => {
  const x = Float32Array.from({ length: count * width }, (_, at) => 1.5 + Math.sin(1.3 * at));
  const y = Float32Array.from({ length: count }, (_, at) => Math.cos(at) > 0);
  return [tl.tensor(x, [count, width]), tl.tensor(y, [count, 1])];
};
const part = (tensor, from, to) => tl.tensor(tensor.arraySync().slice(from, to));

function make(call, options = {}) {
  const { layers } = tl;
  const model = tl.sequential({
    seed: 4,
    layers: [
      lambda(call, { inputShape: [width] }),
      layers.dense({ units: 4, activation: 'tanh', activityRegularizer: 'l2' }),
      layers.batchNormalization(),
      layers.dense({ units: 1, activation: 'sigmoid' }),
    ],
  });
  const metrics = ['binaryAccuracy', 'auc', 'meanAbsoluteError', 'precision'];
  model.compile({ loss: 'binaryCrossentropy', optimizer: 'sgd', metrics, ...options });
  return model;
}

const weightsOf = (model) => model.getWeights().map((each) => [...each.dataSync()]);
function near(found, expected, what) {
  const [a, b] = [found, expected].map((each) => [each].flat(3));
  assert.equal(a.length, b.length, what);
  a.forEach((value, at) => assert.ok(Math.abs(value - b[at]) < 1e-5, `${what}: ${a} is not ${b}`));
}

for (const [name, call] of Object.entries(functions)) {
  test(`${name}: a partial batch returns the results of its rows`, async () => {
    const [x, y] = rows(7);
    const sampleWeight = tl.tensor([1, 2, 0.5, 1, 3, 1, 1]);
    const classWeight = { 0: 0.5, 1: 2 };
    for (const weights of [{}, { sampleWeight, classWeight }]) {
      const model = make(call);
      const exact = model.evaluate(x, y, { batchSize: 7, ...weights, asObject: true });
      for (const batchSize of [2, 5, 32]) {
        const fresh = make(call);
        const found = fresh.evaluate(x, y, { batchSize, ...weights, asObject: true });
        near(Object.values(found), Object.values(exact), `evaluate ${batchSize}`);
        near(fresh.predict(x, { batchSize }).arraySync(), model.predict(x).arraySync(), 'predict');
      }
      await model.trainOnBatch(x, y, weights);
      // A smaller batch runs in the module of the one before.
      const larger = make(call);
      const [allX, allY] = rows(16);
      await larger.trainOnBatch(allX, allY, weights.sampleWeight && { sampleWeight: allY });
      larger.setWeights(make(call).getWeights());
      await larger.trainOnBatch(x, y, weights);
      near(weightsOf(larger), weightsOf(model), 'trainOnBatch');
    }
  });

  test(`${name}: fit ends an epoch with the remaining rows`, async () => {
    const [x, y] = rows(7);
    const steps = make(call);
    const losses = [];
    for (let at = 0; at < 7; at += 4) {
      losses.push(await steps.trainOnBatch(part(x, at, at + 4), part(y, at, at + 4)));
    }
    for (const batchesInMemory of [1, 2, 3]) {
      const model = make(call);
      const args = { batchSize: 4, shuffle: false, batchesInMemory, validationData: [x, y] };
      const { history } = await model.fit(x, y, args);
      near(weightsOf(model), weightsOf(steps), `fit ${batchesInMemory}`);
      assert.ok(Object.values(history).flat().every(Number.isFinite));
    }
    const model = make(call);
    const data = tl.data.zip({
      xs: tl.data.array(x.arraySync()),
      ys: tl.data.array(y.arraySync()),
    });
    await model.fitDataset(data.batch(4));
    near(weightsOf(model), weightsOf(steps), 'fitDataset');
  });

  test(`${name}: checkNumerics ignores padding rows`, async () => {
    const [x, y] = rows(5);
    const model = make(call, { checkNumerics: true });
    assert.ok(Number.isFinite(model.evaluate(x, y, { batchSize: 32, asObject: true }).loss));
    await model.fit(x, y, { batchSize: 4, epochs: 2 });
  });
}

test('a few large rows fit in memory where 32 of them would not', async () => {
  const side = 512;
  const make = (...sizes) => {
    const conv = (filters, more) =>
      tl.layers.conv2d({ filters, kernelSize: 1, kernelInitializer: 'ones', ...more });
    return tl.sequential({
      layers: [conv(160, { inputShape: [...sizes, 1] }), conv(1), tl.layers.globalMaxPooling2d()],
    });
  };
  const x = tl.ones([1, side, side, 1]);
  const open = make(null, null);
  assert.deepEqual(open.predict(x).arraySync(), [[160]]);
  assert.deepEqual(open.predict(tl.ones([5, 3, 4, 1])).arraySync(), Array(5).fill([160]));
  assert.throws(() => open.predict(x, { batchSize: 32 }), /MiB|4294967296/);
  open.dispose();
  const fixed = make(side, side);
  fixed.compile({ loss: 'meanSquaredError', optimizer: tl.train.sgd(0) });
  await fixed.fit(x, tl.tensor([[150]]), { batchSize: 1, verbose: 0 });
  assert.deepEqual(fixed.predict(x).arraySync(), [[160]]);
  assert.equal(fixed.evaluate(x, tl.tensor([[150]])).dataSync()[0], 100);
  assert.ok(fixed.stats().memoryBytes < 2 ** 30);
  fixed.dispose();
});
