// Elementwise functions, reductions, losses etc. compared with TensorFlow.js: values and gradients of random shapes; and
// optimizers, step by step.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe/tfjs';
import { engine } from '../../../../js/dist/eager/engine.js';
import { DeviceValue } from '../../../../js/dist/runtime/device_value.js';
import { closeTo, random } from '../eager/lib.mjs';

await tf.setBackend('cpu');
await tl.ready();

const next = random(7);
const size = () => 1 + Math.floor(next() * 9);
const shapeOf = (rank) => Array.from({ length: rank }, size);
const count = (shape) => shape.reduce((product, each) => product * each, 1);
/** Numbers from low to high, now and then a 0. */
const numbers = (shape, low = -3, high = 3) =>
  Array.from({ length: count(shape) }, () =>
    next() < 0.1 && low < 0 ? 0 : low + next() * (high - low),
  );

/** Asserts that a program has equal results on both libraries: shapes, dtypes and elements of all its tensors. */
function both(write) {
  const run = (lib) =>
    lib.tidy(() =>
      [write(lib)].flat().map((each) => [...each.shape, each.dtype, ...each.dataSync()]),
    );
  const [actual, expected] = [run(tl), run(tf)];
  actual.forEach((each, at) => {
    const rank = each.findIndex((part) => typeof part === 'string');
    assert.deepEqual(each.slice(0, rank + 1), expected[at].slice(0, rank + 1), 'shape and dtype');
    each.slice(rank + 1).forEach((value, position) => {
      const due = expected[at][rank + 1 + position];
      if (!Object.is(value, due) && !(value === due)) closeTo([value], [due], 2e-4);
    });
  });
}

/** Values and gradient of a function of one tensor. */
function agrees(f, shape, low, high) {
  const data = numbers(shape, low, high);
  both((lib) => {
    const x = lib.tensor(data, shape);
    return [f(lib, x), lib.grad((each) => f(lib, each))(x)];
  });
}

const unary = {
  abs: [0.1, 3],
  acos: [-0.9, 0.9],
  acosh: [1.1, 4],
  asin: [-0.9, 0.9],
  asinh: [-3, 3],
  atan: [-3, 3],
  atanh: [-0.9, 0.9],
  ceil: [-3, 3],
  cos: [-3, 3],
  cosh: [-3, 3],
  elu: [-3, 3],
  erf: [-3, 3],
  exp: [-3, 3],
  expm1: [-3, 3],
  floor: [-3, 3],
  leakyRelu: [-3, 3],
  log: [0.1, 3],
  log1p: [-0.9, 3],
  logSigmoid: [-3, 3],
  neg: [-3, 3],
  reciprocal: [0.2, 3],
  relu: [-3, 3],
  relu6: [-3, 9],
  round: [-3, 3],
  rsqrt: [0.2, 3],
  selu: [-3, 3],
  sigmoid: [-3, 3],
  sign: [-3, 3],
  sin: [-3, 3],
  sinh: [-3, 3],
  softplus: [-3, 3],
  sqrt: [0.1, 3],
  square: [-3, 3],
  step: [-3, 3],
  tan: [-1, 1],
  tanh: [-3, 3],
};

test('functions of one tensor have the values and gradients of TensorFlow.js', () => {
  for (const [name, [low, high]] of Object.entries(unary)) {
    agrees((lib, x) => lib[name](x), shapeOf(1 + Math.floor(next() * 3)), low, high);
  }
  agrees((lib, x) => lib.clipByValue(x, -1, 1.5), [7, 3]);
});

test('functions of integers equal TensorFlow.js', () => {
  const shape = shapeOf(2);
  const data = numbers(shape, -5, 6).map(Math.trunc);
  for (const name of [
    'abs',
    'neg',
    'relu',
    'relu6',
    'sign',
    'square',
    'round',
    'step',
    'asinh',
    'isNaN',
    'leakyRelu',
  ]) {
    both((lib) => lib[name](lib.tensor(data, shape, 'int32')));
  }
});

const binary = [
  'add',
  'sub',
  'mul',
  'div',
  'mod',
  'pow',
  'maximum',
  'minimum',
  'squaredDifference',
  'atan2',
  'prelu',
];

test('functions of two tensors broadcast and differentiate as in TensorFlow.js', () => {
  for (const name of binary) {
    const [rows, columns] = shapeOf(2);
    // TensorFlow.js has no gradients of these where shapes are broadcast.
    const small = /^(maximum|minimum|squaredDifference)$/.test(name) ? [rows, columns] : [columns];
    const [a, b] = [numbers([rows, columns], 0.5, 3), numbers(small, 0.5, 3)];
    both((lib) => {
      const [x, y] = [lib.tensor(a, [rows, columns]), lib.tensor(b, small)];
      return [lib[name](x, y), ...lib.grads((p, q) => lib[name](p, q))([x, y])];
    });
  }
});

test('dtypes are promoted as in TensorFlow.js', () => {
  const shape = [3, 5];
  const [a, b] = [numbers(shape, -5, 6).map(Math.trunc), numbers(shape, 1, 4).map(Math.trunc)];
  for (const name of [
    'add',
    'mul',
    'div',
    'floorDiv',
    'mod',
    'maximum',
    'equal',
    'less',
    'notEqual',
    'greaterEqual',
  ]) {
    for (const [p, q] of [
      ['int32', 'int32'],
      ['int32', 'float32'],
      ['float32', 'int32'],
    ]) {
      both((lib) => lib[name](lib.tensor(a, shape, p), lib.tensor(b, shape, q)));
    }
    both((lib) => lib[name](lib.tensor(a, shape, 'int32'), 2));
  }
});

test('NaN propagates as in TensorFlow.js', () => {
  const data = Array.from({ length: 24 }, (_, at) =>
    at % 5 === 0 ? NaN : at % 7 === 0 ? 0 : 3 * Math.sin(at),
  );
  const of = (f) =>
    both((lib) => {
      const x = lib.tensor(data);
      return [f(lib, x), f(lib, lib.reverse(x)), f(lib, lib.tensor(data.slice(0, 3)))];
    });
  for (const name of [
    'relu',
    'relu6',
    'leakyRelu',
    'elu',
    'selu',
    'step',
    'sign',
    'abs',
    'max',
    'min',
  ])
    of((lib, x) => lib[name](x));
  of((lib, x) => lib.clipByValue(x, -1, 2));
  for (const name of ['maximum', 'minimum']) {
    of((lib, x) => lib[name](x, 0.5));
    of((lib, x) => lib[name](0.5, x));
    of((lib, x) => lib[name](x, NaN));
    of((lib, x) => lib[name](x, lib.reverse(x)));
    agrees((lib, x) => lib[name](x, NaN), [5]);
  }
  for (const name of ['argMax', 'argMin']) {
    of((lib, x) => lib[name](x));
    for (const axis of [0, 1]) both((lib) => lib[name](lib.tensor(data, [4, 6]), axis));
    both((lib) => lib[name](lib.tensor([NaN, Infinity, NaN])));
    both((lib) => lib[name](lib.tensor([-Infinity, NaN, Infinity])));
  }
  const image = (lib) => lib.tensor(data, [1, 4, 6, 1]);
  for (const [window, stride] of [
    [2, 1],
    [3, 2],
  ]) {
    const pool = (lib, x) => lib.maxPool(x, window, stride, 'same');
    both((lib) => [pool(lib, image(lib)), lib.grad((x) => pool(lib, x))(image(lib))]);
    both((lib) => lib.maxPoolWithArgmax(image(lib), window, stride, 'same').result);
  }
  both((lib) => lib.dilation2d(image(lib), lib.zeros([2, 2, 1]), 1, 'valid'));
  for (const f of [(lib, x) => lib.maximum(x, 1), (lib, x) => lib.clipByValue(x, -1, 1)])
    both((lib) => lib.grad((x) => f(lib, x))(lib.tensor(data)));
});

test('bounds of clipByValue are inputs of one module', () => {
  const x = tl.tensor([-3, 0, 3]);
  tl.clipByValue(x, -1, 1).dataSync();
  const compiled = engine.plans.modules.made;
  assert.deepEqual([...tl.clipByValue(x, -2, 2.5).dataSync()], [-2, 0, 2.5]);
  assert.equal(engine.plans.modules.made, compiled);
  x.dispose();
});

const reductions = ['sum', 'mean', 'prod', 'max', 'min', 'logSumExp', 'norm', 'euclideanNorm'];

test('reductions along any axes agree', () => {
  for (const name of reductions) {
    const shape = shapeOf(3);
    for (const axis of [0, 2, [0, 2]]) {
      const rest = name.endsWith('orm') ? [axis] : [axis, true];
      const f = (lib, x) =>
        name === 'norm' ? lib.norm(x, 'euclidean', ...rest) : lib[name](x, ...rest);
      agrees(f, shape, 0.5, 1.5);
    }
  }
  agrees((lib, x) => lib.cumsum(x, 1, true, true), shapeOf(2), 0.5, 1.5);
  both((lib) =>
    lib.cumprod(
      lib.tensor([
        [1, 2, 3],
        [4, 5, 6],
      ]),
      1,
      true,
    ),
  );
  for (const name of ['softmax', 'logSoftmax'])
    agrees(
      (lib, x) => lib[name](x),
      shapeOf(2).map((each) => each + 1),
    );
  both((lib) => [
    lib.argMax(
      lib.tensor([
        [1, 5, 5],
        [4, 0, 2],
      ]),
      1,
    ),
    lib.sum(lib.zeros([0, 3]), 0),
    lib.all(lib.tensor([true, false])),
  ]);
  both((lib) =>
    Object.values(
      lib.moments(
        lib.tensor([
          [1, 2],
          [3, 5],
        ]),
        0,
      ),
    ),
  );
});

test('ties share the gradient of max equally; in TensorFlow.js each has all of it', () => {
  const x = tl.tensor([
    [1, 3, 3],
    [2, 2, 2],
  ]);
  const gradient = tl.grad((each) => each.max(1))(x);
  closeTo([...gradient.dataSync()], [0, 0.5, 0.5, 1 / 3, 1 / 3, 1 / 3]);
});

test('losses agree with and without weights and in every reduction', () => {
  const shape = [5, 3];
  const [labels, predictions] = [numbers(shape, 0.01, 0.99), numbers(shape, 0.01, 0.99)];
  const weights = [0, 1, 2, 0.5, 1, 0, 1, 1, 3, 1, 1, 1, 0, 2, 1];
  for (const name of [
    'absoluteDifference',
    'hingeLoss',
    'huberLoss',
    'logLoss',
    'meanSquaredError',
    'sigmoidCrossEntropy',
  ]) {
    for (const by of [undefined, weights]) {
      both((lib) => {
        const weighting = by && lib.tensor(by, shape);
        const f = (p) => lib.losses[name](lib.tensor(labels, shape), p, weighting);
        const x = lib.tensor(predictions, shape);
        return [f(x), lib.grad(f)(x)];
      });
    }
  }
  both((lib) =>
    lib.losses.softmaxCrossEntropy(
      lib.tensor(labels, shape),
      lib.tensor(predictions, shape),
      undefined,
      0.1,
    ),
  );
});

test('indices, counts and classes agree', () => {
  both((lib) => [
    lib.oneHot(
      lib.tensor(
        [
          [0, 2],
          [5, -1],
        ],
        [2, 2],
        'int32',
      ),
      3,
    ),
    lib.bincount(lib.tensor([1, 1, 4], [3], 'int32'), lib.tensor([0.5, 2, 3]), 5),
    lib.denseBincount(
      lib.tensor(
        [
          [1, 1],
          [0, 2],
        ],
        [2, 2],
        'int32',
      ),
      [],
      3,
    ),
    lib.math.confusionMatrix(
      lib.tensor([0, 2, 1, 1], [4], 'int32'),
      lib.tensor([0, 1, 1, 1], [4], 'int32'),
      3,
    ),
    lib.eye(3, 5),
    lib.range(5, -3, -2),
    lib.linspace(1, 2, 7),
    lib.diag(lib.tensor([1, 2, 3])),
  ]);
});

test('random numbers are deterministic with a seed, and fit their distribution', () => {
  const draw = (seed) =>
    tl.tidy(() => [...tl.randomNormal([5000], 3, 2, 'float32', seed).dataSync()]);
  assert.deepEqual(draw(1), draw(1));
  assert.notDeepEqual(draw(1), draw(2));
  const mean = draw(4).reduce((sum, each) => sum + each) / 5000;
  assert.ok(Math.abs(mean - 3) < 0.15, `${mean}`);
  const counts = tl.tidy(() => tl.multinomial([0.1, 0.9], 2000, 3, true).sum().dataSync()[0]);
  assert.ok(counts > 1700 && counts < 1900, `${counts}`);
});

const optimizers = {
  sgd: [0.1],
  momentum: [0.1, 0.9, true],
  adagrad: [0.1],
  adadelta: [0.1],
  adam: [0.1],
  adamax: [0.1, 0.9, 0.99, 1e-7, 0.01],
  rmsprop: [0.1, 0.9, 0.5, 1e-7, true],
};

test('every optimizer makes the steps of TensorFlow.js, with one module for all of them', () => {
  for (const [name, args] of Object.entries(optimizers)) {
    const run = (lib) => {
      const optimizer = lib.train[name](...args);
      const [x, b] = [
        lib.variable(
          lib.tensor2d([
            [1, 2, 3],
            [4, 5, -6],
          ]),
        ),
        lib.variable(lib.tensor1d([0.5, -1, 2])),
      ];
      for (let step = 0; step < 5; step += 1)
        optimizer.minimize(() => x.mul(x).add(b.mul(b)).sum());
      return [...x.dataSync(), ...b.dataSync()];
    };
    const before = engine.plans.modules.made;
    const actual = run(tl);
    assert.ok(
      engine.plans.modules.made - before <= 2,
      `${name} compiled ${engine.plans.modules.made - before} modules`,
    );
    closeTo(actual, run(tf), 1e-4);
  }
});

test('steps over hundreds of variables are split', () => {
  const count = 600;
  const run = (lib) => {
    const all = Array.from({ length: count }, (_, at) => lib.variable(lib.scalar(1 + at / count)));
    const optimizer = lib.train.adam(0.01);
    const loss = () => lib.addN(all.map((each) => each.square()));
    const losses = [1, 2].map(() =>
      lib.tidy(() => optimizer.minimize(loss, true, all).dataSync()[0]),
    );
    const found = all.map((each) => each.dataSync()[0]);
    lib.dispose(all);
    return [...losses, ...found];
  };
  closeTo(run(tl), run(tf));
  const many = Array.from({ length: 1000 }, (_, at) => tl.scalar(at));
  const gradients = tl.grads((...xs) => tl.addN(xs).square())(many);
  closeTo(
    gradients.flatMap((each) => [...each.dataSync()]),
    many.map(() => 1000 * 999),
  );
});

test('a learning rate that changes each step recompiles nothing', () => {
  const x = tl.variable(tl.tensor1d([1, 2, 3, 4]));
  const optimizer = tl.train.adam(0.1);
  const before = engine.plans.modules.made;
  for (let step = 0; step < 100; step += 1) {
    optimizer.setLearningRate(0.1 / (1 + step));
    const loss = optimizer.minimize(() => x.square().sum(), true);
    loss.dataSync();
    loss.dispose();
  }
  assert.ok(engine.plans.modules.made - before <= 3, `${engine.plans.modules.made - before}`);
  assert.equal(optimizer.iterations, 100);
});

test('a step stores no gradients, but they can be read', () => {
  const seen = [];
  class Watching extends tl.SGDOptimizer {
    applyGradients(grads) {
      super.applyGradients(grads);
      const [{ tensor = grads.x }] = Array.isArray(grads) ? grads : [{}];
      seen.push({ isStored: DeviceValue.of(tensor).isMaterialized, copy: tensor.clone() });
    }
  }
  const x = tl.variable(tl.tensor1d([1, -2, 3]), true, 'x');
  const optimizer = new Watching(0.25);
  const { numTensors } = tl.memory();
  for (let step = 0; step < 3; step += 1) optimizer.minimize(() => x.square().sum());
  closeTo([...x.dataSync()], [0.125, -0.25, 0.375]);
  for (const [step, { isStored, copy }] of seen.entries()) {
    assert.equal(isStored, false);
    closeTo(
      [...copy.dataSync()],
      [1, -2, 3].map((each) => (2 * each) / 2 ** step),
    );
    copy.dispose();
  }
  assert.equal(tl.memory().numTensors, numTensors);
});

test('an optimizer continues from the weights of another one', async () => {
  const losses = async (split) => {
    const x = tl.variable(tl.tensor1d([2, 4]));
    let optimizer = tl.train.adam(0.1);
    for (let step = 0; step < 6; step += 1) {
      if (step === split) {
        const weights = await optimizer.getWeights();
        optimizer = tl.train.adam(0.1);
        await optimizer.setWeights(weights);
      }
      optimizer.minimize(() => x.square().sum());
    }
    return [...x.dataSync()];
  };
  assert.deepEqual(await losses(3), await losses(99));
});

test('constant indices out of range are rejected', () => {
  const x = tl.tensor2d([1, 2, 3, 4, 5, 6], [3, 2]);
  const indices = tl.tensor1d([0, 2], 'int32');
  assert.deepEqual([...tl.gather(x, indices).dataSync()], [1, 2, 5, 6]);
  for (const wrong of [[3], [-1], tl.tensor1d([0, 7], 'int32')])
    assert.throws(
      () => tl.gather(x, wrong),
      /GatherV2: the index value (3|-1|7) is not in \[0, 2\]/,
    );
  assert.throws(() => x.gather([2], 1), /the index value 2 is not in \[0, 1\]/);
  const computed = indices.add(tl.scalar(1, 'int32'));
  computed.dataSync();
  assert.throws(() => tl.gather(x, computed), /the index value 3 is not in \[0, 2\]/);
  assert.throws(
    () =>
      tl.gatherND(x, [
        [0, 1],
        [1, 2],
      ]),
    /Invalid indices: 1,2 does not index into 3,2/,
  );
  assert.deepEqual(
    [
      ...tl
        .gatherND(x, [
          [0, 1],
          [2, 0],
        ])
        .dataSync(),
    ],
    [2, 5],
  );
  assert.throws(() => tl.signal.frame([1, 2, 3], 2, 0), /frame: frameStep has to be an integer/);
  assert.throws(() => tl.signal.frame([1, 2, 3], -2, 1), /frame: frameLength has to be an integer/);
  assert.throws(() => tl.linalg.gramSchmidt(tl.tensor1d([1])), /rows of a matrix are needed/);
});

test('indices out of range are rejected where they are constant, and dropped where they are computed', () => {
  const at = (lib, rows) => lib.tensor2d(rows, [rows.length, 2], 'int32');
  const puts = {
    scatterND: (lib, indices, values) => lib.scatterND(indices, values, [3, 4]),
    tensorScatterUpdate: (lib, indices, values) =>
      lib.tensorScatterUpdate(lib.zeros([3, 4]), indices, values),
    sparseToDense: (lib, indices, values) => lib.sparseToDense(indices, values, [3, 4]),
  };
  const rows = [
    [0, 1],
    [2, 3],
  ];
  for (const [name, put] of Object.entries(puts)) {
    both((lib) => put(lib, at(lib, rows), lib.tensor1d([5, 6])));
    for (const outside of [
      [0, 4],
      [3, 0],
      [-1, 2],
      [1, -1],
    ]) {
      const call = (lib) =>
        put(lib, at(lib, [...rows, outside]), lib.tensor1d([5, 6, 7])).dataSync();
      const error = new RegExp(`Invalid indices: ${outside} does not index into 3,4`);
      assert.throws(() => call(tl), error, name);
      // TensorFlow.js writes [0, 4] to [1, 0].
      const [row, column] = outside;
      if (row * 4 + column < 0 || row * 4 + column >= 12)
        assert.throws(() => call(tf), error, name);
      const computed = tl.tidy(() => tl.add(at(tl, [...rows, outside]), tl.zeros([2], 'int32')));
      if (name === 'scatterND') {
        const found = put(tl, computed, tl.tensor1d([5, 6, 7]));
        assert.deepEqual([...found.dataSync()], [0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6]);
      } else {
        assert.throws(() => put(tl, computed, tl.tensor1d([5, 6, 7])), /does not index into 3,4/);
      }
    }
  }
});

test('argMax of no elements is 0, and zero repetitions have no elements', () => {
  both((lib) => lib.zeros([0, 1]).broadcastTo([2, 0, 4]));
  assert.deepEqual(tl.ones([1, 3]).broadcastTo([0, 3]).shape, [0, 3]);
  both((lib) => lib.zeros([0]).argMax());
  both((lib) => lib.zeros([0, 3]).argMin(0));
  both((lib) => lib.zeros([0, 3]).argMax(1));
  both((lib) => lib.tile(lib.ones([2, 3]), [0, 2]));
  both((lib) => lib.tile(lib.tensor1d(['a', 'b']), [0]));
  both((lib) => lib.grad((x) => lib.tile(x, [0]))(lib.ones([2])));
});

test('invalid shapes are rejected', () => {
  for (const shape of [undefined, null, 6]) {
    const message = `reshape: the shape must be an array, got ${shape}`;
    assert.throws(() => tl.ones([6]).reshape(shape), { name: 'LatheError', message });
  }
});
