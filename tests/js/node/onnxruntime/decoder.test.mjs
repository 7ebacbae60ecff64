// Decoders through the API of ONNX Runtime: cached rows are passed on unread, unless the program has read or replaced them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as real from 'onnxruntime-web';
import * as ours from 'tensorlathe/onnxruntime';
import { llama } from '../../onnx/llama.mjs';
import { cacheNames, config as seq2seq, decoder } from '../../onnx/seq2seq.mjs';
import { random } from '../../onnx/write.mjs';

const config = {
  width: 64,
  heads: 4,
  groups: 2,
  layers: 2,
  hidden: 24,
  vocabulary: 23,
  positions: 256,
};
const size = config.width / config.heads;
const names = [0, 1].flatMap((layer) => [`${layer}.key`, `${layer}.value`]);
real.env.wasm.numThreads = 1;

function weights(name, shape) {
  if (name.includes('norm')) return new Float32Array(shape[0]).fill(1);
  const seed = [...name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7);
  return random(seed, shape, 0.4).data;
}

const isUnread = (tensor) => Object.getOwnPropertyDescriptor(tensor, 'cpuData').get !== undefined;

/** The results of one call of a llama, after others. */
function call({ Tensor }, session, tokens, past) {
  const before = past?.['present.0.key'].dims[2] ?? 0;
  const int64 = (values) =>
    new Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
  const empty = () => new Tensor('float32', new Float32Array(0), [1, config.groups, 0, size]);
  const cache = names.map((name) => [
    `past_key_values.${name}`,
    past?.[`present.${name}`] ?? empty(),
  ]);
  return session.run({
    input_ids: int64(tokens),
    attention_mask: int64(Array(before + tokens.length).fill(1)),
    ...Object.fromEntries(cache),
  });
}

function assertSame(actual, expected) {
  assert.deepEqual(actual.dims, expected.dims);
  for (const [k, each] of expected.data.entries()) {
    assert.ok(Math.abs(actual.data[k] - each) < 1e-3, `[${k}] is ${actual.data[k]}, not ${each}`);
  }
}

/** A model in both engines, and a function that calls it. */
async function engines(bytes) {
  const options = { executionProviders: ['wasm'], logSeverityLevel: 4 };
  const sessions = [];
  for (const each of [ours, real])
    sessions.push(await each.InferenceSession.create(bytes, options));
  return {
    both: async (tokens, [a, b] = []) => {
      const actual = await call(ours, sessions[0], tokens, a);
      const expected = await call(real, sessions[1], tokens, b);
      assertSame(actual.logits, expected.logits);
      return [actual, expected];
    },
    sessions,
    free: () => Promise.all(sessions.map((each) => each.release())),
  };
}

test('caches are passed from call to call unread', async () => {
  const { both, free } = await engines(llama(config, weights, { grouped: true }));
  let state = await both([1, 2, 3]);
  for (let step = 0; step < 6; step++) {
    const past = state[0];
    state = await both([step], state);
    for (const name of names) {
      assert.ok(isUnread(past[`present.${name}`]), `${name} has been read`);
      assert.equal(past[`present.${name}`].location, 'cpu');
      assert.equal(past[`present.${name}`].size, config.groups * (3 + step) * size);
    }
  }
  for (const name of names) assertSame(state[0][`present.${name}`], state[1][`present.${name}`]);
  await free();
});

test('caches that were read, replaced, reshaped or disposed', async () => {
  const { both, sessions, free } = await engines(llama(config, weights, { grouped: true }));
  const first = await both([4, 5]);
  let state = await both([6], first);
  for (const each of state) {
    each['present.0.key'].data[1] += 2;
    const value = each['present.1.value'];
    value.cpuData = Float32Array.from(value.data, (x) => x / 2);
  }
  state = await both([7], state);
  state = await both([8], state);
  for (const name of names) assertSame(state[0][`present.${name}`], state[1][`present.${name}`]);
  const other = await both([9], first);
  await both([1], other);
  for (const each of other) each['present.0.key'].dispose();
  assert.equal(other[0]['present.0.key'].cpuData, undefined);
  await assert.rejects(call(ours, sessions[0], [2], other[0]), /disposed/);
  const wide = (await both([2], first))[0];
  wide['present.0.key'].dims = [1, config.groups, 1, 3 * size];
  await assert.rejects(call(ours, sessions[0], [2], wide), /past_key_values.0.key|past/);
  await free();
});

test('encoder keys and values are passed from call to call unread', async () => {
  const { width, heads } = seq2seq;
  const session = await ours.InferenceSession.create(
    decoder({ positioning: 'slice', choice: 'model' }),
  );
  const { Tensor } = ours;
  const states = random(3, [1, 7, width], 1).data;
  let [first, last] = [];
  for (let step = 0; step < 5; step++) {
    const cache = cacheNames.map((name) => {
      const from = name.includes('encoder') ? first : last;
      const empty = new Tensor('float32', new Float32Array(0), [1, heads, 0, width / heads]);
      return [`past_key_values.${name}`, from?.[`present.${name}`] ?? empty];
    });
    last = await session.run({
      input_ids: new Tensor('int64', BigInt64Array.of(BigInt(step)), [1, 1]),
      encoder_attention_mask: new Tensor('int64', new BigInt64Array(7).fill(1n), [1, 7]),
      encoder_hidden_states: new Tensor('float32', states, [1, 7, width]),
      use_cache_branch: new Tensor('bool', Uint8Array.of(first ? 1 : 0), [1]),
      ...Object.fromEntries(cache),
    });
    first ??= last;
  }
  for (const name of cacheNames.filter((each) => each.includes('encoder'))) {
    assert.ok(isUnread(first[`present.${name}`]), `${name} has been read`);
  }
  await session.release();
});
