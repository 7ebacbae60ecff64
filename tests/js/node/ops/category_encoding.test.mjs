// categoryEncoding of tensors, compared with TensorFlow.js.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe/tfjs';
import { same } from '../layers/lib.mjs';

const inputs = {
  scalar: 3,
  row: [1, 2, 3, 3, 0],
  rows: [
    [1, 2, 3, 1],
    [0, 3, 1, 0],
  ],
};

for (const outputMode of ['multiHot', 'oneHot', 'count']) {
  for (const [kind, values] of Object.entries(inputs)) {
    if (outputMode === 'oneHot' && kind === 'rows') continue;
    // TensorFlow.js counts in rows of multiHot, too.
    const input = outputMode === 'multiHot' && kind === 'row' ? [1, 2, 3, 0] : values;
    test(`${outputMode} of a ${kind}`, () =>
      same((lib) => {
        const layer = lib.layers.categoryEncoding({ numTokens: 5, outputMode });
        const found = layer.apply(lib.tensor(input));
        return [found.shape, [...found.dataSync()]];
      }));
  }
}

test('weights of a row and of rows', () =>
  same((lib) => {
    const layer = lib.layers.categoryEncoding({ numTokens: 6, outputMode: 'count' });
    const weights = {
      row: [1, 2, 3, 1, 7],
      rows: [
        [1, 2, 3, 1],
        [4, 5, 6, 7],
      ],
    };
    return Object.entries(weights).map(([kind, each]) => {
      const countWeights = lib.tensor(each, undefined, 'float32');
      const found = layer.apply(lib.tensor(inputs[kind], undefined, 'float32'), { countWeights });
      return [found.shape, [...found.dataSync()]];
    });
  }));

test('categories out of range, and more than two axes, are errors', () => {
  const layer = tl.layers.categoryEncoding({ numTokens: 3 });
  for (const values of [
    [3, 2, 0],
    [2, -1],
  ]) {
    assert.throws(() => layer.apply(tl.tensor1d(values)), {
      name: 'LatheError',
      message: /between 0 .* numTokens=3/,
    });
  }
  assert.throws(() => layer.apply(tl.zeros([2, 2, 2])), /maximum output rank is 2/);
});
