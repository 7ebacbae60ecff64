// Training on datasets: one trainOnBatch step per batch in order, epochs, validation, datasets that end early.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { blobs, largestDifference, throws, rejects, smallModel } from '../../lib.mjs';

function compiled(seed = 3) {
  const model = smallModel({ seed });
  model.compile({
    loss: 'softmaxCrossEntropy',
    optimizer: tl.train.adam(0.01),
    metrics: ['accuracy'],
  });
  return model;
}

const [x, y] = blobs(90);
const xs = x.arraySync();
const ys = y.arraySync();
const examples = tl.data.zip({ xs: tl.data.array(xs), ys: tl.data.array(ys) });
const weights = (model) => model.getWeights().map((each) => each.dataSync());

test('an epoch is fit without shuffling', async () => {
  const [ours, plain] = [compiled(), compiled()];
  const logs = [];
  const { history, epoch } = await ours.fitDataset(examples.batch(16), {
    epochs: 3,
    callbacks: { onBatchEnd: (batch, { size, loss }) => logs.push([batch, size, loss]) },
  });
  const expected = await plain.fit(x, y, { epochs: 3, batchSize: 16, shuffle: false });
  assert.deepEqual(epoch, [0, 1, 2]);
  assert.ok(largestDifference(history.loss, expected.history.loss) < 1e-5);
  assert.ok(largestDifference(history.acc, expected.history.acc) < 1e-6);
  weights(ours).forEach((each, at) => {
    assert.ok(largestDifference(each, weights(plain)[at]) < 1e-5);
  });
  assert.equal(logs.length, 18);
  assert.deepEqual(
    logs.slice(0, 6).map(([batch, size]) => [batch, size]),
    [...[0, 1, 2, 3, 4].map((batch) => [batch, 16]), [5, 10]],
  );
});

test('with batchesPerEpoch an epoch continues where the previous one ended', async () => {
  const seen = [];
  const watched = examples.batch(10).map((batch) => (seen.push(batch.xs.arraySync()[0]), batch));
  const model = compiled();
  const { history } = await model.fitDataset(watched.repeat(), { epochs: 4, batchesPerEpoch: 3 });
  assert.equal(history.loss.length, 4);
  assert.deepEqual(
    seen,
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2].map((batch) => xs[10 * batch]),
  );
});

test('a dataset that ends early ends the training with a warning', async (t) => {
  const warn = t.mock.method(console, 'warn', () => {});
  const { epoch } = await compiled().fitDataset(examples.batch(10), {
    epochs: 9,
    batchesPerEpoch: 4,
  });
  assert.deepEqual(epoch, [0, 1, 2]);
  assert.equal(warn.mock.callCount(), 1);
  assert.match(warn.mock.calls[0].arguments[0], /epoch 3: the data ended after 1 of 4 batches/);
});

test('validation and evaluateDataset equal evaluate', async () => {
  const model = compiled();
  const batches = examples.batch(16);
  const { history } = await model.fitDataset(batches, { epochs: 2, validationData: batches });
  const expected = model.evaluate(x, y, { asObject: true });
  assert.ok(Math.abs(history.val_loss.at(-1) - expected.loss) < 1e-5);
  assert.ok(Math.abs(history.val_acc.at(-1) - expected.acc) < 1e-6);
  const { loss, acc } = await model.evaluateDataset(batches, { asObject: true });
  assert.ok(Math.abs(loss - expected.loss) < 1e-5 && Math.abs(acc - expected.acc) < 1e-6);
  const first = await model.evaluateDataset(batches, { batches: 1, asObject: true });
  const part = tl.tensor(xs.slice(0, 16));
  assert.ok(
    Math.abs(
      first.loss - model.evaluate(part, tl.tensor(ys.slice(0, 16)), { asObject: true }).loss,
    ) < 1e-5,
  );
  const arrays = await model.fitDataset(batches, { validationData: [x, y] });
  assert.ok(arrays.history.val_loss[0] > 0);
});

test('stopTraining and signals end the training and close the dataset', async () => {
  for (const stop of ['stopTraining', 'signal']) {
    let closed = 0;
    const endless = tl.data.generator(function* () {
      try {
        for (;;) yield { xs: [0, 1], ys: 1 };
      } finally {
        ++closed;
      }
    });
    const model = compiled();
    const controller = new AbortController();
    await model.fitDataset(endless.batch(4), {
      signal: controller.signal,
      callbacks: {
        onBatchEnd: (batch) => {
          if (batch < 5) return;
          if (stop === 'signal') controller.abort();
          else model.stopTraining = true;
        },
      },
    });
    assert.equal(closed, 1);
  }
});

test('other changes of the model are rejected while it trains on a dataset', async () => {
  const model = compiled();
  const batches = examples.batch(16);
  let rejected = 0;
  const training = model.fitDataset(batches, {
    epochs: 2,
    callbacks: {
      onEpochBegin: async () => {
        await rejects(model.fit(x, y), 'fit: fit is running; await it, or set stopTraining first');
        await rejects(model.fitDataset(batches), /^fitDataset: fit is running/);
        await rejects(model.trainOnBatch(x, y), /^trainOnBatch: fit is running/);
        throws(() => model.dispose(), /^dispose: fit is running/);
        throws(() => model.compile({ loss: 'meanSquaredError' }), /^compile: fit is running/);
        assert.ok(model.evaluate(x, y, { asObject: true }).loss > 0);
        rejected += 1;
      },
    },
  });
  await rejects(model.fitDataset(batches), /^fitDataset: fit is running/);
  await rejects(model.fit(x, y), /^fit: fit is running/);
  throws(() => model.dispose(), /^dispose: fit is running/);
  const { history } = await training;
  assert.deepEqual([history.loss.length, rejected], [2, 2]);
  await rejects(model.fitDataset(x), /a dataset is needed/);
  await model.fit(x, y);
  model.dispose();
  await rejects(model.fitDataset(batches), /^fitDataset: Container ".*" is already disposed$/);
});

test('an error in a callback or an element closes the dataset', async () => {
  let closed = 0;
  const source = tl.data.generator(function* () {
    try {
      yield { xs: [0, 1], ys: 1 };
      yield { xs: [0, 1], ys: 7 };
    } finally {
      ++closed;
    }
  });
  await rejects(compiled().fitDataset(source.batch(1)), /label 7 in row 0/);
  const failing = { onBatchEnd: () => assert.fail('enough') };
  await assert.rejects(compiled().fitDataset(source.batch(1), { callbacks: failing }), /enough/);
  assert.equal(closed, 2);
});

test('invalid data and options are rejected', async () => {
  const model = compiled();
  await rejects(model.fitDataset(x), /a dataset is needed/);
  await rejects(model.fitDataset(tl.data.array([1])), /must be batches \{xs, ys\}/);
  await rejects(model.fitDataset(examples.batch(2), { epochs: 0 }), /epochs must be a positive/);
  await rejects(model.fitDataset(examples.repeat().batch(2)), /batchesPerEpoch is needed/);
  await rejects(model.evaluateDataset(tl.data.array([]), { asObject: true }), /has no batches/);
  await rejects(model.fitDataset(examples), /x has shape \[2\]/);
});

test('several inputs and outputs are passed by name', async () => {
  const model = () => {
    const [a, b] = ['a', 'b'].map((name) => tl.input({ shape: [2], name }));
    const both = tl.layers.concatenate().apply([a, b]);
    const u = tl.layers.dense({ units: 3, activation: 'softmax', name: 'u' }).apply(both);
    const v = tl.layers.dense({ units: 1, name: 'v' }).apply(both);
    const made = tl.model({ inputs: [a, b], outputs: [u, v], seed: 4 });
    const loss = { u: 'softmaxCrossEntropy', v: 'meanSquaredError' };
    made.compile({ loss, optimizer: 'sgd', metrics: ['accuracy'] });
    return made;
  };
  const rows = xs.map((row, at) => ({
    xs: { a: row, b: [row[1], 1] },
    ys: { u: ys[at], v: [row[0]] },
  }));
  const batches = tl.data.array(rows).batch(16);
  const [ours, plain] = [model(), model()];
  const { history } = await ours.fitDataset(batches, { epochs: 2, validationData: batches });
  const [full] = await tl.data.array(rows).batch(rows.length).toArray();
  const expected = await plain.fit(full.xs, full.ys, {
    epochs: 2,
    batchSize: 16,
    shuffle: false,
    validationData: [full.xs, full.ys],
  });
  assert.deepEqual(Object.keys(history).sort(), Object.keys(expected.history).sort());
  for (const [name, values] of Object.entries(history)) {
    assert.ok(largestDifference(values, expected.history[name]) < 1e-5, name);
  }
});
