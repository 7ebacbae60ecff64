// Compiled elementary functions, named as in TensorFlow.js, compared with Math.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';

const count = 401;
const line = (low, high) =>
  Float32Array.from({ length: count }, (_, i) => low + ((high - low) * i) / (count - 1));

/** Function name and range of arguments. */
const functions = [
  ['sin', -1000, 1000],
  ['cos', -1000, 1000],
  ['tan', -1.5, 1.5],
  ['asin', -1, 1],
  ['acos', -1, 1],
  ['atan', -50, 50],
  ['sinh', -20, 20],
  ['cosh', -20, 20],
  ['asinh', -1e6, 1e6],
  ['acosh', 1, 1e6],
  ['atanh', -0.99, 0.99],
  ['log1p', -0.99, 1e3],
  ['expm1', -20, 20],
  ['ceil', -3, 3],
  ['trunc', -3, 3],
  ['sign', -3, 3],
];

const computed = (x, name) =>
  tl
    .compile({ x: [count] }, ({ x }) => ({ y: x[name]() }))
    .run({ x })
    .y.dataSync();

for (const [name, low, high] of functions) {
  test(`${name} equals Math.${name}`, () => {
    const x = line(low, high);
    const y = computed(x, name);
    for (let i = 0; i < count; i++) {
      const expected = Math[name](x[i]);
      assert.ok(Math.abs(y[i] - expected) <= 4e-7 * Math.abs(expected) + 1e-45, `${name}(${x[i]})`);
    }
  });
}

test('pow, atan2, mod and floorDiv of two tensors', () => {
  const f = tl.compile({ x: [6], y: [6] }, ({ x, y }, g) => ({
    pow: g.pow(x, y),
    atan2: x.atan2(y),
    mod: x.mod(y),
    floorDiv: x.floorDiv(y),
  }));
  const x = Float32Array.of(2, -2, 7, -7, 5.5, -0.5);
  const y = Float32Array.of(10, 3, -2, 2, 2.5, 0);
  const { pow, atan2, mod, floorDiv } = f.run({ x, y });
  const near = (actual, expected) =>
    expected.forEach((each, i) =>
      Number.isFinite(each)
        ? assert.ok(Math.abs(actual[i] - each) <= 4e-7 * Math.abs(each), `${i}: ${actual[i]}`)
        : assert.equal(actual[i], each),
    );
  near(
    pow.dataSync(),
    Array.from(x, (each, i) => each ** y[i]),
  );
  near(
    atan2.dataSync(),
    Array.from(x, (each, i) => Math.atan2(each, y[i])),
  );
  near(mod.dataSync(), [2, 1, -1, 1, 0.5, NaN]);
  near(floorDiv.dataSync(), [0, -1, -4, -4, 2, -Infinity]);
});

test('integer division rounds down, and division by zero returns zero', () => {
  const f = tl.compile({ x: { shape: [5], dtype: 'int32' } }, ({ x }, g) => {
    const y = g.constant(new Int32Array([2, 2, -2, 0, -1]));
    return { mod: x.mod(y), floorDiv: x.floorDiv(y), sign: x.sign() };
  });
  const { mod, floorDiv, sign } = f.run({ x: Int32Array.of(7, -7, 7, 7, -2147483648) });
  assert.deepEqual([...mod.dataSync()], [1, 1, -1, 0, 0]);
  assert.deepEqual([...floorDiv.dataSync()], [3, -4, -4, 0, -2147483648]);
  assert.deepEqual([...sign.dataSync()], [1, -1, 1, 1, -1]);
});

test('isNaN, isInf and isFinite return bools', () => {
  const f = tl.compile({ x: [4] }, ({ x }) => ({
    nan: x.isNaN(),
    finite: x.isFinite(),
    infinite: x.isInf(),
  }));
  const { nan, finite, infinite } = f.run({ x: Float32Array.of(1, NaN, Infinity, -Infinity) });
  assert.equal(nan.dtype, 'bool');
  assert.deepEqual([...nan.dataSync()], [0, 1, 0, 0]);
  assert.deepEqual([...finite.dataSync()], [1, 0, 0, 0]);
  assert.deepEqual([...infinite.dataSync()], [0, 0, 1, 1]);
});

test('sin is accurate for angles beyond 2^20', () => {
  const f = tl.compile({ x: [3] }, ({ x }) => ({ y: x.sin() }));
  const [within, beyond, endless] = f
    .run({ x: Float32Array.of(1048576, 1048577, Infinity) })
    .y.dataSync();
  assert.ok(Math.abs(within - Math.sin(1048576)) < 1e-7);
  assert.ok(Math.abs(beyond - Math.sin(1048577)) < 1e-7 && Number.isNaN(endless));
});

test('gradients of trigonometric functions and powers', () => {
  const f = tl.compile({ x: [count] }, ({ x }, g) => ({
    wave: g.grad(x.sin().sum(), [x])[0],
    power: g.grad(x.pow(3).sum(), [x])[0],
  }));
  const x = line(-3, 3);
  const { wave, power } = f.run({ x });
  const cosines = wave.dataSync();
  const squares = power.dataSync();
  for (let i = 0; i < count; i++) {
    assert.ok(Math.abs(cosines[i] - Math.cos(x[i])) < 1e-6);
    assert.ok(Math.abs(squares[i] - 3 * x[i] * x[i]) <= 1e-6 * (1 + squares[i]));
  }
});
