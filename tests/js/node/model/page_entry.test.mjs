// The page entry fetches layer metadata with the first layer: until then members that need it throw.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as tl from '../../../../js/dist/index.js';

test('weights of a layer without a model wait for what the page fetches with its first layer', async () => {
  await tl.ready();
  const layer = tl.layers.dense({ units: 2 });
  layer.apply(tl.input({ shape: [3] }));
  const weights = [tl.ones([3, 2]), tl.zeros([2])];
  for (const access of [() => layer.setWeights(weights), () => layer.getWeights()]) {
    assert.throws(access, /etWeights: pages load this with their first layer; await tl\.ready\(\)/);
  }
  await tl.ready();
  layer.setWeights(weights);
  assert.deepEqual(layer.getWeights()[0].arraySync(), [
    [1, 1],
    [1, 1],
    [1, 1],
  ]);
});
