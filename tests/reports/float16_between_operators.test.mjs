// Found with exported float16 models: every value between two operators was rounded to float16, so norms exported as single
// operators returned zeros for an outlier, and squares or exponentials infinity, where ONNX Runtime computes in float32. float16
// and bfloat16 now round at casts to them, outputs, states and tensors that are read, and nowhere between.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ort from 'onnxruntime-web';
import * as tl from 'tensorlathe';
import { graph, model, node, tensor, value } from '../js/onnx/write.mjs';

const float16Of = (numbers) => tl.tensor(numbers, [numbers.length], 'float16').dataSync();
const numbersOf = (bits) => [
  ...tl.tensor(bits, [bits.length], 'float16').cast('float32').dataSync(),
];
const constant = (...numbers) =>
  tensor('float16', float16Of(numbers), numbers.length === 1 ? [] : [numbers.length]);

/** A model of x, float16 in and out, as this package and ONNX Runtime run it. */
async function both(nodes, data, initializers = {}, dtype = 'float16') {
  const bytes = model({
    nodes,
    initializers,
    inputs: [value('x', 'float16', [data.length])],
    outputs: [value('y', dtype)],
  });
  const net = await tl.loadModel(bytes);
  const { y } = await net.run({ x: tl.tensor(data, [data.length], 'float16') });
  const ours = [...y.cast('float32').dataSync()];
  net.dispose();
  const session = await ort.InferenceSession.create(bytes);
  const feeds = { x: new ort.Tensor('float16', float16Of(data), [data.length]) };
  const theirs = (await session.run(feeds)).y;
  await session.release();
  if (theirs.type !== 'float16') return { ours, theirs: [...theirs.data].map(Number) };
  const { buffer, byteOffset, length } = theirs.data; // a Float16Array where engines have it
  return { ours, theirs: numbersOf(new Uint16Array(buffer, byteOffset, length)) };
}

const near = (got, expected, tolerance) => {
  assert.equal(got.length, expected.length);
  for (const [at, each] of expected.entries()) {
    const isNear = Math.abs(got[at] - each) <= tolerance * Math.max(1, Math.abs(each));
    assert.ok(isNear || Object.is(got[at], each), `${at}: ${got[at]} for ${each}`);
  }
};
/** Half a ulp of float16, and the rounding of float32. */
const unit = 2 ** -11 * 1.01;

const squares = [node('Mul', ['x', 'x'], ['s'])];
const rms = [
  ...squares,
  node('ReduceMean', ['s', 'zero'], ['m']),
  node('Sqrt', ['m'], ['r']),
  node('Div', ['x', 'r'], ['y']),
];
const layerNorm = [
  node('ReduceMean', ['x', 'zero'], ['mean']),
  node('Sub', ['x', 'mean'], ['d']),
  node('Mul', ['d', 'd'], ['s']),
  node('ReduceMean', ['s', 'zero'], ['m']),
  node('Sqrt', ['m'], ['r']),
  node('Div', ['d', 'r'], ['y']),
];
const outlier = (size) => Array.from({ length: 64 }, (_, at) => (at === 7 ? size : Math.sin(at)));
const additions = Array.from({ length: 30 }, (_, at) =>
  node('Add', [at ? `a${at}` : 'x', 'c'], [at === 29 ? 'y' : `a${at + 1}`]),
);
const zero = { zero: tensor('int64', [0]) };
const hundredth = { c: constant(0.01) };
const divided = (of) => node('Mul', [of, 'c'], ['y']);

/** Nodes, x, initializers. */
const models = {
  'an RMS norm with an outlier of 300': [rms, outlier(300), zero],
  'an RMS norm with an outlier of 2000': [rms, outlier(2000), zero],
  'an RMS norm of 2e-4': [rms, Array(64).fill(2e-4), zero],
  'a layer norm with an outlier of 795': [layerNorm, outlier(795), zero],
  'a square that is divided': [[...squares, divided('s')], [700, 300, 2], hundredth],
  'log of exp': [
    [node('Exp', ['x'], ['e']), node('Log', ['e'], ['y'])],
    [20, 1, -15],
  ],
  'twice x less x': [
    [node('Add', ['x', 'x'], ['t']), node('Sub', ['t', 'x'], ['y'])],
    [60000, 1],
  ],
  '30 additions': [additions, [0.1, 1, 7], { c: constant(0.01) }],
  'a product of matrices': [
    [
      node('Unsqueeze', ['x', 'zero'], ['row']),
      node('Transpose', ['row'], ['column']),
      node('MatMul', ['row', 'column'], ['p']),
      divided('p'),
    ],
    [700, 300],
    { ...hundredth, ...zero },
  ],
  'a sum of squares': [
    [node('ReduceSumSquare', ['x'], ['s']), divided('s')],
    [700, 300],
    hundredth,
  ],
  'a reshaped square': [
    [...squares, node('Reshape', ['s', 'shape'], ['t']), divided('t')],
    [700, 300],
    { ...hundredth, shape: tensor('int64', [2, 1]) },
  ],
  'a square concatenated with x': [
    [...squares, node('Concat', ['s', 'x'], ['t'], { axis: 0 }), divided('t')],
    [700, 300],
    hundredth,
  ],
  'a square that is chosen': [
    [
      ...squares,
      node('Greater', ['x', 'c'], ['is']),
      node('Where', ['is', 's', 'x'], ['t']),
      divided('t'),
    ],
    [700, -300],
    hundredth,
  ],
  'only constants': [
    [
      node('Mul', ['b', 'b'], ['s']),
      node('Mul', ['s', 'c'], ['t']),
      node('Add', ['x', 't'], ['y']),
    ],
    [1, 2],
    { ...hundredth, b: constant(700) },
  ],
  'a running sum': [
    [...squares, node('CumSum', ['s', 'zero'], ['t']), divided('t')],
    [300, 300],
    { ...hundredth, zero: tensor('int64', [0], []) },
  ],
};

for (const [name, [nodes, data, initializers]] of Object.entries(models)) {
  test(`${name}: as ONNX Runtime has it`, async () => {
    const { ours, theirs } = await both(nodes, data, initializers);
    assert.ok(theirs.every(Number.isFinite), `${theirs}`);
    near(ours, theirs, 2 * unit);
  });
}

test('RMS norms are right, not only equal', async () => {
  const x = numbersOf(float16Of(outlier(795)));
  const size = Math.sqrt(x.reduce((sum, each) => sum + each * each, 0) / x.length);
  const { ours } = await both(rms, outlier(795), zero);
  near(
    ours,
    x.map((each) => each / size),
    unit,
  );
});

test('a cast to float32 reads the unrounded value, comparisons too', async () => {
  const cast = await both(
    [...squares, node('Cast', ['s'], ['y'], { to: 1 })],
    [300, 2],
    {},
    'float32',
  );
  assert.deepEqual(cast.ours, [90000, 4]);
  assert.deepEqual(cast.theirs, [90000, 4]);
});

test('a cast to float16 rounds, and so does an output', async () => {
  const f = tl.compile({ x: { shape: [2], dtype: 'float32' } }, ({ x }) => {
    const rounded = x.mul(x).cast('float16');
    return {
      y: rounded.mul(tl.tensor([0.01], [1], 'float16')).cast('float32'),
      z: x.mul(x).cast('float16'),
    };
  });
  const { y, z } = f.run({ x: tl.tensor([700, 3]) });
  near([...y.dataSync()], [Infinity, 9 * numbersOf(float16Of([0.01]))[0]], 1e-6);
  assert.deepEqual([...z.cast('float32').dataSync()], [Infinity, 9]);
  f.dispose();
});

test('loop-carried values are not rounded', async () => {
  const body = graph({
    nodes: [
      node('Identity', ['go'], ['on']),
      node('Mul', ['h', 'h'], ['square']),
      node('Mul', ['square', 'tiny'], ['next']),
      node('Mul', ['next', 'large'], ['seen']),
    ],
    inputs: [value('i', 'int64', []), value('go', 'bool', []), value('h', 'float16', [2])],
    outputs: [
      value('on', 'bool', []),
      value('next', 'float16', [2]),
      value('seen', 'float16', [2]),
    ],
  });
  const nodes = [
    node('Mul', ['x', 'x'], ['s']),
    node('Loop', ['count', '', 's'], ['last', 'all'], { body }),
    node('Mul', ['all', 'tiny'], ['y']),
  ];
  const net = await tl.loadModel(
    model({
      nodes,
      initializers: {
        count: tensor('int64', [3], []),
        tiny: constant(2 ** -14),
        large: constant(1024),
      },
      inputs: [value('x', 'float16', [2])],
      outputs: [value('y', 'float16')],
    }),
  );
  const { y } = await net.run({ x: tl.tensor([512, 256], [2], 'float16') });
  const expected = [];
  let h = [512 ** 2, 256 ** 2];
  for (let step = 0; step < 3; step++) {
    h = h.map((each) => each * each * 2 ** -14);
    expected.push(...h.map((each) => each * 2 ** -4));
  }
  near(
    [...y.cast('float32').dataSync()],
    expected.map((each) => (each > 65504 ? Infinity : each)),
    unit,
  );
  net.dispose();
});

for (const dtype of ['float16', 'bfloat16']) {
  test(`${dtype} in functions and tensors that are pending`, () => {
    const data = Array.from({ length: 40 }, (_, at) => 1 + at / 64);
    const sum = (x) => {
      let y = x;
      for (let k = 0; k < 30; k++) y = y.add(x.mul(x));
      return y;
    };
    const x = tl.tensor(data, [40], dtype);
    const wide = x.cast('float32');
    const expected = [...sum(wide).cast(dtype).cast('float32').dataSync()];
    const f = tl.compile({ x: { shape: [40], dtype } }, ({ x: y }) => ({ y: sum(y) }));
    near(
      [...f.run({ x }).y.cast('float32').dataSync()],
      expected,
      dtype === 'float16' ? 2 ** -10 : 2 ** -7,
    );
    near([...sum(x).cast('float32').dataSync()], [...sum(wide).dataSync()], 1e-6);
    f.dispose();
  });
}

test('a tensor that was read is rounded', () => {
  const x = tl.tensor([300], [1], 'float16');
  const tenth = tl.tensor([0.1], [1], 'float16');
  const square = x.mul(x);
  near(
    [...square.mul(tenth).cast('float32').dataSync()],
    [90000 * numbersOf(float16Of([0.1]))[0]],
    1e-6,
  );
  const materialized = x.mul(x);
  assert.deepEqual([...materialized.cast('float32').dataSync()], [90000]);
  assert.deepEqual(numbersOf(materialized.dataSync()), [Infinity]);
  assert.deepEqual([...materialized.mul(tenth).cast('float32').dataSync()], [Infinity]);
});

test('gradients are not rounded between', () => {
  const f = tl.compile({ x: { shape: [2], dtype: 'float16' } }, ({ x }, g) => {
    const y = x.mul(x).mul(x).cast('float32').mean();
    return { d: g.grad(y, [x])[0] };
  });
  const { d } = f.run({ x: tl.tensor([2 ** -6, 100], [2], 'float16') });
  near([...d.cast('float32').dataSync()], [1.5 * 2 ** -12, 15000], unit);
  f.dispose();
});
