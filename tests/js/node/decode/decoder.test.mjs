// Decoders with a KV cache in states: their results equal those of ONNX Runtime Web, whatever is fed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import * as ort from 'onnxruntime-web';
import * as tl from 'tensorlathe';
import { SharedEntry } from '../../../../js/dist/runtime/shared_entry.js';
import { dataOf, drawn, isOnWasm, loadModel } from '../../onnx/decoder_device.mjs';
import { llama } from '../../onnx/llama.mjs';
import { random } from '../../onnx/write.mjs';

const config = {
  width: 64,
  heads: 4,
  groups: 2,
  layers: 2,
  hidden: 40,
  vocabulary: 29,
  positions: 512,
};
const size = config.width / config.heads;
const cacheNames = [0, 1].flatMap((layer) => [`${layer}.key`, `${layer}.value`]);

function weights(name, shape) {
  if (name.includes('norm')) return new Float32Array(shape[0]).fill(1);
  const seed = [...name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7);
  return random(seed, shape, 0.4).data;
}

/** Feeds of a model: tokens that follow those of an earlier result, or of none. */
function feeds(make, tokens, length, past, grouped) {
  const int64 = (values) => make('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
  const cache = cacheNames.map((name) => [
    `past_key_values.${name}`,
    past?.[`present.${name}`] ?? make('float32', new Float32Array(0), [1, config.groups, 0, size]),
  ]);
  return {
    input_ids: int64(tokens),
    attention_mask: int64(Array(length + tokens.length).fill(1)),
    ...(grouped ? {} : { position_ids: int64(tokens.map((_, at) => length + at)) }),
    ...Object.fromEntries(cache),
  };
}

const ours = (type, data, shape) => tl.tensor(data, shape, type);
const theirs = (type, data, shape) => new ort.Tensor(type, data, shape);

/** `tolerance`: where numbers are rounded to 8 bits, the last of these may differ. */
async function assertSame(actual, expected, tolerance = 1e-3) {
  for (const name of ['logits', ...cacheNames.map((each) => `present.${each}`)]) {
    assert.deepEqual([...actual[name].shape], [...expected[name].dims], name);
    const values = await dataOf(actual[name]);
    for (const [k, each] of expected[name].data.entries()) {
      assert.ok(
        Math.abs(values[k] - each) < tolerance,
        `${name}[${k}] is ${values[k]}, not ${each}`,
      );
    }
  }
}

const kinds = {
  'plain operators': {},
  GroupQueryAttention: { grouped: true },
  'GroupQueryAttention and 8 bits of each call': { grouped: true, dynamic: true },
};
for (const [what, kind] of drawn(Object.entries(kinds))) {
  const { grouped = false } = kind;
  // Among so many numbers one is a tie between two 8-bit values, which ONNX Runtime rounds the other way.
  const longest = kind.dynamic ? [] : [161];
  const check = ({ actual, expected }) => assertSame(actual, expected, kind.dynamic ? 1e-2 : 1e-3);
  let model, session;
  before(async () => {
    ort.env.wasm.numThreads = 1;
    const bytes = llama(config, weights, kind);
    model = await loadModel(bytes);
    const options = { executionProviders: ['wasm'], logSeverityLevel: 4 };
    session = await ort.InferenceSession.create(bytes, options);
  });
  after(async () => {
    model.dispose();
    await session.release();
  });
  /** ONNX Runtime runs one call at a time. */
  let turn = Promise.resolve();
  /** One call of both, after an earlier pair of results. */
  const call = async (tokens, past) => {
    const length = past?.length ?? 0;
    const running = model.run(feeds(ours, tokens, length, past?.actual, grouped));
    turn = turn.then(() => session.run(feeds(theirs, tokens, length, past?.expected, grouped)));
    const [actual, expected] = await Promise.all([running, turn]);
    return { actual, expected, length: length + tokens.length };
  };
  const tokens = (count, seed) =>
    Array.from({ length: count }, (_, at) => (at * 7 + seed) % config.vocabulary);

  test(`prompts of all lengths, then tokens one by one, ${what}`, async () => {
    for (const count of [1, 2, 4, 5, 15, 16, 17, 33, 65, 20, ...longest]) {
      let state = await call(tokens(count, count));
      await check(state);
      for (let step = 0; step < 3; step++) {
        state = await call([(count + step) % config.vocabulary], state);
        await check(state);
      }
    }
  });

  test(`more rows than the initial capacity, ${what}`, async () => {
    let state = await call(tokens(120, 3));
    for (let step = 0; step < 20; step++) state = await call([step], state);
    await check(state);
    state = await call(tokens(140, 5), state);
    await check(state);
  });

  test(`two conversations, and continuing from an earlier state, ${what}`, async () => {
    const first = await call(tokens(9, 1));
    const second = await call(tokens(6, 2));
    const firstOn = await call([4], first);
    const secondOn = await call([5, 6], second);
    const third = await call([7], first);
    const thirdOn = await call([8], third);
    for (const each of [second, firstOn, secondOn, third, thirdOn, first]) await check(each);
  });

  test(`overlapping calls, and copied caches, ${what}`, async () => {
    const state = await call(tokens(7, 4));
    const copies = {};
    for (const [name, each] of Object.entries(state.actual))
      copies[name] = tl.tensor(await each.data(), each.shape, each.dtype);
    const [a, b] = await Promise.all([
      call([1], state),
      call([2, 3], { ...state, actual: copies }),
    ]);
    await check(a);
    await check(b);
  });
}

test('a call whose threads failed may be repeated', { skip: !isOnWasm() }, async () => {
  const bytes = llama(config, weights, { grouped: true });
  const chain = async (model, call) => {
    const logits = [];
    for (let past; logits.length < 60;) {
      const [token, length] = [(logits.length * 5) % config.vocabulary, logits.length];
      past = await call(() => model.run(feeds(ours, [token], length, past, true)));
      logits.push([...past.logits.dataSync()]);
    }
    return logits;
  };
  tl.env().set('THREADS_COUNT', 1);
  const singleThreaded = await tl.loadModel(bytes);
  const expected = await chain(singleThreaded, (run) => run());
  singleThreaded.dispose();
  tl.env().set('THREADS_COUNT', 3);
  tl.env().set('THREADS_MIN_WORK', 1);
  const model = await tl.loadModel(bytes);

  const { begin } = SharedEntry.prototype;
  let areUp = false;
  SharedEntry.prototype.begin = function () {
    const job = begin.call(this);
    areUp ||= job !== undefined;
    return job;
  };
  for (let round = 0; !areUp && round < 100; ++round) {
    await chain(model, (run) => run().then(waited));
  }

  let [jobs, broken] = [0, 0];
  SharedEntry.prototype.begin = function () {
    const job = begin.call(this);
    jobs += 1;
    if (jobs % 3 === 0) job?.pool.fail(job, 'broken off');
    return job;
  };
  const retried = (run) =>
    run().catch(({ message }) => {
      assert.equal(message, 'a thread failed: broken off');
      broken += 1;
      return retried(run);
    });
  try {
    assert.deepEqual(await chain(model, retried), expected);
  } finally {
    SharedEntry.prototype.begin = begin;
  }
  assert.ok(broken > 10, `${broken} of ${jobs} runs were broken off`);
  model.dispose();
  tl.env().reset();
});

/** Waits, so that threads can start. */
const waited = (result) => pause(1, result);
