// Small programs do the same as in TensorFlow.js Layers: tests/js/behaviors.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import { programsOf, themes, wrongIn } from '../../behaviors/harness.mjs';

before(() => tf.setBackend('cpu'));

for (const theme of themes) {
  test(`behaviors of ${theme}`, async () => {
    const wrong = await wrongIn(await programsOf(theme));
    assert.equal(wrong.length, 0, `\n${wrong.join('\n')}`);
  });
}
