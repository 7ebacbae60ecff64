// onnx's Gather and tokens beyond a vocabulary: an index outside read the nearest row, silently.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import * as ort from 'tensorlathe/onnxruntime';
import * as tf from 'tensorlathe/tfjs';
import { model, node, tensor, value } from '../js/onnx/write.mjs';

const x = [1, 2, 3, 4, 5, 6];
const of = (
  op,
  indices,
  { attributes = {}, updates, dtype = 'int64', constant = false, path } = {},
) => {
  const before = path?.(indices) ?? { nodes: [], name: 'i' };
  const index = tensor(
    dtype,
    indices.flat(),
    indices[0]?.length ? [indices.length, indices[0].length] : [indices.length],
  );
  const bytes = model({
    opset: 17,
    ir: 8,
    nodes: [
      ...before.nodes,
      node(op, ['x', before.name, ...(updates ? ['u'] : [])], ['y'], attributes),
    ],
    inputs: [
      value('x', 'float32', [3, 2]),
      ...(constant ? [] : [value('i', dtype, index.shape)]),
      ...(updates ? [value('u', 'float32', updates.shape)] : []),
    ],
    outputs: [value('y', 'float32', undefined)],
    initializers: constant ? { i: index } : {},
  });
  const feeds = { x: new ort.Tensor('float32', x, [3, 2]) };
  if (!constant) feeds.i = new ort.Tensor(dtype, index.data, index.shape);
  if (updates) feeds.u = new ort.Tensor('float32', updates.data, updates.shape);
  return { bytes, feeds };
};
async function run(...args) {
  const { bytes, feeds } = of(...args);
  const session = await ort.InferenceSession.create(bytes);
  try {
    return [...(await session.run(feeds)).y.data];
  } finally {
    await session.release();
  }
}

const updates = (shape) => ({ shape, data: new Float32Array(shape.reduce((a, b) => a * b, 1)) });

test('indices inside, from either end, are read as before', async () => {
  assert.deepEqual(await run('Gather', [0, -1, 2, -3]), [1, 2, 5, 6, 5, 6, 1, 2]);
  assert.deepEqual(await run('GatherElements', [[2, -3]]), [5, 2]);
  assert.deepEqual(await run('GatherND', [[2, -1]]), [6]);
  assert.deepEqual(await run('Gather', [1], { dtype: 'int32' }), [3, 4]);
});

for (const constant of [false, true]) {
  const where = constant ? 'constants' : 'inputs';
  test(`indices outside, as ${where}, are errors that name index and position`, async () => {
    const outside = (args, options, message) =>
      assert.rejects(run(...args, { constant, ...options }), message, args.join(' '));
    for (const dtype of ['int64', 'int32']) {
      await outside(['Gather', [0, 7]], { dtype }, /index 7 at (\[1\]|1) is outside/);
      await outside(['Gather', [0, -4]], { dtype }, /index -4 at/);
    }
    await outside(['Gather', [1, 2]], { attributes: { axis: 1 } }, /index 2 at/);
    await outside(['GatherElements', [[1, 3]]], {}, /index 3 at (\[0,1\]|1) is outside/);
    await outside(['GatherND', [[0, 2]]], {}, /index 2 at (\[0,1\]|1) is outside/);
    await outside(['GatherND', [[3, 0]]], {}, /index 3 at (\[0,0\]|0) is outside/);
    await outside(['ScatterND', [[0, 2]]], { updates: updates([1]) }, /index 2 at/);
    await outside(['ScatterElements', [[0, -4]]], { updates: updates([1, 2]) }, /index -4 at/);
  });
}

test('an index of 64 bits is not truncated to 32', async () => {
  await assert.rejects(run('Gather', [2n ** 32n]), /index 4294967296 at \[0\]/);
});

test('casts between an input and its Gather', async () => {
  const path = () => ({ nodes: [node('Cast', ['i'], ['j'], { to: 7 })], name: 'j' });
  assert.deepEqual(await run('Gather', [2], { dtype: 'int32', path }), [5, 6]);
  await assert.rejects(run('Gather', [3], { dtype: 'int32', path }), /input i: index 3 at \[0\]/);
});

test('a token beyond the vocabulary, at every length and in loadModel, is named', async () => {
  const bytes = model({
    opset: 17,
    ir: 8,
    nodes: [node('Gather', ['table', 'ids'], ['y'])],
    inputs: [value('ids', 'int64', ['n', 't'])],
    outputs: [value('y', 'float32', undefined)],
    initializers: { table: tensor('float32', new Float32Array(20), [10, 2]) },
  });
  const net = await tl.loadModel(bytes);
  for (const length of [3, 4, 9, 3]) {
    const ids = new BigInt64Array(length);
    await net.run({ ids: tl.tensor(ids, [1, length], 'int64') });
    ids[2] = 99n;
    await assert.rejects(
      net.run({ ids: tl.tensor(ids, [1, length], 'int64') }),
      /input ids: index 99 at \[0,2\] is outside -10 to 9/,
    );
  }
  net.dispose();
});

test('compiled functions: inputs and constants', async () => {
  const table = tl.tensor([1, 2, 3, 4], [2, 2]);
  const fn = await tl.compile({ i: { shape: [2], dtype: 'int32' }, t: [2, 2] }, ({ i, t }, g) => ({
    y: g.gather(t, i),
  }));
  assert.deepEqual([...fn.run({ i: [1, 0], t: table }).y.dataSync()], [3, 4, 1, 2]);
  assert.throws(
    () => fn.run({ i: [1, 2], t: table }),
    /input i: index 2 at \[1\] is outside 0 to 1/,
  );
  await assert.rejects(fn.runAsync({ i: [-1, 0], t: table }), /input i: index -1 at \[0\]/);
  fn.input('i').set([5, 0]);
  assert.throws(() => fn.call(), /index 5/);
  fn.input('i').set([1, 0]);
  fn.call();
  await assert.rejects(
    async () =>
      tl.compile({ t: [2, 2] }, ({ t }, g) => ({ y: g.gather(t, tl.tensor([99], [1], 'int32')) })),
    /index 99 is outside axis 0/,
  );
});

test('indices that are computed are not the host’s to see', async () => {
  const fn = await tl.compile({ i: { shape: [1], dtype: 'int32' }, t: [2] }, ({ i, t }, g) => ({
    y: g.gather(t, g.minimum(i, 1)),
  }));
  assert.deepEqual([...fn.run({ i: [9], t: [1, 2] }).y.dataSync()], [2]);
});

test('embeddings: predict, fit and batches in memory name row and value', async () => {
  const make = (lib) => {
    const net = lib.sequential();
    net.add(lib.layers.embedding({ inputDim: 10, outputDim: 2, inputLength: 3 }));
    net.add(lib.layers.flatten());
    net.add(lib.layers.dense({ units: 1 }));
    return net;
  };
  const rows = Array.from({ length: 6 }, () => [0, 1, 9]);
  const wrong = rows.map((row, at) => (at === 4 ? [0, 99, 1] : row));
  for (const lib of [tl, tf]) {
    const net = make(lib);
    const message = /index 99 at \[4,1\] is outside 0 to 9/;
    await net.predict(lib.tensor(rows));
    await assert.rejects(async () => net.predict(lib.tensor(wrong)).dataSync(), message);
    net.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
    const y = lib.tensor(rows.map(() => [1]));
    await net.fit(lib.tensor(rows), y, { epochs: 1, batchSize: 2, verbose: 0 });
    for (const shuffle of [false, true]) {
      const args = { epochs: 1, batchSize: 2, verbose: 0, shuffle };
      await assert.rejects(async () => net.fit(lib.tensor(wrong), y, args), message);
    }
  }
});

test('tensors: the error of TensorFlow.js on its cpu backend', () => {
  assert.throws(() => tf.gather(tf.tensor([1, 2, 3]), tf.tensor1d([3], 'int32')), /3/);
});
