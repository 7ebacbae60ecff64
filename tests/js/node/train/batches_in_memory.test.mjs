// batchesInMemory: training produces bit-identical weights for every number of batches in module memory.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { blobs, largestDifference, throws, rejects, smallModel } from '../../lib.mjs';

const [x, y] = blobs(45);
const training = { loss: 'softmaxCrossEntropy', optimizer: 'adam', metrics: ['accuracy'] };

async function trained(make, data, args) {
  const model = make();
  const { history } = await model.fit(...data, { batchSize: 8, epochs: 3, ...args });
  const weights = model.getWeights().map((each) => [...each.dataSync()]);
  const { imagesPerSecond: _, ...numbers } = history;
  return { numbers, weights, model };
}

const classifier = () => {
  const model = smallModel();
  model.compile(training);
  return model;
};

/** Two inputs and two outputs. */
const twofold = () => {
  const [a, b] = [tl.input({ shape: [2], name: 'a' }), tl.input({ shape: [2], name: 'b' })];
  const both = tl.layers.concatenate({}).apply([a, b]);
  const outputs = ['c', 'd'].map((name) =>
    tl.layers.dense({ units: 3, activation: 'softmax', name }).apply(both),
  );
  const model = tl.model({ inputs: [a, b], outputs, seed: 4 });
  model.compile({ ...training, loss: { c: 'softmaxCrossEntropy', d: 'softmaxCrossEntropy' } });
  return model;
};

const cases = {
  'shuffled rows': [classifier, [x, y], {}],
  'rows in order': [classifier, [x, y], { shuffle: false }],
  'with validation': [classifier, [x, y], { validationSplit: 0.3 }],
  'with weights': [
    classifier,
    [x, y],
    { sampleWeight: Array.from({ length: 45 }, (_, i) => i % 4) },
  ],
  'several inputs and outputs': [
    twofold,
    [
      [x, x],
      [y, y],
    ],
    {},
  ],
};

for (const [name, [make, data, args]] of Object.entries(cases)) {
  test(`${name}: one, some and all batches in memory train to equal bits`, async () => {
    const expected = await trained(make, data, args);
    for (const batchesInMemory of [1, 2, 5, 6, 50]) {
      const { numbers, weights } = await trained(make, data, { ...args, batchesInMemory });
      assert.deepEqual(weights, expected.weights, `${batchesInMemory}`);
      for (const [key, values] of Object.entries(expected.numbers)) {
        assert.ok(largestDifference(numbers[key], values) < 1e-6, `${key}, ${batchesInMemory}`);
      }
    }
  });
}

test('other data passed to the same module are copied in', async () => {
  const { model } = await trained(classifier, [x, y], { batchesInMemory: 50 });
  const { model: plain } = await trained(classifier, [x, y], {});
  const other = [
    tl.tensor(
      x.dataSync().map((each) => each + 1),
      [45, 2],
    ),
    y,
  ];
  for (const each of [model, plain]) await each.trainOnBatch(...other);
  await model.fit(...other, { batchSize: 8, batchesInMemory: 3 });
  await plain.fit(...other, { batchSize: 8 });
  assert.deepEqual(
    model.evaluate(...other, { asObject: true }),
    plain.evaluate(...other, { asObject: true }),
  );
  assert.deepEqual(
    model.evaluate(x, y, { asObject: true }),
    plain.evaluate(x, y, { asObject: true }),
  );
});

for (const name of ['shuffled rows', 'several inputs and outputs']) {
  const [make, data] = cases[name];
  test(`${name}: evaluate and predict return the same for their separate counts`, () => {
    const model = make();
    const scores = (args) => model.evaluate(...data, { batchSize: 8, asObject: true, ...args });
    const results = (args) =>
      [model.predict(data[0], { batchSize: 7, ...args })]
        .flat()
        .map((each) => [...each.dataSync()]);
    const [expectedScores, expectedResults] = [scores({}), results({})];
    for (const batchesInMemory of [1, 2, 5, 50]) {
      assert.deepEqual(results({ batchesInMemory }), expectedResults, `${batchesInMemory}`);
      assert.deepEqual(scores({ batchesInMemory }), expectedScores, `${batchesInMemory}`);
    }
    // Each entry has a separate count.
    const entries = Object.entries(rowCounts(model));
    const inMemory = entries.map(([entry, { x, order }]) => [entry, x / order]);
    assert.deepEqual(Object.fromEntries(inMemory), { evaluate: 50, predict: 50 });
  });
}

/** Rows of x and of one batch, per entry of the current module that has several batches in memory. */
function rowCounts(model) {
  const { metadata } = model.current().states;
  const entries = metadata.entries.map(({ name, inputs }) => {
    const rows = (pattern) => inputs.find((each) => pattern.test(each.name))?.shape[0];
    return [name, { x: rows(/^x/), order: rows(/^order$/) }];
  });
  return Object.fromEntries(entries.filter(([, { order }]) => order !== undefined));
}

test('rows that change between calls are copied in each time', () => {
  const model = classifier();
  const data = x.dataSync().slice();
  const predict = () =>
    model.predict(tl.tensor(data, [45, 2]), { batchSize: 8, batchesInMemory: 50 });
  const before = [...predict().dataSync()];
  data[0] += 3;
  const after = [...predict().dataSync()];
  assert.notDeepEqual(after.slice(0, 3), before.slice(0, 3));
  assert.deepEqual(after.slice(3), before.slice(3));
});

test('an invalid batchesInMemory is rejected', async () => {
  const message = /^batchesInMemory must be a positive integer, got 0$/;
  throws(() => classifier().predict(x, { batchesInMemory: 0 }), /^predict: batchesInMemory must/);
  throws(() => classifier().evaluate(x, y, { batchesInMemory: 1.5 }), /^evaluate: batchesInMem/);
  await rejects(classifier().fit(x, y, { batchesInMemory: 0 }), message);
  await rejects(
    classifier().fit(x, y, { batchesInMemory: 2 ** 40 }),
    /batchesInMemory\.train: must be/,
  );
});
