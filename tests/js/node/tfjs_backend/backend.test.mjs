// An unmodified TensorFlow.js on our backend: programs, gradients, training, and leaks.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as tf from '@tensorflow/tfjs';
import 'tensorlathe/tfjs-backend';
import { engine } from '../../../../js/dist/eager/engine.js';
import { closeTo } from '../eager/lib.mjs';

await tf.setBackend('lathe');

const flat = (x) => Array.from(x.dataSync());

/** The same on both backends. */
async function onBoth(action) {
  await tf.setBackend('cpu');
  const expected = action();
  await tf.setBackend('lathe');
  return [action(), expected];
}

test('it is the backend', () => {
  assert.equal(tf.getBackend(), 'lathe');
});

test('operations and gradients are those of the cpu backend', async () => {
  const random = (shape, seed) => tf.randomUniform(shape, -1, 1, 'float32', seed);
  const functions = {
    product: () =>
      flat(
        random([3, 5], 1)
          .matMul(random([5, 7], 2))
          .relu()
          .sum(1),
      ),
    convolution: () =>
      flat(
        tf.grad((x) => x.conv2d(random([3, 3, 2, 4], 3), 2, 'same').square())(
          random([1, 9, 7, 2], 4),
        ),
      ),
    filter: () =>
      flat(
        tf.grad((f) => random([2, 6, 5, 3], 5).conv2d(f, 1, 'valid').tanh())(
          random([2, 3, 3, 2], 6),
        ),
      ),
    pool: () => flat(tf.grad((x) => x.maxPool(2, 2, 'same').square())(random([1, 5, 7, 3], 7))),
    average: () => flat(tf.grad((x) => x.avgPool(3, 1, 'valid').square())(random([1, 5, 4, 2], 8))),
    softmax: () =>
      flat(
        tf.grad((x) =>
          x
            .softmax()
            .mul(random([4, 5], 9))
            .sum(),
        )(random([4, 5], 10)),
      ),
    moved: () =>
      flat(
        tf
          .concat([random([2, 3], 11), random([4, 3], 12)])
          .transpose()
          .slice([1, 2], [2, 3]),
      ),
    gathered: () =>
      flat(tf.grad((x) => x.gather(tf.tensor1d([2, 0, 2], 'int32')))(random([3, 4], 13))),
  };
  for (const [name, action] of Object.entries(functions)) {
    const [actual, expected] = await onBoth(() => tf.tidy(action));
    assert.ok(expected.length > 0, name);
    closeTo(actual, expected, 1e-3);
  }
});

test('a Layers model of TensorFlow.js trains on it', async () => {
  const model = tf.sequential({
    layers: [
      tf.layers.conv2d({ inputShape: [8, 8, 1], filters: 4, kernelSize: 3, activation: 'relu' }),
      tf.layers.maxPooling2d({ poolSize: 2 }),
      tf.layers.flatten(),
      tf.layers.dense({ units: 2, activation: 'softmax' }),
    ],
  });
  model.compile({ optimizer: tf.train.adam(0.02), loss: 'categoricalCrossentropy' });
  const x = tf.randomUniform([64, 8, 8, 1], 0, 1, 'float32', 1);
  const y = tf.tidy(() => tf.oneHot(x.mean([1, 2, 3]).greater(0.5).toInt(), 2).toFloat());
  const { history } = await model.fit(x, y, {
    epochs: 12,
    batchSize: 16,
    shuffle: false,
    verbose: 0,
  });
  assert.ok(history.loss.at(-1) < history.loss[0], `${history.loss[0]} … ${history.loss.at(-1)}`);
  model.dispose();
  tf.dispose([x, y]);
});

test('steps of minimize are a few modules, however often losses are read', () => {
  const fit = (every, steps = 90) => {
    const x = tf.variable(tf.tensor1d([1, -2, 3]));
    const optimizer = tf.train.adam(0.1);
    const before = engine.plans.modules.made;
    for (let step = 1; step <= steps; step += 1) {
      const loss = optimizer.minimize(() => x.sub(1).square().mul([1, 2, 3]).sum(), true);
      if (step % every === 0) loss.dataSync();
      loss.dispose();
    }
    const modules = engine.plans.modules.made - before;
    const found = flat(x);
    tf.dispose(x);
    return [modules, found];
  };
  const [, expected] = fit(1);
  // Those of 90 steps are long plans, computed operation by operation first: with a module for each kind of operation.
  for (const [every, maxModules] of [
    [1, 6],
    [4, 6],
    [90, 16],
  ]) {
    const [modules, found] = fit(every);
    closeTo(found, expected, 1e-4);
    assert.ok(modules <= maxModules, `${modules} modules, read every ${every} steps`);
  }
  assert.ok(fit(180, 180)[0] <= 1, 'more steps need no more modules');
});

test('constant integers and booleans are folded', async () => {
  const numbers = [0, -1, 7, 65537, 2147483647, -2147483648];
  const arithmetic = ['add', 'sub', 'mul', 'maximum', 'minimum'];
  const compared = ['equal', 'notEqual', 'less', 'lessEqual', 'greater', 'greaterEqual'];
  const results = (transform) => {
    const found = [];
    const look = (op, a, b, dtype) => {
      const result = tf[op](transform(tf.scalar(a, dtype)), transform(tf.scalar(b, dtype)));
      found.push([op, a, b, result.dtype, result.shape, result.dataSync()[0]]);
    };
    for (const a of numbers) {
      for (const b of numbers)
        for (const op of [...arithmetic, ...compared]) look(op, a, b, 'int32');
    }
    for (const a of [false, true]) {
      for (const b of [false, true]) {
        for (const op of ['logicalAnd', 'logicalOr']) look(op, a, b, 'bool');
      }
    }
    return found;
  };
  const once = (x) => x;
  const before = engine.plans.modules.made;
  const folded = tf.tidy(() => results(once));
  assert.equal(engine.plans.modules.made, before, 'no module');
  await tf.setBackend('cpu');
  // It multiplies in float64.
  const isExact = ([op, a, b]) => op !== 'mul' || Number.isSafeInteger(a * b);
  assert.deepEqual(folded.filter(isExact), tf.tidy(() => results(once)).filter(isExact));
  await tf.setBackend('lathe');
  const odd = () => tf.tensor(Uint8Array.of(255), [], 'bool');
  assert.deepEqual(
    ['logicalAnd', 'logicalOr'].map((op) => tf.tidy(() => tf[op](odd(), odd()).dataSync()[0])),
    [1, 1],
  );
  // Values that are not constant are computed by modules.
  const pending = (x) => x.reshape([1]).tile([2]).max();
  assert.deepEqual(
    folded,
    tf.tidy(() => results(pending)),
  );
  assert.ok(engine.plans.modules.made > before);
});

test('disposed tensors cannot be read', () => {
  const { numTensors, numDataBuffers } = tf.memory();
  tf.tidy(() => {
    const x = tf.ones([100]);
    x.reshape([10, 10]).clone().cast('float32').add(1).dataSync();
  });
  assert.deepEqual(
    [tf.memory().numTensors, tf.memory().numDataBuffers],
    [numTensors, numDataBuffers],
  );
});

test('tensors of another backend move here, and back', async () => {
  const made = {
    numbers: [() => tf.tensor1d([1, 2]), (x) => flat(x.add(1))],
    part: [() => tf.tidy(() => tf.tensor([1, 2.5]).slice([1], [1])), (x) => flat(x.mul(2))],
    computed: [() => tf.tidy(() => tf.range(0, 3, 1, 'int32').add(1)), (x) => flat(x.sum())],
    truths: [() => tf.tensor1d([true, false]), (x) => flat(x.logicalNot())],
    strings: [() => tf.tensor1d(['a', 'ü']), (x) => tf.concat([x, x]).arraySync()],
    shared: [() => tf.tidy(() => tf.tensor1d([1, 2]).clone()), (x) => flat(x.reshape([2, 1]))],
    variable: [
      () => tf.tidy(() => tf.variable(tf.scalar(3))),
      (x) => [flat(x.mul(2)), x.assign(tf.scalar(9)), flat(x)],
    ],
  };
  const dataIds = (name) => tf.findBackend(name).numDataIds();
  for (const [name, [make, use]] of Object.entries(made)) {
    for (const [from, to] of [
      ['cpu', 'lathe'],
      ['lathe', 'cpu'],
    ]) {
      await tf.setBackend(from);
      const expected = tf.tidy(() => use(make()));
      const before = [dataIds('cpu'), dataIds('lathe'), tf.memory().numTensors];
      const x = make();
      await tf.setBackend(to);
      assert.deepEqual(
        tf.tidy(() => use(x)),
        expected,
        `${name} from ${from}`,
      );
      assert.equal(dataIds(from), before[from === 'cpu' ? 0 : 1], `${name} left ${from}`);
      x.dispose();
      assert.deepEqual([dataIds('cpu'), dataIds('lathe'), tf.memory().numTensors], before, name);
    }
  }
  await tf.setBackend('cpu');
  const z = tf.complex([1, 2], [3, 4]);
  await tf.setBackend('lathe');
  assert.deepEqual([flat(tf.real(z)), flat(tf.imag(z))], [[1, 2], [3, 4]]); // prettier-ignore
  assert.deepEqual(flat(z), [1, 3, 2, 4]);
  z.dispose();
});

test('gradients of windows include those that ceil rounding adds', () => {
  const x = tf.range(0, 9).reshape([1, 3, 3, 1]);
  const filter = tf.ones([2, 2, 1, 1]);
  const pool = (kind) => flat(tf.grad((at) => at[kind](2, 2, 0, 'ceil'))(x));
  assert.deepEqual(pool('maxPool'), [0, 0, 0, 0, 1, 1, 0, 1, 1]);
  assert.deepEqual(pool('avgPool'), [0.25, 0.25, 0.5, 0.25, 0.25, 0.5, 0.5, 0.5, 1]);
  const convolved = tf.grads((at, by) => at.conv2d(by, 2, 0, 'NHWC', 1, 'ceil'))([x, filter]);
  assert.deepEqual(convolved.map(flat), [new Array(9).fill(1), [16, 8, 8, 4]]);
  const explicit = [[0, 0], [0, 0], [1, 1], [0, 0]]; // prettier-ignore
  const rounded = tf.grad((at) => at.maxPool(2, 2, explicit, 'round'))(x);
  assert.equal(rounded.sum().dataSync()[0], 4);
});

test('views of the same elements share them, as on the cpu backend', async () => {
  const countViews = () => {
    const before = tf.memory();
    const x = tf.ones([2, 3]);
    const all = [
      x,
      x.expandDims(1),
      x.expandDims(-3),
      x.cast('float32'),
      x.reshape([6]),
      x.clone(),
    ];
    const { numTensors, numBytes, numDataBuffers } = tf.memory();
    const shapes = all.map((each) => [each.shape, flat(each)]);
    tf.dispose(all);
    const counts = [
      numTensors - before.numTensors,
      numBytes - before.numBytes,
      numDataBuffers - before.numDataBuffers,
    ];
    return [counts, shapes, tf.memory().numDataBuffers - before.numDataBuffers];
  };
  const [actual, expected] = await onBoth(countViews);
  assert.deepEqual(actual, expected);
  assert.deepEqual(actual[0], [6, 6 * 24, 1]);
  // Its gradient in TensorFlow.js reads data of a tensor that `tidy` has disposed, which x still references.
  closeTo(flat(tf.grad((x) => tf.logSigmoid(x.expandDims()))(tf.zeros([2]))), [0.5, 0.5], 1e-6);
  assert.throws(() => tf.ones([2]).expandDims(-3));
});

test('models made on another backend are trained here', async () => {
  await tf.setBackend('cpu');
  const layer = tf.layers.dense({ units: 1, inputShape: [2], kernelInitializer: 'ones' });
  const model = tf.sequential({ layers: [layer] });
  const optimizer = tf.train.momentum(0.1, 0.9);
  const step = () => {
    const loss = () =>
      tf.tidy(() =>
        model
          .predict(tf.ones([3, 2]))
          .square()
          .mean(),
      );
    optimizer.minimize(loss);
    return flat(layer.getWeights()[0]);
  };
  const first = step();
  closeTo(first, [0.6, 0.6], 1e-6);
  await tf.setBackend('lathe');
  const second = step();
  await tf.setBackend('cpu');
  const third = step();
  assert.ok(second[0] < first[0] && third[0] < second[0]);
  await tf.setBackend('lathe');
});
