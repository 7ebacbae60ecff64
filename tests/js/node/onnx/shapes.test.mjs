// Models with large weights called with ever other shapes: the weights are stored once, and the results equal ONNX Runtime Web's.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ort from 'onnxruntime-web';
import * as tl from 'tensorlathe';
import { OnnxFile } from '../../../../js/dist/onnx/file.js';
import { heap } from '../../../../js/dist/runtime/wasm/heap.js';
import { wasmPrograms } from '../../../../js/dist/runtime/wasm/program.js';
import { Builder } from '../../../transformers/builder.mjs';
import { random, tensor } from '../../onnx/write.mjs';

ort.env.wasm.numThreads = 1;

/** Of every trace: which weights were inputs. */
const traces = [];
const { trace } = OnnxFile.prototype;
OnnxFile.prototype.trace = function (...args) {
  traces.push(args[3]?.weightInputs);
  return trace.apply(this, args);
};

const [vocabulary, width, units] = [401, 203, 1301];

/** A table, products of floats and of 8 bits, one with constants of 4 bits: over tokens ["batch", "tokens"]. */
function network() {
  const g = new Builder(3);
  const ids = g.input('ids', 'int64', ['batch', 'tokens']);
  const x = g.op('Gather', [g.weight([vocabulary, width], 1), ids]);
  const wide = g.gelu(g.dense(g.layerNorm(x, width), width, units));
  g.initializers.bytes = tensor('int8', random(9, [units, width], 40).data.map(Math.round), [
    units,
    width,
  ]);
  const [quantized, scale, zero] = g.ops('DynamicQuantizeLinear', [wide], 3);
  const sums = g.op('MatMulInteger', [quantized, 'bytes', zero]);
  const back = g.op('Mul', [g.op('Cast', [sums], { to: 1 }), scale]);
  g.output('y', 'float32', ['batch', 'tokens', width], g.op('Add', [x, back]));
  return g.bytes();
}

const tokens = (count, seed) =>
  BigInt64Array.from({ length: count }, (_, at) => BigInt((at * 37 + seed * 11) % vocabulary));

function assertNear(actual, expected) {
  const largest = expected.reduce((max, each) => Math.max(max, Math.abs(each)), 0);
  for (const [k, each] of expected.entries()) {
    assert.ok(Math.abs(actual[k] - each) < 2e-3 * largest, `[${k}] is ${actual[k]}, not ${each}`);
  }
}

for (const threads of [1, undefined]) {
  test(`weights are stored once, ${threads ?? 'all'} threads`, async () => {
    const before = [heap().counts.buffers, wasmPrograms()];
    const bytes = network();
    const model = await tl.loadModel(bytes, { threads });
    const session = await ort.InferenceSession.create(bytes, { executionProviders: ['wasm'] });
    const check = async (batch, count, seed) => {
      const data = tokens(batch * count, seed);
      const running = model.run({ ids: tl.tensor(data, [batch, count], 'int64') });
      const { y } = await session.run({ ids: new ort.Tensor('int64', data, [batch, count]) });
      const actual = (await running).y;
      assert.deepEqual(actual.shape, y.dims);
      assertNear(actual.dataSync(), y.data);
      actual.dispose();
    };
    traces.length = 0;
    for (const count of [5, 1, 2, 3, 7, 13, 33, 64, 5, 1]) await check(1, count, count);
    assert.deepEqual(
      traces,
      [undefined, ...Array(4).fill('large')],
      '1, and padded to 16, 48 and 64',
    );
    const traceCount = traces.length;
    for (const count of [13, 33, 1, 5]) await check(1, count, count + 1);
    assert.equal(traces.length, traceCount, 'cached shapes are not recompiled');
    await check(3, 11, 4);
    const many = [4, 6, 4, 8].map(async (count, seed) => {
      const { y } = await model.run({ ids: tl.tensor(tokens(count, seed), [1, count], 'int64') });
      return [count, seed, y];
    });
    for (const [count, seed, y] of await Promise.all(many)) {
      const data = tokens(count, seed);
      const expected = await session.run({ ids: new ort.Tensor('int64', data, [1, count]) });
      assertNear(y.dataSync(), expected.y.data);
      y.dispose();
    }
    model.dispose();
    await session.release();
    const after = [heap().counts.buffers, wasmPrograms()];
    assert.deepEqual(after, before, 'weights and modules are freed');
  });
}

test('models that need constant weights are compiled with them', async () => {
  const g = new Builder(5);
  const x = g.input('x', 'float32', ['n', 1, 'h', 17]);
  const kernel = g.weight([600, 1, 21, 21], 0.1);
  const y = g.op('Conv', [x, kernel], { kernel_shape: [21, 21], pads: [10, 10, 10, 10] });
  g.output(
    'y',
    'float32',
    ['n', 600, 'h', 17],
    g.op('ReduceMean', [y], { axes: [1], keepdims: 1 }),
  );
  const model = await tl.loadModel(g.bytes({ opsets: { '': 13 } }));
  traces.length = 0;
  for (const rows of [2, 3, 5]) {
    const { y } = await model.run({ x: tl.ones([1, 1, rows, 17]) });
    assert.deepEqual(y.shape, [1, 1, rows, 17]);
  }
  assert.deepEqual(traces, [undefined, 'large', 'large', undefined, undefined]);
  model.dispose();
});

test('calls with shapes in turn, where the model reads a size, and invalid calls between them', async () => {
  const g = new Builder(4);
  const x = g.input('x', 'float32', ['batch', 'rows', 'columns']);
  const count = g.input('count', 'int64', [1]);
  const y = g.op('Slice', [g.dense(x, 512, 600), g.ints(0), count, g.ints(2)]);
  g.output('y', 'float32', undefined, g.op('Softmax', [y], { axis: 1 }));
  const bytes = g.bytes();
  const model = await tl.loadModel(bytes);
  const session = await ort.InferenceSession.create(bytes, { executionProviders: ['wasm'] });
  const check = async (rows, size) => {
    const data = random(rows, [2, rows, 512], 1).data;
    const counts = BigInt64Array.of(BigInt(size));
    const actual = await model.run({
      x: tl.tensor(data, [2, rows, 512]),
      count: tl.tensor(counts, [1], 'int64'),
    });
    const expected = await session.run({
      x: new ort.Tensor('float32', data, [2, rows, 512]),
      count: new ort.Tensor('int64', counts, [1]),
    });
    assert.deepEqual(actual.y.shape, [...expected.y.dims]);
    assertNear(actual.y.dataSync(), expected.y.data);
  };
  traces.length = 0;
  for (const rows of [2, 3, 2, 4, 3]) await check(rows, 400);
  assert.equal(traces.at(-1), 'large', 'the weights are still shared');
  const wrong = { x: tl.zeros([2, 3, 7]), count: tl.tensor(BigInt64Array.of(5n), [1], 'int64') };
  await assert.rejects(model.run(wrong), /512/);
  for (const rows of [2, 3, 5]) await check(rows, 300);
  for (const rows of [2, 3, 4]) await check(rows, 400);
  model.dispose();
  await session.release();
});
