// Traced functions: results of operations, errors at the call, variables, gradients, and no leaks in the core.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { tables } from 'tensorlathe/tables';
import { largestDifference, throws } from '../../lib.mjs';

/** The result of a compiled function of constants. */
const result = (build) => tl.compile({}, (_, g) => ({ y: build(g) })).run({}).y;
const grid = [
  [1, 2, 3],
  [4, 5, 6],
];

test('long chains of operations and shapes with many axes do not overflow the stack', () => {
  const count = 16000;
  const { y, d } = tl
    .compile({ x: [3] }, ({ x }, g) => {
      let sum = x;
      for (let i = 0; i < count; i++) sum = sum.add(1);
      const [d] = g.grad(sum.square().sum(), [x]);
      return { y: sum, d };
    })
    .run({ x: [1, 2, 3] });
  assert.deepEqual([...y.dataSync()], [count + 1, count + 2, count + 3]);
  assert.deepEqual([...d.dataSync()], [2 * count + 2, 2 * count + 4, 2 * count + 6]);
  const axes = Array(5000).fill(1);
  throws(
    () => tl.compile({ x: [1] }, ({ x }) => ({ y: x.reshape(axes).add(1) })),
    /reshape: no more than 32 axes are supported, got 5000/,
  );
});

test('a dense layer is one call', () => {
  const w = Float32Array.from({ length: 6 }, (_, i) => i - 2);
  const f = tl.compile({ x: [1, 2] }, ({ x }, g) => ({
    y: x
      .matMul(g.variable('w', w, [2, 3]))
      .add(1)
      .relu(),
  }));
  const { y } = f.run({ x: new Float32Array([2, 3]) });
  assert.deepEqual(y.shape, [1, 3]);
  assert.deepEqual([...y.dataSync()], [0, 5, 10]);
  f.setVariable('w', new Float32Array(6));
  assert.deepEqual([...f.run({ x: [[5, 7]] }).y.dataSync()], [1, 1, 1]);
  assert.deepEqual(f.variable('w').shape, [2, 3]);
  const { moduleBytes, memoryBytes, compileMs } = f.stats();
  assert.ok(moduleBytes > 0 && memoryBytes > 0 && compileMs > 0);
});

const cases = {
  matMul: [
    (g) => g.matMul(grid, grid, false, true),
    [
      [14, 32],
      [32, 77],
    ],
  ],
  sum: [(g) => g.constant(grid).sum(), 21],
  'sum of an axis': [(g) => g.constant(grid).sum(1, true), [[6], [15]]],
  mean: [(g) => g.constant(grid).mean(0), [2.5, 3.5, 4.5]],
  prod: [(g) => g.constant(grid).prod(-1), [6, 120]],
  'max and min': [
    (g) =>
      g
        .constant(grid)
        .max([0])
        .sub(g.constant(grid).min([0])),
    [3, 3, 3],
  ],
  argMax: [
    (g) =>
      g
        .constant([
          [1, 9, 3],
          [4, 5, 6],
        ])
        .argMax(1),
    [1, 2],
  ],
  argMin: [
    (g) =>
      g
        .constant([
          [1, 9, 3],
          [4, 0, 6],
        ])
        .argMin(),
    [0, 1, 0],
  ],
  all: [(g) => g.constant(grid).greater(1).all(1), [0, 1]],
  transpose: [
    (g) => g.constant(grid).transpose(),
    [
      [1, 4],
      [2, 5],
      [3, 6],
    ],
  ],
  'transpose by order': [
    (g) => g.constant([grid]).transpose([1, 0, 2]),
    [[[1, 2, 3]], [[4, 5, 6]]],
  ],
  reshape: [
    (g) => g.constant(grid).reshape([3, -1]),
    [
      [1, 2],
      [3, 4],
      [5, 6],
    ],
  ],
  squeeze: [(g) => g.constant([grid]).squeeze(), grid],
  expandDims: [(g) => g.constant([1, 2]).expandDims(1), [[1], [2]]],
  tile: [
    (g) => g.constant([[1, 2]]).tile([2, 2]),
    [
      [1, 2, 1, 2],
      [1, 2, 1, 2],
    ],
  ],
  slice: [
    (g) => g.constant(grid).slice([0, 1], [-1, 2]),
    [
      [2, 3],
      [5, 6],
    ],
  ],
  reverse: [
    (g) => g.constant(grid).reverse(1),
    [
      [3, 2, 1],
      [6, 5, 4],
    ],
  ],
  pad: [(g) => g.constant([1, 2]).pad([[1, 2]], 7), [7, 1, 2, 7, 7]],
  concat: [
    (g) => g.constant(grid).concat([[[7], [8]]], 1),
    [
      [1, 2, 3, 7],
      [4, 5, 6, 8],
    ],
  ],
  stack: [
    (g) =>
      g.stack(
        [
          [1, 2],
          [3, 4],
        ],
        1,
      ),
    [
      [1, 3],
      [2, 4],
    ],
  ],
  where: [
    (g) => g.constant(grid).where(g.less(grid, 3), -1),
    [
      [1, 2, -1],
      [-1, -1, -1],
    ],
  ],
  'where as a function': [(g) => g.where(g.less([1, 5], 3), 1, 0), [1, 0]],
  clipByValue: [
    (g) => g.constant(grid).clipByValue(2, 4),
    [
      [2, 2, 3],
      [4, 4, 4],
    ],
  ],
  oneHot: [
    (g) => g.oneHot(tl.tensor([2, 0], [2], 'int32'), 3),
    [
      [0, 0, 1],
      [1, 0, 0],
    ],
  ],
  cast: [(g) => g.constant([1.9, -1.9]).cast('int32'), [1, -1]],
  round: [(g) => g.round([0.5, 1.5, 2.4]), [0, 2, 2]],
  'integers with a number': [(g) => g.constant(new Int32Array([3, 4])).mul(2), [6, 8]],
  squaredDifference: [(g) => g.squaredDifference([1, 2], 4), [9, 4]],
};
for (const [name, [build, expected]] of Object.entries(cases)) {
  test(`operation ${name}`, () => assert.deepEqual(result(build).arraySync(), expected));
}

test('smooth operations', () => {
  const near = (build, expected) =>
    assert.ok(largestDifference(result(build).dataSync(), Float32Array.from(expected)) < 1e-6);
  const sum = Math.exp(1) + Math.exp(2);
  near((g) => g.constant([1, 2]).softmax(), [Math.exp(1) / sum, Math.exp(2) / sum]);
  near((g) => g.constant([1, 2]).logSoftmax(), [1 - Math.log(sum), 2 - Math.log(sum)]);
  near((g) => g.logSumExp([1, 2]), [Math.log(sum)]);
  near((g) => g.rsqrt([4]), [0.5]);
  near((g) => g.softplus([0, 100]), [Math.log(2), 100]);
  near((g) => g.erf([-9, 0.5]), [-1, 0.5204999]);
  near((g) => g.gelu([-1, 1]), [-0.15865525, 0.8413447]);
  near((g) => g.gelu([-1, 1], true), [-0.158808, 0.841192]);
  near((g) => g.leakyRelu([-1, 1]), [-0.2, 1]);
});

test('indices and cumulative operations', () => {
  const { rows, sums, products } = tl
    .compile({}, (_, g) => ({
      rows: g.gather(grid, new Int32Array([1, 0, 1])),
      sums: g.constant(grid).cumsum(1),
      products: g.cumprod([2, 3, 4], 0, true, true),
    }))
    .run({});
  assert.deepEqual([...rows.dataSync()], [4, 5, 6, 1, 2, 3, 4, 5, 6]);
  assert.deepEqual([...sums.dataSync()], [1, 3, 6, 4, 9, 15]);
  assert.deepEqual([...products.dataSync()], [12, 4, 1]);
});

test('sorting', () => {
  const numbers = [
    [3, NaN, 7, 3],
    [-Infinity, -1, NaN, NaN],
  ];
  const { values, indices, sorted, order } = tl
    .compile({}, (_, g) => {
      const top = g.constant(numbers).topk(3);
      return { ...top, sorted: g.sort(numbers), order: g.argsort([2, 0, 2, 1], 0, true) };
    })
    .run({});
  assert.deepEqual(values.arraySync(), [
    [7, 3, 3],
    [-1, -Infinity, NaN],
  ]);
  assert.deepEqual(indices.arraySync(), [
    [2, 0, 3],
    [1, 0, 2],
  ]);
  assert.deepEqual(sorted.arraySync(), [
    [3, 3, 7, NaN],
    [-Infinity, -1, NaN, NaN],
  ]);
  assert.deepEqual(order.arraySync(), [0, 2, 3, 1]);
});

test('every operation of the tables is a method', () => {
  const { operations } = tables;
  assert.ok(operations.length > 60);
  for (const { name } of operations) {
    assert.equal(typeof tl.Trace.prototype[name], 'function', name);
    assert.equal(typeof tl.TracedTensor.prototype[name], 'function', name);
  }
});

test('a training step in one function', () => {
  const f = tl.compile({ x: [8, 2], y: [8, 1] }, ({ x, y }, g) => {
    const w = g.variable('w', [2, 1]);
    const b = g.variable('b', 0);
    const loss = x.matMul(w).add(b).squaredDifference(y).mean();
    const [dw, db] = g.grad(loss, [w, b]);
    g.assign(w, w.sub(dw.mul(0.1)));
    g.assign(b, b.sub(db.mul(0.1)));
    return { loss };
  });
  const x = Float32Array.from({ length: 16 }, (_, i) => Math.sin(7 * i));
  const y = Float32Array.from({ length: 8 }, (_, i) => 3 * x[2 * i] - 2 * x[2 * i + 1] + 0.5);
  f.input('x').set(x);
  f.input('y').set(y);
  for (let step = 0; step < 500; ++step) f.call();
  assert.ok(f.output('loss')[0] < 1e-6);
  assert.ok(largestDifference(f.variable('w').dataSync(), Float32Array.of(3, -2)) < 1e-2);
});

test('values of bool inputs and variables other than 0 are true', async () => {
  const f = tl.compile({ c: { shape: [6], dtype: 'bool' } }, ({ c }, g) => {
    const all = g.variable('all', tl.tensor(Array(6).fill(true)));
    return { a: g.where(c, 1, 2), b: c.logicalAnd(all), sum: g.where(c, 1, 0).sum() };
  });
  const bytes = Uint8Array.of(255, 0, 1, 2, 128, 0);
  for (const c of [bytes, Float32Array.of(0.5, 0, -1, 2, 0.1, 0)]) {
    const { a, b, sum } = f.run({ c });
    assert.deepEqual([...a.dataSync()], [1, 2, 1, 1, 1, 2]);
    assert.deepEqual([...b.dataSync()], [1, 0, 1, 1, 1, 0]);
    assert.equal(sum.dataSync()[0], 4);
    assert.deepEqual([...f.input('c')], [1, 0, 1, 1, 1, 0]);
  }
  f.setVariable('all', bytes);
  assert.deepEqual([...f.variable('all').dataSync()], [1, 0, 1, 1, 1, 0]);
  assert.deepEqual([...(await f.runAsync({ c: bytes })).b.dataSync()], [1, 0, 1, 1, 1, 0]);
  f.dispose();
});

test('errors are thrown by the invalid call, and tracing can continue', () => {
  const seen = tl.compile({ x: [2, 3] }, ({ x }, g) => {
    throws(() => x.matMul([[1, 2]]), /^matMul: .*\[2,3\] x \[1,2\]/);
    throws(
      () => x.add([1, 2]),
      'add: shapes [2,3] [2] do not broadcast (3 against 2; sizes must be equal or 1)',
    );
    throws(() => x.reshape([4]), /^reshape: \[2,3\]/);
    throws(
      () => x.topk(4),
      'topkIndices: k is 4, the last axis of x [2,3] must have as many elements at least',
    );
    throws(() => x.sum(2), /^sum: reduce add: axes \[2\]/);
    throws(() => x.slice([0, 4]), /^slice: begin \[0,4\]/);
    throws(() => x.pad([[1, 1]]), /^pad: paddings \[1,1\] do not fit shape \[2,3\]/);
    throws(() => x.concat([[[1, 2]]]), /^concat: f32\[2,3\] and f32\[1,2\]/);
    throws(() => x.matMul(x, 1), 'matMul.transposeA: must be true or false, got 1');
    throws(() => x.matMul(), 'matMul: expects 2 tensors, got 1');
    throws(() => x.logicalNot(), /^logicalNot: .*does not support/);
    throws(() => x.cast('complex64'), /^cast: unknown dtype "complex64"; known: bool, int8, /);
    throws(() => x.relu(1), 'relu: expects 0 arguments after its tensors');
    throws(() => x.leakyRelu(NaN), 'leakyRelu.alpha: must be a finite number, got NaN');
    throws(() => x.leakyRelu('ä'), 'leakyRelu.alpha: must be a number, got "ä"');
    throws(() => x.sum({}), /^sum.axis: must be an integer or .*, got an object/);
    throws(() => x.sum(null, null), 'sum.keepDims: must be true or false, got null');
    throws(() => x.reshape([2, null]), /^reshape.shape: must be .*, got null/);
    const endless = [];
    endless.push(endless);
    throws(() => x.reshape(endless), /^reshape.shape: must be .*, got an array/);
    throws(() => x.conv2d(x, 1, 'full'), 'conv2d.pad: must be "valid" or "same", got "full"');
    throws(() => g.input('z', [null, 3]), /^input.shape: must be .*, got null/);
    throws(() => g.variable(7, [3]), 'variable.name: must be a string, got 7');
    throws(() => g.variable(undefined, [3]), 'variable.name: is missing');
    throws(
      () => g.input('z', [2], 'complex64'),
      /^input z: unknown dtype "complex64"; known: bool, int8, /,
    );
    throws(() => g.grad(x, [x]), /^gradients: the loss must be one float, not f32\[2,3\]/);
    throws(() => g.assign(g.variable('w', [2]), x), /^update: state "w" is f32\[2\]/);
    return { y: x.neg() };
  });
  assert.deepEqual([...seen.run({ x: grid }).y.dataSync()], [-1, -2, -3, -4, -5, -6]);
  throws(() => seen.run({}), /^run: input x is missing; inputs: x /);
  throws(() => seen.run({ x: grid, z: 1 }), /^run: there is no input z; inputs: x /);
  throws(() => seen.run({ x: [1] }), 'input x: expects shape [2,3], got [1]');
  throws(() => seen.variable('v'), /^there is no variable v/);
  let other;
  tl.compile({ x: [1] }, ({ x }) => ({ y: (other = x) }));
  throws(
    () => tl.compile({ x: [1] }, ({ x }) => ({ y: x.add(other) })),
    /belongs to another function/,
  );
});

test('a disposed function leaves no objects in the core and throws when called', () => {
  const before = tl.memory().liveObjects;
  const f = tl.compile({ x: [1] }, ({ x }) => ({ y: x.exp() }));
  assert.throws(() => tl.compile({ x: [1] }, () => assert.fail('stop')), /stop/);
  f.dispose();
  f.dispose();
  assert.equal(tl.memory().liveObjects, before);
  throws(() => f.run({ x: [1] }), 'this function has been disposed');
});
