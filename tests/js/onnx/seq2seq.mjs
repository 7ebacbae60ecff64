// Decoders behind an encoder as exporters write them: keys and values of earlier tokens and of the encoder come as inputs, no mask
// says how many there are.
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
 * `places`: how tokens are told where they stand: 'gather' and 'range' of a table by numbers, 'slice' of it, or 'relative', a bias
 * by distances. `choice`: whether an If of each layer or of the whole makes the keys of the encoder or takes them from the
 * cache, or 'none': it always takes them. `isOrdered`: whether each token sees none behind it. `isFused`: whether attention is an
 * operator of com.microsoft. `isMasked`: whether it goes by the mask of what it has heard.
 */
export function decoder({
  places,
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
  const given = { ids, mask, states, past };
  let results;
  if (choice === 'whole') {
    const later = new Builder(seed + 1);
    const first = new Builder(seed + 1);
    const inner = { places, isOrdered, isFused, isMasked };
    const kept = body(later, given, { ...inner, cross: () => undefined });
    const made = body(first, given, { ...inner, cross: fresh, isFirst: true });
    results = g.ops('If', ['use_cache_branch'], kept.length, {
      then_branch: later.branch('later', kept),
      else_branch: first.branch('first', made),
    });
  } else {
    const cross = choice === 'none' ? () => undefined : chosen;
    results = body(g, given, { places, isOrdered, isFused, isMasked, cross });
  }
  const [logits, ...caches] = results;
  g.output('logits', 'float32', ['batch_size', 'decoder_sequence_length', vocabulary], logits);
  for (const [at, name] of cacheNames.entries()) {
    if (choice === 'none' && name.includes('encoder')) continue;
    g.output(`present.${name}`, 'float32', ['batch_size', heads, null, size], caches[at]);
  }
  return g.bytes(isFused ? { opsets: { 'com.microsoft': 1 } } : {});
}

/** Keys and values of the encoder, made. */
function fresh(g, states) {
  return [0, 1].map(() => g.split(g.dense(states, width, width), heads, size));
}

/** The same, or those of the cache. */
function chosen(g, states, past, layer) {
  const kept = new Builder(1);
  const made = new Builder(100 + layer);
  const pair = past.map((each) => kept.op('Identity', [each]));
  return g.ops('If', ['use_cache_branch'], 2, {
    then_branch: kept.branch(`kept_${layer}`, pair),
    else_branch: made.branch(`made_${layer}`, fresh(made, states)),
  });
}

/** The logits, then what is kept. */
function body(g, { ids, mask, states, past }, options) {
  const { places, isOrdered, isFused, isMasked, cross, isFirst } = options;
  const length = g.size(ids, 1);
  const before = isFirst ? g.ints(0) : g.size(past[0], 2);
  const total = g.op('Add', [before, length]);
  let x = g.op('Gather', [g.weight([vocabulary, width], 1), ids]);
  const table = g.weight([positions, width], 1);
  if (places !== 'relative')
    x = g.op('Add', [x, placed(g, table, places, { before, length, total })]);
  const bias = places === 'relative' ? distances(g, total, length) : undefined;
  const order = isOrdered ? ordered(g, before, length, total) : undefined;
  const seen = [bias, order].filter((each) => each !== undefined);
  const away = g.op('Cast', [g.op('Unsqueeze', [mask, g.ints(1, 2)])], { to: 9 });
  const padding = isMasked ? g.penalty(away) : undefined;
  const caches = [];
  for (let layer = 0; layer < layers; layer++) {
    const kept = past.slice(4 * layer, 4 * layer + 4);
    const own = g.layerNorm(x, width);
    const plain = [0, 1, 2].map(() => g.dense(own, width, width));
    let mixed, keys, values;
    if (isFused && !isFirst) {
      const attributes = { num_heads: heads, scale: float(1 / Math.sqrt(size)) };
      const all = [...plain, '', '', seen[0] ?? '', kept[0], kept[1]];
      [mixed, keys, values] = g.ops('MultiHeadAttention', all, 3, attributes, 'com.microsoft');
    } else {
      const [q, k, v] = plain.map((each) => g.split(each, heads, size));
      const behind = (old, each) => (isFirst ? each : g.op('Concat', [old, each], { axis: 2 }));
      [keys, values] = [behind(kept[0], k), behind(kept[1], v)];
      const away = seen.length > 1 ? g.op('Add', seen) : seen[0];
      mixed = g.merge(g.attend(q, keys, values, size, away), width);
    }
    x = g.op('Add', [x, g.dense(mixed, width, width)]);
    const asked = g.split(g.dense(g.layerNorm(x, width), width, width), heads, size);
    const crossed = cross(g, states, kept.slice(2), layer) ?? kept.slice(2);
    x = g.op('Add', [
      x,
      g.dense(g.merge(g.attend(asked, ...crossed, size, padding), width), width, width),
    ]);
    const inner = g.gelu(g.dense(g.layerNorm(x, width), width, hidden));
    x = g.op('Add', [x, g.dense(inner, hidden, width)]);
    // A branch gives nothing that is around it.
    caches.push(keys, values, ...crossed.map((each) => g.op('Identity', [each])));
  }
  return [g.dense(g.layerNorm(x, width), width, vocabulary, { bias: false }), ...caches];
}

/** What is added to tokens for their places. */
function placed(g, table, places, { before, length, total }) {
  if (places === 'slice') return g.op('Slice', [table, before, total, g.ints(0)]);
  if (places === 'gather') {
    return g.op('Gather', [table, g.op('Add', [g.range(length), before])]);
  }
  const [first, last] = [before, total].map((each) => g.op('Squeeze', [each]));
  const one = g.constant('int64', [1], []);
  return g.op('Gather', [table, g.op('Range', [first, last, one])]);
}

/** A bias of each head by how far a key is before a query, of all, of which the last ones are taken (T5). */
function distances(g, total, length) {
  const all = g.range(total);
  const far = g.op('Sub', [
    g.op('Unsqueeze', [all, g.ints(0)]),
    g.op('Unsqueeze', [all, g.ints(1)]),
  ]);
  const most = g.constant('int64', [buckets - 1], []);
  const bucket = g.op('Min', [g.op('Abs', [far]), most]);
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
