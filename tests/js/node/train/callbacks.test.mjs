// Callbacks: when training calls them, early stopping compared with TensorFlow.js, saving the best epoch.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { blobs, throws, rejects, smallModel } from '../../lib.mjs';

const [x, y] = blobs(20);
const compiled = () => {
  const model = smallModel();
  model.compile({ loss: 'categoricalCrossentropy', optimizer: 'sgd', metrics: ['accuracy'] });
  return model;
};

before(() => tf.setBackend('cpu'));

test('a Callback subclass receives every event, the model and the parameters of fit', async () => {
  const events = [];
  class Listener extends tl.Callback {
    onTrainBegin() {
      events.push('train', this.params);
    }
    onEpochBegin(epoch) {
      events.push(`epoch ${epoch}`);
    }
    onBatchBegin(batch) {
      events.push(`batch ${batch}`);
    }
    async onBatchEnd(batch, { size, loss, acc }) {
      await undefined;
      assert.ok(loss > 0 && acc >= 0);
      events.push(`of ${size}`);
    }
    onEpochEnd(epoch, { val_loss, val_acc }) {
      assert.ok(val_loss > 0 && val_acc >= 0);
      events.push(`end ${epoch}`);
      if (epoch === 4) this.model.stopTraining = true;
    }
    onTrainEnd() {
      events.push('over');
    }
  }
  const model = compiled();
  const args = { epochs: 9, initialEpoch: 3, batchSize: 12, validationData: [x, y] };
  const { epoch } = await model.fit(x, y, { ...args, callbacks: [new Listener()] });
  const each = ['batch 0', 'of 12', 'batch 1', 'of 8'];
  const params = {
    epochs: 9,
    initialEpoch: 3,
    samples: 20,
    batchSize: 12,
    steps: null,
    verbose: 1,
    doValidation: true,
    metrics: ['loss', 'acc', 'val_loss', 'val_acc'],
  };
  assert.deepEqual(events, [
    ...['train', params, 'epoch 3', ...each, 'end 3', 'epoch 4', ...each, 'end 4', 'over'],
  ]);
  assert.deepEqual(epoch, [3, 4]);
  model.dispose();
});

test('fitDataset calls the same functions', async () => {
  const events = [];
  const note = (what) => () => void events.push(what);
  const model = compiled();
  const dataset = tl.data.array([0, 1, 2]).map(() => ({ xs: x, ys: y }));
  await model.fitDataset(dataset, {
    epochs: 3,
    initialEpoch: 1,
    batchesPerEpoch: 1,
    callbacks: [
      new tl.CustomCallback({ onTrainBegin: note('begin'), onBatchEnd: note('batch') }),
      {
        setParams: (params) => events.push(params),
        onEpochEnd: note('epoch'),
        onTrainEnd: note('end'),
      },
    ],
  });
  const params = {
    epochs: 3,
    initialEpoch: 1,
    steps: 1,
    verbose: 1,
    doValidation: false,
    metrics: ['loss', 'acc'],
  };
  assert.deepEqual(events, [params, 'begin', 'batch', 'epoch', 'batch', 'epoch', 'end']);
  model.dispose();
});

test('onYield follows yieldEvery of fit or of the callback', async () => {
  const model = compiled();
  const count = async (args, ofCallback) => {
    let calls = 0;
    const onYield = (epoch, batch, { loss }) => {
      assert.ok(epoch < 2 && batch < 4 && loss > 0);
      calls += 1;
    };
    const callbacks = new tl.CustomCallback({ onYield }, ofCallback);
    await model.fit(x, y, { epochs: 2, batchSize: 5, callbacks, ...args });
    return calls;
  };
  assert.equal(await count({ yieldEvery: 'batch' }), 8);
  assert.equal(await count({}, 'batch'), 8);
  await assert.rejects(count({ yieldEvery: 'never' }, 'batch'), /never there is no onYield/);
  assert.equal((await model.fit(x, y, { epochs: 2, yieldEvery: 'never' })).epoch.length, 2);
  assert.equal(await count({ yieldEvery: 'epoch' }), 0);
  model.dispose();
});

/** The epochs after which early stopping stops these values, or -1. */
async function stops(callback, monitor, values) {
  const model = { stopTraining: false };
  callback.model = model;
  await callback.onTrainBegin();
  for (const [epoch, value] of values.entries()) {
    await callback.onEpochEnd(epoch, { [monitor]: value });
    if (model.stopTraining) return epoch;
  }
  return -1;
}

test('early stopping stops where TensorFlow.js does', async () => {
  let state = 1;
  const random = () => (state = (state * 16807) % 2147483647) / 2147483647;
  const seen = new Set();
  for (let trial = 0; trial < 300; ++trial) {
    const args = {
      monitor: ['loss', 'val_loss', 'val_acc', 'acc'][trial % 4],
      patience: Math.floor(random() * 4),
      minDelta: random() < 0.5 ? 0 : 0.1 * random(),
      mode: ['auto', 'min', 'max'][Math.floor(random() * 3)],
      ...(random() < 0.3 ? { baseline: random() } : {}),
    };
    const values = Array.from({ length: 12 }, () => random());
    const ours = await stops(tl.callbacks.earlyStopping(args), args.monitor, values);
    const theirs = await stops(tf.callbacks.earlyStopping(args), args.monitor, values);
    assert.equal(ours, theirs, JSON.stringify({ args, values }));
    seen.add(ours);
  }
  assert.ok(seen.size > 6);
});

test('early stopping ends fit and restores the weights of the best epoch', async () => {
  for (const restoreBestWeights of [false, true]) {
    const model = compiled();
    const weights = [];
    const losses = [3, 1, 2, 2, 2, 2];
    const pretend = {
      onEpochEnd: (epoch, logs) => {
        weights.push(model.getWeights().map((each) => each.dataSync()));
        logs.loss = losses[epoch];
      },
    };
    const stop = tl.callbacks.earlyStopping({ monitor: 'loss', patience: 2, restoreBestWeights });
    const { epoch } = await model.fit(x, y, { epochs: 6, callbacks: [pretend, stop] });
    assert.deepEqual(epoch, [0, 1, 2, 3]);
    assert.equal(stop.stoppedEpoch, 3);
    const expected = weights[restoreBestWeights ? 1 : 3];
    assert.deepEqual(
      model.getWeights().map((each) => each.dataSync()),
      expected,
    );
    model.dispose();
  }
});

test('the best epoch is saved', async () => {
  const model = compiled();
  const saved = [];
  const target = {
    save: ({ weightData }) => {
      saved.push(weightData);
      return {};
    },
  };
  const losses = [3, 2, 5, 1];
  const pretend = { onEpochEnd: (epoch, logs) => void (logs.val_loss = losses[epoch]) };
  const best = tl.callbacks.modelCheckpoint(target, { saveBestOnly: true });
  await model.fit(x, y, { epochs: 4, callbacks: [pretend, best] });
  assert.equal(saved.length, 3);
  await model.fit(x, y, { epochs: 2, callbacks: tl.callbacks.modelCheckpoint(target) });
  assert.equal(saved.length, 5);
  assert.notDeepEqual(saved[3], saved[4]);
  model.dispose();
});

/** Callbacks that replace a value of the logs of each epoch and note the weights. */
function pretend(model, name, values) {
  const weights = [];
  const onEpochEnd = (epoch, logs) => {
    weights.push(model.getWeights().map((each) => each.arraySync()));
    logs[name] = values[epoch];
  };
  return { weights, callback: { onEpochEnd } };
}

const weightsOf = (model) => model.getWeights().map((each) => each.arraySync());

test('the best epoch is in the folder, whatever is monitored', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tensorlathe-'));
  const [path, target] = [join(folder, 'best'), `file://${join(folder, 'best')}`];
  for (const [args, name, values, best] of [
    [{}, 'val_loss', [3, 1, NaN, 2], 1],
    [{ monitor: 'loss' }, 'loss', [NaN, 4, 5, 3], 3],
    [{ monitor: 'val_acc' }, 'val_acc', [0.2, 0.9, 0.9, 0.1], 1],
    [{ monitor: 'speed', mode: 'max' }, 'speed', [-3, -2, -9, -4], 1],
    [{ monitor: 'acc', mode: 'min' }, 'acc', [0.2, 0.1, 0.3, 0.4], 1],
  ]) {
    const model = compiled();
    const { weights, callback } = pretend(model, name, values);
    const save = tl.callbacks.modelCheckpoint(target, { saveBestOnly: true, ...args });
    await model.fit(x, y, { epochs: 4, callbacks: [callback, save] });
    const loaded = await tl.loadLayersModel(`${target}/model.json`);
    assert.deepEqual(weightsOf(loaded), weights[best], JSON.stringify(args));
    assert.notDeepEqual(weightsOf(model), best === 3 ? weights[2] : weights[best]);
    model.dispose();
    rmSync(path, { recursive: true });
  }
  const never = compiled();
  const { callback } = pretend(never, 'val_loss', [NaN, NaN]);
  const save = tl.callbacks.modelCheckpoint(target, { saveBestOnly: true });
  await never.fit(x, y, { epochs: 2, callbacks: [callback, save] });
  assert.equal(existsSync(path), false);
  rmSync(folder, { recursive: true });
});

test('checkpoints go on over several fits, also to a URL', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tensorlathe-'));
  const model = compiled();
  const target = pathToFileURL(folder);
  const best = tl.callbacks.modelCheckpoint(target, { monitor: 'score', mode: 'max', saveBestOnly: true }); // prettier-ignore
  const first = pretend(model, 'score', [1, 3, 2]);
  await model.fit(x, y, { epochs: 3, callbacks: [first.callback, best] });
  const second = pretend(model, 'score', [2, 2.5]);
  await model.fit(x, y, { epochs: 2, callbacks: [second.callback, best] });
  assert.deepEqual(weightsOf(await tl.loadLayersModel(target)), first.weights[1]);
  await model.fit(x, y, { epochs: 2, callbacks: tl.callbacks.modelCheckpoint(target) });
  assert.deepEqual(weightsOf(await tl.loadLayersModel(target)), weightsOf(model));
  rmSync(folder, { recursive: true });
});

test('a checkpoint with the optimizer goes on as if training had not stopped', async () => {
  const make = () => {
    const model = smallModel();
    model.compile({ loss: 'categoricalCrossentropy', optimizer: 'adam' });
    return model;
  };
  const args = { batchSize: 10, shuffle: false };
  const through = make();
  await through.fit(x, y, { ...args, epochs: 6 });
  const stopped = make();
  let saved;
  const target = { save: async (artifacts) => ((saved = artifacts), {}) };
  const save = tl.callbacks.modelCheckpoint(target, { includeOptimizer: true });
  await stopped.fit(x, y, { ...args, epochs: 3, callbacks: save });
  const resumed = await tl.loadLayersModel({ load: async () => saved });
  await resumed.fit(x, y, { ...args, epochs: 3 });
  assert.deepEqual(weightsOf(resumed), weightsOf(through));
});

test('a checkpoint that cannot be made ends the training', async () => {
  const model = compiled();
  const save = tl.callbacks.modelCheckpoint('file://x', { saveBestOnly: true });
  await rejects(
    model.fit(x, y, { callbacks: save }),
    /^modelCheckpoint: there is no number "val_loss" at the end of an epoch; available: loss, acc/,
  );
  await rejects(
    model.fit(x, y, { callbacks: tl.callbacks.modelCheckpoint('nowhere://x') }),
    /nowhere:\/\/x/,
  );
  throws(
    () => tl.callbacks.modelCheckpoint('file://x', { mode: 'best' }),
    'modelCheckpoint: mode must be auto, min or max, got best',
  );
});

test('invalid arguments are rejected', async () => {
  const { earlyStopping } = tl.callbacks;
  throws(
    () => earlyStopping({ mode: 'least' }),
    'earlyStopping: mode must be auto, min or max, got least',
  );
  throws(
    () => earlyStopping({ patience: -1 }),
    'earlyStopping: patience must be a number ≥ 0, got -1',
  );
  throws(
    () => earlyStopping({ minDelta: NaN }),
    'earlyStopping: minDelta must be a number ≥ 0, got NaN',
  );
  const model = compiled();
  await model.fit(x, y);
  await model.fit(x, y, { callbacks: null });
  model.dispose();
});

test('onBatchBegin receives the index and the size of the batch', async () => {
  const model = compiled();
  const events = [];
  const callbacks = { onBatchBegin: (batch, logs) => void events.push([batch, logs]) };
  const two = [
    [0, { batch: 0, size: 12 }],
    [1, { batch: 1, size: 8 }],
  ];
  await model.fit(x, y, { batchSize: 12, callbacks });
  assert.deepEqual(events.splice(0), two);
  const rows = tl.data.zip({ xs: tl.data.array(x.arraySync()), ys: tl.data.array(y.arraySync()) });
  await model.fitDataset(rows.batch(12), { callbacks });
  assert.deepEqual(events, two);
});

test('an epoch is validated before onBatchEnd of its last batch, as in TensorFlow.js', async () => {
  const histories = [];
  for (const lib of [tf, tl]) {
    const model = lib.sequential({
      layers: [lib.layers.dense({ units: 1, kernelInitializer: 'ones', inputShape: [1] })],
    });
    model.compile({ loss: 'meanSquaredError', optimizer: lib.train.sgd(0.01) });
    const xs = lib.tensor2d([1, 2, 3, 4, 5], [5, 1]);
    const ys = lib.tensor2d([2, 4, 6, 8, 10], [5, 1]);
    let batches = 0;
    const onBatchEnd = () => {
      batches += 1;
      if (batches % 3 === 0) model.setWeights([lib.tensor2d([7], [1, 1]), lib.tensor1d([batches])]);
      if (batches === 6) model.stopTraining = true;
    };
    const { history } = await model.fit(xs, ys, {
      ...{ epochs: 4, batchSize: 2, shuffle: false, verbose: 0 },
      validationData: [xs, ys],
      callbacks: { onBatchEnd },
    });
    histories.push([history.loss, history.val_loss].map((each) => each.map(Math.fround)));
  }
  const [theirs, ours] = histories;
  assert.equal(ours[1].length, 2);
  for (const [at, values] of theirs.entries()) {
    for (const [epoch, each] of values.entries())
      assert.ok(Math.abs(ours[at][epoch] - each) < 1e-4 * each, `${ours[at]} ${values}`);
  }
});
