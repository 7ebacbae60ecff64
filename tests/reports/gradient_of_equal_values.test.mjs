// Found with the guide of this project, which lists it as an error of TensorFlow.js: each of equal elements got the full gradient of `max` in eager
// code, to the first in `tl.compile`, and `maximum` had a third rule. One rule now: reductions share, `maximum` and `minimum`
// halve, pools use the first, `clipByValue` has slope 1 at its bounds and `relu` 0 at 0.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import * as tf from 'tensorlathe/tfjs';

const three = [3, 3, 1];
/** Each as a function of one tensor, its values and the gradient of its sum. */
const cases = {
  max: [(x) => x.max(), three, [0.5, 0.5, 0]],
  min: [(x) => x.min(), [1, 1, 1], [1 / 3, 1 / 3, 1 / 3]],
  'max along an axis': [(x) => x.reshape([2, 2]).max(1), [4, 4, 1, 2], [0.5, 0.5, 0, 1]],
  'min with keepDims': [(x) => x.reshape([2, 2]).min(0, true), [4, 1, 4, 2], [0.5, 1, 0.5, 0]],
  'max of infinities': [(x) => x.max(), [Infinity, Infinity, 1], [0.5, 0.5, 0]],
  maximum: [(x) => x.maximum(x.mul(2).sub(3)), three, [1.5, 1.5, 1]],
  minimum: [(x) => x.minimum(x.mul(-1)), [0, 1, -1], [0, -1, 1]],
  'maximum with a number': [(x) => x.maximum(3), [2, 3, 4], [0, 0.5, 1]],
  clipByValue: [(x) => x.clipByValue(1, 3), [0, 1, 2, 3, 4], [0, 1, 1, 1, 0]],
  selu: [(x) => tf.selu(x), [0, 1], [1.7580993, 1.050701]],
  relu: [(x) => x.relu(), [-1, 0, 1], [0, 0, 1]],
  relu6: [(x) => x.relu6(), [0, 3, 6, 7], [0, 1, 1, 0]],
  'max pool': [(x) => x.reshape([1, 2, 2, 1]).maxPool(2, 2, 'valid'), [1, 3, 3, 3], [0, 1, 0, 0]],
};

const near = (got, expected) => {
  assert.equal(got.length, expected.length);
  for (const [at, each] of expected.entries()) {
    assert.ok(Math.abs(got[at] - each) < 1e-6, `${got} for ${expected}`);
  }
};

for (const [name, [f, values, expected]] of Object.entries(cases)) {
  test(`${name}: the same gradient eagerly, compiled and traced`, () => {
    const x = tf.tensor1d(values);
    near(
      [
        ...tf
          .grad((y) => f(y).sum())(x)
          .dataSync(),
      ],
      expected,
    );
    near(
      [
        ...tf
          .jit(tf.grad((y) => f(y).sum()))(x)
          .dataSync(),
      ],
      expected,
    );
    if (name === 'max pool' || name === 'selu') return; // by other names there
    const compiled = tl.compile({ x: [values.length] }, ({ x: y }, g) => ({
      d: g.grad(f(y).sum(), [y])[0],
    }));
    near([...compiled.run({ x: tl.tensor(values) }).d.dataSync()], expected);
    compiled.dispose();
  });
}

test('NaN has no equal', () => {
  const gradient = tf.grad((x) => x.max())(tf.tensor1d([NaN, 1]));
  assert.deepEqual([...gradient.dataSync()], [0, 0]);
});

test('bounds that are tensors have the slope of numbers', () => {
  const f = tl.compile({ x: [3], low: [3], high: [3] }, ({ x, low, high }, g) => ({
    d: g.grad(g.clipByValue(x, low, high).sum(), [x])[0],
  }));
  const [x, low, high] = [
    [0, 1, 3],
    [1, 1, 1],
    [3, 3, 3],
  ].map((each) => tl.tensor(each));
  assert.deepEqual([...f.run({ x, low, high }).d.dataSync()], [0, 1, 1]);
  f.dispose();
});
