/** Operations on tensors and training loops as programs for TensorFlow.js have them; each step reads what it computed. */
import { dataOf, loopNames, programs } from '../tensors/programs.mjs';

export const tensors = {
  title: 'Programs for TensorFlow.js',
  about:
    'Programs on the API of TensorFlow.js, run by `tensorlathe/tfjs` and by TensorFlow.js with its WebAssembly backend. Each step reads its result and frees it.',
  task: 'program',
  options: {},
  peers: ['tensorlathe', 'adapter', 'tfjs'],
  rows: Object.keys(programs).map((name) => ({
    name,
    subject: name,
    flops: 0,
    data: dataOf(name),
  })),
  targets: [
    { threads: 1, tfjs: 1 },
    { threads: 1, rows: loopNames, tfjs: 8 },
  ],
};
