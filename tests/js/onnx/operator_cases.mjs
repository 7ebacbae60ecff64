// Models of one operator each, for operators and forms of them that the ONNX conformance cases do not cover. Expected results
// are those of ONNX Runtime Web.
import { fusedCases } from './fused_cases.mjs';
import { recurrentCases } from './recurrent_cases.mjs';
import { int32, int64, normal, single, small } from './single.mjs';
import { tableCases } from './table_cases.mjs';
import { float, ints, tensor } from './write.mjs';

const f32 = 'float32';
const microsoft = { domain: 'com.microsoft' };

/** Cosines and sines of rotary embeddings. */
function angles(rows, half) {
  const at = (turn) => (_, k) => turn(Math.floor(k / half) / 100 ** ((k % half) / half));
  const all = (turn) =>
    tensor(f32, Float32Array.from({ length: rows * half }, at(turn)), [rows, half]);
  return [all(Math.cos), all(Math.sin)];
}

const bytesOf = (count) => Uint8Array.from({ length: count }, (_, k) => (k * 89 + 31) % 256);

function groupQueries() {
  const all = (batch, count, past) => [
    normal(batch, count, 64),
    normal(batch, count, 32),
    normal(batch, count, 32),
    normal(batch, 2, past, 16),
    normal(batch, 2, past, 16),
  ];
  const heads = { num_heads: 4, kv_num_heads: 2 };
  const query = (name, operands, attributes = {}) =>
    single(
      name,
      'GroupQueryAttention',
      operands,
      [f32, f32, f32],
      { ...heads, ...attributes },
      {
        ...microsoft,
        fixed: [6],
      },
    );
  const rotary = { do_rotary: 1 };
  return [
    query('gqa: a prompt', [...all(1, 6, 0), int32([5]), int32([6], [])]),
    query('gqa: a batch of prompts', [...all(2, 5, 0), int32([4, 4]), int32([5], [])]),
    query('gqa: a token', [...all(1, 1, 7), int32([7]), int32([8], [])]),
    query(
      'gqa: a token, rotary',
      [...all(1, 1, 7), int32([7]), int32([8], []), ...angles(16, 8)],
      rotary,
    ),
    query(
      'gqa: a prompt, rotary',
      [...all(2, 5, 0), int32([4, 4]), int32([5], []), ...angles(16, 8)],
      {
        ...rotary,
        rotary_interleaved: 1,
      },
    ),
    query(
      'gqa: a cache with spare capacity',
      [...all(2, 1, 9), int32([4, 6]), int32([7], []), ...angles(16, 8)],
      rotary,
    ),
    query('gqa: prompts of lengths', [...all(3, 5, 0), int32([1, 4, 2]), int32([5], [])]),
    query('gqa: prompts of lengths in a cache with spare capacity', [
      ...all(3, 5, 7),
      int32([1, 4, 2]),
      int32([5], []),
    ]),
    query('gqa: a batch of tokens', [...all(2, 1, 6), int32([6, 4]), int32([7], [])]),
    query('gqa: a window', [...all(1, 6, 0), int32([5]), int32([6], [])], {
      local_window_size: 3,
      softcap: float(5),
    }),
    query('gqa: packed', [
      normal(1, 4, 128),
      null,
      null,
      normal(1, 2, 3, 16),
      normal(1, 2, 3, 16),
      int32([6]),
      int32([7], []),
    ]),
    query('gqa: a scale', [...all(1, 4, 0), int32([3]), int32([4], [])], {
      scale: float(0.5),
      smooth_softmax: 1,
    }),
  ];
}

function heads() {
  const attention = (name, operands, attributes = {}, outputs = [f32]) =>
    single(
      name,
      'MultiHeadAttention',
      operands,
      outputs,
      { num_heads: 4, ...attributes },
      microsoft,
    );
  const qkv = (n, m) => [normal(2, n, 16), normal(2, m, 16), normal(2, m, 24)];
  const token = (n, m) => [normal(2, n, 16), normal(2, m, 16), normal(2, m, 16)];
  return [
    attention('heads: self', qkv(5, 5)),
    attention('heads: a bias', [...qkv(3, 5), normal(56)]),
    attention('heads: lengths', [...qkv(3, 5), null, int32([5, 2])]),
    attention('heads: a mask', [...qkv(3, 4), null, int32([1, 1, 1, 0, 1, 0, 0, 0], [2, 4])]),
    attention('heads: added scores', [...qkv(3, 4), null, null, normal(2, 4, 3, 4)]),
    attention('heads: in order', token(5, 5), { unidirectional: 1 }),
    attention(
      'heads: the past',
      [...token(1, 1), null, null, null, normal(2, 4, 6, 4), normal(2, 4, 6, 4)],
      {},
      [f32, f32, f32],
    ),
    attention('heads: keys of an encoder', [
      normal(2, 1, 16),
      normal(2, 4, 7, 4),
      normal(2, 4, 7, 4),
    ]),
  ];
}

/** One token of a decoder, attending to past tokens or to the keys of an encoder. */
function tokens() {
  const attention = (name, operands, attributes = {}, outputs = [f32]) =>
    single(
      name,
      'DecoderMaskedMultiHeadAttention',
      operands,
      outputs,
      { num_heads: 2, ...attributes },
      microsoft,
    );
  const token = () => normal(2, 1, 16);
  const past = () => normal(2, 2, 6, 8);
  const shared = { past_present_share_buffer: 1 };
  return [
    attention('decoder: an encoder', [token(), normal(2, 2, 5, 8), normal(2, 2, 5, 8)]),
    attention(
      'decoder: the past',
      [token(), token(), token(), null, null, past(), past(), int32([3])],
      shared,
      [f32, f32, f32],
    ),
    attention(
      'decoder: a bias',
      [token(), token(), token(), null, null, past(), past(), int32([2]), null, null, normal(48)],
      shared,
      [f32, f32, f32],
    ),
  ];
}

/** A mixture of four 4-bit experts, of which two are selected. */
function experts() {
  const bytes = (...shape) => tensor('uint8', bytesOf(shape.reduce((a, b) => a * b)), shape);
  const scales = (...shape) => small(...shape);
  const moe = (name, width, attributes, rest = []) =>
    single(
      name,
      'QMoE',
      [
        normal(5, 32),
        normal(5, 4),
        bytes(4, width, 16),
        scales(4, width),
        normal(4, width),
        bytes(4, 32, 16),
        scales(4, 32),
        ...rest,
      ],
      [f32],
      { k: 2, expert_weight_bits: 4, ...attributes },
      { ...microsoft, fixed: [2, 3, 4, 5, 6, 7] },
    );
  return [
    moe('experts', 32, { activation_type: 'silu' }),
    moe(
      'experts: gated',
      64,
      {
        activation_type: 'swiglu',
        swiglu_fusion: 1,
        normalize_routing_weights: 1,
        activation_alpha: float(1.702),
        activation_beta: float(1),
        swiglu_limit: float(7),
      },
      [normal(4, 32)],
    ),
  ];
}

function projected() {
  const attention = (name, operands, attributes = {}, outputs = [f32]) =>
    single(name, 'Attention', operands, outputs, { num_heads: 2, ...attributes }, microsoft);
  const base = () => [normal(2, 5, 8), normal(8, 24), normal(24)];
  return [
    attention('attention: plain', base()),
    attention('attention: lengths', [...base(), int32([5, 3])]),
    attention('attention: from and to', [...base(), int32([5, 4, 1, 0])]),
    attention('attention: a mask', [...base(), int32([1, 1, 1, 0, 0, 1, 1, 1, 1, 0], [2, 5])]),
    attention('attention: a placeholder mask', [...base(), int32([0], [1, 1])]),
    attention('attention: in order', base(), { unidirectional: 1 }, [f32, f32]),
    attention(
      'attention: the past',
      [normal(2, 1, 8), normal(8, 24), normal(24), null, normal(2, 2, 2, 3, 4)],
      { unidirectional: 1 },
      [f32, f32],
    ),
    attention('attention: sizes', [normal(2, 5, 8), normal(8, 28), normal(28)], {
      qkv_hidden_sizes: [8, 8, 12],
    }),
  ];
}

function layers() {
  const layer = (name, op, operands, attributes, outputs = [f32]) =>
    single(name, op, operands, outputs, attributes, microsoft);
  const sum = [f32, null, null, f32];
  const x = () => [normal(2, 3, 8), normal(2, 3, 8), normal(8)];
  const groups = int32(Array.from({ length: 64 }, (_, k) => ((k * 5) >> 1) % 2));
  const nbits = (name, bits, zero, x2, ...rest) =>
    layer(
      name,
      'MatMulNBits',
      [
        normal(x2, 64),
        tensor('uint8', bytesOf(12 * 2 * 4 * bits), [12, 2, 4 * bits]),
        small(...[24]),
        zero ? tensor('uint8', bytesOf(12 * Math.ceil((2 * bits) / 8))) : null,
        ...rest,
      ],
      { K: 64, N: 12, bits, block_size: 32 },
    );
  return [
    layer(
      'skip norm',
      'SkipLayerNormalization',
      [...x(), normal(8), normal(8)],
      { epsilon: 1e-5 },
      sum,
    ),
    layer('skip norm without a bias', 'SkipLayerNormalization', [...x(), normal(8)], {
      epsilon: 1e-5,
    }),
    layer(
      'skip simplified norm',
      'SkipSimplifiedLayerNormalization',
      [...x()],
      { epsilon: 1e-5 },
      sum,
    ),
    single('simplified norm', 'SimplifiedLayerNormalization', [normal(2, 3, 8), normal(8)], [f32], {
      epsilon: 1e-5,
      axis: -1,
    }),
    layer(
      'embeddings',
      'EmbedLayerNormalization',
      [
        int32([1, 3, 2, 0], [2, 2]),
        int32([0, 1, 1, 0], [2, 2]),
        normal(5, 8),
        normal(4, 8),
        normal(2, 8),
        normal(8),
        normal(8),
        int32([1, 1, 1, 0], [2, 2]),
      ],
      { epsilon: 1e-5 },
      [f32, 'int32'],
    ),
    layer(
      'rotary',
      'RotaryEmbedding',
      [normal(2, 3, 32), int64([0, 1, 2, 4, 5, 6], [2, 3]), ...angles(16, 4)],
      { interleaved: 0 },
    ),
    layer(
      'rotary from an offset',
      'RotaryEmbedding',
      [normal(2, 4, 3, 8), int64([5]), ...angles(16, 4)],
      { interleaved: 1 },
    ),
    layer('partially rotary', 'RotaryEmbedding', [normal(2, 3, 32), int64([2]), ...angles(16, 2)], {
      num_heads: 4,
      rotary_embedding_dim: 4,
    }),
    nbits('four bits', 4, false, 3),
    nbits('four bits, a row', 4, true, 1),
    nbits('eight bits', 8, false, 2),
    nbits('four bits, rows that name their group', 4, false, 3, groups),
    layer(
      'weights of a table',
      'MatMulBnb4',
      [normal(3, 64), tensor('uint8', bytesOf(12 * 32)), small(24)],
      { K: 64, N: 12, block_size: 32, quant_type: 1 },
    ),
    layer(
      'weights of short floats',
      'MatMulBnb4',
      [normal(1, 64), tensor('uint8', bytesOf(12 * 32)), small(12)],
      { K: 64, N: 12, block_size: 64, quant_type: 0 },
    ),
    layer(
      'rows of four bits',
      'GatherBlockQuantized',
      [tensor('uint8', bytesOf(6 * 16), [6, 16]), int64([4, 0, 5, 1], [2, 2]), small(...[6, 2])],
      { block_size: 16, bits: 4, gather_axis: 0, quantize_axis: 1 },
    ),
  ];
}

/** Operators of ai.onnx in forms that the ONNX cases do not cover. */
function others() {
  const nms = (attributes, ...rest) =>
    single(
      `boxes ${JSON.stringify(attributes)}`,
      'NonMaxSuppression',
      [normal(2, 20, 4), normal(2, 3, 20), ...rest],
      ['int64'],
      attributes,
      { fixed: [2, 3, 4] },
    );
  const number = (value) => tensor(f32, [value], [1]);
  return [
    nms({}, int64([4]), number(0.2), number(0.1)),
    nms({ center_point_box: 1 }, int64([30]), number(0.4)),
    single(
      'unique rows',
      'Unique',
      [tensor(f32, [1, 0, 2, 1, 1, 0, 2, 1, 0, 5], [5, 2])],
      [f32, 'int64', 'int64', 'int64'],
      { axis: 0, sorted: 1 },
    ),
    single(
      'unique as found',
      'Unique',
      [int64([5, 3, 5, 9, 3, 1])],
      ['int64', 'int64', 'int64', 'int64'],
      { sorted: 0 },
    ),
    ...[f32, 'int32'].map((dtype) =>
      single(
        `a range of ${dtype} by 1`,
        'Range',
        [tensor(dtype, [2], []), tensor(dtype, [5], [])],
        [dtype],
        {},
        microsoft,
      ),
    ),
    single('what is not zero', 'NonZero', [tensor(f32, [0, 1, 2, 0, 0, 3], [2, 3])], ['int64'], {}),
    single(
      'a spectrum',
      'DFT',
      [normal(2, 512, 1), int64([512], [])],
      [f32],
      { onesided: 1 },
      { fixed: [1] },
    ),
    single(
      'scattered products',
      'ScatterElements',
      [normal(4, 3), int64([1, 0, 1, 1, 2, 1], [2, 3]), normal(2, 3)],
      [f32],
      { axis: 0, reduction: 'mul' },
    ),
    single(
      'the last of several elements for an index',
      'ScatterElements',
      [normal(4, 3), int64([1, 0, 1, 1, -3, 1, 1, 0, 3], [3, 3]), normal(3, 3)],
      [f32],
      { axis: 0 },
    ),
    single(
      'the last of several integers for an index',
      'ScatterElements',
      [
        int64([1, 2, 3, 4], [1, 4]),
        int64([2, 0, 2, 2], [1, 4]),
        int64([7, -9, 2 ** 53, 8], [1, 4]),
      ],
      ['int64'],
      { axis: 1 },
    ),
    single(
      'the last of several rows for an index',
      'ScatterND',
      [normal(4, 3, 2), int64([1, 2, 0, 0, 1, 2, 1, -1], [4, 2]), normal(4, 2)],
      [f32],
    ),
    single(
      'scattered maxima',
      'ScatterND',
      [normal(4, 3), int64([1, 1, 3], [3, 1]), normal(3, 3)],
      [f32],
      { reduction: 'max' },
    ),
  ];
}

/** A window larger than its input, of which `ceil_mode` still produces one. */
function pools() {
  const pool = (op, attributes) =>
    single(
      `${op} by one window that does not fit ${JSON.stringify(attributes)}`,
      op,
      [normal(1, 2, 4, 3)],
      [f32],
      { ceil_mode: 1, kernel_shape: ints([5, 3]), strides: ints([2, 1]), ...attributes },
    );
  return [
    pool('MaxPool'),
    pool('MaxPool', { kernel_shape: ints([3, 2]), dilations: ints([2, 1]) }),
    pool('AveragePool'),
    pool('AveragePool', { count_include_pad: 1 }),
    quantisedPool([0, 0, 0, 0]),
    quantisedPool([1, 1, 1, 1]),
  ];
}

/** The last windows extend beyond the padding. */
function quantisedPool(pads) {
  const scale = tensor(f32, [0.5], []);
  const zero = tensor('uint8', [8], []);
  return single(
    `means of bytes in windows that do not fit, ${pads}`,
    'QLinearAveragePool',
    [tensor('uint8', bytesOf(60), [1, 2, 5, 6]), scale, zero, scale, zero],
    ['uint8'],
    { ceil_mode: 1, count_include_pad: 1, kernel_shape: [3, 3], strides: [2, 2], pads },
    microsoft,
  );
}

/** Grids with one point along an axis. */
function grids() {
  const sizes = [
    [1, 1, 1, 4],
    [2, 3, 3, 1],
    [1, 1, 1, 1],
    [1, 1, 3, 1, 2],
  ];
  return sizes.flatMap((size) =>
    [0, 1].map((align_corners) =>
      single(
        `a grid of ${size}, ${align_corners}`,
        'AffineGrid',
        [normal(size[0], size.length - 2, size.length - 1), int64(size)],
        [f32],
        { align_corners },
        { fixed: [1] },
      ),
    ),
  );
}

/** Statistics of each element of a row, as there were before version 9. */
function perElementStatistics() {
  const positive = tensor(f32, [0.5, 1, 2, 3, 4, 5], [3, 2]);
  const rows = () => normal(3, 2);
  return [
    single(
      'statistics of each element',
      'BatchNormalization',
      [normal(4, 3, 2), rows(), rows(), rows(), positive],
      [f32],
      { spatial: 0 },
      { opset: 7 },
    ),
  ];
}

/** Coordinates that float32 rounds to an element, and axes reduced to one element. */
function resized() {
  const bytes = tensor('uint8', bytesOf(15), [1, 1, 3, 5]);
  const none = normal(0, 1, 9, 5);
  const resize = (name, scales, sizes, attributes, x = normal(1, 1, 9, 5)) =>
    single(name, 'Resize', [x, null, scales, sizes], [x.dtype], attributes, { fixed: [2, 3] });
  return [
    resize('a third of the rows', tensor(f32, [1, 1, 1 / 3, 0.6]), null, {
      coordinate_transformation_mode: 'asymmetric',
      nearest_mode: 'floor',
    }),
    resize('one column', null, int64([1, 1, 4, 1]), {
      mode: 'cubic',
      coordinate_transformation_mode: 'pytorch_half_pixel',
    }),
    resize('no images', null, int64([0, 1, 4, 7]), { mode: 'linear' }, none),
    resize('no images, by scales', tensor(f32, [1, 1, 2, 0.5]), null, {}, none),
    resize('by a scale that F32 makes less', tensor(f32, [1, 1, 1, 1.8]), null, {}),
    resize('bytes between others', tensor(f32, [1, 1, 2, 2]), null, { mode: 'linear' }, bytes),
    single(
      'zeros in bytes',
      'DynamicQuantizeLinear',
      [tensor(f32, [0, 0, 0])],
      ['uint8', f32, 'uint8'],
    ),
  ];
}

/** Images sampled at points outside of them. */
function sampled() {
  const positions = [-0.99, -0.9, -1.2, 0.3, 1.4, 1.1, 0.1, -0.95, -3, 2, 0.98, 0.2];
  return [0, 1].map((align_corners) =>
    single(
      `cubic samples outside the border ${align_corners}`,
      'GridSample',
      [normal(1, 2, 4, 5), tensor(f32, positions, [1, 2, 3, 2])],
      [f32],
      { mode: 'cubic', padding_mode: 'border', align_corners },
    ),
  );
}

/** Boxes with NaN scores, which are omitted. */
function unscored() {
  const scores = [NaN, 0.6, 0.9, NaN, 0.5, 0.2];
  const corners = [0, 0, 1, 1, 0, 0.1, 1, 1.1, 5, 5, 7, 7, 5, 5, 7, 8, 2, 2, 3, 4, 8, 8, 9, 9];
  return [
    single(
      'boxes without scores',
      'NonMaxSuppression',
      [
        tensor(f32, corners, [1, 6, 4]),
        tensor(f32, scores, [1, 1, 6]),
        int64([6]),
        ...[0.5, 0.3].map((each) => tensor(f32, [each], [1])),
      ],
      ['int64'],
      {},
      { fixed: [2] },
    ),
  ];
}

/** Empty batches of images, and grids without points. */
function nothingSampled() {
  return [
    [0, 1],
    [2, 0],
  ].map(([images, positions]) =>
    single(
      `samples of ${images} images at ${positions} points`,
      'GridSample',
      [normal(images, 2, 4, 5), normal(images, positions, 3, 2)],
      [f32],
      { mode: 'linear' },
    ),
  );
}

export const operatorCases = [
  ...groupQueries(),
  ...heads(),
  ...tokens(),
  ...projected(),
  ...experts(),
  ...layers(),
  ...recurrentCases(),
  ...tableCases,
  ...others(),
  ...pools(),
  ...grids(),
  ...sampled(),
  ...perElementStatistics(),
  ...resized(),
  ...fusedCases,
  ...unscored(),
  ...nothingSampled(),
];
