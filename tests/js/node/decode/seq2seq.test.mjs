// Encoder-decoder models with a KV cache that is updated in place: results equal those of ONNX Runtime Web, and no length is
// compiled separately.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ort from 'onnxruntime-web';
import * as tl from 'tensorlathe';
import { OnnxFile } from '../../../../js/dist/onnx/file.js';
import { dataOf, drawn, loadModel } from '../../onnx/decoder_device.mjs';
import { cacheNames, config, decoder } from '../../onnx/seq2seq.mjs';
import { Builder } from '../../../transformers/builder.mjs';
import { random } from '../../onnx/write.mjs';

const { width, heads, vocabulary } = config;
const size = width / heads;
ort.env.wasm.numThreads = 1;

let traceCount = 0;
const { trace } = OnnxFile.prototype;
OnnxFile.prototype.trace = function (...inputs) {
  traceCount++;
  return trace.apply(this, inputs);
};

const engines = {
  ours: (type, data, shape) => tl.tensor(data, shape, type),
  theirs: (type, data, shape) => new ort.Tensor(type, data, shape),
};

/** An encoder's states, and the mask of the valid ones. */
function encoded(seed, batch, length) {
  const states = random(seed, [batch, length, width], 1).data;
  const mask = BigInt64Array.from({ length: batch * length }, (_, k) => (k % 5 === 4 ? 0n : 1n));
  return { seed, batch, length, states, mask };
}

/** `past`: the results of the call before, and of the first one; nothing: random keys where the decoder makes none. */
function feeds(make, choice, { seed, batch, length, states, mask }, tokens, past) {
  const count = tokens.length / batch;
  const empty = (name, at) => {
    if (choice !== 'none') return make('float32', new Float32Array(0), [batch, heads, 0, size]);
    const shape = [batch, heads, name.includes('encoder') ? length : 3, size];
    return make('float32', random(seed * 100 + at, shape, 1).data, shape);
  };
  const cacheFeeds = cacheNames.map((name, at) => {
    const from = name.includes('encoder') ? past?.first : past?.last;
    return [`past_key_values.${name}`, from?.[`present.${name}`] ?? empty(name, at)];
  });
  const decoderFeeds = {
    input_ids: make('int64', BigInt64Array.from(tokens, BigInt), [batch, count]),
    encoder_attention_mask: make('int64', mask, [batch, length]),
    ...Object.fromEntries(cacheFeeds),
  };
  if (choice === 'none') return decoderFeeds;
  return {
    ...decoderFeeds,
    encoder_hidden_states: make('float32', states, [batch, length, width]),
    use_cache_branch: make('bool', Uint8Array.of(past ? 1 : 0), [1]),
  };
}

const shapeOf = (value) => [...(value.dims ?? value.shape)];

async function assertSame(actual, expected, names) {
  for (const name of names) {
    assert.deepEqual(shapeOf(actual[name]), shapeOf(expected[name]), name);
    const [a, b] = await Promise.all([dataOf(actual[name]), dataOf(expected[name])]);
    for (const [k, each] of b.entries()) {
      assert.ok(Math.abs(a[k] - each) < 1e-3, `${name}[${k}] is ${a[k]}, not ${each}`);
    }
  }
}

/** A decoder in both engines. */
async function both(options) {
  const bytes = decoder(options);
  const model = await loadModel(bytes);
  const settings = { executionProviders: ['wasm'], logSeverityLevel: 4 };
  const session = await ort.InferenceSession.create(bytes, settings);
  return {
    /** One call of both after an earlier one. */
    async call(what, tokens, before) {
      const { choice } = options;
      const pasts = ['ours', 'theirs'].map((each) => before?.[each]);
      const actual = await model.run(feeds(engines.ours, choice, what, tokens, pasts[0]));
      const expected = await session.run(feeds(engines.theirs, choice, what, tokens, pasts[1]));
      await assertSame(actual, expected, ['logits']);
      const after = (past, last) => ({ first: past?.first ?? last, last });
      return { ours: after(pasts[0], actual), theirs: after(pasts[1], expected) };
    },
    async free() {
      model.dispose();
      await session.release();
    },
  };
}

const tokens = (count, seed) =>
  Array.from({ length: count }, (_, at) => (at * 7 + seed * 5) % vocabulary);
const rowNames = cacheNames
  .filter((name) => name.includes('decoder'))
  .map((name) => `present.${name}`);

const variants = [];
for (const positioning of ['gather', 'range', 'slice', 'relative']) {
  for (const choice of ['layer', 'model', 'none']) variants.push({ positioning, choice });
}
variants.push({ positioning: 'slice', choice: 'model', isOrdered: true });
variants.push({ positioning: 'gather', choice: 'layer', isOrdered: true });
for (const choice of ['layer', 'model', 'none']) {
  variants.push({ positioning: 'gather', choice, isFused: true });
  variants.push({ positioning: 'relative', choice, isFused: true });
}

for (const options of drawn(variants)) {
  test(`tokens one by one, ${JSON.stringify(options)}`, async () => {
    const { call, free } = await both(options);
    for (const [batch, length] of [
      [1, 7],
      [2, 9],
      [1, 128],
    ]) {
      const what = encoded(length, batch, length);
      let state = await call(what, tokens(batch * (options.choice === 'none' ? 1 : 3), 1));
      state = await call(what, tokens(batch, 2), state);
      state = await call(what, tokens(batch, 3), state);
      traceCount = 0;
      for (let step = 0; step < 12; step++) state = await call(what, tokens(batch, step), state);
      assert.equal(traceCount, 0, 'nothing is traced anew');
      await assertSame(state.ours.last, state.theirs.last, rowNames);
      // The program has read them, and may have changed them.
      const key = await dataOf(state.ours.last[rowNames[1]]);
      key[3] += 1;
      state.theirs.last[rowNames[1]].data[3] += 1;
      for (let step = 0; step < 2; step++) state = await call(what, tokens(batch, step), state);
      assert.equal(traceCount, 0, 'nothing is traced anew');
    }
    await free();
  });
}

test('encoder caches in results are independent copies', async () => {
  const { call, free } = await both({ positioning: 'gather', choice: 'model' });
  const what = encoded(4, 1, 6);
  let state = await call(what, tokens(3, 1));
  state = await call(what, [5], state);
  const next = await call(what, [6], state);
  const key = 'present.0.encoder.key';
  // ONNX Runtime Web shares nothing: changing one of them changes no other.
  (await dataOf(next.ours.first[key]))[0] += 5;
  const fed = { ours: { ...next.ours, first: { ...next.ours.first, [key]: next.ours.last[key] } } };
  await call(what, [7], { ...fed, theirs: next.theirs });
  await free();
});

test('inputs are those at the call, and a model may go while it runs', async () => {
  const model = await loadModel(decoder({ positioning: 'gather', choice: 'layer' }));
  const what = encoded(4, 1, 6);
  const run = (tokens, past) => model.run(feeds(engines.ours, 'layer', what, tokens, past));
  const first = await run([1, 2, 3]);
  const past = { first, last: await run([4], { first, last: first }) };
  const expected = await (await run([5], past)).logits.array();
  const inputs = feeds(engines.ours, 'layer', what, [5], past);
  const running = model.run(inputs);
  inputs.input_ids.dataSync()[0] = 9n;
  assert.deepEqual(await (await running).logits.array(), expected);
  const last = run([6], past).catch(({ message }) => assert.match(message, /disposed/));
  model.dispose();
  await last;
});

test('models that only look like decoders', async () => {
  const g = new Builder(1);
  const x = g.input('x', 'float32', ['n']);
  const old = g.input('past_key_values.0.key', 'float32', [1, 2, 'rows', 3]);
  g.output('y', 'float32', ['n'], g.op('Neg', [x]));
  g.output('present.0.key', 'float32', [1, 2, 'rows', 3], g.op('Neg', [old]));
  const model = await loadModel(g.bytes());
  const result = await model.run({
    x: tl.tensor([1, 2]),
    'past_key_values.0.key': tl.ones([1, 2, 1, 3]),
  });
  assert.deepEqual(await result.y.array(), [-1, -2]);
  assert.deepEqual((await result['present.0.key'].array())[0][0], [[-1, -1, -1]]);
  model.dispose();
});

test('more tokens than the initial capacity', async () => {
  const { call, free } = await both({ positioning: 'slice', choice: 'model' });
  const what = encoded(5, 1, 11);
  let state = await call(what, tokens(120, 3));
  traceCount = 0;
  for (let step = 0; step < 15; step++) state = await call(what, tokens(1, step), state);
  assert.ok(traceCount <= 4, `${traceCount} traces`);
  await assertSame(state.ours.last, state.theirs.last, rowNames);
  await free();
});

test('two sequences in turn, several tokens at once, and continuing from an earlier state', async () => {
  const { call, free } = await both({ positioning: 'range', choice: 'layer' });
  const [a, b] = [encoded(1, 1, 6), encoded(2, 1, 6)];
  const first = await call(a, tokens(4, 1));
  const second = await call(b, tokens(2, 2));
  const firstOn = await call(a, [4], first);
  const secondOn = await call(b, [6], second);
  const repeated = await call(a, [7], first);
  const many = await call(a, tokens(5, 4), repeated);
  await call(a, [8], many);
  await call(a, [8], repeated);
  const changed = await dataOf(first.ours.first['present.0.encoder.key']);
  changed[2] += 0.5;
  first.theirs.first['present.0.encoder.key'].data[2] += 0.5;
  await call(a, [9], firstOn);
  await call(b, [9], secondOn);
  await assertSame(first.ours.last, first.theirs.last, rowNames);
  await free();
});

for (const choice of ['layer', 'model']) {
  test(`encoder states may be of any length, ${choice}`, async () => {
    const { call, free } = await both({ positioning: 'relative', choice });
    const times = [];
    for (const length of [7, 20, 31, 17, 24, 5, 9, 16]) {
      traceCount = 0;
      const what = encoded(length, 1, length);
      let state = await call(what, tokens(1, 1));
      for (let step = 0; step < 3; step++) state = await call(what, tokens(1, step), state);
      await assertSame(state.ours.last, state.theirs.last, rowNames);
      await assertSame(state.ours.last, state.theirs.last, ['present.1.encoder.value']);
      times.push(traceCount);
    }
    // The first two, the encoder states padded to 32, and prompts padded to 16.
    assert.deepEqual(times.slice(2, 5), [0, 0, 0]);
    assert.ok(times[5] <= 2, `${times}`);
    assert.deepEqual(times.slice(6), [0, 0]);
    // All positions are masked: then they all have equal weight, and the padding has none.
    const silent = { ...encoded(3, 1, 3), mask: new BigInt64Array(3) };
    await call(silent, [5], await call(silent, [4]));
    await free();
  });
}

test('a decoder that ignores the encoder attention mask', async () => {
  const { call, free } = await both({ positioning: 'gather', choice: 'layer', isMasked: false });
  for (const length of [16, 7, 7, 20]) {
    const what = encoded(length, 1, length);
    let state = await call(what, tokens(1, 1));
    for (let step = 0; step < 3; step++) state = await call(what, tokens(1, step), state);
    traceCount = 0;
    state = await call(what, [5], state);
    assert.equal(traceCount, 0);
    await assertSame(state.ours.last, state.theirs.last, rowNames);
  }
  await free();
});

test('half of a batch has a zero encoder mask, as in classifier-free guidance', async () => {
  const { call, free } = await both({ positioning: 'gather', choice: 'layer' });
  const all = encoded(5, 2, 6);
  const what = { ...all, mask: all.mask.map((each, k) => (k < 6 ? each : 0n)) };
  let state = await call(what, tokens(2, 1));
  for (let step = 0; step < 2; step++) state = await call(what, tokens(2, step), state);
  traceCount = 0;
  for (let step = 0; step < 4; step++) state = await call(what, tokens(2, step), state);
  assert.equal(traceCount, 0, 'nothing is traced anew');
  await assertSame(state.ours.last, state.theirs.last, rowNames);
  await free();
});
