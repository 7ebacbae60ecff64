// `jit`: functions that are traced once; `vmap`: functions of one example, vectorized over a batch.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tf from 'tensorlathe/tfjs';
import { closeTo, random } from '../lib.mjs';

function drawn(shape, seed = 3) {
  const next = random(seed);
  const count = shape.reduce((all, each) => all * each, 1);
  return tf.tensor(
    Float32Array.from({ length: count }, () => 2 * next() - 1),
    shape,
  );
}

function same(actual, expected, tolerance = 1e-5) {
  assert.deepEqual([actual.shape, actual.dtype], [expected.shape, expected.dtype]);
  closeTo([...actual.dataSync()], [...expected.dataSync()], tolerance);
}

/** Asserts a LatheError whose message contains the text. */
const throwsWith = (action, text) =>
  assert.throws(action, ({ name, message }) => name === 'LatheError' && message.includes(text));

/** A function that counts its calls. */
function countCalls(f) {
  const counting = (...args) => {
    counting.calls += 1;
    return f(...args);
  };
  counting.calls = 0;
  return counting;
}

test('called once for each structure of its arguments', () => {
  const f = countCalls((x, y) => x.mul(y).sum(0).tanh());
  const fast = tf.jit(f);
  for (const shape of [
    [3, 2],
    [3, 2],
    [4, 2],
    [3, 2],
    [4, 2],
  ]) {
    const [x, y] = [drawn(shape), drawn([2], 9)];
    same(fast(x, y), x.mul(y).sum(0).tanh());
  }
  assert.equal(f.calls, 2);
  assert.equal(fast.traces, 2);
  fast(drawn([3, 2]), tf.tensor1d([1, 2], 'int32').toFloat());
  assert.equal(f.calls, 2);
  const twice = tf.jit((x) => x.add(x));
  twice(tf.tensor1d([1, 2], 'int32'));
  same(twice(tf.tensor1d([1.5])), tf.tensor1d([3]));
  assert.equal(twice.traces, 2);
});

test('numbers are inputs, booleans and strings are static', () => {
  const f = countCalls((x, { rate, squares, how }) => {
    const y = squares ? x.square() : x;
    return { [how]: [y.mul(rate), y.add(rate)] };
  });
  const fast = tf.jit(f);
  const x = drawn([3]);
  for (const rate of [0.5, 2, -1, NaN]) {
    const { out } = fast(x, { rate, squares: false, how: 'out' });
    closeTo(
      [...out[0].dataSync()].map((v) => v || 0),
      [...x.mul(rate).dataSync()].map((v) => v || 0),
    );
  }
  assert.equal(f.calls, 1);
  same(fast(x, { rate: 3, squares: true, how: 'out' }).out[0], x.square().mul(3));
  same(fast(x, { rate: 3, squares: false, how: 'other' }).other[1], x.add(3));
  assert.equal(f.calls, 3);
});

test('typed arrays, nested arrays, and results that are arguments or constants', () => {
  const fast = tf.jit((all, [a, b]) => ({
    sum: tf.addN(all),
    first: all[0],
    alias: all[0],
    constant: tf.range(0, 3),
    list: [a.add(b), a.add(b)],
  }));
  for (const by of [1, 2]) {
    const x = tf.tensor1d([by, 2, 3]);
    const actual = fast([x, Float32Array.of(1, 1, by)], [by, 10]);
    same(actual.sum, tf.tensor1d([by + 1, 3, 3 + by]));
    same(actual.first, x);
    actual.first.dispose();
    same(actual.alias, x);
    same(actual.constant, tf.tensor1d([0, 1, 2]));
    same(actual.list[0], tf.scalar(by + 10));
    actual.list[0].dispose();
    same(actual.list[1], tf.scalar(by + 10));
    assert.equal(x.isDisposed, false);
  }
});

test('captured variables are read at each call, captured tensors are those of the first call', () => {
  const w = tf.variable(tf.tensor1d([1, 2]));
  let c = tf.tensor1d([10, 20]).mul(2);
  const fast = tf.jit((x) => x.mul(w).add(c));
  same(fast(tf.ones([2])), tf.tensor1d([21, 42]));
  w.assign(tf.tensor1d([5, 6]));
  c.dispose();
  c = tf.zeros([2]);
  same(fast(tf.ones([2])), tf.tensor1d([25, 46]));
  w.assign(w.add(1));
  same(fast(tf.ones([2])), tf.tensor1d([26, 47]));
  w.dispose();
});

const network = ([w1, b1, w2], x) => x.matMul(w1).add(b1).tanh().matMul(w2).mean();
const weights = () => [drawn([4, 3], 5), drawn([3], 6), drawn([3, 2], 7)];

test('gradients pass through it without another call of the function', () => {
  const f = countCalls((a, b, c, x) => network([a, b, c], x));
  const fast = tf.jit(f);
  for (const seed of [1, 2, 3]) {
    const all = [...weights(), drawn([5, 4], seed)];
    const expected = tf.grads((a, b, c, x) => network([a, b, c], x))(all);
    tf.grads(fast)(all).forEach((each, at) => same(each, expected[at]));
    const { value, grads } = tf.valueAndGrads((...xs) => fast(...xs).mul(2))(all);
    same(value, network(all, all[3]).mul(2));
    grads.forEach((each, at) => same(each, expected[at].mul(2)));
  }
  assert.equal(f.calls, 1);
});

test('weights of layers and variables that it makes are read at each call', () => {
  const x = tf.ones([1, 2]);
  const layer = tf.layers.dense({ units: 1, kernelInitializer: 'ones' });
  let bias;
  const f = tf.jit((y) => {
    bias ??= tf.variable(tf.tensor1d([5]));
    return layer.apply(y).add(bias);
  });
  same(f(x), tf.tensor2d([[7]]));
  layer.setWeights([tf.fill([2, 1], 3), tf.zeros([1])]);
  same(f(x), layer.apply(x).add(5));
  const captured = tf.ones([2]);
  const twice = tf.jit((y) => tf.tidy(() => y.add(captured).add(tf.variable(captured).mul(1))));
  same(twice(x), tf.fill([1, 2], 3));
  same(twice(x), tf.fill([1, 2], 3));
  const norm = tf.layers.batchNormalization();
  assert.throws(
    () => tf.jit((y) => norm.apply(y, { training: true }))(x),
    /the function assigns the variable batch_norm\S*moving_mean/,
  );
  same(norm.getWeights()[2], tf.zeros([2]));
});

test('gradients by variables, by numbers, second ones, of the same tensor twice', () => {
  const w = tf.variable(tf.tensor1d([1, 2, 3]));
  const loss = tf.jit((x) => x.mul(w).square().sum());
  for (const x of [drawn([3]), drawn([3], 8)]) {
    const { grads } = tf.variableGrads(() => loss(x));
    same(grads[w.name], x.square().mul(w).mul(2));
    w.assign(w.mul(2));
  }
  w.dispose();
  const cube = tf.jit((x) => x.mul(x).mul(x).sum());
  for (const x of [drawn([3]), drawn([3], 8)]) {
    same(tf.grad(tf.grad(cube))(x), x.mul(6));
    same(tf.grad((y) => tf.grad(cube)(y).mul(y).sum())(x), x.square().mul(9));
  }
  const product = tf.jit((x, y) => x.mul(y.square()).sum());
  for (const x of [drawn([3]), drawn([3], 8)]) {
    same(tf.grad((each) => product(each, each))(x), x.square().mul(3));
  }
  const inner = tf.jit((x, y) => tf.grad((each) => each.mul(y).square().sum())(x));
  for (const x of [drawn([3]), drawn([3], 8)]) {
    same(inner(x, x), x.square().mul(x).mul(2));
    same(tf.grad((each) => inner(each, each).sum())(x), x.square().mul(6));
  }
});

test('gradients within it, through customGrad too', () => {
  const twice = tf.customGrad((x, save) => {
    save([x]);
    return { value: x.mul(2), gradFunc: (dy, [x]) => dy.mul(x).mul(100) };
  });
  const f = countCalls((x) => twice(x.mul(3)).sum());
  const slope = tf.jit(tf.grad(f));
  const fast = tf.jit((x) => twice(x.mul(3)).sum());
  const before = tf.memory().numTensors;
  for (const seed of [1, 2, 3]) {
    tf.tidy(() => {
      const x = drawn([4], seed);
      same(slope(x), x.mul(900), 1e-4);
      same(tf.grad(fast)(x), x.mul(900), 1e-4);
      same(tf.grad((y) => tf.grad(fast)(y).mul(y).sum())(x), x.mul(1800), 1e-4);
      same(fast(x), x.mul(6).sum());
    });
  }
  assert.equal(f.calls, 1);
  assert.equal(tf.memory().numTensors, before);
});

test('within another one, within tl.compile, within deep chains', () => {
  const inner = tf.jit((x, n) => x.mul(n).add(1));
  const outer = tf.jit((x) => inner(inner(x, 2), 3).sum());
  for (const seed of [1, 2]) same(outer(drawn([3], seed)), drawn([3], seed).mul(6).add(4).sum());
  const compiled = tf.compile({ x: [3] }, ({ x }) => ({ y: inner(x, 5) }));
  same(compiled.run({ x: [1, 2, 3] }).y, tf.tensor1d([6, 11, 16]));
  const chain = (x) => {
    for (let at = 0; at < 700; at++) x = at % 2 ? x.add(1) : x.sub(1).tanh();
    return x;
  };
  const long = tf.jit(chain);
  same(long(drawn([3])), chain(drawn([3])));
  const slope = (f) => tf.grad((x) => f(x).sum())(drawn([3]));
  same(slope(long), slope(chain));
  let x = drawn([2]);
  for (let at = 0; at < 400; at++)
    x = tf
      .grad(outer)(x.slice([0], [2]).concat(tf.ones([1])))
      .slice([0], [2]);
  same(x, tf.tensor1d([6, 6]));
});

test('a training loop: one function call, the same weights', () => {
  const labels = drawn([5, 2], 11);
  const loss = (all, x) => network(all, x).sub(labels.mean()).square();
  const f = countCalls((all, x, rate) => {
    const grads = tf.grads((...ws) => loss(ws, x))(all);
    return all.map((each, at) => each.sub(grads[at].mul(rate)));
  });
  const step = tf.jit(f);
  let [fast, slow] = [weights(), weights()];
  for (let at = 0; at < 20; at++) {
    const [x, rate] = [drawn([5, 4], at + 1), 0.1 / (at + 1)];
    fast = step(fast, x, rate);
    slow = tf.tidy(() => {
      const grads = tf.grads((...ws) => loss(ws, x))(slow);
      return slow.map((each, of) => each.sub(grads[of].mul(rate)));
    });
  }
  fast.forEach((each, at) => same(each, slow[at], 1e-4));
  assert.equal(f.calls, 1);
});

test('more inputs and results than one module has', () => {
  const many = tf.jit((xs) => xs.map((x, at) => x.mul(at)));
  const xs = Array.from({ length: 600 }, (_, at) => tf.scalar(at));
  for (const each of [1, 2]) {
    const actual = many(xs);
    assert.equal(actual[20].dataSync()[0], 400 * (each / each));
    assert.equal(actual[599].dataSync()[0], 599 * 599);
  }
});

test('tidy disposes of its results; nothing else leaks; dispose', () => {
  const fast = tf.jit((x) => [x.mul(2), x.add(tf.tensor1d([1, 2, 3]))]);
  const x = drawn([3]);
  const before = tf.memory().numTensors;
  const [a] = tf.tidy(() => fast(x));
  assert.equal(tf.memory().numTensors, before + 2);
  assert.equal(a.isDisposed, false);
  tf.tidy(() => {
    fast(x)[0].dataSync();
  });
  assert.equal(tf.memory().numTensors, before + 2);
  fast.dispose();
  throwsWith(() => fast(x), 'this function has been disposed');
  assert.equal(a.dataSync().length, 3);
});

test('the cache of structures is limited by the option', () => {
  const fast = tf.jit((x) => x.mul(2), { cacheSize: 2 });
  for (const n of [1, 2, 3, 1, 3]) same(fast(tf.ones([n])), tf.fill([n], 2));
  assert.equal(fast.traces, 4);
});

test('errors state the fix', () => {
  const x = drawn([3]);
  function reader(y) {
    return y.mul(y.dataSync()[0]);
  }
  throwsWith(() => tf.jit(reader)(x), 'jit(reader): the function reads numbers');
  throwsWith(
    () => tf.jit((y) => tf.linalg.inv(y.reshape([1, 3]).mul(tf.ones([3, 1]))))(x),
    'reads numbers',
  );
  throwsWith(() => tf.jit((y) => y.add(1).print())(x), 'reads numbers');
  throwsWith(
    () => tf.jit(() => 3)(x),
    'the function must return a tensor, or arrays and objects of tensors; got 3',
  );
  throwsWith(
    () => tf.jit((y) => ({ a: [y, undefined] }))(x),
    'the function at a.1 must return a tensor',
  );
  throwsWith(() => tf.jit(async (y) => y)(x), 'got a promise');
  throwsWith(() => tf.jit(3), 'must be a function');
  throwsWith(() => tf.jit((y) => y, { nam: 'f' }), 'name');
  throwsWith(() => tf.jit((y) => y)(new Map()), 'argument 0 is of the type Map');
  throwsWith(
    () => tf.jit((y) => y)({ a: tf.complex([1], [2]) }),
    'argument 0.a is a tensor of complex64',
  );
  const loop = [];
  loop.push(loop);
  throwsWith(() => tf.jit((y) => y)(loop), 'contains itself');
  const w = tf.variable(tf.tensor1d([1, 2, 3]), true, 'weight');
  throwsWith(() => tf.jit((y) => (w.assign(y), y))(x), 'the function assigns the variable weight');
  same(w, tf.tensor1d([1, 2, 3]));
  w.dispose();
  throwsWith(() => tf.jit((y) => y.matMul(tf.ones([2, 2])))(x), 'matMul');
  // It is usable after an error.
  let isBad = true;
  const later = tf.jit((y) => (isBad ? undefined : y.mul(2)));
  throwsWith(() => later(x), 'must return');
  isBad = false;
  same(later(x), x.mul(2));
});

// --- vmap ---

/** The expected result of `vmap`: one call for each example. */
function byHand(f, axes, ...args) {
  const count = args.find((_, at) => axes[at] !== null).shape[axes.find((each) => each !== null)];
  const one = (x, axis, at) => (axis === null ? x : tf.gather(x, at, axis));
  const rows = Array.from({ length: count }, (_, at) =>
    f(...args.map((x, of) => one(x, axes[of], at))),
  );
  return Array.isArray(rows[0])
    ? rows[0].map((_, at) => tf.stack(rows.map((each) => each[at])))
    : tf.stack(rows);
}

function mapped(f, axes, ...args) {
  const [actual, expected] = [tf.vmap(f, axes)(...args), byHand(f, axes, ...args)];
  const fast = tf.jit(tf.vmap(f, axes));
  for (const found of [actual, fast(...args), fast(...args)]) {
    if (!Array.isArray(expected)) same(found, expected, 1e-4);
    else expected.forEach((each, at) => same(found[at], each, 1e-4));
  }
}

const indices = () =>
  tf.tensor2d(
    [
      [0, 2],
      [1, 1],
      [2, 0],
    ],
    [3, 2],
    'int32',
  );
const table = {
  'elementwise, of other ranks': [(x, y) => x.mul(y).add(2).relu(), [0, null], [3, 4], [2, 4]],
  'elementwise, ranks of both': [(x, y) => x.sub(y).exp(), [0, 0], [3, 2, 4], [3, 4]],
  'numbers and choices': [(x) => tf.where(x.greater(0), x, tf.scalar(2)), [0], [3, 4]],
  types: [(x) => x.mul(5).toInt().mod(tf.scalar(3, 'int32')), [0], [3, 4]],
  products: [(x, y) => tf.matMul(x, y, false, true), [0, null], [3, 2, 4], [5, 4]],
  'products of both': [(x, y) => tf.matMul(x, y), [0, 0], [3, 2, 4], [3, 4, 5]],
  'products with batches': [(x, y) => tf.matMul(x, y), [null, 0], [2, 3, 4], [3, 4, 5]],
  'products of vectors': [(x, y) => tf.dot(x, y), [0, 0], [3, 4], [3, 4]],
  sums: [(x) => [x.sum(), x.sum(0), x.sum(-1, true), x.mean([0, 1])], [0], [3, 4, 2]],
  'sums of nothing': [(x) => [x.sum(), x.square().sum()], [0], [3]],
  'other axes': [(x) => x.max(0), [1], [4, 3, 2]],
  folds: [
    (x) => [x.max(), x.min(1), x.prod(0), x.logSumExp(-1), x.argMax(-1), x.argMin()],
    [0],
    [3, 4, 2],
  ],
  softmax: [(x) => [x.softmax(), x.logSoftmax()], [0], [3, 4]],
  shapes: [
    (x) => [
      x.reshape([8]),
      x.flatten(),
      x.expandDims(1),
      x.transpose(),
      x.reshape([1, 8, 1]).squeeze(),
    ],
    [0],
    [3, 4, 2],
  ],
  'transpose of three': [
    (x) => [x.transpose([2, 0, 1]), x.transpose([0, -1, 1].map((a) => (a + 3) % 3))],
    [0],
    [3, 4, 2, 5],
  ],
  broadcasting: [(x) => [x.broadcastTo([5, 4]), x.tile([2]), x.pad([[1, 2]], 7)], [0], [3, 4]],
  slices: [
    (x) => [x.slice([1, 0], [2, 1]), x.slice([1]), x.reverse(0), x.reverse()],
    [0],
    [3, 4, 2],
  ],
  joins: [
    (x, y) => [x.concat(y), tf.stack([x, y], 1), tf.concat([y, x.mul(2)], -1)],
    [0, null],
    [3, 4],
    [4],
  ],
  sorting: [
    (x) => [...tf.unstack(tf.topk(x, 2).values), tf.topk(x, 2).indices, x.cumsum(0, true)],
    [0],
    [3, 4],
  ],
  gathering: [
    (x) => [x.gather(tf.tensor1d([2, 0], 'int32')), x.gather(tf.scalar(1, 'int32'), 1)],
    [0],
    [3, 4, 2],
  ],
  convolution: [(x, w) => tf.conv2d(x, w, 1, 'same'), [0, null], [3, 2, 5, 5, 2], [3, 3, 2, 4]],
  'convolution of one': [
    (x, w) => tf.conv2d(x, w, 2, 'valid'),
    [0, null],
    [3, 5, 5, 2],
    [3, 3, 2, 4],
  ],
  'convolution by many': [
    (x, w) => tf.conv2d(x, w, 1, 'same'),
    [0, 0],
    [3, 5, 5, 2],
    [3, 3, 3, 2, 4],
  ],
  pooling: [(x) => [tf.maxPool(x, 2, 2, 'valid'), tf.avgPool(x, 3, 1, 'same')], [0], [3, 4, 4, 2]],
  images: [(x) => tf.image.resizeBilinear(x, [7, 3]), [0], [3, 4, 4, 2]],
  'normal layers': [
    (x) => tf.layerNorm?.(x) ?? x.sub(x.mean(-1, true)).div(x.square().mean(-1, true).sqrt()),
    [0],
    [3, 4],
  ],
  constants: [(x) => [tf.ones([2]), x.mul(tf.range(0, 4)), tf.eye(4).mul(x)], [0], [3, 4]],
  fourier: [(x) => tf.real(tf.spectral.rfft(x)), [0], [3, 8]],
  einsum: [(x, y) => tf.einsum('ij,jk->ki', x, y), [0, null], [3, 2, 4], [4, 5]],
  gradient: [tf.grad((x) => x.square().mul(x.sum()).sum()), [0], [3, 4]],
  'gradient by what all share': [
    (w, x) => tf.grad((each) => tf.matMul(x.expandDims(0), each).tanh().sum())(w),
    [null, 0],
    [4, 2],
    [3, 4],
  ],
  'gradients by both': [
    (w, x) => tf.grads((each, y) => tf.matMul(y.expandDims(0), each).tanh().sum())([w, x]),
    [null, 0],
    [4, 2],
    [3, 4],
  ],
  'second gradient': [
    tf.grad((x) =>
      tf
        .grad((y) => y.pow(tf.scalar(3)).sum())(x)
        .square()
        .sum(),
    ),
    [0],
    [3, 4],
  ],
  'gradient of the maximum': [tf.grad((x) => x.max()), [0], [3, 4]],
  'gradient of an image': [
    tf.grad((x) => tf.maxPool(x, 2, 2, 'valid').square().sum()),
    [0],
    [3, 4, 4, 2],
  ],
  'of a vmap': [
    (x, y) => tf.vmap((a, b) => a.mul(b).sum(), [0, null])(x, y),
    [0, null],
    [3, 4, 2],
    [2],
  ],
  'of a jit': [tf.jit((x) => x.square().sum()), [0], [3, 4]],
};

for (const [name, [f, axes, ...shapes]] of Object.entries(table)) {
  test(`vmap: ${name}`, () => mapped(f, axes, ...shapes.map((shape, at) => drawn(shape, at + 2))));
}

test('vmap: indices', () => {
  const rows = drawn([5, 4]);
  mapped((at, x) => x.gather(at), [0, null], indices(), rows);
  mapped((at, x) => x.gather(at, 1), [0, null], indices(), rows);
  mapped((at) => tf.oneHot(at, 3), [0], indices());
});

test('vmap: through customGrad, by all and by what all share', () => {
  const odd = tf.customGrad((x, w, save) => {
    save([x, w]);
    return {
      value: x.mul(w).sum(),
      gradFunc: (dy, [x, w]) => [dy.mul(w).mul(10), dy.mul(x).mul(100)],
    };
  });
  const [x, w] = [drawn([3, 4]), drawn([4], 8)];
  mapped((each) => tf.grad((y) => odd(y, w))(each), [0], x);
  mapped((each, v) => tf.grads(odd)([each, v]), [0, null], x, w);
  const all = (a, b) => tf.vmap(odd, [0, null])(a, b).sum();
  const [dx, dw] = tf.grads(all)([x, w]);
  same(dx, w.mul(10).broadcastTo([3, 4]));
  same(dw, x.mul(100).sum(0), 1e-4);
});

test('vmap: gradients of it, variables within, axes of results, numbers, nested arguments', () => {
  const x = drawn([3, 4]);
  same(
    tf.grad((y) =>
      tf
        .vmap((row) => row.square().sum())(y)
        .sum(),
    )(x),
    x.mul(2),
  );
  const w = tf.variable(drawn([4], 9));
  const { grads } = tf.variableGrads(() =>
    tf
      .vmap((row) => row.mul(w).sum())(x)
      .square()
      .sum(),
  );
  same(grads[w.name], x.mul(w).sum(1).mul(2).reshape([3, 1]).mul(x).sum(0), 1e-4);
  w.dispose();
  same(tf.vmap((row) => row.mul(2), 1, 1)(x), x.mul(2));
  same(tf.vmap((row) => row.mul(2), 0, -1)(x), x.transpose().mul(2));
  same(tf.vmap(({ rows: [row], by }) => ({ y: row.mul(by) }))({ rows: [x], by: 3 }).y, x.mul(3));
});

test('vmap: nothing leaks', () => {
  const x = drawn([50, 4]);
  const counts = tf.memory().numTensors;
  tf.tidy(
    () =>
      void tf
        .vmap(tf.grad((row) => row.mul(2).exp().sum()))(x)
        .dataSync(),
  );
  assert.equal(tf.memory().numTensors, counts);
});

test('vmap: errors', () => {
  const f = tf.vmap((x, y) => x.add(y));
  throwsWith(
    () => f(drawn([3, 2]), drawn([4, 2])),
    'has 4 examples along the axis 0, those before it have 3',
  );
  throwsWith(() => tf.vmap((x) => x, null)(drawn([3])), 'no argument has an axis of examples');
  throwsWith(() => tf.vmap((x) => x, 2)(drawn([3, 2])), 'has no axis 2 of examples');
  throwsWith(() => tf.vmap((x) => x, [0, 0])(drawn([3, 2])), 'inAxes has 2 axes for 1 arguments');
  throwsWith(
    () => tf.vmap((x) => x.mul(x.dataSync()[0]))(drawn([3, 2])),
    'vmap: the function reads numbers',
  );
  throwsWith(() => tf.vmap((x) => x)(tf.zeros([0, 2])), 'and there must be some');
});

test('layers in both', () => {
  const dense = tf.layers.dense({ units: 2, inputShape: [3], activation: 'tanh' });
  const x = drawn([5, 3]);
  const f = (each) => dense.apply(each).square();
  const expected = f(x);
  const fast = tf.jit(f);
  for (let at = 0; at < 2; at++) same(fast(x), expected);
  same(tf.grad((each) => fast(each).sum())(x), tf.grad((each) => f(each).sum())(x));
  const each = tf.vmap((row) => f(row.expandDims(0)))(x);
  same(each, expected.expandDims(1));
});
