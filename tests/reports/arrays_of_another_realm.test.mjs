// microsoft/onnxruntime#16622: typed arrays and buffers that another realm made (Jest, iframes, vm) were mistaken for paths, or
// for int32 zeros.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import vm from 'node:vm';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import * as tl from 'tensorlathe';
import * as ort from 'tensorlathe/onnxruntime';
import * as tf from 'tensorlathe/tfjs';
import { model, node, value } from '../js/onnx/write.mjs';

const context = vm.createContext();
const there = (code) => vm.runInContext(code, context);
/** The same bytes in an array of the other realm. */
function foreign(bytes) {
  const copy = there(`new Uint8Array(${bytes.length})`);
  copy.set(bytes);
  assert.ok(!(copy instanceof Uint8Array));
  return copy;
}

const negation = model({
  nodes: [node('Neg', ['x'], ['y'])],
  inputs: [value('x', 'float32', [2])],
  outputs: [value('y', 'float32', [2])],
});
const folder = mkdtempSync(join(tmpdir(), 'realm-'));
after(() => rmSync(folder, { recursive: true }));

const kinds = {
  Int8Array: 'int32',
  Uint8Array: 'int32',
  Uint8ClampedArray: 'int32',
  Int16Array: 'int32',
  Uint16Array: 'int32',
  Int32Array: 'int32',
  Uint32Array: 'uint32',
  Float32Array: 'float32',
  Float64Array: 'float32',
  BigInt64Array: 'int64',
  BigUint64Array: 'uint64',
};

test('tensors of every kind of typed array', () => {
  for (const [kind, dtype] of Object.entries(kinds)) {
    const values = kind.startsWith('Big') ? '1n, 2n' : '1, 2';
    const x = tl.tensor(there(`${kind}.of(${values})`));
    assert.equal(x.dtype, dtype, kind);
    assert.deepEqual([...x.dataSync()].map(Number), [1, 2], kind);
    assert.ok(x.dataSync() instanceof Object.getPrototypeOf(Uint8Array), kind);
  }
  assert.deepEqual(tl.tensor(there('new Float32Array(4).fill(3).subarray(2)')).arraySync(), [3, 3]);
  assert.deepEqual(tl.tensor(there('Uint16Array.of(0x3c00)'), [1], 'float16').arraySync(), [1]);
  assert.equal(tl.tensor(there('new BigInt64Array([2n ** 40n])')).dataSync()[0], 2n ** 40n);
  assert.equal(tf.tensor1d(there('Float32Array.of(0.5)')).dataSync()[0], 0.5);
  assert.equal(tf.tensor([there('Int32Array.of(1, 2)')]).dtype, 'int32');
  assert.ok(tf.util.isTypedArray(there('new Int32Array(1)')));
  assert.ok(!tf.util.isTypedArray(there('new Float64Array(1)')));
});

test('rejects values that are not numeric arrays', () => {
  const throws = (code, message) =>
    assert.throws(() => tl.tensor(there(code)), { name: 'LatheError', message });
  throws('new DataView(new ArrayBuffer(8))', /typed array of numbers is needed, got a DataView/);
  throws('new ArrayBuffer(8)', /got \[object ArrayBuffer\]/);
  throws('new Map()', /got \[object Map\]/);
});

test('memory that threads share, Buffers, and what a worker sends', () => {
  const shared = new Float32Array(new SharedArrayBuffer(8)).fill(2);
  assert.deepEqual(tl.tensor(shared).arraySync(), [2, 2]);
  assert.deepEqual(tl.tensor(Buffer.from([1, 255])).arraySync(), [1, 255]);
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(there('Uint32Array.of(1, 4000000000)'));
  const { message } = receiveMessageOnPort(port2);
  assert.deepEqual([...tl.tensor(message).dataSync()], [1, 4000000000]);
});

test('models of layers learn from them and predict', async () => {
  const net = tl.sequential();
  net.add(tl.layers.dense({ units: 3, inputShape: [1], kernelInitializer: 'ones' }));
  net.compile({ loss: 'sparseCategoricalCrossentropy', optimizer: 'sgd' });
  for (const labels of ['Int32Array', 'Uint8Array', 'Uint32Array', 'Float32Array']) {
    const y = there(`${labels}.of(1, 2)`);
    const { history } = await net.fit(there('Float32Array.of(1, 2)'), y, { epochs: 1 });
    assert.ok(Number.isFinite(history.loss[0]), labels);
  }
  net.layers[0].setWeights([there('Float32Array.of(1, 2, 3)'), there('new Float32Array(3)')]);
  assert.deepEqual([...net.predict(there('Float32Array.of(2)')).dataSync()], [2, 4, 6]);
  const f = await tl.compile({ x: [2] }, ({ x }) => ({ y: x.mul(2) }));
  assert.deepEqual([...f.run({ x: there('Float32Array.of(1, 2)') }).y.dataSync()], [2, 4]);
});

test('ONNX models from bytes, buffers and Blobs; what they are fed', async () => {
  const bytes = foreign(negation);
  for (const source of [bytes, bytes.buffer, Buffer.from(negation), new DataView(bytes.buffer)]) {
    const net = await tl.loadModel(source);
    const [y] = Object.values(await net.run({ x: there('Float32Array.of(1, 2)') }));
    assert.deepEqual([...y.dataSync()], [-1, -2]);
  }
});

test('sessions and tensors of tensorlathe/onnxruntime', async () => {
  const bytes = foreign(negation);
  const session = await ort.InferenceSession.create(bytes);
  await ort.InferenceSession.create(bytes.buffer);
  await ort.InferenceSession.create(bytes.buffer, 0, bytes.length);
  const x = new ort.Tensor('float32', there('Float32Array.of(1, 2)'), [2]);
  assert.deepEqual([...(await session.run({ x })).y.data], [-1, -2]);
  assert.equal(new ort.Tensor(there('BigInt64Array.of(1n)')).type, 'int64');
  assert.equal(new ort.Tensor(there('Uint8ClampedArray.of(1)')).type, 'uint8');
  assert.equal(new ort.Tensor('float16', there('Uint16Array.of(0x3c00)'), [1]).size, 1);
  assert.throws(() => new ort.Tensor('int32', there('Float32Array.of(1)'), [1]), /Int32Array/);
  const pinned = { location: 'cpu-pinned', type: 'float32', dims: [1] };
  assert.equal(new ort.Tensor({ ...pinned, data: there('Float32Array.of(3)') }).data[0], 3);
});

test('weights as safetensors and models in memory', async () => {
  const net = tl.sequential();
  net.add(tl.layers.dense({ units: 1, inputShape: [2] }));
  await net.saveWeights(`file://${folder}/w.safetensors`);
  const file = foreign(
    await tl.io.encodeSafetensors(
      await tl.io.decodeSafetensors(
        new Uint8Array((await import('node:fs')).readFileSync(`${folder}/w.safetensors`)),
      ),
    ),
  );
  await net.loadWeights(file);
  await net.loadWeights(file.buffer);
  let saved;
  await net.save({ save: async (artifacts) => void (saved = artifacts) ?? {} });
  const weightData = foreign(new Uint8Array(saved.weightData)).buffer;
  const reloaded = await tl.loadLayersModel({ load: async () => ({ ...saved, weightData }) });
  assert.equal(reloaded.countParams(), 3);
});

test('values of a Uint32Array beyond 2^31', async () => {
  const values = Uint32Array.of(1, 4000000000);
  const x = tl.tensor(values);
  assert.equal(x.dtype, 'uint32');
  assert.deepEqual(x.dataSync(), values);
  assert.throws(() => tf.tensor(values), /values passed to tensor\(values\) must be/);
  assert.deepEqual(tf.tensor([values]).arraySync(), [[1, 4000000000]]);
  const net = tl.sequential();
  net.add(tl.layers.dense({ units: 1, inputShape: [1], kernelInitializer: 'ones' }));
  assert.deepEqual([...net.predict(values).dataSync()], [1, 4000000000]);
  const rows = await tl.data
    .array([{ x: values }])
    .batch(1)
    .toArray();
  assert.deepEqual(rows[0].x.arraySync(), [[1, 4000000000]]);
});
