// Training on the own thread of a page, which workers compile for; this thread takes its place.
import assert from 'node:assert/strict';
import test from 'node:test';

Atomics.wait = () => {
  throw new TypeError('Atomics.wait cannot be called in this context');
};
const tf = await import('tensorlathe/tfjs');
await tf.ready();

const { Module } = WebAssembly;
let modules = 0;
WebAssembly.Module = class extends Module {
  constructor(...given) {
    super(...given);
    modules += 1;
  }
};

const original = process.getBuiltinModule;
const nobody = function () {
  throw new Error('no workers here');
};
const withoutWorkers = (name) =>
  name === 'node:worker_threads' ? { Worker: nobody } : original.call(process, name);

const { layers } = tf;
const made = () => {
  const model = tf.sequential({
    layers: [
      layers.conv2d({ filters: 5, kernelSize: 3, inputShape: [9, 9, 1], activation: 'relu' }),
      layers.flatten(),
      layers.dense({ units: 7, activation: 'tanh' }),
      layers.dense({ units: 3, activation: 'softmax' }),
    ],
  });
  const shapes = model.getWeights().map((each) => each.shape);
  const numbers = ({ length }) => Array.from({ length }, (_, k) => Math.sin(3 * k + length) / 2);
  const weights = shapes.map((shape) =>
    tf.tensor(numbers({ length: shape.reduce((a, b) => a * b, 1) }), shape),
  );
  model.setWeights(weights);
  return model;
};
const x = tf.tensor4d(
  Array.from({ length: 11 * 81 }, (_, k) => Math.cos(k)),
  [11, 9, 9, 1],
);
const y = tf.oneHot(tf.tensor1d([0, 1, 2, 1, 0, 2, 2, 1, 0, 1, 2], 'int32'), 3);
y.dataSync();
const training = { optimizer: 'adam', loss: 'categoricalCrossentropy', metrics: ['accuracy'] };
const batches = () =>
  tf.data.zip({ xs: tf.data.array(x.arraySync()), ys: tf.data.array(y.arraySync()) });

const squares = (truth, found) => truth.sub(found).square().mean(-1);
const ways = {
  fit: (model) =>
    model.fit(x, y, { epochs: 3, batchSize: 4, shuffle: false, validationSplit: 0.2 }),
  fitDataset: (model) => model.fitDataset(batches().batch(4), { epochs: 3 }),
};

/** What training gives, its weights, and the modules that this thread compiled for it. */
async function trained(way, loss = training.loss) {
  const model = made();
  const before = modules;
  model.compile({ ...training, loss });
  const compiled = modules - before;
  const { history } = await ways[way](model);
  const weights = model.getWeights().map((each) => [...each.dataSync()]);
  const stats = model.stats();
  model.dispose();
  return { found: { history, weights }, compiled, modules: modules - before, stats };
}

for (const way of Object.keys(ways)) {
  test(`${way}: a worker compiles, and all is as where none can be had`, async () => {
    const first = await trained(way);
    process.getBuiltinModule = withoutWorkers;
    const second = await trained(way).finally(() => (process.getBuiltinModule = original));
    assert.deepEqual(first.found, second.found);
    assert.deepEqual([first.compiled, second.compiled], [0, 0]);
    assert.ok(first.modules < second.modules, `${first.modules} and ${second.modules} modules`);
    assert.ok(first.stats.compileMs > 0 && first.stats.moduleBytes === second.stats.moduleBytes);
  });
}

test('a loss of the program is compiled on this thread, where its function is', async () => {
  const first = await trained('fit', squares);
  process.getBuiltinModule = withoutWorkers;
  const second = await trained('fit', squares).finally(() => (process.getBuiltinModule = original));
  assert.deepEqual(first.found, second.found);
});

test('what is asked of a model while a worker compiles for it has its place', async () => {
  const model = made();
  const wanted = model.predict(x).arraySync();
  model.compile(training);
  const fitting = model.fit(x, y, { epochs: 1, batchSize: 5, shuffle: false });
  await new Promise((next) => setImmediate(next));
  assert.deepEqual(model.predict(x).arraySync(), wanted);
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

test('compile says what does not fit, and compiles nothing', () => {
  const model = made();
  assert.throws(
    () => model.compile({ ...training, loss: (a, b) => a.sub(b.reshape([2, 2])) }),
    /reshape/,
  );
  const before = modules;
  model.compile(training);
  assert.equal(modules, before);
  model.dispose();
});
