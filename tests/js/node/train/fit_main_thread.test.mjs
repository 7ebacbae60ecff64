// Training on the main thread of a page, with compilation in workers; this thread simulates the main thread.
import assert from 'node:assert/strict';
import test from 'node:test';
import { countModules } from '../eager/lib.mjs';

Atomics.wait = () => {
  throw new TypeError('Atomics.wait cannot be called in this context');
};
const tf = await import('tensorlathe/tfjs');
await tf.ready();

const original = process.getBuiltinModule;
const unavailable = function () {
  throw new Error('no workers here');
};
const withoutWorkers = (name) =>
  name === 'node:worker_threads' ? { Worker: unavailable } : original.call(process, name);

const { layers } = tf;
const made = () =>
  tf.sequential({
    seed: 3,
    layers: [
      layers.conv2d({ filters: 5, kernelSize: 3, inputShape: [9, 9, 1], activation: 'relu' }),
      layers.flatten(),
      layers.dense({ units: 7, activation: 'tanh' }),
      layers.dense({ units: 3, activation: 'softmax' }),
    ],
  });
const x = tf.tensor4d(
  Array.from({ length: 11 * 81 }, (_, k) => Math.cos(k)),
  [11, 9, 9, 1],
);
const y = tf.oneHot(tf.tensor1d([0, 1, 2, 1, 0, 2, 2, 1, 0, 1, 2], 'int32'), 3);
y.dataSync();
const training = { optimizer: 'adam', loss: 'categoricalCrossentropy', metrics: ['accuracy'] };
const batches = () =>
  tf.data.zip({ xs: tf.data.array(x.arraySync()), ys: tf.data.array(y.arraySync()) });

const squares = (labels, predictions) => labels.sub(predictions).square().mean(-1);
const ways = {
  fit: (model) =>
    model.fit(x, y, { epochs: 3, batchSize: 4, shuffle: false, validationSplit: 0.2 }),
  fitDataset: (model) => model.fitDataset(batches().batch(4), { epochs: 3 }),
};

/** The result of training, the weights, and the number of modules that this thread compiled. */
async function trained(way, loss = training.loss) {
  const model = made();
  const { modules: early } = await countModules(() => model.compile({ ...training, loss }));
  const { actual, modules } = await countModules(() => ways[way](model));
  const weights = model.getWeights().map((each) => [...each.dataSync()]);
  const stats = model.stats();
  model.dispose();
  return { results: { history: actual.history, weights }, early, modules, stats };
}

for (const way of Object.keys(ways)) {
  test(`${way}: a worker compiles, with results equal to those without workers`, async () => {
    const first = await trained(way);
    process.getBuiltinModule = withoutWorkers;
    const second = await trained(way).finally(() => (process.getBuiltinModule = original));
    assert.deepEqual(first.results, second.results);
    assert.deepEqual([first.early, first.modules, second.early], [0, 0, 0]);
    assert.ok(second.modules > 0);
    assert.ok(first.stats.compileMs > 0 && first.stats.moduleBytes === second.stats.moduleBytes);
  });
}

test('a custom loss is compiled on this thread, where its function is', async () => {
  const first = await trained('fit', squares);
  process.getBuiltinModule = withoutWorkers;
  const second = await trained('fit', squares).finally(() => (process.getBuiltinModule = original));
  assert.deepEqual(first.results, second.results);
});

test('predict, compile and dispose during the background compilation of fit', async () => {
  const model = made();
  const expected = model.predict(x).arraySync();
  model.compile(training);
  const fitting = model.fit(x, y, { epochs: 1, batchSize: 5, shuffle: false });
  await new Promise((next) => setImmediate(next));
  assert.deepEqual(model.predict(x).arraySync(), expected);
  assert.throws(() => model.compile(training), /fit is running/);
  assert.throws(() => model.dispose(), /fit is running/);
  const other = made();
  other.compile(training);
  const [{ history }, { history: others }] = await Promise.all([
    fitting,
    other.fit(x, y, { epochs: 1, batchSize: 5, shuffle: false }),
  ]);
  assert.deepEqual(history, others);
  for (const each of [model, other]) each.dispose();
});

test('compile rejects losses of wrong shapes', () => {
  const model = made();
  const loss = (labels, predictions) => labels.sub(predictions.reshape([2, 2]));
  assert.throws(() => model.compile({ ...training, loss }), /reshape/);
  model.dispose();
});
