// Functions near their zeros on the device `webgpu`, where WGSL bounds only absolute errors and optimizers fold differences.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe/tfjs';

await tl.setBackend('webgpu');

const sizes = [1e-7, 3e-6, 1e-4, 0.011, 0.13, 0.24, 0.26, 0.7, 0.98];
const around = (zero, sign = [-1, 1]) => sign.flatMap((s) => sizes.map((x) => zero + s * x));
const cases = {
  log: [around(1), Math.log],
  log1p: [around(0), Math.log1p],
  expm1: [around(0), Math.expm1],
  tanh: [around(0), Math.tanh],
  asinh: [around(0), Math.asinh],
  acosh: [around(1, [1]), Math.acosh],
  atanh: [around(0), Math.atanh],
  softplus: [[-17, -15, -10, -3, 0, 3], (x) => Math.log1p(Math.exp(x))],
};

for (const [name, [values, exact]] of Object.entries(cases)) {
  test(`${name} is within 16 ulps`, async () => {
    const x = tl.tensor1d(values);
    const results = await tl[name](x).data();
    Float32Array.from(values).forEach((value, at) => {
      const expected = exact(value);
      const ulps = Math.abs(results[at] - expected) / (Math.abs(expected) * 2 ** -23);
      assert.ok(expected === results[at] || ulps <= 16, `${value}: ${results[at]}, ${expected}`);
    });
  });
}

test('infinities, NaN, zeros and values outside give the results of the device `wasm`', async () => {
  const values = [Infinity, -Infinity, NaN, -1, 1, -2, 2, 0, -0, 1e30, -1e30, 3e38, 1e-30];
  for (const name of Object.keys(cases)) {
    const results = [];
    for (const device of ['wasm', 'webgpu']) {
      await tl.setBackend(device);
      results.push(Array.from(await tl[name](tl.tensor1d(values)).data()));
    }
    values.forEach((value, at) => {
      const [expected, actual] = results.map((each) => each[at]);
      const isNear = Math.abs(actual - expected) <= 1e-6 * Math.abs(expected);
      assert.ok(Object.is(actual, expected) || isNear, `${name} ${value}: ${actual}, ${expected}`);
    });
  }
});
