// tensorflow/tfjs#5641: sums and means of millions of float32 lose digits (the mean of 4 million times 0.1 was off by 0.25 %).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import * as tf from 'tensorlathe/tfjs';
import { model, node, value } from '../js/onnx/write.mjs';

const near = (got, expected, what, by = 4e-6) =>
  assert.ok(Math.abs(got - expected) <= by * Math.abs(expected), `${what}: ${got} for ${expected}`);
const million = 1 << 20;

test('means and losses of 4 million numbers', () => {
  const tenths = tf.fill([4 * million], 0.1),
    zeros = tf.zeros([4 * million]);
  const tenth = Math.fround(0.1);
  near(tf.mean(tenths).dataSync()[0], tenth, 'mean');
  near(tf.losses.meanSquaredError(tenths, zeros).dataSync()[0], tenth ** 2, 'meanSquaredError');
  near(tf.losses.absoluteDifference(tenths, zeros).dataSync()[0], tenth, 'absoluteDifference');
  near(tf.norm(tenths).dataSync()[0], tenth * 2 ** 11, 'norm');
  near(tf.moments(tf.add(tenths, 1)).mean.dataSync()[0], Math.fround(1.1), 'moments');
  const ramp = tf.mod(tf.range(0, 4 * million), 256);
  near(tf.sum(ramp).dataSync()[0], 127.5 * 4 * million, 'i % 256');
  const spread = tf.moments(ramp);
  near(spread.variance.dataSync()[0], (256 ** 2 - 1) / 12, 'variance');
});

test('along every axis, with maps before, for sizes that no block divides', async () => {
  const shapes = [
    [[3, 333333], 1],
    [[333331, 3], 0],
    [[100003, 9], 0],
    [[2, 100003, 5], 1],
    [
      [31, 127, 251],
      [0, 1, 2],
    ],
    [
      [31, 2, 127, 67],
      [0, 2, 3],
    ],
  ];
  for (const [shape, axis] of shapes) {
    const size = shape.reduce((a, b) => a * b);
    const x = Float32Array.from({ length: size }, (_, i) => 0.1 + (i % 11) / 64);
    const axes = [axis].flat(),
      remaining = shape.map((_, i) => i).filter((i) => !axes.includes(i));
    const strides = shape.map((_, i) => shape.slice(i + 1).reduce((a, b) => a * b, 1));
    const sums = new Map(),
      squares = new Map();
    for (let i = 0; i < size; ++i) {
      const key = remaining.reduce(
        (at, k) => at * shape[k] + (Math.floor(i / strides[k]) % shape[k]),
        0,
      );
      sums.set(key, (sums.get(key) ?? 0) + x[i]);
      squares.set(key, (squares.get(key) ?? 0) + x[i] ** 2);
    }
    const f = await tl.compile({ x: shape }, ({ x }) => ({
      plain: x.sum(axis),
      mapped: x.mul(x).mean(axis),
    }));
    const { plain, mapped } = f.run({ x: tl.tensor(x, shape) });
    const terms = size / sums.size;
    plain.dataSync().forEach((y, i) => near(y, sums.get(i), `${shape} ${axis}`));
    mapped.dataSync().forEach((y, i) => near(y, squares.get(i) / terms, `${shape} ${axis} x²`));
  }
});

test('ONNX models and float16', async () => {
  const x = new Float32Array(3 * million).fill(0.1);
  for (const [op, expected] of [
    ['ReduceMean', 0.1],
    ['ReduceSum', 0.1 * million],
    ['ReduceL2', 0.1 * 2 ** 10],
  ]) {
    const bytes = model({
      nodes: [node(op, ['x', 'axes'], ['y'])],
      inputs: [value('x', 'float32', [3, million])],
      outputs: [value('y', 'float32', [3, 1])],
      initializers: { axes: { dtype: 'int64', shape: [1], data: BigInt64Array.of(1n) } },
    });
    const y = (
      await (await tl.loadModel(bytes)).run({ x: tl.tensor(x, [3, million]) })
    ).y.dataSync();
    y.forEach((each) => near(each, expected, op));
  }
  const f = await tl.compile({ x: { shape: [million], dtype: 'float16' } }, ({ x }) => ({
    y: x.mean(),
  }));
  const float16s = tl.tensor(x.subarray(0, million)).cast('float16');
  near(f.run({ x: float16s }).y.dataSync()[0], float16s.dataSync()[0], 'float16', 2 ** -11);
});
