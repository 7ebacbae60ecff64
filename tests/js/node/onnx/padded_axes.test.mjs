// Models called with ever other lengths: one program serves many padded lengths, with the results of ONNX Runtime Web for each.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ort from 'onnxruntime-web';
import * as tl from 'tensorlathe';
import { OnnxFile } from '../../../../js/dist/onnx/file.js';
import { paddedSize } from '../../../../js/dist/decode/buckets.js';
import { heap } from '../../../../js/dist/runtime/wasm/heap.js';
import { wasmPrograms } from '../../../../js/dist/runtime/wasm/program.js';
import { Builder } from '../../../transformers/builder.mjs';
import { random, tensor } from '../../onnx/write.mjs';

ort.env.wasm.numThreads = 1;

/** Of every trace: the padded length of the inputs, or their exact length. */
const traces = [];
const { trace } = OnnxFile.prototype;
OnnxFile.prototype.trace = function (ports, ...rest) {
  const [{ shape, paddedAxes }] = ports;
  const traced = trace.call(this, ports, ...rest);
  traces.push(paddedAxes === undefined ? `exactly ${shape[1]}` : `padded to ${shape[1]}`);
  return traced;
};

const [vocabulary, positions, width, heads] = [101, 64, 24, 3];
const size = width / heads;

/** Embeddings of words and positions of token ids ["batch", "length"], whose mask marks the valid tokens. */
function masked(seed, positioning = 'slice') {
  const g = new Builder(seed);
  const ids = g.input('ids', 'int64', ['batch', 'length']);
  const mask = g.input('mask', 'int64', ['batch', 'length']);
  const words = g.op('Gather', [g.weight([vocabulary, width], 1), ids]);
  const table = g.weight([positions + 1, width], 1);
  const length = g.size(ids, 1);
  const positionRows = {
    slice: () => g.op('Slice', [table, g.ints(0), length, g.ints(0)]),
    range: () => g.op('Gather', [table, g.op('Unsqueeze', [g.range(length), g.ints(0)])]),
    // RoBERTa: only valid tokens are counted, from 1.
    count: () => {
      const counts = g.op('CumSum', [mask, g.constant('int64', [1], [])]);
      return g.op('Gather', [table, g.op('Mul', [counts, mask])]);
    },
  }[positioning]();
  return { g, ids, mask, length, x: g.op('Add', [words, positionRows]) };
}

/** The penalty that is added to scores [batch, heads, length, length] of masked positions. */
function away({ g, ids, mask }, isExpanded) {
  let each = g.op('Unsqueeze', [mask, g.ints(1, 2)]);
  if (isExpanded) {
    const sizes = [g.size(ids, 0), g.ints(1), g.size(ids, 1), g.size(mask, 1)];
    const shape = g.op('Concat', sizes, { axis: 0 });
    const ones = g.op('ConstantOfShape', [g.op('Shape', [shape])], {
      value: tensor('int64', [1], [1]),
    });
    const open = g.op('Equal', [shape, g.op('Mul', [ones, g.constant('int64', [-1], [])])]);
    each = g.op('Expand', [each, g.op('Where', [open, ones, shape])]);
  }
  const none = g.op('Sub', [g.scalar(1), g.op('Cast', [each], { to: 1 })]);
  return g.op('Mul', [none, g.scalar(-3e38)]);
}

/** [batch, length, width] to heads, as torch exports `view`, with sizes from Shape. */
function split({ g }, x) {
  const shape = [g.size(x, 0), g.size(x, 1), g.ints(heads), g.ints(size)];
  const rows = g.op('Reshape', [x, g.op('Concat', shape, { axis: 0 })]);
  return g.op('Transpose', [rows], { perm: [0, 2, 1, 3] });
}

function layer(at, bias, dense = (x, inner, units) => at.g.dense(x, inner, units)) {
  const { g, x } = at;
  const [q, k, v] = [0, 1, 2].map(() => split(at, dense(x, width, width)));
  const mixed = g.merge(g.attend(q, k, v, size, bias), width);
  const y = g.layerNorm(g.op('Add', [x, mixed]), width, { isOld: true });
  const z = dense(g.gelu(dense(y, width, 40)), 40, width);
  return g.layerNorm(g.op('Add', [y, z]), width);
}

const dynamic = (g) => (x, inner, units) => {
  const name = `bytes${units}_${g.nodes.length}`;
  g.initializers[name] = tensor(
    'int8',
    random(g.nodes.length, [inner, units], 40).data.map(Math.round),
    [inner, units],
  );
  const [quantized, scale, zero] = g.ops('DynamicQuantizeLinear', [x], 3);
  const sums = g.op('Cast', [g.op('MatMulInteger', [quantized, name, zero])], { to: 1 });
  return g.op('Mul', [sums, g.op('Mul', [scale, g.scalar(0.01)])]);
};

const rows = ['batch', 'length', width];
const networks = {
  'features of each token': () => {
    const at = masked(1);
    at.g.output('y', 'float32', rows, layer(at, away(at)));
    return at.g.bytes();
  },
  'a class, as exporters write expand': () => {
    const at = masked(2, 'range');
    const x = layer(at, away(at, true));
    const first = at.g.op('Gather', [x, at.g.constant('int64', [0], [])], { axis: 1 });
    at.g.output('y', 'float32', ['batch', 5], at.g.dense(first, width, 5));
    return at.g.bytes();
  },
  'the mean of tokens, positions by CumSum': () => {
    const at = masked(3, 'count');
    const { g, mask } = at;
    const x = layer(at, away(at));
    const seen = g.op('Cast', [g.op('Unsqueeze', [mask, g.ints(2)])], { to: 1 });
    const all = g.op('Expand', [seen, g.op('Shape', [x])]);
    const sums = g.op('ReduceSum', [g.op('Mul', [x, all]), g.ints(1)], { keepdims: 0 });
    const counts = g.op('ReduceSum', [all, g.ints(1)], { keepdims: 0 });
    const mean = g.op('Div', [sums, g.op('Clip', [counts, g.scalar(1e-9)])]);
    g.output('y', 'float32', ['batch', width], mean);
    g.output('weights', 'float32', ['batch', 'length', width], all);
    return g.bytes();
  },
  'products of 8 bits, scores as an output': () => {
    const at = masked(4);
    const { g } = at;
    const y = layer(at, away(at), dynamic(g));
    const columns = g.op('Transpose', [y], { perm: [0, 2, 1] });
    g.output('y', 'float32', rows, y);
    g.output('scores', 'float32', ['batch', 'length', 'length'], g.op('MatMul', [y, columns]));
    return g.bytes({ metadata: { bits: '8' } });
  },
  'fused attention': () => {
    const at = masked(5);
    const { g, x, mask } = at;
    const seen = g.op('Cast', [mask], { to: 6 });
    const wide = g.dense(x, width, 3 * width, { bias: false });
    const [q, k, v] = g.ops('Split', [wide], 3, { axis: -1, num_outputs: 3 });
    const attended = g.op(
      'MultiHeadAttention',
      [q, k, v, '', seen],
      { num_heads: heads },
      'com.microsoft',
    );
    g.output('y', 'float32', rows, g.op('Tanh', [attended]));
    return g.bytes({ opsets: { '': 18, 'com.microsoft': 1 } });
  },
};

function assertNear(actual, expected, what, part = 1e-4) {
  assert.equal(actual.length, expected.length);
  const largest = expected.reduce((max, each) => Math.max(max, Math.abs(each)), 0);
  for (const [k, each] of expected.entries()) {
    assert.ok(
      Math.abs(actual[k] - each) <= part * largest,
      `${what} [${k}] is ${actual[k]}, not ${each}`,
    );
  }
}

/** Relative to the largest element. */
function medianDifference(actual, expected) {
  const largest = expected.reduce((max, each) => Math.max(max, Math.abs(each)), 0);
  const all = [...expected]
    .map((each, k) => Math.abs(actual[k] - each) / largest)
    .sort((a, b) => a - b);
  return all[all.length >> 1];
}

function inputs(batch, length, seed) {
  const ids = BigInt64Array.from({ length: batch * length }, (_, at) =>
    BigInt((at * 37 + seed * 11) % vocabulary),
  );
  // The second sequence of a batch is shorter.
  const mask = BigInt64Array.from({ length: batch * length }, (_, at) =>
    at >= length && at % length > length / 2 ? 0n : 1n,
  );
  return { ids, mask };
}

async function assertSame(model, session, batch, length, seed = length) {
  const { ids, mask } = inputs(batch, length, seed);
  const makeFeeds = (Tensor) => ({ ids: Tensor(ids), mask: Tensor(mask) });
  const running = model.run(makeFeeds((data) => tl.tensor(data.slice(), [batch, length], 'int64')));
  const expected = await session.run(
    makeFeeds((data) => new ort.Tensor('int64', data, [batch, length])),
  );
  const actual = await running;
  for (const [name, { dims, data }] of Object.entries(expected)) {
    assert.deepEqual(actual[name].shape, dims);
    const what = `${name} of ${batch} x ${length}`;
    assertNear(
      actual[name].dataSync(),
      data,
      what,
      model.metadata.bits === undefined ? 1e-4 : 0.03,
    );
    // A tie between two 8-bit values may be rounded either way, and affects dependent values; not all.
    const median = medianDifference(actual[name].dataSync(), data);
    assert.ok(median < 2e-3, `${what}: ${median}`);
    actual[name].dispose();
  }
}

const open = async (bytes, options = {}) => ({
  model: await tl.loadModel(bytes, options),
  session: await ort.InferenceSession.create(bytes, { executionProviders: ['wasm'] }),
});

test('padded sizes', () => {
  const padded = Array.from({ length: 512 }, (_, at) => paddedSize(at + 1));
  assert.deepEqual(
    [...new Set(padded)],
    [16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512],
  );
  assert.ok(padded.every((size, at) => size > at && (at < 64 || size <= 1.25 * (at + 1))));
});

for (const [name, network] of Object.entries(networks)) {
  for (const threads of [1, undefined]) {
    test(`${name}, ${threads ?? 'all'} threads`, async () => {
      const before = [heap().counts.buffers, wasmPrograms()];
      const { model, session } = await open(network(), { threads });
      traces.length = 0;
      for (let length = 40; length > 0; length--) await assertSame(model, session, 1, length);
      for (const length of [40, 63, 17, 64, 41, 1]) await assertSame(model, session, 1, length, 7);
      const expected = ['exactly 40', 'padded to 48', 'padded to 32', 'padded to 16', 'exactly 1'];
      expected.push('padded to 64');
      assert.deepEqual(traces, expected);
      for (const length of [5, 9, 40, 33]) await assertSame(model, session, 3, length);
      const both = [4, 6, 19, 6].map((length, seed) => assertSame(model, session, 2, length, seed));
      await Promise.all(both);
      model.dispose();
      await session.release();
      assert.deepEqual([heap().counts.buffers, wasmPrograms()], before);
    });
  }
}

test('inputs are read when the call is made, also where axes cannot be padded', async () => {
  const g = new Builder(9);
  const x = g.input('x', 'float32', ['batch', 'length']);
  g.output('y', 'float32', ['batch', 'all'], g.op('Concat', [x, x], { axis: 1 }));
  const model = await tl.loadModel(g.bytes());
  for (const length of [3, 4, 5, 4]) {
    const data = Float32Array.from({ length }, (_, at) => at);
    const running = model.run({ x: tl.tensor(data, [1, length]) });
    data.fill(100);
    const { y } = await running;
    const each = Array.from({ length }, (_, at) => at);
    assert.deepEqual([...y.dataSync()], [...each, ...each]);
  }
  model.dispose();
});

test('lengths that cannot be padded within a table are compiled exactly', async () => {
  const g = new Builder(6);
  const x = g.input('x', 'float32', ['batch', 'length', width]);
  const part = g.op('Slice', [g.weight([70, width], 1), g.ints(0), g.size(x, 1), g.ints(0)]);
  g.output('y', 'float32', rows, g.op('Add', [x, part]));
  const { model, session } = await open(g.bytes());
  traces.length = 0;
  for (const length of [3, 5, 66, 66, 9, 67, 64]) {
    const { data } = random(length, [1, length, width], 1);
    const { y } = await model.run({ x: tl.tensor(data, [1, length, width]) });
    const expected = await session.run({ x: new ort.Tensor('float32', data, [1, length, width]) });
    assertNear(y.dataSync(), expected.y.data, length);
    y.dispose();
  }
  assert.deepEqual(traces, [
    'exactly 3',
    'padded to 16',
    'exactly 66',
    'exactly 67',
    'padded to 64',
  ]);
  model.dispose();
  await session.release();
});

test('axes of one are broadcast', async () => {
  const g = new Builder(10);
  const x = g.input('x', 'float32', ['batch', 'length']);
  g.output('y', 'float32', ['batch', 'all'], g.op('Add', [x, g.weight([16], 1)]));
  const model = await tl.loadModel(g.bytes());
  for (const length of [16, 1]) {
    const { y } = await model.run({ x: tl.tensor(new Float32Array(length), [1, length]) });
    assert.deepEqual(y.shape, [1, 16]);
  }
  model.dispose();
});

test('sizes that follow from products over lengths', async () => {
  const g = new Builder(11);
  const ids = g.op('Cast', [g.input('ids', 'int64', ['batch', 'length'])], { to: 1 });
  const square = g.op('MatMul', [ids, g.op('Transpose', [ids], { perm: [1, 0] })]);
  const size = g.op('Reshape', [g.op('Cast', [square], { to: 7 }), g.ints(1)]);
  g.output('y', 'float32', ['all'], g.op('ConstantOfShape', [size]));
  const model = await tl.loadModel(g.bytes());
  for (const length of [3, 4, 5, 4]) {
    const data = new BigInt64Array(length).fill(1n);
    const { y } = await model.run({ ids: tl.tensor(data, [1, length], 'int64') });
    assert.deepEqual(y.shape, [length]);
  }
  model.dispose();
});

test('a named batch axis is not padded', async () => {
  const g = new Builder(8);
  const x = g.input('x', 'float32', ['n', 3]);
  g.output('y', 'float32', ['n', 4], g.dense(x, 3, 4));
  const { model, session } = await open(g.bytes());
  traces.length = 0;
  for (const n of [2, 3, 20]) {
    const data = Float32Array.from({ length: 3 * n }, (_, at) => Math.sin(at));
    const { y } = await model.run({ x: tl.tensor(data, [n, 3]) });
    const expected = await session.run({ x: new ort.Tensor('float32', data, [n, 3]) });
    assertNear(y.dataSync(), expected.y.data, n);
  }
  assert.deepEqual(traces, ['exactly 3', 'exactly 3', 'exactly 3'], 'the next axis');
  model.dispose();
  await session.release();
});
