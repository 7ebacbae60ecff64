// Models that change between batch sizes, kinds of labels and weights of rows compile each once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { compiled } from '../lib.mjs';

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
const goal = (x) => column([...x.dataSync()].map((value) => 3 * value));

test('alternating batch sizes compile each once and go on with the same weights', async () => {
  const model = line();
  const step = (x) => model.trainOnBatch(x, goal(x));
  for (const x of batches.slice(0, 2)) await step(x);
  let weight = 1;
  for (const x of batches.slice(0, 2)) weight = stepped(weight, x);
  const made = await compiled(async () => {
    for (let round = 0; round < 3; round++) {
      for (const x of batches) {
        const loss = await step(x);
        const wanted = mean(x, (value) => ((weight - 3) * value) ** 2);
        assert.ok(Math.abs(loss - wanted) <= 1e-5 * (1 + wanted), `${loss}, not ${wanted}`);
        weight = stepped(weight, x);
      }
    }
  });
  assert.equal(made, 0);
  assert.ok(Math.abs(model.getWeights()[0].dataSync()[0] - weight) < 1e-5);
  model.dispose();
});

test('what the optimiser keeps goes with the weights', async () => {
  const [once, again] = [line('adam'), line('adam')];
  const [large, small] = batches;
  for (let round = 0; round < 3; round++) {
    for (const x of [large, small]) {
      await once.trainOnBatch(x, goal(x));
      await again.trainOnBatch(x, goal(x));
      await again.evaluate(x, goal(x), { batchSize: 1 + round });
    }
  }
  assert.deepEqual(once.getWeights()[0].dataSync(), again.getWeights()[0].dataSync());
  once.dispose();
  again.dispose();
});

test('weights of rows and kinds of labels are kept, too; compile forgets all', async () => {
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

test('as many as there is room for are kept, and none of a disposed model', async () => {
  const before = tl.memory();
  const model = line();
  for (let rows = 1; rows <= 12; rows++) {
    const x = column(Array.from({ length: rows }, (_, i) => i));
    await model.evaluate(x, goal(x), { batchSize: rows });
  }
  assert.ok(tl.memory().modules - before.modules <= 5);
  model.dispose();
  assert.deepEqual(tl.memory(), before);
});

test('what is kept makes room where there is no memory left', async () => {
  const model = line();
  const evaluate = (rows) => {
    const x = column(Array.from({ length: rows }, (_, i) => i));
    return model.evaluate(x, goal(x), { batchSize: rows });
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

const mean = (x, of) => x.dataSync().reduce((sum, value) => sum + of(value), 0) / x.size;
const stepped = (weight, x) => weight - 0.1 * mean(x, (value) => 2 * (weight - 3) * value * value);
