// The compilation cache of a model: one compilation per batch size, kind of labels, and use of sample weights.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { CompilationCache } from '../../../../js/dist/runtime/compilation_cache.js';
import { compiled } from '../../lib.mjs';

function line(optimizer = tl.train.sgd(0.1)) {
  const model = tl.sequential();
  model.add(
    tl.layers.dense({ units: 1, inputShape: [1], useBias: false, kernelInitializer: 'ones' }),
  );
  model.compile({ loss: 'meanSquaredError', optimizer });
  return model;
}
const column = (values) => tl.tensor(values, [values.length, 1]);
const batches = [
  [1, 2, 3, 4],
  [0.5, -1],
  [2, 1, 0, 1],
  [3, -2],
].map(column);
const labelsOf = (x) => column([...x.dataSync()].map((value) => 3 * value));

test('alternating batch sizes are compiled once each and share the weights', async () => {
  const model = line();
  const step = (x) => model.trainOnBatch(x, labelsOf(x));
  for (const x of batches.slice(0, 2)) await step(x);
  let weight = 1;
  for (const x of batches.slice(0, 2)) weight = stepped(weight, x);
  const made = await compiled(async () => {
    for (let round = 0; round < 3; round++) {
      for (const x of batches) {
        const loss = await step(x);
        const expected = mean(x, (value) => ((weight - 3) * value) ** 2);
        assert.ok(Math.abs(loss - expected) <= 1e-5 * (1 + expected), `${loss}, not ${expected}`);
        weight = stepped(weight, x);
      }
    }
  });
  assert.equal(made, 0);
  assert.ok(Math.abs(model.getWeights()[0].dataSync()[0] - weight) < 1e-5);
  model.dispose();
});

test('the optimizer state is shared like the weights', async () => {
  const [once, interleaved] = [line('adam'), line('adam')];
  const [large, small] = batches;
  for (let round = 0; round < 3; round++) {
    for (const x of [large, small]) {
      await once.trainOnBatch(x, labelsOf(x));
      await interleaved.trainOnBatch(x, labelsOf(x));
      await interleaved.evaluate(x, labelsOf(x), { batchSize: 1 + round });
    }
  }
  assert.deepEqual(once.getWeights()[0].dataSync(), interleaved.getWeights()[0].dataSync());
  once.dispose();
  interleaved.dispose();
});

test('variants with sample weights and of label kinds are cached; compile clears the cache', async () => {
  const model = tl.sequential();
  model.add(tl.layers.dense({ units: 3, inputShape: [2], activation: 'softmax' }));
  model.compile({ loss: 'sparseCategoricalCrossentropy', optimizer: 'sgd' });
  const x = tl.tensor([1, 2, 3, 4], [2, 2]);
  const classes = tl.tensor([0, 2], [2], 'int32');
  const weighted = () => model.fit(x, classes, { sampleWeight: tl.tensor([1, 2]) });
  const plain = () => model.fit(x, classes, {});
  await weighted();
  await plain();
  const round = async () => {
    await weighted();
    await plain();
  };
  assert.equal(await compiled(round), 0);
  model.compile({ loss: 'sparseCategoricalCrossentropy', optimizer: 'sgd' });
  assert.ok((await compiled(round)) > 0);
  model.dispose();
});

test('the cache has a maximum size, and dispose clears it', async () => {
  const before = tl.memory();
  const model = line();
  for (let rows = 1; rows <= 12; rows++) {
    const x = column(Array.from({ length: rows }, (_, i) => i));
    await model.evaluate(x, labelsOf(x), { batchSize: rows });
  }
  assert.ok(tl.memory().modules - before.modules <= 5);
  model.dispose();
  assert.deepEqual(tl.memory(), before);
});

test('cached modules are evicted when memory is exhausted', async () => {
  const model = line();
  const evaluate = (rows) => {
    const x = column(Array.from({ length: rows }, (_, i) => i));
    return model.evaluate(x, labelsOf(x), { batchSize: rows });
  };
  for (const rows of [1, 2, 3]) await evaluate(rows);
  const { modules } = tl.memory();
  const { Instance } = WebAssembly;
  let refusals = 0;
  WebAssembly.Instance = class extends Instance {
    constructor(...args) {
      if (tl.memory().modules === modules && ++refusals) throw new RangeError('no memory');
      super(...args);
    }
  };
  try {
    await evaluate(4);
  } finally {
    WebAssembly.Instance = Instance;
  }
  assert.equal(refusals, 1);
  assert.ok(tl.memory().modules < modules);
  model.dispose();
});

/** Requests builds of one byte in turn; returns how many were made. */
function request(cache, live, keys) {
  let made = 0;
  for (const key of keys) {
    let build = cache.remove(key);
    if (build === undefined) {
      made++;
      live.add((build = { bytes: 1, dispose: () => assert.ok(live.delete(build)) }));
    }
    cache.insert(key, build);
    assert.ok(live.size <= 4);
  }
  return made;
}

test('of more requests in turn than fit some remain, until others return sooner', () => {
  const live = new Set();
  const cache = new CompilationCache({ bytes: 100, builds: 4 });
  const turn = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  assert.equal(request(cache, live, turn), 7);
  for (let round = 0; round < 5; round++) assert.equal(request(cache, live, turn), 3);
  request(cache, live, ['x', 'y', 'z', 'x', 'y', 'z']);
  assert.equal(request(cache, live, ['x', 'y', 'z', 'x', 'y', 'z']), 0);
  for (let at = 0; at < 1000; at++) request(cache, live, [`once ${at}`]);
  assert.equal(request(cache, live, ['x', 'y', 'z']), 0);
  request(cache, live, turn.slice(0, 4));
  request(cache, live, turn.slice(0, 4));
  assert.equal(request(cache, live, turn.slice(0, 4)), 0);
  cache.free();
  assert.equal(live.size, 0);
});

const mean = (x, of) => x.dataSync().reduce((sum, value) => sum + of(value), 0) / x.size;
const stepped = (weight, x) => weight - 0.1 * mean(x, (value) => 2 * (weight - 3) * value * value);
