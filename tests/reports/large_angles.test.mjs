// tensorflow/tfjs#8389, #7618, #7689; ml-explore/mlx#4157: sine, cosine and tangent of large numbers (timestamps in seconds,
// positions in steps of audio, hashes) are NaN from 2^20 on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import * as tf from 'tensorlathe/tfjs';
import { model, node, value } from '../js/onnx/write.mjs';

const names = ['sin', 'cos', 'tan'];
/** Numbers of every exponent, with both signs; near multiples of a quarter turn; and lanes with none, one or all large. */
function angles() {
  const numbers = [1048576, 1048577, 2e6, 1e7, 1.7e9, 1.7e12, 1e10, 3e38, 5e-324, 0, 0.5, 1e-40];
  let seed = 7;
  for (let exponent = -140; exponent < 128; ++exponent) {
    for (let i = 0; i < 6; ++i) {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
      numbers.push((1 + seed / 2 ** 32) * 2 ** Math.min(exponent, 126.9));
    }
  }
  for (let k = 1; k < 2 ** 30; k = k * 3 + 1) numbers.push((k * Math.PI) / 2);
  // The float32 closest to a multiple of a quarter turn.
  numbers.push(16367173 * 2 ** 72);
  return Float32Array.from(numbers.flatMap((x) => [x, -x, 1, x]));
}

/** Error: more than `tolerance` ulp off. */
function check(name, x, got, tolerance = 5) {
  for (let i = 0; i < x.length; ++i) {
    const expected = Math[name](x[i]);
    const unit = 2 ** (Math.floor(Math.log2(Math.max(Math.abs(expected), 2 ** -126))) - 23);
    const off = Math.abs(got[i] - expected) / unit;
    assert.ok(off <= tolerance, `${name}(${x[i]}) is ${expected}, got ${got[i]}`);
  }
}

test('sin, cos and tan of every float32', async () => {
  const x = angles(),
    shape = [x.length];
  for (const name of names) check(name, x, tf[name](tf.tensor1d(x)).dataSync());
  const f = await tl.compile({ x: shape }, ({ x }) =>
    Object.fromEntries(names.map((name) => [name, x[name]()])),
  );
  const results = f.run({ x: tl.tensor(x) });
  for (const name of names) check(name, x, results[name].dataSync());
});

test('several functions of large numbers in one expression', () => {
  const x = tf.tensor1d([1e7, 3, 1.7e9, 2, 8]),
    v = x.dataSync();
  const y = tf.tidy(() => tf.add(tf.mul(tf.sin(x), tf.cos(x)), tf.sin(tf.mul(x, 2))).dataSync());
  v.forEach((a, i) =>
    assert.ok(
      Math.abs(y[i] - (Math.sin(a) * Math.cos(a) + Math.sin(2 * a))) < 1e-6,
      `${a}: ${y[i]}`,
    ),
  );
  const slope = tf
    .grad((a) => tf.sin(a))(x)
    .dataSync();
  v.forEach((a, i) => assert.ok(Math.abs(slope[i] - Math.cos(a)) < 1e-6));
});

test('infinities and NaN have no sine', () => {
  const x = tf.tensor1d([Infinity, 1, -Infinity, NaN, 1e10]);
  for (const name of names) {
    const got = [...tf[name](x).dataSync()];
    assert.deepEqual(got.map(Number.isNaN), [true, false, true, true, false]);
  }
});

test('constants and ONNX models have the same', async () => {
  const x = Float32Array.of(1.7e9, -1e20, 0.5);
  const folded = tl.compile({}, (_, g) => ({ y: g.constant([...x]).sin() }));
  check('sin', x, (await folded).run({}).y.dataSync());
  for (const [op, name] of [
    ['Sin', 'sin'],
    ['Cos', 'cos'],
    ['Tan', 'tan'],
  ]) {
    const bytes = model({
      nodes: [node(op, ['x'], ['y'])],
      inputs: [value('x', 'float32', [3])],
      outputs: [value('y', 'float32', [3])],
    });
    const net = await tl.loadModel(bytes);
    check(name, x, (await net.run({ x: tl.tensor(x) })).y.dataSync());
  }
});
