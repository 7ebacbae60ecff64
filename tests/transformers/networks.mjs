// Small random networks as exporters write them: a BERT encoder, llama-like decoders, a ViT, and a Whisper-like encoder and decoder.
import { float } from '../js/onnx/write.mjs';
import { Builder } from './builder.mjs';

export const bert = { width: 32, heads: 4, layers: 2, hidden: 64, positions: 64 };

/** head: 'features', or how many classes for the sequence or for each token. */
export function bertModel(vocabulary, head, config = bert) {
  const { width, heads, layers, hidden, positions } = config;
  const g = new Builder(1);
  const shape = ['batch_size', 'sequence_length'];
  const ids = g.input('input_ids', 'int64', shape);
  const seen = g.input('attention_mask', 'int64', shape);
  const kinds = g.input('token_type_ids', 'int64', shape);
  const positionIds = g.op('Unsqueeze', [g.range(g.size(ids, 1)), g.ints(0)]);
  const words = g.op('Gather', [g.weight([vocabulary, width], 1), ids]);
  const sum = g.op('Add', [words, g.op('Gather', [g.weight([2, width], 1), kinds])]);
  const embedded = g.op('Add', [
    sum,
    g.op('Gather', [g.weight([positions, width], 1), positionIds]),
  ]);
  let x = g.layerNorm(embedded, width, { isOld: true });
  const mask = g.op('Cast', [g.op('Unsqueeze', [seen, g.ints(1, 2)])], { to: 1 });
  const away = g.op('Mul', [g.op('Sub', [g.scalar(1), mask]), g.scalar(-1e4)]);
  for (let layer = 0; layer < layers; layer++)
    x = encoderLayer(g, x, { width, heads, hidden, mask: away, isOld: layer === 0 });
  if (head.features) {
    g.output('last_hidden_state', 'float32', [...shape, width], x);
  } else if (head.tokens) {
    g.output('logits', 'float32', [...shape, head.tokens], g.dense(x, width, head.tokens));
  } else {
    const first = g.op('Gather', [x, g.constant('int64', [0], [])], { axis: 1 });
    const pooled = g.op('Tanh', [g.dense(first, width, width)]);
    g.output(
      'logits',
      'float32',
      ['batch_size', head.classes],
      g.dense(pooled, width, head.classes),
    );
  }
  return g.bytes();
}

/** Attention and a two-layer MLP, each after its norm. */
function encoderLayer(g, x, { width, heads, hidden, mask, isOld = false }) {
  const size = width / heads;
  const [q, k, v] = [0, 1, 2].map(() => g.split(g.dense(x, width, width), heads, size));
  const mixed = g.dense(g.merge(g.attend(q, k, v, size, mask), width), width, width);
  const y = g.layerNorm(g.op('Add', [x, mixed]), width, { isOld });
  const z = g.dense(g.gelu(g.dense(y, width, hidden)), hidden, width);
  return g.layerNorm(g.op('Add', [y, z]), width, { isOld });
}

export const llama = { width: 64, heads: 4, groups: 2, layers: 2, hidden: 96 };

/** Cosines and sines of the angles of positions (J. Su et al., RoFormer, 2021). */
function angles(g, positionIds, size) {
  const rates = Array.from({ length: size / 2 }, (_, at) => 1e4 ** ((-2 * at) / size));
  const each = g.op('Unsqueeze', [g.op('Cast', [positionIds], { to: 1 }), g.ints(2)]);
  const half = g.op('Mul', [each, g.constant('float32', rates, [1, 1, size / 2])]);
  const both = g.op('Unsqueeze', [g.op('Concat', [half, half], { axis: -1 }), g.ints(1)]);
  return [g.op('Cos', [both]), g.op('Sin', [both])];
}

function rotated(g, x, size, [cosines, sines]) {
  const [low, high] = g.ops('Split', [x], 2, { axis: -1, num_outputs: 2 });
  const rotatedHalf = g.op('Concat', [g.op('Neg', [high]), low], { axis: -1 });
  return g.op('Add', [g.op('Mul', [x, cosines]), g.op('Mul', [rotatedHalf, sines])]);
}

/** Each group of keys for the heads that share it. */
function repeated(g, x, groups, times, size) {
  const one = g.op('Unsqueeze', [x, g.ints(2)]);
  const many = g.op('Expand', [one, g.ints(1, 1, times, 1, 1)]);
  return g.op('Reshape', [many, g.ints(0, groups * times, -1, size)]);
}

/** What is fed to a decoder: tokens, which of all are seen, and keys and values of what came before. */
function decoderInputs(g, { layers, groups, size }, hasPositions) {
  const ids = g.input('input_ids', 'int64', ['batch_size', 'sequence_length']);
  const seen = g.input('attention_mask', 'int64', ['batch_size', 'total_sequence_length']);
  const positionIds =
    hasPositions && g.input('position_ids', 'int64', ['batch_size', 'sequence_length']);
  const shape = ['batch_size', groups, 'past_sequence_length', size];
  const past = Array.from({ length: layers }, (_, layer) =>
    ['key', 'value'].map((each) => g.input(`past_key_values.${layer}.${each}`, 'float32', shape)),
  );
  return { ids, seen, positionIds, past };
}

/** The mask of a decoder: what is seen and not later than the token; [batch, 1, length, total]. */
function causalMask(g, ids, seen) {
  const [length, total] = [g.size(ids, 1), g.size(seen, 1)];
  const rows = g.op('Add', [g.range(length), g.op('Sub', [total, length])]);
  const columns = g.range(total);
  const isBefore = g.op('LessOrEqual', [
    g.op('Unsqueeze', [columns, g.ints(0)]),
    g.op('Unsqueeze', [rows, g.ints(1)]),
  ]);
  const isSeen = g.op('Cast', [g.op('Unsqueeze', [seen, g.ints(1, 2)])], { to: 9 });
  return g.penalty(g.op('And', [isSeen, isBefore]));
}

function present(g, layer, groups, size, pair) {
  const shape = ['batch_size', groups, 'total_sequence_length', size];
  for (const [at, each] of ['key', 'value'].entries()) {
    g.output(`present.${layer}.${each}`, 'float32', shape, pair[at]);
  }
}

/** A llama of plain operators. */
export function llamaModel(vocabulary) {
  const { width, heads, groups, layers, hidden } = llama;
  const size = width / heads;
  const g = new Builder(2);
  const { ids, seen, positionIds, past } = decoderInputs(g, { layers, groups, size }, true);
  const table = g.weight([vocabulary, width], 1);
  const turn = angles(g, positionIds, size);
  const mask = causalMask(g, ids, seen);
  let x = g.op('Gather', [table, ids]);
  const caches = [];
  for (let layer = 0; layer < layers; layer++) {
    const y = g.rmsNorm(x, width);
    const plain = (units) => g.dense(y, width, units * size, { bias: false });
    const q = rotated(g, g.split(plain(heads), heads, size), size, turn);
    const k = rotated(g, g.split(plain(groups), groups, size), size, turn);
    const v = g.split(plain(groups), groups, size);
    const keys = g.op('Concat', [past[layer][0], k], { axis: 2 });
    const values = g.op('Concat', [past[layer][1], v], { axis: 2 });
    caches.push([keys, values]);
    const all = [keys, values].map((each) => repeated(g, each, groups, heads / groups, size));
    const mixed = g.merge(g.attend(q, all[0], all[1], size, mask), width);
    x = g.op('Add', [x, g.dense(mixed, width, width, { bias: false })]);
    x = g.op('Add', [x, gated(g, g.rmsNorm(x, width), width, hidden)]);
  }
  logits(g, g.rmsNorm(x, width), vocabulary);
  caches.forEach((pair, layer) => present(g, layer, groups, size, pair));
  return g.bytes();
}

/** SiLU of one product times another one. */
function gated(g, x, width, hidden) {
  const [gate, up] = [0, 1].map(() => g.dense(x, width, hidden, { bias: false }));
  const open = g.op('Mul', [gate, g.op('Sigmoid', [gate])]);
  return g.dense(g.op('Mul', [open, up]), hidden, width, { bias: false });
}

function logits(g, x, vocabulary) {
  const product = g.dense(x, llama.width, vocabulary, { bias: false });
  g.output('logits', 'float32', ['batch_size', 'sequence_length', vocabulary], product);
}

/** The same kind of network as today's exporters write it, with operators of com.microsoft. */
export function groupedModel(vocabulary) {
  const { width, heads, groups, layers, hidden } = llama;
  const size = width / heads;
  const domain = 'com.microsoft';
  const g = new Builder(3);
  const { ids, seen, past } = decoderInputs(g, { layers, groups, size }, false);
  const maxPositions = 64;
  const angle = (at) => Math.floor(at / (size / 2)) * 1e4 ** ((-2 * (at % (size / 2))) / size);
  const [cosines, sines] = [Math.cos, Math.sin].map((each) =>
    g.constant(
      'float32',
      Array.from({ length: maxPositions * (size / 2) }, (_, at) => each(angle(at))),
      [maxPositions, size / 2],
    ),
  );
  const count = g.op('ReduceSum', [seen, g.ints(1)], { keepdims: 0 });
  const before = g.op('Cast', [g.op('Sub', [count, g.ints(1)])], { to: 6 });
  const total = g.op(
    'Cast',
    [g.op('Gather', [g.op('Shape', [seen]), g.constant('int64', [1], [])])],
    { to: 6 },
  );
  const table = g.weight([vocabulary, width], 1);
  const scale = () =>
    g.constant(
      'float32',
      Array.from({ length: width }, (_, at) => 1 + (at % 5) / 20),
    );
  const epsilon = float(1e-5);
  let x = g.op('Gather', [table, ids]);
  let y = g.op('SimplifiedLayerNormalization', [x, scale()], { axis: -1, epsilon });
  const caches = [];
  for (let layer = 0; layer < layers; layer++) {
    const plain = (units) => g.dense(y, width, units * size, { bias: false });
    const [q, k, v] = [plain(heads), plain(groups), plain(groups)];
    const attributes = {
      num_heads: heads,
      kv_num_heads: groups,
      do_rotary: 1,
      scale: float(1 / Math.sqrt(size)),
    };
    const [mixed, keys, values] = g.ops(
      'GroupQueryAttention',
      [q, k, v, ...past[layer], before, total, cosines, sines],
      3,
      attributes,
      domain,
    );
    caches.push([keys, values]);
    const added = (a, b) => {
      const [norm, , , sum] = g.ops(
        'SkipSimplifiedLayerNormalization',
        [a, b, scale()],
        4,
        { epsilon },
        domain,
      );
      return [sum, norm];
    };
    [x, y] = added(x, g.dense(mixed, width, width, { bias: false }));
    [x, y] = added(x, gated(g, y, width, hidden));
  }
  logits(g, y, vocabulary);
  caches.forEach((pair, layer) => present(g, layer, groups, size, pair));
  return g.bytes({ opsets: { [domain]: 1 } });
}

export const vit = { side: 32, patch: 8, width: 32, heads: 4, layers: 2, hidden: 64, classes: 5 };

export function vitModel() {
  const { side, patch, width, heads, layers, hidden, classes } = vit;
  const g = new Builder(4);
  const pixels = g.input('pixel_values', 'float32', ['batch_size', 3, side, side]);
  const kernel = g.weight([width, 3, patch, patch], 1 / Math.sqrt(3 * patch * patch));
  const patches = g.op('Conv', [pixels, kernel, g.weight([width], 0.1)], {
    kernel_shape: [patch, patch],
    strides: [patch, patch],
  });
  const rows = g.op('Reshape', [patches, g.ints(0, width, -1)]);
  const tokens = g.op('Transpose', [rows], { perm: [0, 2, 1] });
  const one = g.op('Concat', [g.size(pixels, 0), g.ints(1, width)], { axis: 0 });
  const first = g.op('Expand', [g.weight([1, 1, width], 1), one]);
  const all = g.op('Concat', [first, tokens], { axis: 1 });
  let x = g.op('Add', [all, g.weight([1, (side / patch) ** 2 + 1, width], 1)]);
  for (let layer = 0; layer < layers; layer++) x = encoderLayer(g, x, { width, heads, hidden });
  const head = g.op('Gather', [x, g.constant('int64', [0], [])], { axis: 1 });
  g.output('logits', 'float32', ['batch_size', classes], g.dense(head, width, classes));
  return g.bytes();
}

export const whisper = {
  mels: 8,
  frames: 50,
  width: 32,
  heads: 4,
  layers: 2,
  hidden: 64,
  positions: 48,
};

/** Two convolutions over time, the second of every other frame, and encoder layers. */
export function whisperEncoder() {
  const { mels, frames, width, heads, layers, hidden } = whisper;
  const g = new Builder(5);
  const features = g.input('input_features', 'float32', ['batch_size', mels, frames * 2]);
  const convolution = (x, channels, stride) => {
    const kernel = g.weight([width, channels, 3], 1 / Math.sqrt(3 * channels));
    const attributes = { kernel_shape: [3], pads: [1, 1], strides: [stride] };
    return g.gelu(g.op('Conv', [x, kernel, g.weight([width], 0.1)], attributes));
  };
  const rows = convolution(convolution(features, mels, 1), width, 2);
  let x = g.op('Transpose', [rows], { perm: [0, 2, 1] });
  x = g.op('Add', [x, g.weight([1, frames, width], 1)]);
  for (let layer = 0; layer < layers; layer++) x = encoderLayer(g, x, { width, heads, hidden });
  g.output('last_hidden_state', 'float32', ['batch_size', frames, width], x);
  return g.bytes();
}

/** One decoder for the first step and all others: an If reads keys and values of the encoder states from the cache or computes them. */
export function whisperDecoder(vocabulary) {
  const { frames, width, heads, layers, hidden, positions } = whisper;
  const size = width / heads;
  const g = new Builder(6);
  const ids = g.input('input_ids', 'int64', ['batch_size', 'decoder_sequence_length']);
  const states = g.input('encoder_hidden_states', 'float32', ['batch_size', frames, width]);
  const kinds = ['decoder', 'encoder'].flatMap((side) =>
    ['key', 'value'].map((each) => `${side}.${each}`),
  );
  const lengths = {
    decoder: 'past_decoder_sequence_length',
    encoder: 'encoder_sequence_length_out',
  };
  const past = Array.from({ length: layers }, (_, layer) =>
    kinds.map((kind) =>
      g.input(`past_key_values.${layer}.${kind}`, 'float32', [
        'batch_size',
        heads,
        lengths[kind.split('.')[0]],
        size,
      ]),
    ),
  );
  const isLater = g.input('use_cache_branch', 'bool', [1]);
  const table = g.weight([vocabulary, width], 1);
  const before = g.size(past[0][0], 2);
  const positionIds = g.op('Add', [g.range(g.size(ids, 1)), before]);
  const mask = laterMask(g, positionIds, g.op('Add', [g.size(ids, 1), before]));
  let x = g.op('Add', [
    g.op('Gather', [table, ids]),
    g.op('Gather', [g.weight([positions, width], 1), positionIds]),
  ]);
  for (let layer = 0; layer < layers; layer++) {
    const normalized = g.layerNorm(x, width);
    const [q, k, v] = [0, 1, 2].map(() => g.split(g.dense(normalized, width, width), heads, size));
    const keys = g.op('Concat', [past[layer][0], k], { axis: 2 });
    const values = g.op('Concat', [past[layer][1], v], { axis: 2 });
    const mixed = g.merge(g.attend(q, keys, values, size, mask), width);
    x = g.op('Add', [x, g.dense(mixed, width, width)]);
    const query = g.split(g.dense(g.layerNorm(x, width), width, width), heads, size);
    const crossed = crossCache(g, isLater, states, past[layer].slice(2), layer);
    const seen = g.merge(g.attend(query, ...crossed, size), width);
    x = g.op('Add', [x, g.dense(seen, width, width)]);
    const inner = g.gelu(g.dense(g.layerNorm(x, width), width, hidden));
    x = g.op('Add', [x, g.dense(inner, hidden, width)]);
    [keys, values, ...crossed].forEach((each, at) =>
      g.output(`present.${layer}.${kinds[at]}`, 'float32', ['batch_size', heads, null, size], each),
    );
  }
  const last = g.layerNorm(x, width);
  const product = g.dense(last, width, vocabulary, { bias: false });
  g.output('logits', 'float32', ['batch_size', 'decoder_sequence_length', vocabulary], product);
  return g.bytes();
}

function laterMask(g, positionIds, total) {
  const columns = g.op('Unsqueeze', [g.range(total), g.ints(0)]);
  return g.penalty(g.op('LessOrEqual', [columns, g.op('Unsqueeze', [positionIds, g.ints(1)])]));
}

/** Keys and values of the encoder's states: of the cache where there is one. */
function crossCache(g, isLater, states, past, layer) {
  const { width, heads } = whisper;
  const cached = new Builder(1);
  const made = new Builder(100 + layer);
  const pair = past.map((each) => cached.op('Identity', [each]));
  const fresh = past.map(() => made.split(made.dense(states, width, width), heads, width / heads));
  return g.ops('If', [isLater], 2, {
    then_branch: cached.branch(`cached_${layer}`, pair),
    else_branch: made.branch(`made_${layer}`, fresh),
  });
}
