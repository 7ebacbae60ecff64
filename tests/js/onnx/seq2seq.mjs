// Decoders of encoder-decoder models as exporters write them: past keys and values of the decoder and the encoder are inputs,
// without a mask of their length.
import { Builder } from '../../transformers/builder.mjs';
import { float } from './write.mjs';

export const config = {
  width: 24,
  heads: 3,
  layers: 2,
  hidden: 40,
  vocabulary: 31,
  positions: 300,
  buckets: 32,
};
const { width, heads, layers, hidden, vocabulary, positions, buckets } = config;
const size = width / heads;

export const kinds = ['decoder.key', 'decoder.value', 'encoder.key', 'encoder.value'];
export const cacheNames = Array.from({ length: layers }, (_, layer) =>
  kinds.map((kind) => `${layer}.${kind}`),
).flat();

/**
 * `positioning`: position encoding: 'gather' and 'range' of a table by indices, 'slice' of it, or 'relative', a bias
 * by distances. `choice`: whether an If of each 'layer' or of the 'model' computes the keys of the encoder or reads them from the
 * cache, or 'none': it always reads them. `isOrdered`: whether attention is causal. `isFused`: whether attention is an
 * operator of com.microsoft. `isMasked`: whether it applies the encoder attention mask.
 */
export function decoder({
  positioning,
  choice,
  isOrdered = false,
  isFused = false,
  isMasked = true,
  seed = 6,
}) {
  const g = new Builder(seed);
  const ids = g.input('input_ids', 'int64', ['batch_size', 'decoder_sequence_length']);
  const mask = g.input('encoder_attention_mask', 'int64', [
    'batch_size',
    'encoder_sequence_length',
  ]);
  const states =
    choice === 'none'
      ? undefined
      : g.input('encoder_hidden_states', 'float32', [
          'batch_size',
          'encoder_sequence_length',
          width,
        ]);
  const past = cacheNames.map((name) => {
    const rows = name.includes('decoder') ? 'past_decoder_sequence_length' : 'encoder_length_out';
    const shape = ['batch_size', heads, rows, size];
    return g.input(`past_key_values.${name}`, 'float32', shape);
  });
  if (choice !== 'none') g.input('use_cache_branch', 'bool', [1]);
  const inputs = { ids, mask, states, past };
  let results;
  if (choice === 'model') {
    const later = new Builder(seed + 1);
    const first = new Builder(seed + 1);
    const inner = { positioning, isOrdered, isFused, isMasked };
    const cached = body(later, inputs, { ...inner, cross: () => undefined });
    const made = body(first, inputs, { ...inner, cross: fresh, isFirst: true });
    results = g.ops('If', ['use_cache_branch'], cached.length, {
      then_branch: later.branch('later', cached),
      else_branch: first.branch('first', made),
    });
  } else {
    const cross = choice === 'none' ? () => undefined : chosen;
    results = body(g, inputs, { positioning, isOrdered, isFused, isMasked, cross });
  }
  const [logits, ...caches] = results;
  g.output('logits', 'float32', ['batch_size', 'decoder_sequence_length', vocabulary], logits);
  for (const [at, name] of cacheNames.entries()) {
    if (choice === 'none' && name.includes('encoder')) continue;
    g.output(`present.${name}`, 'float32', ['batch_size', heads, null, size], caches[at]);
  }
  return g.bytes(isFused ? { opsets: { 'com.microsoft': 1 } } : {});
}

/** Keys and values, computed from the encoder states. */
function fresh(g, states) {
  return [0, 1].map(() => g.split(g.dense(states, width, width), heads, size));
}

/** The same, or those of the cache, by an If. */
function chosen(g, states, past, layer) {
  const cached = new Builder(1);
  const made = new Builder(100 + layer);
  const pair = past.map((each) => cached.op('Identity', [each]));
  return g.ops('If', ['use_cache_branch'], 2, {
    then_branch: cached.branch(`cached_${layer}`, pair),
    else_branch: made.branch(`made_${layer}`, fresh(made, states)),
  });
}

/** The logits, then the KV caches. */
function body(g, { ids, mask, states, past }, options) {
  const { positioning, isOrdered, isFused, isMasked, cross, isFirst } = options;
  const length = g.size(ids, 1);
  const before = isFirst ? g.ints(0) : g.size(past[0], 2);
  const total = g.op('Add', [before, length]);
  let x = g.op('Gather', [g.weight([vocabulary, width], 1), ids]);
  const table = g.weight([positions, width], 1);
  if (positioning !== 'relative')
    x = g.op('Add', [x, positionRows(g, table, positioning, { before, length, total })]);
  const bias = positioning === 'relative' ? distances(g, total, length) : undefined;
  const order = isOrdered ? ordered(g, before, length, total) : undefined;
  const seen = [bias, order].filter((each) => each !== undefined);
  const away = g.op('Cast', [g.op('Unsqueeze', [mask, g.ints(1, 2)])], { to: 9 });
  const padding = isMasked ? g.penalty(away) : undefined;
  const caches = [];
  for (let layer = 0; layer < layers; layer++) {
    const cached = past.slice(4 * layer, 4 * layer + 4);
    const normalized = g.layerNorm(x, width);
    const plain = [0, 1, 2].map(() => g.dense(normalized, width, width));
    let mixed, keys, values;
    if (isFused && !isFirst) {
      const attributes = { num_heads: heads, scale: float(1 / Math.sqrt(size)) };
      const all = [...plain, '', '', seen[0] ?? '', cached[0], cached[1]];
      [mixed, keys, values] = g.ops('MultiHeadAttention', all, 3, attributes, 'com.microsoft');
    } else {
      const [q, k, v] = plain.map((each) => g.split(each, heads, size));
      const append = (old, each) => (isFirst ? each : g.op('Concat', [old, each], { axis: 2 }));
      [keys, values] = [append(cached[0], k), append(cached[1], v)];
      const away = seen.length > 1 ? g.op('Add', seen) : seen[0];
      mixed = g.merge(g.attend(q, keys, values, size, away), width);
    }
    x = g.op('Add', [x, g.dense(mixed, width, width)]);
    const queries = g.split(g.dense(g.layerNorm(x, width), width, width), heads, size);
    const crossed = cross(g, states, cached.slice(2), layer) ?? cached.slice(2);
    x = g.op('Add', [
      x,
      g.dense(g.merge(g.attend(queries, ...crossed, size, padding), width), width, width),
    ]);
    const inner = g.gelu(g.dense(g.layerNorm(x, width), width, hidden));
    x = g.op('Add', [x, g.dense(inner, hidden, width)]);
    // A branch cannot output values of the outer graph.
    caches.push(keys, values, ...crossed.map((each) => g.op('Identity', [each])));
  }
  return [g.dense(g.layerNorm(x, width), width, vocabulary, { bias: false }), ...caches];
}

/** The position embeddings that are added to tokens. */
function positionRows(g, table, positioning, { before, length, total }) {
  if (positioning === 'slice') return g.op('Slice', [table, before, total, g.ints(0)]);
  if (positioning === 'gather') {
    return g.op('Gather', [table, g.op('Add', [g.range(length), before])]);
  }
  const [first, last] = [before, total].map((each) => g.op('Squeeze', [each]));
  const one = g.constant('int64', [1], []);
  return g.op('Gather', [table, g.op('Range', [first, last, one])]);
}

/** Relative position bias of each head, computed for all queries and sliced to the last ones (T5). */
function distances(g, total, length) {
  const all = g.range(total);
  const far = g.op('Sub', [
    g.op('Unsqueeze', [all, g.ints(0)]),
    g.op('Unsqueeze', [all, g.ints(1)]),
  ]);
  const maxDistance = g.constant('int64', [buckets - 1], []);
  const bucket = g.op('Min', [g.op('Abs', [far]), maxDistance]);
  const each = g.op('Gather', [g.weight([buckets, heads], 1), bucket]);
  const bias = g.op('Unsqueeze', [g.op('Transpose', [each], { perm: [2, 0, 1] }), g.ints(0)]);
  const end = g.constant('int64', [2n ** 63n - 1n]);
  return g.op('Slice', [bias, g.op('Neg', [length]), end, g.ints(2)]);
}

function ordered(g, before, length, total) {
  const rows = g.op('Unsqueeze', [g.op('Add', [g.range(length), before]), g.ints(1)]);
  const columns = g.op('Unsqueeze', [g.range(total), g.ints(0)]);
  return g.penalty(g.op('LessOrEqual', [columns, rows]));
}
