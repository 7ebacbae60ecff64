// Sessions of tensorlathe/onnxruntime: what the tests of onnxruntime-node check, on models built here.
// LATHE_ORT=onnxruntime-web runs the same on it.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { model, node, tensor, value } from '../../onnx/write.mjs';

const ort = await import(process.env.LATHE_ORT ?? 'tensorlathe/onnxruntime');
const isOurs = process.env.LATHE_ORT === undefined;
const ofOurs = { skip: isOurs ? false : 'ONNX Runtime Web does otherwise' };
const { InferenceSession, Tensor, env } = ort;
env.wasm.numThreads = 1;

const folder = mkdtempSync(join(tmpdir(), 'onnxruntime-'));
after(() => rmSync(folder, { recursive: true }));

/** The output is the input: of any type and sizes. */
const identity = (dtype, shape = [1, 5]) =>
  model({
    nodes: [node('Identity', ['input'], ['output'])],
    inputs: [value('input', dtype, shape)],
    outputs: [value('output', dtype, shape)],
  });

/** Sum and product of two inputs, with a weight. */
const both = model({
  nodes: [
    node('Add', ['a', 'b'], ['s']),
    node('Add', ['s', 'w'], ['sum']),
    node('Mul', ['a', 'b'], ['product']),
  ],
  inputs: [value('a', 'float32', ['n', 2]), value('b', 'float32', ['n', 2])],
  outputs: [value('sum', 'float32', ['n', 2]), value('product', 'float32', ['n', 2])],
  initializers: { w: tensor('float32', [0.5, -0.5]) },
});
const file = join(folder, 'both.onnx');
writeFileSync(file, both);

const a = new Tensor('float32', [1, 2, 3, 4], [2, 2]);
const b = new Tensor('float32', [5, 6, 7, 8], [2, 2]);
const sum = Float32Array.of(6.5, 7.5, 10.5, 11.5);
const product = Float32Array.of(5, 12, 21, 32);

const create = (...args) => InferenceSession.create(...args);

async function checkSession(session) {
  const results = await session.run({ a, b });
  assert.deepEqual(results.sum.data, sum);
  await session.release();
}

const options = { executionProviders: ['wasm'], logSeverityLevel: 3 };

test('a model by bytes', async () => {
  const padded = new Uint8Array(both.length + 20);
  padded.set(both, 7);
  await checkSession(await create(both));
  await checkSession(await create(both, options));
  await checkSession(await create(both.slice().buffer, options));
  await checkSession(await create(padded.subarray(7, 7 + both.length)));
  await checkSession(await create(padded.buffer, 7, both.length));
  await checkSession(await create(padded.buffer, 7, both.length, options));
  await checkSession(await create(Buffer.from(both)));
});

test('a model by shared bytes', async () => {
  const shared = new SharedArrayBuffer(both.length);
  new Uint8Array(shared).set(both);
  await checkSession(await create(shared, options));
});

test('a model by path', () => create(file).then(checkSession));

test('a model by address', ofOurs, async () => {
  await checkSession(await create(pathToFileURL(file).href));
  await checkSession(
    await create(`data:application/octet-stream;base64,${Buffer.from(both).toString('base64')}`),
  );
});

test('invalid arguments', async () => {
  const assertRejected = (name, message, ...args) =>
    assert.rejects(create(...args), { name, message });
  const { buffer } = both.slice();
  await assertRejected('TypeError', /argument\[0\]/);
  await assertRejected('TypeError', /argument\[0\]/, null);
  await assertRejected('TypeError', /argument\[0\]/, [1, 2]);
  await assertRejected('RangeError', /'byteOffset'/, buffer, -1);
  await assertRejected('RangeError', /'byteOffset'/, buffer, 1.5);
  await assertRejected('RangeError', /'byteOffset'/, buffer, 1e8);
  await assertRejected('RangeError', /'byteLength'/, buffer, 0, -1);
  await assertRejected('RangeError', /'byteLength'/, buffer, 0, 0);
  await assertRejected('RangeError', /'byteLength'/, buffer, 0, 1.5);
  await assertRejected('RangeError', /'byteLength'/, buffer, 1, buffer.byteLength);
  await assertRejected('TypeError', /'byteLength'/, buffer, 0, 'all');
  await assertRejected('TypeError', /'options'/, file, 'cpu');
  await assertRejected('TypeError', /'options'/, both, 'cpu');
  await assertRejected('TypeError', /'options'/, buffer, 'cpu');
  await assertRejected('TypeError', /'options'/, buffer, 0, buffer.byteLength, 'cpu');
  await assertRejected('TypeError', /'options'/, both, null);
});

test('invalid models', async () => {
  const assertRejected = (source, message) =>
    assert.rejects(create(source), { name: 'Error', message });
  await assertRejected(
    join(folder, 'nothing.onnx'),
    isOurs ? /failed to load.*nothing\.onnx/ : /ENOENT/,
  );
  await assertRejected(new Uint8Array(0), isOurs ? /No graph was found in the protobuf/ : /./);
  await assertRejected(new Uint8Array(100).fill(255), isOurs ? /failed to load the model/ : /./);
  const unknown = model({
    nodes: [node('Nothing', ['x'], ['y'])],
    inputs: [value('x', 'float32', [1])],
    outputs: [value('y', 'float32', [1])],
  });
  await assertRejected(unknown, /Nothing/);
});

test('names, types and sizes', async () => {
  const session = await create(both);
  assert.deepEqual(session.inputNames, ['a', 'b']);
  assert.deepEqual(session.outputNames, ['sum', 'product']);
  const port = (name) => ({ name, isTensor: true, type: 'float32', shape: ['n', 2] });
  assert.deepEqual(session.inputMetadata, [port('a'), port('b')]);
  assert.deepEqual(session.outputMetadata, [port('sum'), port('product')]);
  await session.release();
  const loose = await create(identity('int64'));
  assert.equal(loose.inputMetadata[0].type, 'int64');
});

test('unspecified sizes', async () => {
  const withShape = (shape) =>
    model({
      nodes: [node('Abs', ['input'], ['output'])],
      inputs: [{ name: 'input', dtype: 'float32', shape }],
      outputs: [{ name: 'output', dtype: 'float32', shape }],
    });
  const shapes = [
    [undefined, []],
    [
      ['rows', 'columns'],
      ['rows', 'columns'],
    ],
    [
      [2, 4],
      [2, 4],
    ],
    [
      [null, 3],
      [isOurs ? '' : 2 ** 32 - 1, 3],
    ],
  ];
  for (const [shape, expected] of shapes) {
    const session = await create(withShape(shape));
    assert.deepEqual(session.inputMetadata, [
      { name: 'input', isTensor: true, type: 'float32', shape: expected },
    ]);
    await session.release();
  }
});

test('invalid feeds', async () => {
  const session = await create(both);
  const assertRejected = (feeds, name, message) =>
    assert.rejects(session.run(feeds), { name, message });
  await assertRejected(undefined, 'TypeError', /'feeds'/);
  await assertRejected(null, 'TypeError', /'feeds'/);
  await assertRejected(a, 'TypeError', /'feeds'/);
  await assertRejected([a], 'TypeError', /'feeds'/);
  await assertRejected({}, 'Error', /input 'a' is missing/);
  await assertRejected({ a, c: b }, 'Error', /input 'b' is missing/);
  await assertRejected({ a, b, c: a }, 'Error', /invalid input/);
  const other = new Tensor('int32', [1, 2], [1, 2]);
  await assertRejected({ a: other, b: other }, 'Error', /Unexpected input data type/);
  const wide = new Tensor('float32', new Float32Array(6), [2, 3]);
  await assertRejected({ a: wide, b: wide }, 'Error', /invalid dimensions for input: a/);
  const flat = new Tensor('float32', new Float32Array(2), [2]);
  await assertRejected(
    { a: flat, b: flat },
    'Error',
    isOurs ? /invalid dimensions for input: a/ : /rank/,
  );
  await session.release();
});

test('scalar inputs accept any shape of one element', async () => {
  const scaled = model({
    nodes: [node('Mul', ['x', 'factor'], ['y'])],
    inputs: [value('x', 'float32', ['n']), value('factor', 'float32', [])],
    outputs: [value('y', 'float32', ['n'])],
  });
  const session = await create(scaled);
  const x = new Tensor('float32', [1, 2], [2]);
  for (const [data, shape] of [[[3]], [[3], [1]], [[3], []], [[3, 4], [2]]]) {
    const { y } = await session.run({ x, factor: new Tensor('float32', data, shape) });
    assert.deepEqual([...y.data], [3, 2 * data.at(-1)]);
  }
  await session.release();
});

test('fetches', async () => {
  const session = await create(both);
  assert.deepEqual(Object.keys(await session.run({ a, b })), ['sum', 'product']);
  assert.deepEqual(Object.keys(await session.run({ a, b }, {})), ['sum', 'product']);
  assert.deepEqual(Object.keys(await session.run({ a, b }, ['product'])), ['product']);
  assert.deepEqual(Object.keys(await session.run({ a, b }, { product: null })), ['product']);
  const named = await session.run({ a, b }, { product: null, sum: null }, { tag: 'x' });
  assert.deepEqual(named.product.data, product);
  assert.ok(named.product instanceof Tensor);
  const assertRejected = (name, message, ...args) =>
    assert.rejects(session.run({ a, b }, ...args), { name, message });
  await assertRejected('TypeError', /argument\[1\]/, null);
  await assertRejected('TypeError', /argument\[1\]/, 1);
  await assertRejected('TypeError', /'fetches'/, a);
  await assertRejected('TypeError', /'fetches'/, []);
  await assertRejected('TypeError', /'fetches'/, [1, 2]);
  await assertRejected('RangeError', /'fetches'/, ['quotient']);
  await assertRejected('TypeError', /'options'/, ['sum'], 1);
  await assertRejected('TypeError', /'options'/, { sum: null }, null);
  await session.release();
});

test('a tensor to write to', ofOurs, async () => {
  const session = await create(both);
  const preallocated = new Tensor(new Float32Array(4), [2, 2]);
  const results = await session.run({ a, b }, { product: preallocated });
  assert.equal(results.product, preallocated);
  assert.deepEqual(preallocated.data, product);
  const other = new Tensor(new Float32Array(4), [4]);
  await assert.rejects(session.run({ a, b }, { product: other }), /product is float32 \[2, 2\]/);
  await session.release();
});

const arrays = {
  float32: Float32Array.of(1.5, -2, 3, 4, 5),
  float64: Float64Array.of(1.5, -2, 3, 4, 1e300),
  int8: Int8Array.of(1, -2, 3, 127, -128),
  uint8: Uint8Array.of(1, 2, 3, 4, 255),
  int16: Int16Array.of(1, -2, 3, 32767, -32768),
  uint16: Uint16Array.of(1, 2, 3, 4, 65535),
  int32: Int32Array.of(1, -2, 3, 4, -(2 ** 31)),
  uint32: Uint32Array.of(1, 2, 3, 4, 2 ** 32 - 1),
  int64: BigInt64Array.of(1n, -2n, 2n ** 62n, 4n, -(2n ** 63n)),
  uint64: BigUint64Array.of(1n, 2n, 3n, 4n, 2n ** 64n - 1n),
  bool: Uint8Array.of(1, 0, 1, 1, 0),
  string: ['a', '', 'ü', '語', 'e'],
};

for (const [type, data] of Object.entries(arrays)) {
  test(`${type} round trip`, async () => {
    const session = await create(identity(type));
    const input = new Tensor(type, data, [1, 5]);
    const { output } = await session.run({ input });
    assert.equal(output.type, type);
    assert.deepEqual(output.dims, [1, 5]);
    assert.deepEqual(output.data, data);
    assert.equal(output.location, 'cpu');
    await session.release();
  });
}

test('float16 round trip', async () => {
  const session = await create(identity('float16'));
  const bits = Uint16Array.of(0x3c00, 0xc000, 0, 0x7bff, 1);
  const { output } = await session.run({ input: new Tensor('float16', bits, [1, 5]) });
  assert.equal(output.type, 'float16');
  const { buffer, byteOffset } = output.data;
  assert.deepEqual(new Uint16Array(buffer, byteOffset, 5), bits);
  const replaced = new Tensor('float16', bits, [1, 5]);
  replaced.cpuData = bits;
  const copied = await session.run({ input: replaced });
  assert.deepEqual(copied.output.data, output.data);
  await session.release();
});

test('4-bit elements round trip', ofOurs, async () => {
  for (const type of ['int4', 'uint4']) {
    const session = await create(identity(type));
    const bytes = Uint8Array.of(0x21, 0xf8, 0x05);
    const { output } = await session.run({ input: new Tensor(type, bytes, [1, 5]) });
    assert.equal(output.type, type);
    assert.deepEqual(new Uint8Array(output.data), bytes);
    await session.release();
  }
});

test('other sizes, no elements, a scalar', async () => {
  const session = await create(both);
  for (const rows of [1, 3, 0, 2]) {
    const x = new Tensor(new Float32Array(2 * rows).fill(3), [rows, 2]);
    const results = await session.run({ a: x, b: x });
    assert.deepEqual(results.product.dims, [rows, 2]);
    assert.deepEqual(results.product.data, new Float32Array(2 * rows).fill(9));
  }
  await session.release();
  const scalar = await create(identity('float32', []));
  const { output } = await scalar.run({ input: new Tensor('float32', [4], []) });
  assert.deepEqual([output.dims, output.size], [[], 1]);
  await scalar.release();
});

test('results and feeds are not modified by later runs', async () => {
  const session = await create(both);
  const first = await session.run({ a, b });
  const c = new Tensor('float32', [0, 0, 0, 0], [2, 2]);
  await session.run({ a: c, b: c });
  assert.deepEqual(first.product.data, product);
  assert.deepEqual(a.data, Float32Array.of(1, 2, 3, 4));
  await session.release();
  assert.deepEqual(first.product.data, product);
});

test('concurrent runs', async () => {
  const session = await create(both);
  const runs = Array.from({ length: 8 }, (_, at) => {
    const x = new Tensor(new Float32Array(4).fill(at), [2, 2]);
    return session.run({ a: x, b: x });
  });
  for (const [at, results] of (await Promise.all(runs)).entries()) {
    assert.deepEqual(results.product.data, new Float32Array(4).fill(at * at));
  }
  await session.release();
});

test('tensors of another copy of onnxruntime-common', ofOurs, async () => {
  const common = await import('onnxruntime-common');
  const session = await create(both);
  const x = new common.Tensor('float32', [1, 2], [1, 2]);
  const { product } = await session.run({ a: x, b: x });
  assert.deepEqual(product.data, Float32Array.of(1, 4));
  await session.release();
});

test('a session that was released', async () => {
  const session = await create(both);
  await session.release();
  await assert.rejects(session.run({ a, b }), { name: 'Error' });
  if (isOurs) await session.release();
});

test('profiling does nothing', ofOurs, async () => {
  const session = await create(both);
  session.startProfiling();
  session.endProfiling();
  await session.release();
});
