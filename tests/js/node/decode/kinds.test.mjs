// Decoders with states of every rank, name and kind: their results equal those of ONNX Runtime Web, and no token is traced anew.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ort from 'onnxruntime-web';
import * as tl from 'tensorlathe';
import { OnnxFile } from '../../../../js/dist/onnx/file.js';
import { dataOf, drawn, loadModel, runner } from '../../onnx/decoder_device.mjs';
import { config, decoder, feedsOf } from '../../onnx/decoders.mjs';

ort.env.wasm.numThreads = 1;

let traceCount = 0;
for (const each of ['trace', 'dependencies']) {
  const original = OnnxFile.prototype[each];
  OnnxFile.prototype[each] = function (...inputs) {
    traceCount++;
    return original.apply(this, inputs);
  };
}

const ours = (type, data, shape) => tl.tensor(data, shape, type);
const theirs = (type, data, shape) => new ort.Tensor(type, data, shape);
const shapeOf = (each) => [...(each.dims ?? each.shape)];

/** A decoder in both engines. */
async function both(kind, { batch = 1, ...options } = {}) {
  const made = decoder(kind, options);
  const model = await loadModel(made.bytes);
  const settings = { executionProviders: ['wasm'], logSeverityLevel: 4 };
  const session = await ort.InferenceSession.create(made.bytes, settings);
  const names = [made.logits, ...made.states.map((each) => each.names[1])];
  return {
    made,
    /** One call of both after an earlier one. */
    async call(tokens, past) {
      const length = past?.length ?? 0;
      const actual = await model.run(feedsOf(ours, made, tokens, length, past?.actual, batch));
      const expected = await session.run(
        feedsOf(theirs, made, tokens, length, past?.expected, batch),
      );
      return { actual, expected, length: length + tokens.length };
    },
    async assertSame({ actual, expected }, which = names) {
      for (const name of which) {
        assert.deepEqual(shapeOf(actual[name]), shapeOf(expected[name]), name);
        const [a, b] = await Promise.all([dataOf(actual[name]), dataOf(expected[name])]);
        for (const [k, each] of b.entries()) {
          assert.ok(Math.abs(a[k] - each) < 1e-3, `${name}[${k}] is ${a[k]}, not ${each}`);
        }
      }
    },
    async free() {
      model.dispose();
      await session.release();
    },
  };
}

const tokens = (count, seed) =>
  Array.from({ length: count }, (_, at) => (at * 7 + seed * 5) % config.vocabulary);

const kinds = ['gpt2', 'fused', 'grouped', 'lfm2', 'granite', 'falcon', 'qwen', 'lstm'];
for (const kind of drawn(kinds)) {
  for (const options of drawn([{ isMasked: false }, {}, { isNamed: false }])) {
    // These operators have a mask of all rows.
    if (['fused', 'grouped'].includes(kind) && options.isMasked === false) continue;
    test(`${kind}, ${JSON.stringify(options)}`, async () => {
      const { call, assertSame, free, made } = await both(kind, options);
      for (const count of [5, 1, 37]) {
        let state = await call(tokens(count, count));
        await assertSame(state);
        for (let step = 0; step < 3; step++) state = await call([step], state);
        await assertSame(state);
        traceCount = 0;
        for (let step = 0; step < 8; step++) {
          state = await call([step + 3], state);
          await assertSame(state, [made.logits]);
        }
        await assertSame(state);
        assert.equal(traceCount, 0, 'nothing is traced anew');
      }
      await free();
    });
  }

  // Steps of recurrences are of one sample.
  if (!['granite', 'falcon', 'qwen', 'lstm'].includes(kind)) {
    test(`${kind}: two samples`, async () => {
      const { call, assertSame, free, made } = await both(kind, { batch: 2 });
      let state = await call(tokens(19, 3));
      for (let step = 0; step < 3; step++) state = await call([step], state);
      await assertSame(state);
      traceCount = 0;
      for (let step = 0; step < 3; step++) state = await call([step], state);
      await assertSame(state, [made.logits]);
      assert.equal(traceCount, 0, 'nothing is traced anew');
      await free();
    });
  }

  test(`${kind}: two sequences in turn, earlier states, changed states`, async () => {
    const { call, assertSame, free, made } = await both(kind);
    const first = await call(tokens(4, 1));
    const second = await call(tokens(6, 2));
    const firstOn = await call([4], first);
    const secondOn = await call([5, 6], second);
    const third = await call([7], first);
    const thirdOn = await call([8], third);
    const fourth = await call([8], third);
    for (const each of [second, firstOn, secondOn, third, thirdOn, fourth, first])
      await assertSame(each);
    // The program has read them, and may have changed them.
    const [, name] = made.states[0].names;
    for (const each of [fourth.actual, fourth.expected]) (await dataOf(each[name]))[3] += 1;
    await assertSame(await call([9], fourth));
    await free();
  });
}

for (const kind of drawn(['falcon', 'grouped'])) {
  test(`more rows than the initial capacity, ${kind}`, async () => {
    const { call, assertSame, free } = await both(kind);
    let state = await call(tokens(121, 3));
    for (let step = 0; step < 3; step++) state = await call([step], state);
    traceCount = 0;
    for (let step = 0; step < 17; step++) state = await call([step], state);
    await assertSame(state);
    // One trace for more rows, and a call without states where the results may depend on their number.
    if (kind === 'grouped') assert.equal(traceCount, 1);
    await assertSame(await call(tokens(140, 5), state));
    await free();
  });
}

for (const options of [{ changesRows: true }, { changesRows: true, isMasked: false }]) {
  test(`a decoder that changes past rows, ${JSON.stringify(options)}`, async () => {
    const { call, assertSame, free } = await both('lfm2', options);
    for (const count of [4, 20]) {
      let state = await call(tokens(count, 3));
      for (let step = 0; step < 4; step++) {
        state = await call([step], state);
        await assertSame(state);
      }
    }
    await free();
  });
}

test('a decoder whose chunks would have other results than the whole prompt', async () => {
  const { call, assertSame, free } = await both('lfm2', { mixesTokens: true });
  for (const count of [37, 6, 40]) {
    let state = await call(tokens(count, 3));
    await assertSame(state);
    for (let step = 0; step < 4; step++) state = await call([step], state);
    traceCount = 0;
    for (let step = 0; step < 4; step++) state = await call([step], state);
    assert.equal(traceCount, 0, 'single tokens use the states');
    await assertSame(state);
  }
  await free();
});

test('the number of logits is an input', async () => {
  const { call, assertSame, free } = await both('qwen', { isKept: true });
  for (const count of [5, 37]) {
    let state = await call(tokens(count, 3));
    await assertSame(state);
    for (let step = 0; step < 3; step++) state = await call([step], state);
    traceCount = 0;
    for (let step = 0; step < 4; step++) state = await call([step], state);
    assert.equal(traceCount, 0, 'nothing is traced anew');
    await assertSame(state);
  }
  await free();
});

for (const kind of drawn(['qwen', 'lfm2', 'gpt2'])) {
  test(`${kind}: a call that failed may be repeated`, async () => {
    const { made, call, assertSame, free } = await both(kind);
    let state = await call(tokens(6, 1));
    for (let step = 0; step < 3; step++) state = await call([step], state);
    const [owner, name] = runner();
    const run = owner[name];
    let runs = 0;
    // The states are those after the run.
    owner[name] = function (...inputs) {
      const results = run.apply(this, inputs);
      if (runs++ % 2 === 0) throw new Error('broken off');
      return results;
    };
    try {
      for (let step = 0; step < 4; step++) {
        await assert.rejects(call([step], state), /broken off/);
        state = await call([step], state);
        await assertSame(state, [made.logits]);
      }
    } finally {
      owner[name] = run;
    }
    await assertSame(state);
    await free();
  });
}
