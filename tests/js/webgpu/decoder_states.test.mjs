// The states of decoders on the device webgpu: they stay there, are read when the caller reads them, end with the GPU, and move to Wasm
// with the model.
import assert from 'node:assert/strict';
import { afterEach, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as tl from 'tensorlathe';
import { InferenceSession, Tensor } from 'tensorlathe/onnxruntime';
import { loadDevice } from '../../../js/dist/devices/registry.js';
import { decoder as mixed, feedsOf } from '../onnx/decoders.mjs';
import { llama } from '../onnx/llama.mjs';
import { random } from '../onnx/write.mjs';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

const config = {
  width: 32,
  heads: 2,
  groups: 2,
  layers: 1,
  hidden: 24,
  vocabulary: 19,
  positions: 400,
};
const weights = (name, shape) =>
  name.includes('norm') ? new Float32Array(shape[0]).fill(1) : random(name.length, shape, 0.4).data;
const bytes = llama(config, weights);
const cacheNames = ['key', 'value'];

let device;
/** What the device is asked for. */
const asked = { compile: 0, copy: 0, read: 0, write: 0 };
before(async () => {
  await tl.ready();
  device = await loadDevice('webgpu');
  await device.ready();
  for (const name of Object.keys(asked)) {
    const original = device[name].bind(device);
    device[name] = (...inputs) => {
      asked[name] += 1;
      return original(...inputs);
    };
  }
});

async function counts() {
  for (let k = 0; k < 3; k++) {
    collect();
    await pause(1);
  }
  const { bytes: used, buffers } = tl.memory().devices.webgpu;
  return { bytes: used, buffers };
}

const ints = (values) => tl.tensor(BigInt64Array.from(values, BigInt), [1, values.length], 'int64');

/** A call after another, whose results are disposed of unless they are `kept`. Returns results, logits and the number of rows. */
async function call(model, tokens, past, { mask = 1, isKept = false } = {}) {
  const length = past?.length ?? 0;
  const cache = cacheNames.map((name) => [
    `past_key_values.0.${name}`,
    past?.results[`present.0.${name}`] ?? tl.zeros([1, 2, 0, 16]),
  ]);
  const running = model.run({
    input_ids: ints(tokens),
    attention_mask: ints(Array(length + tokens.length).fill(mask)),
    position_ids: ints(tokens.map((_, at) => length + at)),
    ...Object.fromEntries(cache),
  });
  // The caller may dispose of an input at once.
  if (!isKept) dispose(past);
  const results = await running;
  const logits = Array.from(await results.logits.data());
  results.logits.dispose();
  return { results, logits, length: length + tokens.length };
}

function dispose(state) {
  if (state === undefined) return;
  for (const name of cacheNames) state.results[`present.0.${name}`].dispose();
}

function near(actual, expected, tolerance = 1e-3) {
  assert.equal(actual.length, expected.length);
  const most = expected.reduce((max, each) => Math.max(max, Math.abs(each)), 0);
  const worst = expected.reduce((max, each, at) => Math.max(max, Math.abs(each - actual[at])), 0);
  assert.ok(worst <= tolerance * most, `${worst} of ${most}`);
}

const load = (name, options) => tl.loadModel(bytes, { device: name, ...options });
const prompt = (count) =>
  Array.from({ length: count }, (_, at) => (at * 7 + 3) % config.vocabulary);

test('per token nothing is compiled, copied or read but the logits; all is freed', async () => {
  const initial = await counts();
  const [model, reference] = [await load('webgpu', { strict: true }), await load('wasm')];
  let [state, expected] = [await call(model, prompt(37)), await call(reference, prompt(37))];
  near(state.logits, expected.logits);
  const next = async (token) => {
    state = await call(model, [token], state);
    expected = await call(reference, [token], expected);
    near(state.logits, expected.logits);
  };
  for (let step = 0; step < 3; step++) await next(step);
  const used = tl.memory().devices.webgpu;
  Object.assign(asked, { compile: 0, copy: 0, read: 0, write: 0 });
  for (let step = 0; step < 20; step++) await next(step % config.vocabulary);
  // Written are the tokens, their positions, the mask and the number of rows.
  assert.deepEqual(asked, { compile: 0, copy: 0, read: 20, write: 80 });
  assert.deepEqual(tl.memory().devices.webgpu, used);
  // More rows than the states have.
  for (let step = 0; step < 80; step++) await next(step % config.vocabulary);
  assert.ok(asked.compile > 0 && asked.compile <= 4, `${asked.compile} programs`);
  for (const name of cacheNames) {
    const present = `present.0.${name}`;
    near(Array.from(await state.results[present].data()), expected.results[present].dataSync());
  }
  assert.deepEqual(model.placement, { device: 'webgpu' });
  dispose(state);
  model.dispose();
  reference.dispose();
  assert.deepEqual(await counts(), initial);
});

test('states are read when the caller reads them, also after they were overwritten', async () => {
  const [model, reference] = [await load('webgpu', { strict: true }), await load('wasm')];
  const runs = [];
  for (const each of [model, reference]) {
    const first = await call(each, prompt(6));
    const second = await call(each, [5], first, { isKept: true });
    await call(each, prompt(9));
    runs.push({ first, second, third: await call(each, [4], second, { isKept: true }) });
  }
  const key = 'present.0.key';
  const { first, third } = runs[0];
  assert.throws(() => third.results[key].dataSync(), /on webgpu cannot be read synchronously/);
  assert.match(String(third.results[key]), /on webgpu: await data\(\) to read it/);
  for (const name of ['first', 'second', 'third']) {
    near(runs[0][name].logits, runs[1][name].logits);
    const read = await runs[0][name].results[key].data();
    assert.equal(runs[0][name].results[key].dataSync(), read);
    near(Array.from(read), runs[1][name].results[key].dataSync());
  }
  // What was read may be changed.
  for (const each of runs) each.third.results[key].dataSync()[3] += 1;
  const after = await call(model, [2], third);
  near(after.logits, (await call(reference, [2], runs[1].third)).logits);
  first.results[key].dispose();
  await assert.rejects(call(model, [2], first), /disposed/);
  model.dispose();
  reference.dispose();
});

test('the states on a GPU that is lost are lost; what was read continues', async () => {
  const [model, reference] = [await load('webgpu', { strict: true }), await load('wasm')];
  const states = [];
  for (const each of [model, reference]) states.push(await call(each, prompt(6)));
  const [read, expected] = states;
  const copies = {};
  for (const name of cacheNames) {
    const present = `present.0.${name}`;
    copies[present] = tl.tensor(await read.results[present].data(), read.results[present].shape);
  }
  // The first results have been compared with those of a call without states.
  let unread = await call(model, [5], read, { isKept: true });
  unread = await call(model, [6], unread);
  const { gpuDevice } = device;
  gpuDevice.destroy();
  await gpuDevice.lost;
  await assert.rejects(call(model, [4], unread, { isKept: true }), { name: 'DeviceLostError' });
  await assert.rejects(unread.results['present.0.key'].data(), { name: 'DeviceLostError' });
  const continued = await call(model, [5], { ...read, results: copies });
  near(continued.logits, (await call(reference, [5], expected, { isKept: true })).logits);
  near(
    (await call(model, [4], continued)).logits,
    (await call(reference, [4], await call(reference, [5], expected))).logits,
  );
  near((await call(model, prompt(8))).logits, (await call(reference, prompt(8))).logits);
  assert.deepEqual(model.placement, { device: 'webgpu' });
  model.dispose();
  reference.dispose();
});

test('a decoder moves to Wasm with its states, with one warning', async () => {
  const { warn } = console;
  const printed = [];
  console.warn = (message) => printed.push(message);
  const initial = await counts();
  try {
    const [model, reference] = [await load('webgpu'), await load('wasm')];
    const states = [];
    for (const each of [model, reference]) {
      let state = await call(each, prompt(6));
      state = await call(each, [5], state);
      // No int64 of shaders.
      state = await call(each, [4], state, { mask: 2 ** 40 });
      states.push(await call(each, [3], state));
    }
    near(states[0].logits, states[1].logits);
    assert.match(model.placement.reason, /1099511627776 is no int64/);
    dispose(states[0]);
    model.dispose();
    reference.dispose();
  } finally {
    console.warn = warn;
  }
  assert.equal(printed.length, 1);
  assert.deepEqual(await counts(), initial);
  const strict = await load('webgpu', { strict: true });
  const state = await call(strict, prompt(3));
  await assert.rejects(call(strict, [4], state, { mask: 2 ** 40 }), /does not run on webgpu/);
  strict.dispose();
});

test('states are operands of operations on the device', async () => {
  const [model, reference] = [await load('webgpu', { strict: true }), await load('wasm')];
  const key = 'present.0.key';
  const [state, expected] = [await call(model, prompt(6)), await call(reference, prompt(6))];
  // As beam search, which reorders the rows of samples.
  const rows = Array.from(expected.results[key].dataSync(), (each) => 2 * each);
  await tl.setDevice('webgpu');
  const doubled = state.results[key].mul(2);
  near(Array.from(await doubled.data()), rows);
  const results = { 'present.0.key': doubled, 'present.0.value': state.results['present.0.value'] };
  const other = { ...expected.results, [key]: tl.tensor(rows, doubled.shape) };
  const after = await call(model, [2], { ...state, results });
  near(after.logits, (await call(reference, [2], { ...expected, results: other })).logits);
  model.dispose();
  reference.dispose();
});

test('states of models that replace them are freed with the tensors that show them', async () => {
  const initial = await counts();
  const made = mixed('lfm2');
  const model = await tl.loadModel(made.bytes, { device: 'webgpu', strict: true });
  const make = (type, data, shape) => tl.tensor(data, shape, type);
  let past;
  const used = [];
  for (let step = 0; step < 12; step++) {
    const results = await model.run(feedsOf(make, made, [step], step, past));
    await results[made.logits].data();
    for (const each of Object.values(past ?? {})) each.dispose();
    past = results;
    results[made.logits].dispose();
    used.push(tl.memory().devices.webgpu.bytes);
  }
  assert.equal(used.at(-1), used.at(-4));
  for (const each of Object.values(past)) each.dispose();
  model.dispose();
  assert.deepEqual(await counts(), initial);
});

for (const bits of [4, 8, 16]) {
  test(`weights of ${bits} bits, keys and values of float16`, async () => {
    const made = llama({ ...config, hidden: 32 }, weights, {
      grouped: true,
      bits,
      cacheType: 'float16',
    });
    const [model, reference] = await Promise.all([
      tl.loadModel(made, { device: 'webgpu', strict: true }),
      tl.loadModel(made, { device: 'wasm' }),
    ]);
    const decode = async (each) => {
      const all = [];
      let cache = [0, 1].map(() => tl.tensor(new Uint16Array(0), [1, 2, 0, 16], 'float16'));
      for (let tokens = prompt(21), length = 0; all.length < 6; tokens = [all.length]) {
        length += tokens.length;
        const results = await each.run({
          input_ids: ints(tokens),
          attention_mask: ints(Array(length).fill(1)),
          'past_key_values.0.key': cache[0],
          'past_key_values.0.value': cache[1],
        });
        all.push(Array.from(await results.logits.data()));
        cache = cacheNames.map((name) => results[`present.0.${name}`]);
      }
      const [keys] = cache;
      await keys.data();
      return { all, keys: keys.arraySync().flat(3) };
    };
    const [actual, expected] = [await decode(model), await decode(reference)];
    actual.all.forEach((each, at) => near(each, expected.all[at], 5e-3));
    near(actual.keys, expected.keys, 5e-3);
    assert.deepEqual(model.placement, { device: 'webgpu' });
    model.dispose();
    reference.dispose();
  });
}

test('programs of all chunks share the weights', async () => {
  await counts();
  const large = { ...config, width: 128, hidden: 512 };
  const model = await tl.loadModel(llama(large, weights), { device: 'webgpu', strict: true });
  const { bytes: before } = tl.memory().devices.webgpu;
  const cache = (name) => [`past_key_values.0.${name}`, tl.zeros([1, 2, 0, 64])];
  const { logits, ...rest } = await model.run({
    input_ids: ints(prompt(37)),
    attention_mask: ints(Array(37).fill(1)),
    position_ids: ints(prompt(37)),
    ...Object.fromEntries(cacheNames.map(cache)),
  });
  await logits.data();
  const used = tl.memory().devices.webgpu.bytes - before;
  const size = 4 * (4 * 128 * 128 + 3 * 128 * 512);
  assert.ok(used < 1.5 * size, `${used} bytes for weights of ${size}`);
  for (const each of [logits, ...Object.values(rest)]) each.dispose();
  model.dispose();
});

/** The next results of a session, after `past`. */
async function next(session, tokens, past) {
  const length = past?.['present.0.key'].dims[2] ?? 0;
  const int64 = (values) =>
    new Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
  const empty = () => new Tensor('float32', new Float32Array(0), [1, 2, 0, 16]);
  const cache = cacheNames.map((name) => [
    `past_key_values.0.${name}`,
    past?.[`present.0.${name}`] ?? empty(),
  ]);
  return session.run({
    input_ids: int64(tokens),
    attention_mask: int64(Array(length + tokens.length).fill(1)),
    position_ids: int64(tokens.map((_, at) => length + at)),
    ...Object.fromEntries(cache),
  });
}

for (const preferredOutputLocation of [
  undefined,
  'gpu-buffer',
  { 'present.0.key': 'gpu-buffer' },
]) {
  test(`sessions of ONNX Runtime, outputs ${JSON.stringify(preferredOutputLocation)}`, async () => {
    const initial = await counts();
    const session = await InferenceSession.create(bytes, {
      executionProviders: ['webgpu'],
      preferredOutputLocation,
      enableGraphCapture: true,
    });
    const reference = await InferenceSession.create(bytes, { executionProviders: ['wasm'] });
    let [past, expected] = [await next(session, prompt(6)), await next(reference, prompt(6))];
    const advance = async (token) => {
      const before = past;
      past = await next(session, [token], before);
      for (const each of Object.values(before)) each.dispose();
      expected = await next(reference, [token], expected);
      near(Array.from(await past.logits.getData()), Array.from(expected.logits.data));
    };
    for (let step = 0; step < 4; step++) await advance(step);
    Object.assign(asked, { compile: 0, copy: 0, write: 0 });
    await advance(3);
    const writes = asked.write;
    // What is in memory, but has not been read by the program, is not written back.
    await advance(4);
    assert.deepEqual([asked.compile, asked.write], [0, 2 * writes]);
    if (preferredOutputLocation === 'gpu-buffer') assert.equal(asked.copy, 0);
    for (const name of cacheNames) {
      const present = `present.0.${name}`;
      const preferred = preferredOutputLocation?.[present] ?? preferredOutputLocation;
      const { location } = past[present];
      assert.equal(location, preferred === 'gpu-buffer' ? preferred : 'cpu');
      if (location === 'cpu') {
        near(Array.from(past[present].data), Array.from(expected[present].data));
        continue;
      }
      assert.throws(() => past[present].data, /not on CPU. Use `getData/);
      if (name === 'value') assert.ok(past[present].gpuBuffer.size >= 4 * expected[present].size);
      near(Array.from(await past[present].getData()), Array.from(expected[present].data));
    }
    // Both have been read, or have a buffer that the program may have written.
    await advance(5);
    for (const each of Object.values(past)) each.dispose();
    await session.release();
    await reference.release();
    assert.deepEqual(await counts(), initial);
  });
}

afterEach(() => tl.setDevice('wasm'));
