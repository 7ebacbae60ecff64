// Hostile files stop the shared compiler or the shared reader of ONNX models: by their depth, by strings that double, by memory.
// Everything that was loaded or compiled before goes on, with shapes that are new too, and so does what comes later.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import * as tl from 'tensorlathe';
import * as tf from 'tensorlathe/tfjs';
import * as ort from 'tensorlathe/onnxruntime';
import { currentCore } from '../../js/dist/core/core.js';
import { onnxReader } from '../../js/dist/core/onnx_module.js';
import { blobs, throws, rejects } from '../js/lib.mjs';
import { model, node, random, tensor, value } from '../js/onnx/write.mjs';
import { stopCores, traps } from './support/trap.mjs';

before(() => tl.ready());
const folder = mkdtempSync(join(tmpdir(), 'lathe-'));
after(() => rmSync(folder, { recursive: true }));

/** y = x · w of as many rows as come; every element of w is 2. */
function product(width = 4) {
  return model({
    inputs: [value('x', 'float32', ['rows', width])],
    outputs: [value('y', 'float32', ['rows', width])],
    nodes: [node('MatMul', ['x', 'w'], ['y'])],
    initializers: { w: tensor('float32', new Float32Array(width * width).fill(2), [width, width]) },
  });
}

const ones = (rows, width = 4) => tl.ones([rows, width]);
const first = (results) => Object.values(results)[0].dataSync()[0];

for (const kind of Object.keys(traps)) {
  test(`after a ${kind} ONNX models run, with new shapes as with old ones`, async () => {
    const bytes = product();
    const loaded = await tl.loadModel(bytes);
    bytes.fill(0); // the caller's array is the caller's
    const session = await ort.InferenceSession.create(product());
    const feed = (rows) => ({
      x: new ort.Tensor('float32', new Float32Array(4 * rows).fill(1), [rows, 4]),
    });
    const fresh = await tl.loadModel(product());
    await loaded.run({ x: ones(1) });
    await session.run(feed(1));
    for (const rows of [1, 2, 3]) {
      stopCores(kind);
      assert.equal(first(await loaded.run({ x: ones(rows) })), 8);
      assert.equal((await session.run(feed(rows))).y.data[0], 8);
    }
    stopCores(kind);
    assert.equal(first(await fresh.run({ x: ones(2) })), 8, 'one that never ran');
    assert.equal(
      first(await (await tl.loadModel(product())).run({ x: ones(2) })),
      8,
      'a later one',
    );
    for (const each of [loaded, fresh]) each.dispose();
    await rejects(loaded.run({ x: ones(5) }), /disposed/);
  });

  test(`after a ${kind} functions run, are read and are tuned`, async () => {
    const build = ({ x }, g) => ({ y: x.matMul(g.variable('w', tl.ones([4, 4]))) });
    const fixed = tl.compile({ x: [2, 4] }, build);
    const sized = tl.compile({ x: ['n', 4] }, build);
    const heap = tl.compile({ x: [2, 4] }, build, { heap: true });
    const segments = tl.compile(
      { x: [3] },
      ({ x }, g) => ({ y: tl.ones([g.size(x.greater(0).cast('int32').sum())]).add(0) }),
      { segments: true },
    );
    const bytes = fixed.module();
    fixed.setVariable('w', new Float32Array(16).fill(3));
    sized.run({ x: ones(1) });
    segments.run({ x: [1, 1, 1] });
    stopCores(kind);
    assert.equal(first(fixed.run({ x: ones(2) })), 12);
    assert.deepEqual(fixed.module(), bytes);
    assert.equal(first(sized.run({ x: ones(7) })), 4);
    assert.equal(first(heap.run({ x: ones(2) })), 4);
    assert.deepEqual(segments.run({ x: [1, -1, 1] }).y.shape, [2]);
    stopCores(kind);
    await tl.tune(fixed, { budgetMs: 5 });
    assert.equal(first(fixed.run({ x: ones(2) })), 12, 'its variables stay');
    for (const each of [fixed, sized, heap, segments]) each.dispose();
  });

  test(`after a ${kind} models of layers predict, train and are saved`, async () => {
    const layers = tl.sequential({
      layers: [
        tl.layers.dense({ units: 8, inputShape: [2], activation: 'relu' }),
        tl.layers.dense({ units: 3, activation: 'softmax' }),
      ],
    });
    layers.compile({ loss: 'sparseCategoricalCrossentropy', optimizer: 'adam' });
    const [x, y] = blobs(30);
    await layers.fit(x, y, { epochs: 1, batchSize: 10 });
    const before = layers.predict(x).dataSync();
    const wasm = layers.toWasm();
    stopCores(kind);
    assert.deepEqual(layers.predict(x).dataSync(), before);
    stopCores(kind);
    assert.deepEqual(layers.toWasm(), wasm);
    stopCores(kind);
    await layers.fit(x, y, { epochs: 1, batchSize: 7 });
    stopCores(kind);
    await layers.fit(x, y, { epochs: 1, batchSize: 10 });
    layers.dispose();
  });

  test(`after a ${kind} tensors, gradients and layers in JavaScript work`, async () => {
    class Twice extends tl.layers.Layer {
      static className = 'TwiceHere';
      call(inputs) {
        return [inputs].flat()[0].mul(2);
      }
    }
    const custom = tl.sequential({
      layers: [
        tl.layers.dense({ units: 2, inputShape: [2], kernelInitializer: 'ones' }),
        new Twice(),
      ],
    });
    assert.equal(custom.predict(tl.ones([1, 2])).dataSync()[0], 4);
    const x = tl.tensor([1, 2, 3]);
    const pending = x.mul(2).add(1);
    stopCores(kind);
    assert.deepEqual([...pending.dataSync()], [3, 5, 7]);
    const square = tf.grad((v) => v.mul(v).sum());
    assert.deepEqual([...square(x).dataSync()], [2, 4, 6]);
    assert.equal(custom.predict(tl.ones([3, 2])).dataSync()[0], 4);
    custom.dispose();
  });
}

test('training goes on where the compiler stops between its batches', async () => {
  const layers = tl.sequential({ layers: [tl.layers.dense({ units: 3, inputShape: [2] })] });
  layers.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
  let stops = 0;
  const onBatchEnd = () => {
    stops += 1;
    stopCores();
  };
  const { history } = await layers.fit(tl.ones([10, 2]), tl.ones([10, 3]), {
    epochs: 2,
    batchSize: 4,
    callbacks: { onBatchEnd },
  });
  assert.equal(history.loss.length, 2);
  assert.equal(stops, 6);
  layers.dispose();
});

test('an ONNX model as a layer, and its weights, outlive the reader', async () => {
  const loaded = await tl.loadModel(product());
  const input = tl.input({ shape: [4] });
  const wrapped = tl.model({ inputs: input, outputs: loaded.layer().apply(input) });
  assert.equal(wrapped.predict(ones(1)).dataSync()[0], 8);
  stopCores();
  wrapped.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
  await wrapped.fit(ones(3), ones(3), { epochs: 1 });
  assert.notEqual(wrapped.predict(ones(2)).dataSync()[0], 8);
  wrapped.dispose();
  loaded.dispose();
});

test('a model from a path or with external data is opened from what was read', async () => {
  const path = join(folder, 'model.onnx');
  writeFileSync(path, product());
  const loaded = await tl.loadModel(path);
  rmSync(path);
  const weights = new Float32Array(16).fill(2);
  const external = { dtype: 'float32', shape: [4, 4], external: { location: 'w.bin' } };
  const bytes = model({
    inputs: [value('x', 'float32', ['rows', 4])],
    outputs: [value('y', 'float32', ['rows', 4])],
    nodes: [node('MatMul', ['x', 'w'], ['y'])],
    initializers: { w: external },
  });
  const data = new Uint8Array(weights.buffer.slice());
  const withExternal = await tl.loadModel(bytes, { externalData: { 'w.bin': data } });
  data.fill(0);
  stopCores();
  assert.equal(first(await loaded.run({ x: ones(3) })), 8);
  assert.equal(first(await withExternal.run({ x: ones(3) })), 8);
  for (const each of [loaded, withExternal]) each.dispose();
});

/** Runs `action` while each new instance of the reader traps when it traces. */
async function whileReadersTrap(action) {
  const { Instance } = WebAssembly;
  WebAssembly.Instance = function (...args) {
    const { exports } = new Instance(...args);
    if (exports.lathe_onnx_open === undefined) return { exports };
    const lathe_onnx_trace = () => exports.lathe_onnx_open(0xffff_ff00, 99);
    return { exports: { ...exports, lathe_onnx_trace } };
  };
  try {
    return await action();
  } finally {
    WebAssembly.Instance = Instance;
  }
}

test('a file larger than 16 MB is reread from its path, and otherwise must be reloaded', async () => {
  const bytes = product(2100);
  assert.ok(bytes.length > 2 ** 24);
  const path = join(folder, 'large.onnx');
  writeFileSync(path, bytes);
  const [fromPath, fromBytes] = await whileReadersTrap(async () => {
    const both = [await tl.loadModel(path), await tl.loadModel(bytes)];
    for (const each of both)
      await rejects(each.run({ x: ones(1, 2100) }), /^ONNX model: too large/);
    return both;
  });
  assert.equal(first(await fromPath.run({ x: ones(1, 2100) })), 4200);
  await rejects(
    fromBytes.run({ x: ones(1, 2100) }),
    /the reader of this model has stopped; reload the model/,
  );
  utimesSync(path, 1, 1);
  await rejects(fromPath.run({ x: ones(2, 2100) }), /has changed since its model was loaded/);
  for (const each of [fromPath, fromBytes]) each.dispose();
});

test('a model that traps gets a separate reader from then on', async () => {
  const good = await tl.loadModel(product());
  const [bad] = await whileReadersTrap(async () => {
    stopCores();
    const loaded = await tl.loadModel(product());
    const shared = onnxReader.running;
    await rejects(loaded.run({ x: ones(1) }), /^ONNX model: too large or nested too deeply/);
    assert.equal(shared.dead, true);
    return [loaded];
  });
  assert.equal(first(await good.run({ x: ones(2) })), 8);
  const shared = onnxReader.running;
  await whileReadersTrap(async () => {
    await rejects(bad.run({ x: ones(2) }), /^ONNX model: too large or nested too deeply/);
  });
  assert.equal(onnxReader.running, shared, 'the shared one goes on');
  assert.equal(first(await bad.run({ x: ones(2) })), 8);
  for (const each of [good, bad]) each.dispose();
});

test('a model that fills the shared reader leaves others a fresh one', async () => {
  const [good, large] = [await tl.loadModel(product()), await tl.loadModel(product())];
  const filled = onnxReader.running;
  filled.exports.memory.grow(2 ** 12);
  assert.equal(first(await large.run({ x: ones(1) })), 8);
  assert.equal(filled.dead, true);
  assert.equal(first(await good.run({ x: ones(2) })), 8);
  const { running } = onnxReader;
  assert.ok(running.exports.memory.buffer.byteLength < 2 ** 28);
  assert.equal(first(await large.run({ x: ones(2) })), 8);
  assert.equal(onnxReader.running, running);
  for (const each of [good, large]) each.dispose();
});

test('a function that exceeds the memory of the compiler is an error, and others still run', () => {
  const f = tl.compile({ x: [1, 4] }, ({ x }) => ({ y: x.mul(2) }));
  const millions = new Float32Array(2 ** 26);
  throws(
    () =>
      tl.compile({ x: [2 ** 26] }, ({ x }, g) => {
        let y = x;
        for (let k = 0; k < 17; ++k) {
          millions[0] = k;
          y = y.add(g.constant(millions, [2 ** 26]));
        }
        return { y };
      }),
    /out of memory/,
  );
  assert.equal(first(f.run({ x: ones(1) })), 2);
  assert.equal(
    tl
      .compile({ x: [1, 4] }, ({ x }) => ({ y: x.mul(3) }))
      .run({ x: ones(1) })
      .y.dataSync()[0],
    3,
  );
  f.dispose();
});

test('the compiler stops and is replaced a hundred times', async () => {
  const loaded = await tl.loadModel(product());
  const started = currentCore();
  for (let rows = 1; rows <= 100; ++rows) {
    stopCores();
    assert.equal(first(await loaded.run({ x: ones(rows) })), 8);
  }
  assert.notEqual(currentCore(), started);
  loaded.dispose();
});

test('a random model has the same results after a stop', async () => {
  const bytes = model({
    inputs: [value('x', 'float32', ['rows', 8])],
    outputs: [value('y', 'float32', ['rows', 8])],
    nodes: [node('MatMul', ['x', 'w'], ['h']), node('Softmax', ['h'], ['y'])],
    initializers: { w: random(3, [8, 8]) },
  });
  const loaded = await tl.loadModel(bytes);
  const x = tl.tensor(random(5, [2, 8]).data, [2, 8]);
  const { y } = await loaded.run({ x });
  stopCores();
  await loaded.run({ x: ones(3, 8) });
  const repeated = await (await tl.loadModel(bytes)).run({ x });
  assert.deepEqual(repeated.y.dataSync(), y.dataSync());
  loaded.dispose();
});

test('feeds that are nested without end are errors of the call', async () => {
  const nested = (leaf) => Array.from({ length: 50_000 }).reduce((inner) => [inner], leaf);
  const session = await ort.InferenceSession.create(product());
  await assert.rejects(session.run({ x: nested(new ort.Tensor('float32', [1], [1])) }), {
    message: "failed to run: 'feeds': x is nested too deeply",
  });
  const strings = await tl.loadModel(
    model({
      inputs: [value('s', 'string', ['n'])],
      outputs: [value('y', 'string', ['n'])],
      nodes: [node('Identity', ['s'], ['y'])],
    }),
  );
  await rejects(strings.run({ s: nested('a') }), /^input s: has more than 32 axes$/);
  await rejects(strings.run({ s: ['a', nested('a')] }), /^input s: expects strings$/);
  assert.deepEqual((await strings.run({ s: ['a', 'b'] })).y, ['a', 'b']);
});
