// Small decoders of random weights whose states have other names, ranks and kinds than keys and values: as exporters write them
// for GPT-2, LFM2, Granite 4 hybrid, Falcon H1 and Qwen 3.5.
import { Builder } from '../../transformers/builder.mjs';
import { value } from './write.mjs';

export const config = { width: 32, heads: 2, hidden: 48, vocabulary: 37, positions: 512 };
const { width, heads, hidden, vocabulary, positions } = config;
const size = width / heads;

/**
 * A decoder: its bytes, and the shapes of its states, of which those with a null have rows. `kind`: 'gpt2', 'fused', 'grouped', 'lfm2', 'granite', 'falcon',
 * 'qwen' or 'lstm'. `isMasked`: whether it has an attention mask. `isNamed`: whether names are usual and dimensions have some. `changesRows`:
 * whether a call changes past rows. `mixesTokens`: whether a result depends on all tokens of the call. `isKept`: whether an input is
 * the number of tokens with logits.
 */
export function decoder(kind, options = {}) {
  const { isMasked = true, isNamed = true, layers = 2, seed = 3 } = options;
  const { changesRows = false, mixesTokens = false, isKept = false } = options;
  const g = new Builder(seed);
  const states = [];
  const name = (usual, other) => (isNamed ? usual : other);
  const dimension = (each) => (isNamed ? each : null);
  const ids = g.input(name('input_ids', 'a'), 'int64', ['batch', dimension('sequence')]);
  const mask = isMasked
    ? g.input(name('attention_mask', 'b'), 'int64', ['batch', dimension('total')])
    : undefined;
  /** An input that is a state; its output is named later. */
  const state = (usual, shape) => {
    const at = states.length;
    const names = [name(usual[0], `x${at}`), name(usual[1], `y${at}`)];
    states.push({ names, shape });
    const named = (length) =>
      shape.map((each, axis) => {
        if (each === null) return dimension(length);
        return axis === batchAxis(shape) ? 'batch' : each;
      });
    g.input(names[0], 'float32', named('past'));
    return { input: names[0], next: (from) => outputs.push([names[1], named('all'), from]) };
  };
  const kept = isKept ? g.input('num_logits_to_keep', 'int64', []) : undefined;
  const outputs = [];
  const context = { changesRows, g, ids, mask, state, length: g.size(ids, 1), past: undefined };
  let x = g.op('Gather', [g.weight([vocabulary, width], 1), ids]);
  const kinds = layersOf(kind, layers);
  const caches = kinds.map((each, layer) => cachesOf(each, layer, state));
  const rows = caches.flat().find(({ input }) => {
    return states.find(({ names }) => names[0] === input).shape.includes(null);
  });
  if (rows !== undefined) {
    const { shape } = states.find(({ names }) => names[0] === rows.input);
    context.past = g.size(rows.input, shape.indexOf(null));
    context.total = g.op('Add', [context.past, context.length]);
    if (kind !== 'grouped') context.penalty = penalty(context);
    if (kind === 'gpt2' || kind === 'fused') x = g.op('Add', [x, positionRows(context)]);
  }
  if (mixesTokens) {
    const mean = g.op('ReduceMean', [x, g.ints(1)], { keepdims: 1 });
    x = g.op('Sub', [x, mean]);
  }
  for (const [layer, each] of kinds.entries()) {
    const y = g.rmsNorm(x, width);
    const parts = each.split('+').map((part) => {
      const own = caches[layer].filter((cache) => cache.part === part);
      return mixers[part](context, y, own);
    });
    x = parts.reduce((sum, part) => g.op('Add', [sum, part]), x);
    const inner = g.gelu(g.dense(g.rmsNorm(x, width), width, hidden));
    x = g.op('Add', [x, g.dense(inner, hidden, width)]);
  }
  if (isKept) {
    const first = g.op('Neg', [g.op('Unsqueeze', [kept, g.ints(0)])]);
    x = g.op('Slice', [x, first, g.constant('int64', [2n ** 63n - 1n]), g.ints(1)]);
  }
  const logits = g.dense(g.rmsNorm(x, width), width, vocabulary, { bias: false });
  g.output(name('logits', 'z'), 'float32', ['batch', dimension('sequence'), vocabulary], logits);
  for (const [output, shape, from] of outputs) g.output(output, 'float32', shape, from);
  return {
    bytes: g.bytes(['fused', 'grouped'].includes(kind) ? { opsets: { 'com.microsoft': 1 } } : {}),
    ids,
    mask,
    states,
    logits: name('logits', 'z'),
    kept,
  };
}

/** Feeds of a `decoder`: tokens that follow `length` ones of an earlier call with the results `past`; `make(type, data, shape)`. */
export function feedsOf(make, made, tokens, length, past, batch = 1) {
  const { ids, mask, states, kept } = made;
  // Samples have other tokens.
  const int64 = (values) => {
    const all = Array.from({ length: batch }, (_, k) =>
      values.map((each) => (each + k) % vocabulary),
    );
    return make('int64', BigInt64Array.from(all.flat(), BigInt), [batch, values.length]);
  };
  const all = { [ids]: int64(tokens) };
  const total = length + tokens.length;
  if (mask !== undefined)
    all[mask] = make('int64', new BigInt64Array(batch * total).fill(1n), [batch, total]);
  if (kept !== undefined) all[kept] = make('int64', BigInt64Array.of(1n), []);
  for (const { names, shape } of states) {
    const initial = shape.map((each, axis) => (axis === batchAxis(shape) ? batch : (each ?? 0)));
    const zeros = new Float32Array(initial.reduce((product, each) => product * each, 1));
    all[names[0]] = past?.[names[1]] ?? make('float32', zeros, initial);
  }
  return all;
}

const batchAxis = (shape) => (shape.length > 4 ? 1 : 0);

/** What each layer mixes tokens with. */
function layersOf(kind, layers) {
  const mixed = {
    gpt2: ['joined'],
    fused: ['fused'],
    grouped: ['shortConv', 'grouped'],
    lfm2: ['shortConv', 'attention'],
    granite: ['mamba', 'attention'],
    falcon: ['mamba+attention'],
    lstm: ['lstm', 'attention'],
    qwen: ['delta', 'attention'],
  }[kind];
  return Array.from({ length: layers }, (_, layer) => mixed[layer % mixed.length]);
}

const convolved = { shortConv: width, mamba: width + 2 * 8, delta: 3 * width };
const taps = { shortConv: 3, mamba: 4, delta: 4 };

function cachesOf(kind, layer, state) {
  return kind.split('+').flatMap((part) => {
    const add = (usual, shape) => ({ part, ...state(usual, shape) });
    if (part === 'joined' || part === 'fused')
      return [add([`past_${layer}`, `present_${layer}`], [2, 1, heads, null, size])];
    if (part === 'attention' || part === 'grouped') {
      return ['key', 'value'].map((each) =>
        add(
          [`past_key_values.${layer}.${each}`, `present.${layer}.${each}`],
          [1, heads, null, size],
        ),
      );
    }
    if (part === 'lstm') {
      return ['hidden', 'cell'].map((each) =>
        add([`past_${each}.${layer}`, `present_${each}.${layer}`], [1, 1, width]),
      );
    }
    const conv = add(
      [`past_conv.${layer}`, `present_conv.${layer}`],
      [1, convolved[part], taps[part]],
    );
    if (part === 'shortConv') return [conv];
    const usual = part === 'mamba' ? 'ssm' : 'recurrent';
    const shape = [1, heads, size, part === 'mamba' ? 8 : size];
    return [conv, add([`past_${usual}.${layer}`, `present_${usual}.${layer}`], shape)];
  });
}

/** What is added to scores [batch, 1, length, total]. */
function penalty({ g, mask, past, length, total }) {
  const rows = g.op('Unsqueeze', [g.op('Add', [g.range(length), past]), g.ints(1)]);
  const columns = g.op('Unsqueeze', [g.range(total), g.ints(0)]);
  const isBefore = g.op('LessOrEqual', [columns, rows]);
  if (mask === undefined) return g.penalty(isBefore);
  const isSeen = g.op('Cast', [g.op('Unsqueeze', [mask, g.ints(1, 2)])], { to: 9 });
  return g.penalty(g.op('And', [isSeen, isBefore]));
}

/** Position embeddings: of a model with a mask by its sums. */
function positionRows({ g, ids, mask, past, length }) {
  const table = g.weight([positions, width], 1);
  if (mask === undefined) return g.op('Gather', [table, g.op('Add', [g.range(length), past])]);
  const sums = g.op('Sub', [g.op('CumSum', [mask, g.constant('int64', [1], [])]), g.ints(1)]);
  const end = g.constant('int64', [2n ** 63n - 1n]);
  const last = g.op('Slice', [sums, g.op('Neg', [g.size(ids, 1)]), end, g.ints(1)]);
  return g.op('Gather', [table, last]);
}

/** The rows of the last `count` values along an axis. */
const lastOf = (g, x, count, axis) =>
  g.op('Slice', [x, g.ints(-count), g.constant('int64', [2n ** 63n - 1n]), g.ints(axis)]);

/** A causal convolution of [batch, channels, length] by channel, whose first inputs are the state. */
function convolve(g, x, cache, channels, count) {
  const all = g.op('Concat', [cache.input, x], { axis: 2 });
  cache.next(lastOf(g, all, count, 2));
  const weight = g.weight([channels, 1, count], 0.5);
  // The state has one element more than the first output needs.
  const from = g.op('Slice', [all, g.ints(1), g.constant('int64', [2n ** 63n - 1n]), g.ints(2)]);
  return g.op('Conv', [from, weight], { group: channels, kernel_shape: [count] });
}

const columns = (g, x, sizes, axis = -1) =>
  g.ops('Split', [x, g.ints(...sizes)], sizes.length, { axis });
const turned = (g, x) => g.op('Transpose', [x], { perm: [0, 2, 1] });

/** A recurrence over tokens: `step(builder, state, slices)` returns the next state and an output. */
function recurrence(g, cache, shape, sequences, step) {
  const inner = new Builder(77);
  const names = sequences.map((each, at) => `${each.name}_${at}`);
  const [next, y] = step(inner, 'memory', names);
  const body = {
    ...inner.branch('step', [next, y]),
    inputs: [
      value('memory', 'float32', shape),
      ...names.map((each, at) => value(each, 'float32', sequences[at].shape)),
    ],
  };
  const [last, all] = g.ops('Scan', [cache.input, ...sequences.map(({ from }) => from)], 2, {
    body,
    num_scan_inputs: sequences.length,
  });
  cache.next(last);
  return all;
}

const mixers = {
  /** Attention whose keys and values are one state [2, batch, heads, rows, size]. */
  joined({ g, penalty }, x, [cache]) {
    const [q, k, v] = [0, 1, 2].map(() => g.split(g.dense(x, width, width), heads, size));
    const [pastKeys, pastValues] = g
      .ops('Split', [cache.input], 2, { axis: 0, num_outputs: 2 })
      .map((each) => g.op('Squeeze', [each, g.ints(0)]));
    const keys = g.op('Concat', [pastKeys, k], { axis: 2 });
    const values = g.op('Concat', [pastValues, v], { axis: 2 });
    const both = [keys, values].map((each) => g.op('Unsqueeze', [each, g.ints(0)]));
    cache.next(g.op('Concat', both, { axis: 0 }));
    return g.dense(g.merge(g.attend(q, keys, values, size, penalty), width), width, width);
  },
  /** The same as an operator of com.microsoft. */
  fused({ g, mask }, x, [cache]) {
    const weights = [g.weight([width, 3 * width]), g.weight([3 * width], 0.1)];
    const seen = g.op('Cast', [mask], { to: 6 });
    const operands = [x, ...weights, seen, cache.input];
    const attributes = { num_heads: heads, unidirectional: 1 };
    const [y, present] = g.ops('Attention', operands, 2, attributes, 'com.microsoft');
    cache.next(present);
    return g.dense(y, width, width);
  },
  /** Attention by an operator of com.microsoft that knows the number of valid rows. */
  grouped({ g, mask }, x, [keyCache, valueCache]) {
    const projections = [0, 1, 2].map(() => g.dense(x, width, width));
    const counts = g.op('ReduceSum', [mask, g.ints(1)], { keepdims: 0 });
    const last = g.op('Cast', [g.op('Sub', [counts, g.ints(1)])], { to: 6 });
    const total = g.op('Cast', [g.op('Squeeze', [g.size(mask, 1)])], { to: 6 });
    const operands = [...projections, keyCache.input, valueCache.input, last, total];
    const attributes = { num_heads: heads, kv_num_heads: heads };
    const [y, keys, values] = g.ops(
      'GroupQueryAttention',
      operands,
      3,
      attributes,
      'com.microsoft',
    );
    keyCache.next(keys);
    valueCache.next(values);
    return g.dense(y, width, width);
  },
  attention({ g, penalty, changesRows }, x, [keyCache, valueCache]) {
    const [q, k, v] = [0, 1, 2].map(() => g.split(g.dense(x, width, width), heads, size));
    const past = changesRows ? g.op('Mul', [keyCache.input, g.scalar(0.5)]) : keyCache.input;
    const keys = g.op('Concat', [past, k], { axis: 2 });
    const values = g.op('Concat', [valueCache.input, v], { axis: 2 });
    keyCache.next(keys);
    valueCache.next(values);
    return g.dense(g.merge(g.attend(q, keys, values, size, penalty), width), width, width);
  },
  /** Its outputs are in another order than its inputs. */
  lstm({ g }, x, [hidden, cell]) {
    const [w, r] = [0, 1].map(() => g.weight([1, 4 * width, width], 0.2));
    const [y, h, c] = g.ops(
      'LSTM',
      [g.op('Transpose', [x], { perm: [1, 0, 2] }), w, r, '', '', hidden.input, cell.input],
      3,
      { hidden_size: width },
    );
    cell.next(c);
    hidden.next(h);
    return g.op('Transpose', [g.op('Squeeze', [y, g.ints(1)])], { perm: [1, 0, 2] });
  },
  /** LFM2: a gated convolution. */
  shortConv({ g }, x, [cache]) {
    const [b, c, y] = columns(g, turned(g, g.dense(x, width, 3 * width)), [width, width, width], 1);
    const mixed = convolve(g, g.op('Mul', [b, y]), cache, width, taps.shortConv);
    return g.dense(turned(g, g.op('Mul', [c, mixed])), width, width);
  },
  /** Mamba 2: a convolution, then a state-space recurrence with a decay for each head. */
  mamba({ g }, x, [conv, ssm]) {
    const projected = turned(g, g.dense(x, width, convolved.mamba));
    const mixed = convolve(g, projected, conv, convolved.mamba, taps.mamba);
    const active = turned(g, g.op('Mul', [mixed, g.op('Sigmoid', [mixed])]));
    const [y, b, c] = columns(g, active, [width, 8, 8]);
    const decay = g.op('Sigmoid', [g.dense(x, width, heads)]);
    const first = (each, ...perm) => g.op('Transpose', [each], { perm });
    const byHead = g.op('Reshape', [y, g.ints(0, 0, heads, size)]);
    const all = recurrence(
      g,
      ssm,
      [1, heads, size, 8],
      [
        { name: 'x', from: first(byHead, 1, 0, 2, 3), shape: [1, heads, size] },
        { name: 'b', from: first(b, 1, 0, 2), shape: [1, 8] },
        { name: 'c', from: first(c, 1, 0, 2), shape: [1, 8] },
        { name: 'decay', from: first(decay, 1, 0, 2), shape: [1, heads] },
      ],
      (s, memory, [xs, bs, cs, decays]) => {
        const kept = s.op('Mul', [memory, s.op('Unsqueeze', [decays, s.ints(2, 3)])]);
        const outer = s.op('Mul', [
          s.op('Unsqueeze', [xs, s.ints(3)]),
          s.op('Unsqueeze', [bs, s.ints(1, 2)]),
        ]);
        const next = s.op('Add', [kept, outer]);
        const out = s.op('Mul', [next, s.op('Unsqueeze', [cs, s.ints(1, 2)])]);
        return [next, s.op('ReduceSum', [out, s.ints(3)], { keepdims: 0 })];
      },
    );
    return g.dense(rowsOf(g, all), width, width);
  },
  /** Qwen 3.5: a convolution, then the gated delta rule. */
  delta({ g }, x, [conv, recurrent]) {
    const projected = turned(g, g.dense(x, width, convolved.delta));
    const mixed = turned(g, convolve(g, projected, conv, convolved.delta, taps.delta));
    const parts = columns(g, mixed, [width, width, width]).map((each) => {
      const byHead = g.op('Reshape', [each, g.ints(0, 0, heads, size)]);
      return g.op('Transpose', [byHead], { perm: [1, 0, 2, 3] });
    });
    const unit = (each) => g.op('LpNormalization', [each], { axis: -1, p: 2 });
    const gates = [0, 1].map(() => {
      const gate = g.op('Sigmoid', [g.dense(x, width, heads)]);
      return g.op('Transpose', [gate], { perm: [1, 0, 2] });
    });
    const all = recurrence(
      g,
      recurrent,
      [1, heads, size, size],
      [
        ...['q', 'k', 'v'].map((name, at) => ({
          name,
          from: at < 2 ? unit(parts[at]) : parts[at],
          shape: [1, heads, size],
        })),
        ...gates.map((from, at) => ({ name: ['decay', 'beta'][at], from, shape: [1, heads] })),
      ],
      (s, memory, [q, k, v, decays, betas]) => {
        const kept = s.op('Mul', [memory, s.op('Unsqueeze', [decays, s.ints(2, 3)])]);
        const key = s.op('Unsqueeze', [k, s.ints(3)]);
        const sumOf = (each) => s.op('ReduceSum', [each, s.ints(2)], { keepdims: 0 });
        const retrieved = sumOf(s.op('Mul', [kept, key]));
        const delta = s.op('Mul', [
          s.op('Sub', [v, retrieved]),
          s.op('Unsqueeze', [betas, s.ints(2)]),
        ]);
        const next = s.op('Add', [kept, s.op('Mul', [key, s.op('Unsqueeze', [delta, s.ints(2)])])]);
        return [next, sumOf(s.op('Mul', [next, s.op('Unsqueeze', [q, s.ints(3)])]))];
      },
    );
    return g.dense(rowsOf(g, all), width, width);
  },
};

/** [length, batch, heads, size] as [batch, length, width]. */
function rowsOf(g, x) {
  return g.op('Reshape', [g.op('Transpose', [x], { perm: [1, 0, 2, 3] }), g.ints(0, 0, width)]);
}
