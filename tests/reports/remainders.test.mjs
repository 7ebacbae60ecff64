// Symptom: Mod with fmod of ONNX, tf.mod and floorMod return NaN where the quotient is beyond 2^47 (Mod(1e15, 3)).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import * as tf from 'tensorlathe/tfjs';
import { model, node, value } from '../js/onnx/write.mjs';

/** Pairs of every quotient that float32 has, least and largest numbers, and ends. */
function pairs() {
  const x = [1e15, 1e15, -1e15, 3e38, 3.4028234e38, 1e-38, 5, -5, 1e30, 7, 0, 3, Infinity, 1, NaN];
  const y = [3, -3, 3, 1.4e-45, 1.2e-38, 1e-45, 3e38, 3e38, 1e-30, Infinity, 3, 0, 3, -Infinity, 2];
  let seed = 11;
  const next = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  for (let i = 0; i < 3000; ++i) {
    x.push((next() < 0.5 ? -1 : 1) * (1 + next()) * 2 ** Math.floor(next() * 253 - 126));
    y.push((next() < 0.5 ? -1 : 1) * (1 + next()) * 2 ** Math.floor(next() * 253 - 126));
  }
  return [Float32Array.from(x), Float32Array.from(y)];
}
const floored = (x, y) => {
  const rest = x % y;
  return Math.fround(rest !== 0 && rest < 0 !== y < 0 ? rest + y : rest);
};
const same = (got, expected, what) =>
  assert.ok(
    got === expected || (Number.isNaN(got) && Number.isNaN(expected)),
    `${what} is ${expected}, got ${got}`,
  );

test('mod and floorMod are exact whatever the quotient', async () => {
  const [x, y] = pairs();
  const shapes = { x: [x.length], y: [y.length] };
  const f = await tl.compile(shapes, ({ x, y }) => ({ z: x.mod(y) }));
  const compiled = [
    f.run({ x: tl.tensor(x), y: tl.tensor(y) }).z.dataSync(),
    tf.mod(tf.tensor1d(x), tf.tensor1d(y)).dataSync(),
  ];
  for (const z of compiled)
    z.forEach((got, i) => same(got, floored(x[i], y[i]), `mod(${x[i]}, ${y[i]})`));
});

test('Mod of ONNX with fmod is that of C', async () => {
  const [x, y] = pairs();
  const shape = [x.length];
  for (const dtype of ['float32', 'float64']) {
    const bytes = model({
      nodes: [node('Mod', ['x', 'y'], ['z'], { fmod: 1 })],
      inputs: [value('x', dtype, shape), value('y', dtype, shape)],
      outputs: [value('z', dtype, shape)],
    });
    const net = await tl.loadModel(bytes);
    const of = (values) => tl.tensor(dtype === 'float64' ? Float64Array.from(values) : values);
    const z = (await net.run({ x: of(x), y: of(y) })).z.dataSync();
    z.forEach((got, i) => same(got, x[i] % y[i], `fmod(${x[i]}, ${y[i]}) as ${dtype}`));
  }
});

test('integers have theirs', () => {
  const x = tf.tensor1d([2147483647, -2147483648, 7, -7], 'int32');
  assert.deepEqual([...tf.mod(x, tf.tensor1d([3, 7, -3, 3], 'int32')).dataSync()], [1, 5, -2, 2]);
});
