// Found with the programs of this project: `zeros`, `ones`, `fill`, `range`, `linspace` and `eye` of many elements required
// seconds and several times their bytes, because JavaScript made and copied them; what exceeds the memory was only rejected
// after more than a minute. They are operations that are computed with what reads them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import * as tf from 'tensorlathe/tfjs';
import { engine } from '../../js/dist/eager/engine.js';

const many = 2 ** 16 + 3;
const heapBytes = () => tf.memory().heapBytes;
const dtypes = [
  'float32', 'float64', 'float16', 'bfloat16', 'bool', 'int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64',
]; // prettier-ignore

test('large ones allocate no memory until they are read, and none to sum', () => {
  const before = heapBytes();
  const start = performance.now();
  const size = 2 ** 28;
  const all = [tf.zeros([size]), tf.ones([size]), tf.fill([2, size / 2], 0.5), tf.range(0, size)];
  all.push(tf.linspace(0, 1, size), tf.onesLike(all[0]), tf.zerosLike(all[1]), tl.zeros([size]));
  assert.ok(performance.now() - start < 5000);
  assert.equal(heapBytes(), before);
  const counts = tf.memory();
  assert.ok(counts.numBytes >= 8 * 4 * size);
  const few = tf.tidy(() => {
    const float16s = all[2]
      .transpose()
      .reshape([size])
      .expandDims(0)
      .tile([2, 1])
      .slice([1, 5], [1, 3]);
    return all[3].slice([2 ** 20], [3]).add(float16s);
  });
  assert.deepEqual(
    [...few.dataSync()],
    [0, 1, 2].map((each) => 2 ** 20 + each + 0.5),
  );
  tf.dispose(all);
  few.dispose();
  assert.equal(tf.memory().numBytes, counts.numBytes - 8 * 4 * size);
  // Modules reserve some memory for numbers.
  assert.ok(heapBytes() - before < 5000);
});

test('rejects what exceeds the memory immediately', () => {
  const start = performance.now();
  const shape = [40000, 40000];
  for (const [name, make] of Object.entries({
    ones: () => tf.ones(shape),
    zeros: () => tl.zeros(shape),
    fill: () => tf.fill(shape, 3),
    range: () => tf.range(0, 1.6e9),
    linspace: () => tf.linspace(0, 1, 1.6e9),
    eye: () => tf.eye(40000),
    randomUniform: () => tf.randomUniform(shape),
    randomNormal: () => tf.randomNormal(shape),
    truncatedNormal: () => tf.truncatedNormal(shape),
    randomGamma: () => tf.randomGamma(shape, 1),
    rand: () => tf.rand(shape, Math.random),
  })) {
    assert.throws(make, ({ message }) => {
      assert.match(message, new RegExp(`^${name}: float32 \\[.*0000.*\\] needs 6400000000 bytes`));
      return true;
    });
  }
  assert.throws(() => tf.fill([2 ** 31], 1, 'int32'), /\[2147483648\] needs 8589934592 bytes/);
  assert.ok(performance.now() - start < 5000);
});

test('the elements of every type, read, stored and in operations', async () => {
  for (const dtype of dtypes) {
    const value = dtype === 'bool' ? 1 : 3;
    const plain = (x) => [...tf.cast(x, 'float32').dataSync()];
    for (const count of [5, many]) {
      const x = tf.fill([count], value, dtype);
      assert.equal(x.dtype, dtype);
      assert.ok(plain(x).every((each) => each === value));
      const [first] = x.dataSync();
      assert.deepEqual(first, tf.fill([1], value, dtype).dataSync()[0]);
      assert.equal(x.dataSync(), x.dataSync());
      assert.equal(x.dataSync().length, count);
      assert.equal((await tf.ones([count], dtype).data()).length, count);
      const filled = tf.variable(tf.fill([count], value, dtype));
      assert.deepEqual(plain(filled).slice(-2), [value, value]);
      filled.dispose();
      const stop = Math.min(count, 100);
      if (dtype === 'bool') continue;
      const ranged = tf.range(0, count, 1, count > 100 && /8|16/.test(dtype) ? 'int32' : dtype);
      const got = [ranged.dataSync(), ranged.add(0).dataSync()].map((each) => [...each]);
      assert.deepEqual(got[1], got[0]);
      if (!/b?float16/.test(dtype)) assert.equal(Number(got[0][stop - 1]), stop - 1);
    }
  }
});

test('sequences are those of JavaScript, with fractions, downwards, and wrapped', () => {
  const expected = (start, step, count) =>
    Float32Array.from({ length: count }, (_, at) => start + at * step);
  const same = (x, values) => {
    assert.deepEqual(x.mul(1).dataSync(), values);
    assert.deepEqual(x.dataSync(), values);
  };
  same(tf.range(0.1, 7000.1, 0.1), expected(0.1, 0.1, 70000));
  same(tf.range(70000, 0), expected(70000, -1, 70000));
  same(tf.linspace(-1, 1, 70001), expected(-1, 2 / 70000, 70001));
  assert.deepEqual([...tf.range(0, 70000, 1, 'uint8').slice([255], [3]).dataSync()], [255, 0, 1]);
  assert.deepEqual(
    [...tf.range(0, 35000, 0.5, 'int32').slice([69997], [3]).dataSync()],
    [34998, 34999, 34999],
  );
  assert.throws(() => tf.range(0, 35000, 0.5, 'int64'), /accepts integers/);
  assert.throws(() => tf.fill([70000], NaN, 'int64'), /accepts integers/);
  assert.deepEqual(tf.fill([70000], 2.9, 'int32').max().dataSync()[0], 2);
  assert.deepEqual([...tf.fill([70000], true).slice([0], [2]).dataSync()], [1, 1]);
});

test('eye, and what is made of it', () => {
  const x = tf.eye(300, 250);
  assert.equal(x.sum().dataSync()[0], 250);
  assert.equal(x.mul(x).slice([249, 248], [2, 2]).arraySync()[0][1], 1);
  const batches = tf.eye(200, 200, [3, 2], 'int32');
  assert.deepEqual([batches.shape, batches.dtype], [[3, 2, 200, 200], 'int32']);
  assert.deepEqual([...batches.sum([2, 3]).dataSync()], [200, 200, 200, 200, 200, 200]);
});

test('another value compiles nothing, and a loop has one module from its first round on', () => {
  const x = tf.ones([many]).add(0.5);
  x.dataSync();
  const one = (value) =>
    x
      .mul(tf.fill([many], value))
      .sum()
      .dataSync()[0];
  one(1);
  const before = engine.plans.modules.made;
  assert.equal(one(2), 2 * one(1));
  assert.equal(
    tf
      .range(3, many + 3)
      .sub(tf.range(2, many + 2))
      .sum()
      .dataSync()[0],
    many,
  );
  const ranges = engine.plans.modules.made;
  assert.equal(
    tf
      .range(5, many * 2 + 5, 2)
      .sub(tf.range(4, many * 2 + 4, 2))
      .sum()
      .dataSync()[0],
    many,
  );
  assert.equal(engine.plans.modules.made, ranges);
  const mask = tf.ones([many]);
  const step = () => x.mul(mask).sum().dataSync()[0];
  step();
  const rounds = engine.plans.modules.made;
  for (let round = 0; round < 3; round += 1) step();
  assert.equal(engine.plans.modules.made, rounds);
  assert.ok(ranges - before <= 1);
  const state = tf.variable(tf.zeros([many]));
  const train = () => {
    state.assign(tf.tidy(() => state.mul(0.9).add(x)));
    return state.sum().dataSync()[0];
  };
  train();
  const trained = engine.plans.modules.made;
  for (let round = 0; round < 3; round += 1) train();
  assert.equal(engine.plans.modules.made, trained);
  tf.dispose([x, mask, state]);
});

test('gradients, jit, vmap, compiled functions, models', async () => {
  const x = tf.range(0, many).div(many);
  const ones = tf.ones([many]);
  const slope = tf.grad((x) =>
    x
      .mul(ones)
      .mul(tf.fill([many], 3))
      .sum(),
  )(x);
  assert.deepEqual([slope.min().dataSync()[0], slope.max().dataSync()[0]], [3, 3]);
  const ownGradient = tf.grad((x) => x.square().sum())(tf.fill([many], 2));
  assert.equal(ownGradient.max().dataSync()[0], 4);
  const second = tf.grad(tf.grad((x) => x.square().mul(ones).sum()))(x);
  assert.equal(second.min().dataSync()[0], 2);
  const fast = tf.jit((x) => [x.add(tf.zeros([many])).add(ones), tf.ones([many])]);
  for (const [sum, all] of [fast(x), fast(ones)]) {
    assert.equal(all.min().dataSync()[0], 1);
    assert.ok(sum.max().dataSync()[0] >= 1);
  }
  const each = tf.vmap((x) => x.mul(tf.ones([many])).add(ones))(tf.tensor1d([1, 2]));
  assert.deepEqual(
    [each.shape, [...each.max(1).dataSync()]],
    [
      [2, many],
      [2, 3],
    ],
  );
  const f = await tl.compile({ x: [many] }, ({ x }) => ({
    y: x.add(tl.ones([many])).mul(tf.range(0, many)),
  }));
  assert.equal(f.run({ x: tf.fill([many], 2) }).y.dataSync()[7], 21);
  f.dispose();
  const model = tl.sequential();
  model.add(tl.layers.dense({ units: 1, inputShape: [many], kernelInitializer: 'ones' }));
  assert.equal(model.predict(tf.ones([2, many])).dataSync()[1], many);
  model.dispose();
});
