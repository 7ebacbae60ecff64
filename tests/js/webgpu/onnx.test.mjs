// ONNX models on the device `webgpu`: results as on `wasm`, inputs and outputs that stay there, what moves to `wasm`, memory.
import assert from 'node:assert/strict';
import { afterEach, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as tl from 'tensorlathe';
import { float16Bits } from '../onnx/llama.mjs';
import { model, node, random, tensor, value } from '../onnx/write.mjs';
import { cnn, encoder, tokens } from './onnx_models.mjs';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

before(() => tl.ready());
afterEach(() => tl.setDevice('wasm'));

/** What is in use on all devices. */
const counts = () => {
  const { bytes, buffers } = tl.memory().devices.webgpu;
  const { liveObjects, modules, heapBlocks, heapModules } = tl.memory();
  return { bytes, buffers, liveObjects, modules, heapBlocks, heapModules };
};

/** The same without the garbage of other tests, once the device is loaded. */
async function initialCounts() {
  await tl.setDevice('webgpu');
  await tl.setDevice('wasm');
  for (let k = 0; k < 3; k++) {
    collect();
    await pause(1);
  }
  return counts();
}

/** The outputs of calls of a model, which are disposed of. */
async function outputs(bytes, calls, options) {
  const loaded = await tl.loadModel(bytes, options);
  const results = [];
  for (const inputs of calls) {
    const named = Object.entries(await loaded.run(inputs));
    const read = await Promise.all(
      named.map(async ([name, each]) => [
        name,
        [each.shape, Array.from(await each.data(), Number)],
      ]),
    );
    for (const [, each] of named) each.dispose();
    results.push(Object.fromEntries(read));
  }
  const { placement } = loaded;
  loaded.dispose();
  return { results, placement };
}

function near(actual, expected, tolerance = 1e-4) {
  assert.deepEqual(Object.keys(actual), Object.keys(expected));
  for (const [name, [shape, data]] of Object.entries(expected)) {
    assert.deepEqual(actual[name][0], shape, name);
    const most = data.reduce((max, each) => Math.max(max, Math.abs(each)), 0);
    const worst = data.reduce(
      (max, each, at) => Math.max(max, Math.abs(each - actual[name][1][at])),
      0,
    );
    assert.ok(worst <= tolerance * most, `${name}: ${worst} of ${most}`);
  }
}

/** Asserts that calls of a model give the same on both devices, and leave nothing there. */
async function assertSame(bytes, calls) {
  const expected = await outputs(bytes, calls, { device: 'wasm' });
  assert.deepEqual(expected.placement, { device: 'wasm' });
  const before = await initialCounts();
  const actual = await outputs(bytes, calls, { device: 'webgpu', strict: true });
  assert.deepEqual(actual.placement, { device: 'webgpu' });
  expected.results.forEach((each, at) => near(actual.results[at], each));
  assert.deepEqual(counts(), before);
}

const images = (batch) => random(batch, [batch, 3, 16, 16]).data;

test('an index that no row has is an error, and the model stays on the GPU', async () => {
  const bytes = model({
    inputs: [value('ids', 'int64', [2])],
    outputs: [value('y', 'float32', [2, 3])],
    initializers: { rows: tensor('float32', [1, 2, 3, 4, 5, 6], [2, 3]) },
    nodes: [node('Gather', ['rows', 'ids'], ['y'])],
  });
  const loaded = await tl.loadModel(bytes, { device: 'webgpu', strict: true });
  await assert.rejects(loaded.run({ ids: BigInt64Array.of(0n, 2n) }), /input ids: index/);
  const { y } = await loaded.run({ ids: BigInt64Array.of(1n, 0n) });
  assert.deepEqual(Array.from(await y.data()), [4, 5, 6, 1, 2, 3]);
  assert.deepEqual(loaded.placement, { device: 'webgpu' });
  y.dispose();
  loaded.dispose();
});

test('a network of convolutions', () => {
  const calls = [1, 2, 1, 3].map((batch) => ({ x: images(batch) }));
  return assertSame(cnn(), calls);
});

test('weights of 4 bits with scales of float16, and of float16', async () => {
  const [K, N] = [64, 100];
  const halves = (seed, shape) =>
    tensor('float16', Uint16Array.from(random(seed, shape, 0.3).data, float16Bits), shape);
  const bytes = Uint8Array.from({ length: (N * K) / 2 }, (_, at) => (at * 77) % 251);
  const q4f16 = model({
    inputs: [value('x', 'float16', ['rows', K])],
    outputs: [value('y', 'float32', ['rows', N]), value('half', 'float16', ['rows', K])],
    initializers: {
      weights: tensor('uint8', bytes, [N, K / 32, 16]),
      scales: halves(1, [(N * K) / 32]),
      dense: halves(2, [N, N]),
    },
    nodes: [
      node(
        'MatMulNBits',
        ['x', 'weights', 'scales'],
        ['a'],
        { K, N, bits: 4, block_size: 32 },
        { domain: 'com.microsoft' },
      ),
      node('MatMul', ['a', 'dense'], ['b']),
      node('Cast', ['b'], ['y'], { to: 1 }),
      node('Neg', ['x'], ['half']),
    ],
  });
  const calls = [1, 3, 1, 20].map((rows) => ({
    x: tl.tensor(halves(3 + rows, [rows, K]).data, [rows, K], 'float16'),
  }));
  await assertSame(q4f16, calls);
});

test('an encoder, of several lengths', () => {
  const calls = [
    [1, 5],
    [2, 7],
    [1, 9],
    [1, 5],
  ].map(([batch, length]) => {
    const { ids, mask } = tokens(batch, length);
    const shape = [batch, length];
    return { ids: tl.tensor(ids, shape), mask: tl.tensor(mask, shape) };
  });
  return assertSame(encoder(), calls);
});

test('the device of tensors is that of models loaded then', async () => {
  await tl.setDevice('webgpu');
  const loaded = await tl.loadModel(cnn());
  assert.deepEqual(loaded.placement, { device: 'webgpu' });
  loaded.dispose();
  const other = await tl.loadModel(cnn(), { device: 'wasm' });
  assert.deepEqual(other.placement, { device: 'wasm' });
  other.dispose();
  await assert.rejects(tl.loadModel(cnn(), { device: 'webgp' }), /unknown device "webgp"/);
});

test('tensors on the device are used there, and outputs stay there', async () => {
  const { results } = await outputs(cnn(), [{ x: images(1) }]);
  await tl.setDevice('webgpu');
  const loaded = await tl.loadModel(cnn());
  const x = tl.tensor(images(1), [1, 3, 16, 16]).add(0);
  const { y, classes } = await loaded.run({ x });
  assert.throws(() => x.dataSync(), /cannot be read synchronously/);
  assert.throws(() => y.dataSync(), /cannot be read synchronously/);
  const doubled = await y.mul(2).data();
  results[0].y[1].forEach((each, at) => assert.ok(Math.abs(doubled[at] - 2 * each) < 1e-4));
  assert.deepEqual(Array.from(await classes.data(), Number), results[0].classes[1]);
  // The caller may dispose of an input at once.
  const shown = loaded.run({ x });
  x.dispose();
  near({ y: [[1, 5], Array.from(await (await shown).y.data())] }, { y: results[0].y });
  loaded.dispose();
  assert.equal((await y.data()).length, 5);
});

test('models on wasm read tensors on the device', async () => {
  await tl.setDevice('webgpu');
  const loaded = await tl.loadModel(cnn(), { device: 'wasm' });
  const x = tl.tensor(images(2), [2, 3, 16, 16]).add(0);
  const { y } = await loaded.run({ x });
  const expected = (await outputs(cnn(), [{ x: images(2) }])).results;
  near({ y: [y.shape, Array.from(y.dataSync())] }, { y: expected[0].y });
  loaded.dispose();
});

test('tensors on the device of another type are converted', async () => {
  await tl.setDevice('webgpu');
  const { ids, mask } = tokens(1, 5);
  const loaded = await tl.loadModel(encoder({ layers: 1 }), { strict: true });
  const fromHost = await loaded.run({ ids: tl.tensor(ids, [1, 5]), mask: tl.tensor(mask, [1, 5]) });
  const onDevice = (data) => tl.tensor(Float32Array.from(data, Number), [1, 5]).add(0);
  const converted = await loaded.run({ ids: onDevice(ids), mask: onDevice(mask) });
  assert.deepEqual(await converted.pooled.data(), await fromHost.pooled.data());
  loaded.dispose();
});

/** y = the reshaped x, by an input whose content the trace needs. */
const reshaped = model({
  nodes: [node('Reshape', ['x', 'shape'], ['r']), node('Add', ['r', 'r'], ['y'])],
  inputs: [value('x', 'float32', [6]), value('shape', 'int64', [2])],
  outputs: [value('y', 'float32', [null, null])],
});

test('contents that a trace needs are read from the device', async () => {
  await tl.setDevice('webgpu');
  const loaded = await tl.loadModel(reshaped, { strict: true });
  const x = tl.tensor([0, 1, 2, 3, 4, 5]).add(0);
  for (const sizes of [
    [2n, 3n],
    [3n, 2n],
  ]) {
    const shape = tl.tensor(sizes, [2], 'int64').add(tl.tensor([0n, 0n], [2], 'int64'));
    const { y } = await loaded.run({ x, shape });
    assert.deepEqual(y.shape, sizes.map(Number));
    assert.deepEqual(Array.from(await y.data()), [0, 2, 4, 6, 8, 10]);
  }
  loaded.dispose();
});

/** The warnings that an asynchronous action prints. */
async function warnings(act) {
  const { warn } = console;
  const printed = [];
  console.warn = (message) => printed.push(message);
  try {
    await act();
  } finally {
    console.warn = warn;
  }
  return printed;
}

const double = (dtype) =>
  model({
    nodes: [node('Add', ['x', 'x'], ['y'])],
    inputs: [value('x', dtype, ['n'])],
    outputs: [value('y', dtype, ['n'])],
  });
const refused = {
  'a type': [double('float64'), [Float64Array.of(1, 2), Float64Array.of(3)], [2, 4, 6], /f64/],
  'an integer of more than 32 bits': [
    double('int64'),
    [BigInt64Array.of(1n, 2n), BigInt64Array.of(2n ** 40n, 1n), BigInt64Array.of(2n)],
    [2, 4, 2 ** 41, 2, 4],
    /1099511627776 is no int64/,
  ],
};
for (const [what, [bytes, calls, expected, reason]] of Object.entries(refused)) {
  test(`${what} moves a model to wasm, with one warning`, async () => {
    const before = await initialCounts();
    const printed = await warnings(async () => {
      const inputs = calls.map((x) => ({ x }));
      const { results, placement } = await outputs(bytes, inputs, { device: 'webgpu' });
      assert.deepEqual(
        results.flatMap(({ y }) => y[1]),
        expected,
      );
      assert.equal(placement.device, 'wasm');
      assert.match(placement.reason, reason);
    });
    assert.equal(printed.length, 1);
    assert.match(printed[0], /runs on wasm, not on webgpu/);
    assert.match(printed[0], reason);
    const strict = await tl.loadModel(bytes, { device: 'webgpu', strict: true });
    const all = async () => {
      for (const x of calls)
        for (const each of Object.values(await strict.run({ x }))) each.dispose();
    };
    await assert.rejects(all(), { name: 'LatheError', message: reason });
    assert.deepEqual(strict.placement, { device: 'webgpu' });
    strict.dispose();
    assert.deepEqual(counts(), before);
  });
}

test('a model that was moved to wasm reads tensors on the device', async () => {
  await tl.setDevice('webgpu');
  const loaded = await tl.loadModel(double('int64'));
  const printed = await warnings(async () => {
    await loaded.run({ x: BigInt64Array.of(2n ** 40n) });
    const x = tl.tensor([3n, 4n], [2], 'int64').add(tl.tensor([1n], [1], 'int64'));
    const { y } = await loaded.run({ x });
    assert.deepEqual(Array.from(await y.data(), Number), [8, 10]);
  });
  assert.equal(printed.length, 1);
  loaded.dispose();
});

/** Sizes that depend on data, with what is computed before and after. */
const nonZero = model({
  nodes: [
    node('Add', ['x', 'x'], ['d']),
    node('NonZero', ['d'], ['p']),
    node('Squeeze', ['p'], ['i']),
    node('Gather', ['d', 'i'], ['y']),
    node('ReduceSum', ['y'], ['sum'], { keepdims: 0 }),
  ],
  inputs: [value('x', 'float32', ['n'])],
  outputs: [value('y', 'float32'), value('sum', 'float32')],
});

/** The size of the result is that of `a` where `x` has as many elements that are not zero; `a` turns out to be required when it runs. */
const requested = model({
  nodes: [
    node('NonZero', ['x'], ['p']),
    node('Shape', ['p'], ['count']),
    node('Add', ['count', 'a'], ['shape']),
    node('Expand', ['one', 'shape'], ['y']),
  ],
  inputs: [value('x', 'float32', ['n']), value('a', 'int64', [2])],
  outputs: [value('y', 'float32')],
  initializers: { one: tensor('float32', [1], [1, 1]) },
});

test('sizes that depend on data, as segments on the device', async () => {
  const inputs = [[0, 1, 2], [1, 0, 0, 5], [0, 1, 2], [4], [0, 0, 3]];
  await assertSame(
    nonZero,
    inputs.map((x) => ({ x: Float32Array.from(x) })),
  );
  await tl.setDevice('webgpu');
  const loaded = await tl.loadModel(nonZero, { strict: true });
  const x = tl.tensor([0, 2, 3]).add(0);
  const all = await Promise.all([loaded.run({ x }), loaded.run({ x: [1, 0, 0] })]);
  assert.deepEqual(await Promise.all(all.map(({ sum }) => sum.data())), [
    Float32Array.of(10),
    Float32Array.of(2),
  ]);
  loaded.dispose();
});

test('segments whose later parts need contents, or are refused', async () => {
  const x = Float32Array.of(0, 1, 2);
  const a = (...sizes) => BigInt64Array.from(sizes, BigInt);
  await assertSame(requested, [
    { x, a: a(0, 1) },
    { x, a: a(2, 0) },
    { x: Float32Array.of(1, 0, 0), a: a(2, 0) },
  ]);
  const later = model({
    nodes: [
      node('NonZero', ['x'], ['p']),
      node('Cast', ['p'], ['d'], { to: 11 }),
      node('Sin', ['d'], ['y']),
    ],
    inputs: [value('x', 'float32', ['n'])],
    outputs: [value('y', 'float64')],
  });
  const printed = await warnings(async () => {
    const { results, placement } = await outputs(later, [{ x }, { x }], { device: 'webgpu' });
    for (const { y } of results)
      assert.deepEqual(y, [
        [1, 2],
        [Math.sin(1), Math.sin(2)],
      ]);
    assert.match(placement.reason, /f64/);
  });
  assert.equal(printed.length, 1);
});

test('calls overlap, and share a program', async () => {
  await tl.setDevice('webgpu');
  const loaded = await tl.loadModel(double('float32'), { strict: true });
  const calls = Array.from({ length: 6 }, (_, k) => loaded.run({ x: Float32Array.of(k, 1) }));
  for (const [k, { y }] of (await Promise.all(calls)).entries())
    assert.deepEqual(Array.from(await y.data()), [2 * k, 2]);
  loaded.dispose();
});

test('weights are shared by many shapes', async () => {
  const width = 600;
  const bytes = model({
    nodes: [node('MatMul', ['x', 'w'], ['h']), node('Relu', ['h'], ['y'])],
    inputs: [value('x', 'float32', ['rows', width])],
    outputs: [value('y', 'float32', ['rows', width])],
    initializers: { w: random(1, [width, width], 0.1) },
  });
  const calls = [1, 2, 3, 4].map((rows) => ({ x: random(rows, [rows, width]).data }));
  await assertSame(bytes, calls);
  const loaded = await tl.loadModel(bytes, { device: 'webgpu', strict: true });
  const { bytes: before } = counts();
  const used = [];
  for (const { x } of calls) {
    const { y } = await loaded.run({ x });
    await y.data();
    y.dispose();
    used.push(counts().bytes - before);
  }
  const weights = 4 * width * width;
  assert.ok(used.at(-1) < 2.5 * weights, `${used} of ${weights}`);
  loaded.dispose();
});
