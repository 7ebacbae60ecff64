/** Dense networks: those of bench/networks.mjs at inference, and ten small layers that measure overhead. */
import { classCount, inputSize } from '../networks.mjs';
import { describe } from './model.mjs';

export function mlp({ name, layers, units }, batch) {
  const m = describe(`${name} batch ${batch}`);
  let x = m.input([batch, inputSize]);
  for (let i = 0; i < layers; i++) x = m.dense(x, units, 'sigmoid');
  return m.output(m.softmax(m.dense(x, classCount)));
}

export function tenSmallLayers() {
  const m = describe('10×(64×64) batch 1');
  let x = m.input([1, 64]);
  for (let i = 0; i < 10; i++) x = m.dense(x, 64, 'relu');
  return m.output(x);
}
