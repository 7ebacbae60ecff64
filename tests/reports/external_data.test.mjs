// onnx#2392: offset and length of external data are optional; an offset that is no number was read as 0.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import * as ort from 'tensorlathe/onnxruntime';
import { model, node, value } from '../js/onnx/write.mjs';

const data = new Uint8Array(Float32Array.of(1, 2, 3, 4, 5, 6).buffer);
const net = (external, shape = [2]) =>
  model({
    opset: 17,
    ir: 8,
    nodes: [node('Mul', ['x', 'w'], ['y'])],
    inputs: [value('x', 'float32', [1])],
    outputs: [value('y', 'float32', undefined)],
    initializers: { w: { dtype: 'float32', shape, external: { location: 'w.bin', ...external } } },
  });
async function run(...args) {
  const session = await ort.InferenceSession.create(net(...args), {
    externalData: [{ path: 'w.bin', data }],
  });
  return [...(await session.run({ x: new ort.Tensor('float32', [2], [1]) })).y.data];
}

test('a tensor reads its byte length, from its offset on', async () => {
  assert.deepEqual(await run({ offset: 8 }), [6, 8]);
  assert.deepEqual(await run({}), [2, 4]);
  assert.deepEqual(await run({ offset: 16 }), [10, 12]);
  assert.deepEqual(await run({}, [6]), [2, 4, 6, 8, 10, 12]);
  assert.deepEqual(await run({ offset: 8, length: 8 }), [6, 8]);
  assert.deepEqual(await run({ offset: 0, length: 8 }), [2, 4]);
  const loaded = await tl.loadModel(net({ offset: 8 }), { externalData: { 'w.bin': data } });
  assert.deepEqual([...(await loaded.run({ x: [2] })).y.dataSync()], [6, 8]);
});

test('spaces around a number do not matter', async () => {
  assert.deepEqual(await run({ offset: ' 8', length: '8 ' }), [6, 8]);
});

test('rejects an invalid byte count by name', async () => {
  for (const offset of ['0x4', '8q', '-8', '', ' ', '1e1', '8.0', '99999999999999999999']) {
    await assert.rejects(run({ offset }), /'w'.*offset '.*' .*is no number of bytes/, offset);
  }
  for (const length of ['0x8', '-1', 'all']) {
    await assert.rejects(run({ offset: 8, length }), /length '.*' .*is no number of bytes/, length);
  }
});

test('rejects a file that is too short, or a length that does not fit', async () => {
  await assert.rejects(run({ offset: 20 }), /has 8 bytes, the file has 4/);
  await assert.rejects(run({ offset: 28 }), /bytes 28 to/);
  await assert.rejects(run({ offset: 0, length: 12 }), /has 8 bytes, the file has 12/);
  await assert.rejects(run({ offset: 16, length: 16 }), /'w.bin', which has 24/);
});
