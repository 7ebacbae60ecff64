// Layer times: measured by layer and phase on request; otherwise the module is unchanged.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { blobs, throws, smallModel } from '../../lib.mjs';

const training = { loss: 'softmaxCrossEntropy', optimizer: 'adam' };

function imageModel() {
  const model = tl.sequential({ seed: 1 });
  model.add(tl.layers.conv2d({ filters: 4, kernelSize: 3, inputShape: [12, 12, 1], name: 'c' }));
  model.add(tl.layers.batchNormalization({ name: 'n' }));
  model.add(tl.layers.maxPooling2d({ name: 'p' }));
  model.add(tl.layers.flatten({ name: 'f' }));
  model.add(tl.layers.dense({ units: 3, activation: 'softmax', name: 'd' }));
  return model;
}
const rows = [
  tl.tensor(new Float32Array(20 * 144).fill(0.5), [20, 12, 12, 1]),
  new Array(20).fill(1),
];

/** A wasm module's imports and code. */
const importsOf = (bytes) => WebAssembly.Module.imports(new WebAssembly.Module(bytes));

test('layers have their times, forward, backward and of the update', async () => {
  const model = imageModel();
  model.compile({ ...training, timing: true });
  await model.fit(...rows, { batchSize: 5, epochs: 2 });
  model.evaluate(...rows);
  const { train, evaluate, predict } = tl.layerTimes(model);
  assert.deepEqual([train.calls, evaluate.calls, predict.calls], [8, 4, 0]);
  const names = train.layers.map(({ name }) => name);
  for (const name of ['c', 'n', 'p', 'd', '(loss)']) assert.ok(names.includes(name), name);
  const of = (name, { layers } = train) => layers.find((layer) => layer.name === name);
  for (const name of ['c', 'd']) {
    for (const phase of ['forward', 'backward']) assert.ok(of(name)[phase] > 0, `${name} ${phase}`);
  }
  for (const { name, backward, update } of evaluate.layers) {
    assert.equal(backward + update, 0, `${name} is evaluated only`);
  }
  assert.ok(predict.layers.every(({ forward }) => forward === 0));
  assert.ok(of('c', evaluate).forward > 0);
});

test('times accumulate until they are reset, also across modules of other batch sizes', async () => {
  const [x, y] = blobs(30);
  const model = smallModel();
  model.compile({ ...training, timing: true });
  await model.fit(x, y, { batchSize: 10 });
  await model.fit(x, y, { batchSize: 15 });
  assert.equal(tl.layerTimes(model).train.calls, 5);
  assert.equal(tl.layerTimes(model, { reset: true }).train.calls, 5);
  const { train } = tl.layerTimes(model);
  assert.equal(train.calls, 0);
  assert.ok(train.layers.every((each) => each.forward + each.backward + each.update === 0));
});

test('without timing there is no extra instruction and no changed result', async () => {
  const modules = [];
  for (const timing of [undefined, false, true]) {
    const model = imageModel();
    model.compile(timing === undefined ? training : { ...training, timing });
    await model.fit(...rows, { batchSize: 5 });
    const weights = model.getWeights().map((w) => w.dataSync().join());
    modules.push({ text: await model.toWat(), weights });
    if (!timing) throws(() => tl.layerTimes(model), /^layerTimes: compile with timing first$/);
    assert.deepEqual(importsOf(model.toWasm()), [], 'standalone modules measure nothing');
  }
  const [never, off, on] = modules;
  assert.equal(off.text, never.text);
  assert.deepEqual(on.weights, off.weights);
  assert.doesNotMatch(off.text, /"now"|f64/);
  assert.match(on.text, /\(import "env" "now"/);
  const plain = on.text.split('\n').filter((line) => /f32x4/.test(line)).length;
  assert.equal(plain, off.text.split('\n').filter((line) => /f32x4/.test(line)).length);
});

test('layers of nested models and repeated steps are found', async () => {
  const inner = tl.sequential({ name: 'inner' });
  inner.add(tl.layers.dense({ units: 4, inputShape: [3], name: 'a' }));
  const model = tl.sequential({ seed: 2 });
  model.add(tl.layers.lstm({ units: 3, inputShape: [6, 2], name: 'l' }));
  model.add(inner);
  model.compile({ loss: 'meanSquaredError', optimizer: 'sgd', timing: true });
  await model.fit(
    tl.tensor(new Float32Array(48), [4, 6, 2]),
    tl.tensor(new Float32Array(16), [4, 4]),
  );
  const names = tl.layerTimes(model).train.layers.map(({ name }) => name);
  for (const name of ['l', 'inner/a']) assert.ok(names.includes(name), names.join());
});

test('equations of layers have their names and times', async () => {
  const model = imageModel();
  model.compile({ ...training, timing: 'equation' });
  await model.fit(...rows, { batchSize: 5, epochs: 2 });
  const { train, predict } = tl.equationTimes(model);
  assert.deepEqual([train.calls, predict.calls], [8, 0]);
  const names = train.equations.map(({ name }) => name);
  for (const expected of [
    /^c: x·kernel.* forward$/,
    /^d: x·kernel.* forward$/,
    /^d: .*softmax.* forward$/,
    /^d: .*bias.* backward$/,
    /^d: x·dy.* backward$/,
    /^d: dy·kernel.* backward$/,
    /^\(loss\): .*loss.* forward$/,
  ]) {
    assert.ok(
      names.some((name) => expected.test(name)),
      `${expected} of\n${names.join('\n')}`,
    );
  }
  const updates = train.equations.flatMap(({ equations }) => equations);
  for (const weight of ['kernel', 'bias', 'gamma', 'beta']) {
    assert.ok(updates.includes(`${weight}: adam`), `${weight} of\n${names.join('\n')}`);
  }
  assert.equal(new Set(names).size, names.length, 'each is there once');
});

test('times of equations add up to those of their layers, and the results are the same', async () => {
  const weights = [];
  for (const timing of [false, true, 'equation']) {
    const model = imageModel();
    model.compile({ ...training, timing });
    await model.fit(...rows, { batchSize: 5, epochs: 2 });
    weights.push(model.getWeights().map((each) => each.dataSync().join()));
    if (timing !== 'equation') {
      throws(() => tl.equationTimes(model), /^equationTimes: compile with timing/);
      continue;
    }
    const { layers } = tl.layerTimes(model).train;
    const { equations } = tl.equationTimes(model, { reset: true }).train;
    for (const layer of layers) {
      for (const phase of ['forward', 'backward', 'update']) {
        const ofLayer = equations.filter(
          (each) => each.layer === layer.name && each.phase === phase,
        );
        const sum = ofLayer.reduce((total, { milliseconds }) => total + milliseconds, 0);
        assert.ok(Math.abs(sum - layer[phase]) < 1e-9, `${layer.name} ${phase}`);
      }
    }
    const all = equations.reduce((total, { milliseconds }) => total + milliseconds, 0);
    assert.ok(all > 0);
    assert.equal(tl.equationTimes(model).train.calls, 0);
    assert.ok(tl.equationTimes(model).train.equations.every((each) => each.milliseconds === 0));
  }
  assert.deepEqual(weights[1], weights[0]);
  assert.deepEqual(weights[2], weights[0]);
  const model = smallModel();
  throws(() => model.compile({ ...training, timing: 'layers' }), /timing/);
});

test('standalone modules measure on request, with a clock of the host', () => {
  const model = smallModel();
  model.compile(training);
  const inputs = { x: new Float32Array(64), y: new Float32Array(96).fill(1 / 3) };
  const steps = 3;
  const standalone = (timing) => {
    const module = new WebAssembly.Module(model.toWasm({ training: true, timing }));
    let now = 0;
    const { exports } = new WebAssembly.Instance(module, { env: { now: () => (now += 1) } });
    const [section] = WebAssembly.Module.customSections(module, 'tensorlathe');
    const { entries } = JSON.parse(new TextDecoder().decode(section));
    const { times, inputs: buffers } = entries.find(({ name }) => name === 'train');
    for (const { name, offset } of buffers) {
      if (name === 'rows') new Int32Array(exports.memory.buffer, offset, 1)[0] = 32;
      else new Float32Array(exports.memory.buffer, offset, inputs[name].length).set(inputs[name]);
    }
    for (let step = 0; step < steps; ++step) exports.train();
    const sums =
      times && new Float64Array(exports.memory.buffer, times.offset, times.parts.length + 1);
    return { imports: importsOf(model.toWasm({ training: true, timing })), times, sums, now };
  };
  assert.deepEqual(standalone(undefined).imports, []);
  assert.equal(standalone(undefined).times, undefined);
  const [layers, equations] = [true, 'equation'].map(standalone);
  for (const { imports, sums, now } of [layers, equations]) {
    assert.deepEqual(
      imports.map(({ name }) => name),
      ['now'],
    );
    assert.equal(sums[0], steps);
    // Each reading of the clock except the first of a call ends a part, and each part lasts one tick.
    assert.equal(
      sums.slice(1).reduce((a, b) => a + b),
      now - steps,
    );
  }
  assert.ok(equations.times.parts.length > layers.times.parts.length);
  assert.ok(
    equations.times.parts.some((part) => part.startsWith('forward dense_Dense1\nx·kernel\n')),
  );
});
