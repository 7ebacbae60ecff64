// Random models equal those of TensorFlow.js: fixed seeds here, others with tests/js/layers_random.mjs --seeds.
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import { checkSeed } from '../../layers_random.mjs';

const seeds = 300;
const each = 50;

before(() => tf.setBackend('cpu'));

for (let first = 0; first < seeds; first += each) {
  test(`models of seeds ${first} to ${first + each - 1}`, async () => {
    for (let seed = first; seed < first + each; ++seed) await checkSeed(seed);
  });
}
