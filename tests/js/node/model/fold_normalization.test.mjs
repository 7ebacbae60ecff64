// Normalizations by constants after convolutions and matrix products with constants are folded into one addition.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { largestDifference } from '../../lib.mjs';

const noise = (count, offset = 0) =>
  Float32Array.from({ length: count }, (_, i) => Math.sin(i * 1.7 + count) * 0.5 + offset);

const convolutions = {
  conv2d: { filter: [3, 3, 4, 6], apply: (x, filter) => x.conv2d(filter, 1, 'same') },
  'strided conv2d': { filter: [2, 2, 4, 6], apply: (x, filter) => x.conv2d(filter, 2) },
  depthwiseConv2d: { filter: [3, 3, 4, 2], apply: (x, filter) => x.depthwiseConv2d(filter) },
  conv2dTranspose: {
    filter: [3, 3, 5, 4],
    apply: (x, filter) => x.conv2dTranspose(filter, [2, 16, 16, 5], 2, 'same'),
  },
  matMul: { filter: [4, 7], apply: (x, filter) => x.reshape([128, 4]).matMul(filter) },
};

const normalizations = {
  'mul and add': (y, vector) => y.mul(vector('scale', 1)).add(vector('shift')),
  'mean, variance, gamma, beta': (y, vector) =>
    y
      .sub(vector('mean'))
      .mul(vector('variance', 1).add(1e-3).rsqrt())
      .mul(vector('gamma', 1))
      .add(vector('beta')),
  'bias, division and a number': (y, vector) =>
    y.add(vector('bias')).div(vector('deviation', 2)).mul(0.5),
};

/** The optimized graph and the result for one input. Parameters are constants, or variables, which are not folded. */
function compiled({ filter, apply }, normalize, parameter) {
  const f = tl.compile(
    { x: [2, 8, 8, 4] },
    ({ x }, g) => {
      const y = apply(x, parameter(g)('filter', noise(filter.reduce((a, b) => a * b)), filter));
      const channels = y.shape.at(-1);
      const vector = (name, offset) => parameter(g)(name, noise(channels, offset), [channels]);
      return { y: normalize(y, vector) };
    },
    { dumps: ['before:lower'] },
  );
  const values = f
    .run({ x: noise(512) })
    .y.dataSync()
    .slice();
  const [{ text }] = f.dumps();
  f.dispose();
  return { values, text };
}

for (const [operation, convolution] of Object.entries(convolutions)) {
  for (const [name, normalize] of Object.entries(normalizations)) {
    test(`${operation}: ${name}`, () => {
      const constant = (g) => (_, values, shape) => g.constant(values, shape);
      const variable = (g) => (label, values, shape) => g.variable(label, values, shape);
      const folded = compiled(convolution, normalize, constant);
      const unfolded = compiled(convolution, normalize, variable);
      assert.match(unfolded.text, /map (mul|mul_add|div) /);
      assert.doesNotMatch(folded.text, /map (mul|mul_add|div) /);
      assert.equal(folded.text.match(/map (add|sub) /g).length, 1);
      assert.ok(largestDifference(folded.values, unfolded.values) < 1e-5);
    });
  }
}
