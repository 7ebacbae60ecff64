/** E: single operations on values in the peer's memory. */
import { randomOperations } from '../random_rows.mjs';
import { describe } from '../models/model.mjs';
import { inferenceRow } from './rows.mjs';

/** An operation on one input of this shape. */
function single(name, shape, apply) {
  const m = describe(name);
  return inferenceRow(m.output(apply(m, m.input(shape))));
}

export const ops = {
  title: 'Single operations',
  about: 'Single operations; operands and results stay in the memory of each peer.',
  task: 'infer',
  options: { resident: true },
  peers: ['tensorlathe', 'litert', 'tfjs', 'onnxruntime', 'jax'],
  rows: [
    single('conv 3×3, 56×56×64→64', [1, 56, 56, 64], (m, x) => m.conv2d(x, 64, 3)),
    single('conv 1×1, 28×28×256→256', [1, 28, 28, 256], (m, x) => m.conv2d(x, 256, 1)),
    single('depthwise 3×3, 56×56×128', [1, 56, 56, 128], (m, x) => m.depthwiseConv2d(x, 3)),
    single('softmax 64×1000', [64, 1000], (m, x) => m.softmax(x)),
    single('layer-norm 128×768', [128, 768], (m, x) => m.layerNorm(x)),
    single('gelu(x·w + b), 1024×1024', [1024, 1024], (m, x) =>
      m.gelu(m.add(m.mul(x, m.constant([1024, 1024], 2)), m.constant([1024], 1))),
    ),
    single('sum of 1024×1024', [1024, 1024], (m, x) => m.sum(x, [0, 1])),
    single('transpose 1024×1024', [1024, 1024], (m, x) => m.transpose(x)),
    single('cumsum 1024×1024', [1024, 1024], (m, x) => m.cumsum(x)),
    single('top 10 of 64×1000', [64, 1000], (m, x) => m.topK(x, 10)),
    single('resize bilinear 56×56×64 ×2', [1, 56, 56, 64], (m, x) =>
      m.resizeBilinear(x, [112, 112]),
    ),
  ],
  randomRows: randomOperations,
  targets: [
    { engine: 'chromium', threads: 1, fastest: 1.2 },
    { threads: 2, oneThread: 0.95 },
  ],
};
