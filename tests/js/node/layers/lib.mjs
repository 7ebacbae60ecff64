// Shared by tests that compare layers with TensorFlow.js: both libraries, ready, and small models.
import assert from 'node:assert/strict';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe/tfjs';

await tf.setBackend('cpu');
await tl.ready();

/** Asserts that the program has equal results with both libraries. */
export async function same(run) {
  assert.deepEqual(await run(tl), await run(tf));
}

export function compiled(lib, ...layers) {
  const model = lib.sequential({ layers });
  model.compile({ loss: 'meanSquaredError', optimizer: lib.train.sgd(0.1) });
  return model;
}

export const dense = (lib, args) =>
  lib.layers.dense({ units: 2, useBias: false, kernelInitializer: 'ones', ...args });
