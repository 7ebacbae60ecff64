// Fused operators of com.microsoft, also with uint8 weights; and image resizing with unchanged or rounded sizes.
import { int32, int64, normal, single } from './single.mjs';
import { float, floats, tensor } from './write.mjs';

const f32 = 'float32';
const microsoft = { domain: 'com.microsoft' };

const bytes = (dtype, ...shape) => {
  const data = Uint8Array.from(
    { length: shape.reduce((a, b) => a * b) },
    (_, k) => (k * 89 + 31) % 256,
  );
  return tensor(dtype, dtype === 'int8' ? Int8Array.from(data) : data, shape);
};
const one = (dtype, value) => tensor(dtype, [value], [1]);
const number = (dtype, value) => tensor(dtype, [value], []);
const base = () => [bytes('uint8', 2, 5, 8), bytes('int8', 8, 24), normal(24), one(f32, 0.02)];
const columns = tensor(
  f32,
  Array.from({ length: 24 }, (_, k) => 0.01 + k / 1000),
);
const attention = (name, operands, attributes, outputs) =>
  single(name, 'QAttention', operands, outputs, { num_heads: 2, ...attributes }, microsoft);
const rows = [bytes('uint8', 5, 8), bytes('uint8', 4, 8), bytes('uint8', 2, 8)];
const norm = [bytes('uint8', 8), bytes('uint8', 8)];
const kinds = int32([0, 1, 1, 0], [2, 2]);
const scales = [0.01, 0.02, 0.03, 0.04, 0.05].map((each) => number(f32, each));
const zeros = [1, 2, 3, 4, 5].map((each) => number('uint8', each));
const gemm = (activation, attributes = {}) =>
  single(
    `a product with ${activation}`,
    'FusedGemm',
    [normal(3, 4), normal(5, 4), normal(5)],
    [f32],
    { activation, transB: 1, alpha: float(0.5), ...attributes },
    microsoft,
  );
const convolution = (activation, params) =>
  single(
    `a convolution with ${activation}`,
    'FusedConv',
    [normal(1, 2, 5, 5), normal(3, 2, 3, 3), normal(3)],
    [f32],
    { activation, kernel_shape: [3, 3], ...(params ? { activation_params: floats(params) } : {}) },
    microsoft,
  );
const resize = (name, x, scales, sizes, attributes) =>
  single(name, 'Resize', [x, null, scales, sizes], [x.dtype], attributes, { fixed: [2, 3] });
const smooth = { mode: 'cubic', antialias: 1 };
export const fusedCases = [
  attention(
    'attention of bytes: the past',
    [
      ...base(),
      one(f32, 0.03),
      int32([5, 3]),
      one('uint8', 128),
      one('int8', 3),
      normal(2, 2, 2, 3, 4),
    ],
    { unidirectional: 1 },
    [f32, f32],
  ),
  attention('attention of bytes: scales of columns', [...base(), columns], {}, [f32]),
  single(
    'embeddings of bytes',
    'QEmbedLayerNormalization',
    [int32([1, 3, 2, 0], [2, 2]), kinds, ...rows, ...norm, null, ...scales, ...zeros],
    [f32, 'int32'],
    { epsilon: 1e-5 },
    microsoft,
  ),
  gemm('Relu'),
  gemm('LeakyRelu', { activation_alpha: float(0.2) }),
  resize('scales that leave the sizes', normal(1, 2, 5, 5), tensor(f32, [1, 1, 1.02, 1.1]), null, {
    mode: 'cubic',
  }),
  resize(
    'bytes without aliases',
    bytes('uint8', 1, 1, 16, 16),
    null,
    int64([1, 1, 12, 12]),
    smooth,
  ),
  gemm('Elu', { activation_alpha: float(0.7) }),
  gemm('Softsign'),
  convolution('Relu'),
  convolution('LeakyRelu', [0.3]),
  convolution('Clip', [-0.5, 1]),
  convolution('HardSigmoid', [0.3, 0.4]),
];
