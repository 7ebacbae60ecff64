/** B: one training step of a batch of 64, each step reading its loss. */
import { flopsPerStep, networks, smallCnn, withAdam } from '../networks.mjs';

const dense = networks.map(({ name }) => name);

export const train = {
  title: 'Training steps',
  about:
    'One step of a batch of 64: sigmoid (dense) or relu (convolutions), softmax cross-entropy, SGD 0.02 or Adam; each reads its loss.',
  task: 'train',
  options: {},
  peers: ['tensorlathe', 'tfjs', 'jax', 'convnetjs'],
  rows: [...networks, withAdam, smallCnn].map((subject) => ({
    name: subject.name,
    subject,
    flops: flopsPerStep(subject),
  })),
  targets: [
    { engine: 'chromium', threads: 1, rows: dense, jax: 2, tfjs: 8, convnetjs: 20 },
    { engine: 'chromium', threads: 1, rows: [smallCnn.name], jax: 5 },
    { threads: 2, oneThread: 0.95 },
  ],
};
