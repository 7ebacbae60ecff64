// Training small networks: they learn, partial batches count, stopping and resuming lose nothing, timers run during training.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { tables } from 'tensorlathe/tables';
import { blobs, largestDifference, oneHot, smallModel } from '../../lib.mjs';

const compiled = (options, optimizer = 'adam') => {
  const model = smallModel(options);
  model.compile({ loss: 'softmaxCrossEntropy', optimizer, metrics: ['accuracy'] });
  return model;
};
const bytesOf = (model) => model.getWeights().map((weight) => weight.dataSync());

test('XOR is learned with every loss that fits one output', async () => {
  const x = tl.tensor([
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
  ]);
  const y = tl.tensor([[0], [1], [1], [0]]);
  for (const loss of ['meanSquaredError', 'sigmoidCrossEntropy']) {
    const model = tl.sequential({ seed: 5 });
    model.add(tl.layers.dense({ units: 8, activation: 'tanh', inputShape: [2] }));
    model.add(tl.layers.dense({ units: 1, activation: 'sigmoid' }));
    model.compile({ loss, optimizer: tl.train.adam(0.05), metrics: ['accuracy'] });
    const { history } = await model.fit(x, y, { epochs: 300, batchSize: 4 });
    assert.ok(history.loss.at(-1) < 0.05, `${loss}: ${history.loss.at(-1)}`);
    assert.equal(model.evaluate(x, y, { asObject: true }).acc, 1);
    assert.deepEqual(model.predict(x).arraySync().flat().map(Math.round), [0, 1, 1, 0]);
  }
});

test('every optimizer lowers the loss of every kind of label', async () => {
  const [x, y] = blobs(120);
  const dense = tl.tensor(oneHot(y.dataSync(), 3), [120, 3]);
  const { sgd, momentum, adagrad, adadelta, adam, adamw, adamax, rmsprop } = tl.train;
  const optimizers = [
    ...[sgd(0.2), momentum(0.05, 0.9, true), adagrad(0.2), adadelta(1)],
    ...[adam(0.02), adamw(0.02), adamax(0.02), rmsprop(0.01)],
  ];
  assert.equal(optimizers.length, tables.optimizers.length);
  for (const optimizer of optimizers) {
    const sparse = compiled({}, optimizer);
    const { history } = await sparse.fit(x, y, { epochs: 20, batchSize: 16 });
    assert.ok(history.acc.at(-1) > 0.85, `${optimizer.name}: ${history.acc.at(-1)}`);
    const other = compiled({}, optimizer);
    await other.fit(x, dense, { epochs: 20, batchSize: 16 });
    bytesOf(sparse).forEach((weight, at) => {
      assert.ok(largestDifference(weight, bytesOf(other)[at]) < 1e-3, optimizer.name);
    });
  }
});

test('rows of a last partial batch are trained and evaluated', async () => {
  const [x, y] = blobs(50);
  const model = compiled();
  const sizes = [];
  await model.fit(x, y, {
    batchSize: 16,
    callbacks: { onBatchEnd: (_, { size }) => void sizes.push(size) },
  });
  assert.deepEqual(sizes, [16, 16, 16, 2]);
  const probabilities = model.predict(x).arraySync();
  const labels = y.dataSync();
  const loss = -probabilities.reduce((sum, row, at) => sum + Math.log(row[labels[at]]), 0) / 50;
  const hits = probabilities.filter(
    (row, at) => row.indexOf(Math.max(...row)) === labels[at],
  ).length;
  for (const batchSize of [1, 16, 50, 64]) {
    const score = model.evaluate(x, y, { batchSize, asObject: true });
    assert.ok(Math.abs(score.loss - loss) < 1e-5, `${batchSize}: ${score.loss} for ${loss}`);
    assert.equal(score.acc, hits / 50);
  }
});

test('a partial batch makes the same step as a batch of that size', async () => {
  const [x, y] = blobs(5);
  const [full, part] = [compiled(), compiled()];
  const [bigX, bigY] = blobs(16);
  const start = part.getWeights();
  await part.trainOnBatch(bigX, bigY);
  part.compile({ loss: 'softmaxCrossEntropy', optimizer: 'adam' });
  part.setWeights(start);
  const losses = [await full.trainOnBatch(x, y), [await part.trainOnBatch(x, y)]];
  assert.ok(Math.abs(losses[0][0] - losses[1][0]) < 1e-6);
  bytesOf(full).forEach((weight, at) => {
    assert.ok(largestDifference(weight, bytesOf(part)[at]) < 1e-5);
  });
});

test('trainOnBatch returns a number, or loss and accuracy with the metric', async () => {
  const [x, y] = blobs(9);
  const model = smallModel();
  model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'sgd' });
  assert.equal(typeof (await model.trainOnBatch(x, y)), 'number');
  const [loss, acc] = await compiled().trainOnBatch(x, y);
  assert.ok(loss > 0 && acc >= 0 && acc <= 1);
});

test('training in several calls equals training in one, optimizer states included', async () => {
  const [x, y] = blobs(64);
  const [once, pieces] = [compiled(), compiled()];
  await once.fit(x, y, { epochs: 6, batchSize: 16 });
  await pieces.fit(x, y, { epochs: 2, batchSize: 16 });
  pieces.evaluate(x, y, { batchSize: 9, asObject: true });
  await pieces.fit(x, y, { epochs: 4, batchSize: 16 });
  assert.equal(pieces.epochsTrained, 6);
  assert.deepEqual(bytesOf(pieces), bytesOf(once));
});

test('stopping ends after the batch and retains the weights', async () => {
  const [x, y] = blobs(64);
  const model = compiled();
  let batches = 0;
  let ended = false;
  const { epoch } = await model.fit(x, y, {
    epochs: 100,
    batchSize: 16,
    callbacks: {
      onBatchEnd: () => {
        if (++batches === 6) model.stopTraining = true;
      },
      onTrainEnd: () => void (ended = true),
    },
  });
  assert.deepEqual([batches, epoch.length, ended], [6, 2, true]);
  const learned = bytesOf(model);
  assert.notDeepEqual(learned, bytesOf(compiled()));
  const { history } = await model.fit(x, y, { epochs: 1 });
  assert.equal(history.loss.length, 1);
});

test('an abort signal stops training too', async () => {
  const [x, y] = blobs(64);
  const model = compiled();
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 30);
  const { epoch } = await model.fit(x, y, { epochs: 1e6, signal: controller.signal });
  assert.ok(epoch.length >= 1 && epoch.length < 1e6);
});

test('timers run during training, and predict may be called', async () => {
  const [x, y] = blobs(300);
  const model = compiled();
  let ticks = 0;
  const timer = setInterval(() => {
    ++ticks;
    model.predict(x);
  }, 5);
  setTimeout(() => (model.stopTraining = true), 300);
  await model.fit(x, y, { epochs: 1e6, batchSize: 8 });
  clearInterval(timer);
  assert.ok(ticks >= 8, `${ticks} ticks in 300 ms`);
});

test('validation data and split are evaluated after every epoch', async () => {
  const [x, y] = blobs(60);
  const model = compiled();
  const seen = [];
  const { history, epoch } = await model.fit(x, y, {
    epochs: 3,
    validationSplit: 0.25,
    callbacks: { onEpochEnd: (at, logs) => void seen.push([at, logs.imagesPerSecond > 0]) },
  });
  assert.deepEqual(epoch, [0, 1, 2]);
  assert.deepEqual(
    seen,
    [0, 1, 2].map((at) => [at, true]),
  );
  assert.equal(history.val_loss.length, 3);
  const other = await model.fit(x, y, { validationData: [x, y] });
  const { loss, acc } = model.evaluate(x, y, { asObject: true });
  assert.ok(Math.abs(other.history.val_loss[0] - loss) < 1e-6);
  assert.equal(other.history.val_acc[0], acc);
});

test('the learning rate can change between steps', async () => {
  const [x, y] = blobs(30);
  const model = compiled({}, tl.train.sgd(0.1));
  const before = bytesOf(model);
  model.setLearningRate(0);
  await model.fit(x, y);
  assert.deepEqual(bytesOf(model), before);
});

test('plain SIMD, relaxed SIMD where supported, and no SIMD train equally', async () => {
  const [x, y] = blobs(128);
  const forms = [
    [true, false],
    [false, false],
    ...(tl.env().get('RELAXED_SIMD') ? [[true, true]] : []),
  ];
  const results = [];
  for (const [simd, relaxed] of forms) {
    tl.env().set('SIMD', simd);
    tl.env().set('RELAXED_SIMD', relaxed);
    const model = compiled();
    await model.fit(x, y, { epochs: 5, batchSize: 16 });
    results.push(bytesOf(model));
  }
  tl.env().reset();
  for (const other of results.slice(1)) {
    other.forEach((weight, at) => assert.ok(largestDifference(weight, results[0][at]) < 1e-4));
  }
});

test('noise is in training only, and masks follow the seed', async () => {
  const trained = async (seed, rate) => {
    const model = tl.sequential({ seed });
    model.add(tl.layers.dense({ units: 32, activation: 'relu', inputShape: [2] }));
    model.add(tl.layers.dropout({ rate }));
    model.add(tl.layers.gaussianNoise({ stddev: 0.1 }));
    model.add(tl.layers.dense({ units: 3, activation: 'softmax' }));
    model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'adam' });
    const [x, y] = blobs(30);
    const { history } = await model.fit(x, y, { epochs: 4, batchSize: 10 });
    const sure = model.predict(x).dataSync();
    assert.deepEqual(model.predict(x).dataSync(), sure);
    model.dispose();
    return history.loss;
  };
  const losses = await trained(5, 0.5);
  assert.deepEqual(await trained(5, 0.5), losses);
  assert.notDeepEqual(await trained(5, 0), losses);
  assert.ok(losses.every(Number.isFinite));
});
