// Memory of models: a thousand models are created and freed without leaks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as tl from 'tensorlathe';
import { Core } from '../../../../js/dist/core/core.js';
import { CoreExecutable, CoreGraph } from '../../../../js/dist/core/handles.js';
import { measureMemory } from '../../memory_run.mjs';
import { blobs, throws, rejects, smallModel } from '../../lib.mjs';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

/** Bytes of ArrayBuffers after garbage collection. */
async function bufferBytes() {
  for (let round = 0; round < 5; ++round) {
    collect();
    await new Promise((done) => setTimeout(done, 10));
  }
  return process.memoryUsage().arrayBuffers;
}

test('a thousand models leak no object, module, thread or byte', async () => {
  await measureMemory(tl, 1);
  const bytes = await bufferBytes();
  const { before, after } = await measureMemory(tl, 1000);
  assert.deepEqual(after, before);
  assert.deepEqual(
    [after.liveObjects, after.modules, after.moduleBytes, after.threads],
    [0, 0, 0, 0],
  );
  const grown = (await bufferBytes()) - bytes;
  assert.ok(grown < 100_000, `${grown} bytes of buffers`);
});

/** The counts of live objects, without the size of the core's memory. */
function counts() {
  const { coreBytes: _, ...rest } = tl.memory();
  return rest;
}

test('counts equal the live objects, also after errors', async () => {
  const start = counts();
  const model = smallModel();
  model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'sgd' });
  assert.equal(counts().modules, start.modules, 'compilation is deferred to the first use');
  await model.fit(...blobs(30));
  const one = counts();
  assert.equal(one.modules, start.modules + 1);
  assert.ok(one.moduleBytes >= start.moduleBytes + 65536);
  await model.fit(...blobs(30), { batchSize: 7 });
  assert.equal(counts().modules, one.modules + 1, 'the module for another batch size is cached');
  await rejects(model.fit([[1]], [0]), /x has shape/);
  assert.equal(counts().modules, one.modules + 1);
  model.dispose();
  throws(() => model.dispose(), /already disposed/);
  assert.deepEqual(counts(), start);
});

test('a layer retains only the model that has its latest weights', async () => {
  const shared = tl.layers.dense({ units: 50, inputShape: [50] });
  const use = () => {
    const model = tl.sequential();
    model.add(shared);
    model.add(tl.layers.dense({ units: 1 }));
    model.predict(new Float32Array(50)).dataSync();
    return model;
  };
  const first = use();
  const weights = first.getWeights().map((each) => each.dataSync());
  const { modules } = tl.memory();
  for (let i = 0; i < 20; ++i) use();
  await bufferBytes();
  assert.ok(tl.memory().modules <= modules + 2, `${tl.memory().modules - modules} models too many`);
  const last = use();
  const changed = weights.slice(0, 2).map((each) => each.map((value) => value + 1));
  shared.setWeights(changed);
  assert.deepEqual(first.getWeights()[0].dataSync(), changed[0]);
  first.dispose();
  assert.deepEqual(last.getWeights()[0].dataSync(), changed[0]);
  last.dispose();
  const another = use();
  assert.deepEqual(another.getWeights()[0].dataSync().length, 2500);
  another.dispose();
});

test('a layer has the trained weights of a model that was garbage-collected', async () => {
  const shared = tl.layers.dense({ units: 3, inputShape: [2], activation: 'softmax' });
  await (async () => {
    const model = tl.sequential({ layers: [shared] });
    model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'sgd' });
    await model.fit(...blobs(30));
    shared.setWeights([
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      [7, 8, 9],
    ]);
  })();
  await bufferBytes();
  const model = tl.sequential({ layers: [shared, tl.layers.dense({ units: 1 })] });
  assert.deepEqual([...model.getWeights()[0].dataSync()], [1, 2, 3, 4, 5, 6]);
  assert.deepEqual([...shared.getWeights()[1].dataSync()], [7, 8, 9]);
  model.dispose();
});

test('initial weights are sampled once', async () => {
  const { initial } = CoreExecutable.prototype;
  let sampled = [];
  CoreExecutable.prototype.initial = function (metadata, variables) {
    sampled.push(...variables.map(({ name }) => name));
    return initial.call(this, metadata, variables);
  };
  const drainNames = () => sampled.splice(0).sort();
  const model = tl.sequential({ seed: 3 });
  model.add(tl.layers.lstm({ units: 8, inputShape: [2, 3] }));
  model.predict(new Float32Array(6)).dataSync();
  const names = ['bias', 'kernel', 'recurrent_kernel'].map((name) => `lstm/${name}`);
  assert.deepEqual(
    drainNames().map((name) => name.replace(/^[^/]*/, 'lstm')),
    names,
  );
  const before = model.getWeights().map((each) => each.dataSync());
  for (const batchSize of [1, 2, 5]) model.predict(new Float32Array(30), { batchSize }).dataSync();
  assert.deepEqual(drainNames(), []);
  model.compile({ loss: 'meanSquaredError', optimizer: 'adam' });
  assert.deepEqual(drainNames(), []);
  await model.fit(new Float32Array(30), new Float32Array(40), { batchSize: 2 });
  assert.deepEqual(new Set(drainNames().map((name) => name.split('/')[0])), new Set(['optimizer']));
  await model.fit(new Float32Array(30), new Float32Array(40), { batchSize: 3 });
  model.toWasm();
  assert.deepEqual(drainNames(), []);
  model.toWasm({ training: true });
  assert.ok(drainNames().every((name) => name.startsWith('totals/')));
  model.add(tl.layers.dense({ units: 1 }));
  const after = model.getWeights().map((each) => each.dataSync());
  assert.ok(drainNames().every((name) => name.includes('dense')));
  assert.deepEqual(
    before.map(({ length }) => length),
    after.slice(0, 3).map(({ length }) => length),
  );
  CoreExecutable.prototype.initial = initial;
  model.dispose();
});

test('a freed handle is invalid', () => {
  const { liveObjects } = tl.memory();
  const first = new CoreGraph();
  first.free();
  const second = new CoreGraph();
  assert.notEqual(second.handle, first.handle);
  first.free();
  assert.equal(tl.memory().liveObjects, liveObjects + 1);
  const message = `there is no graph ${first.handle}`;
  throws(() => first.beginEntry('run'), message);
  throws(() => first.operation('add', [1, 1], []), message);
  second.beginEntry('run');
  second.free();
  assert.equal(tl.memory().liveObjects, liveObjects);
});

test('messages of the core may have addresses above 2 GiB', () => {
  const core = Object.create(Core.prototype, {
    exports: { value: { lathe_error: () => -16 } },
    readString: { value: (at) => `text at ${at}` },
  });
  assert.throws(() => core.call('model', () => 0), { message: `text at ${2 ** 32 - 16}` });
});

test('results of threaded predictions retain no inputs or intermediates', async () => {
  tl.env().set('THREADS_COUNT', 2);
  tl.env().set('THREADS_MIN_WORK', 1);
  const width = 2048;
  const model = tl.sequential({
    layers: [tl.layers.dense({ units: 16, inputShape: [width] })],
    seed: 1,
  });
  const x = tl.ones([32, width]);
  const start = performance.now();
  while (performance.now() - start < 300) await model.predict(x).data();
  const bytes = await bufferBytes();
  const results = Array.from({ length: 10_000 }, () => model.predict(x));
  // The other predictions are complete, too; their results are unread.
  await results.at(-1).data();
  const retained = ((await bufferBytes()) - bytes) / results.length;
  assert.ok(retained < 8192, `${retained} bytes for each result of 2048`);
  assert.equal(results[0].size, 512);
  model.dispose();
  tl.env().reset();
});
