// Executables that earlier visits compiled: found by layers, shapes and options, checked, bounded, cleared, turned off.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import * as tl from 'tensorlathe';
import { CoreGraph, CoreModel } from '../../../../js/dist/core/handles.js';

const root = mkdtempSync(join(tmpdir(), 'executables-'));
const folder = join(root, 'executables');
process.env.TENSORLATHE_CACHE = root;
tl.env().set('EXECUTABLE_CACHE', true);
await tl.ready();
after(() => rmSync(root, { recursive: true }));

let compilations = 0;
const { request } = CoreModel.prototype;
CoreModel.prototype.request = function spied(what, options) {
  if (what === 'compile' && !options.onlyStates) compilations += 1;
  return request.call(this, what, options);
};

const { compileNow } = CoreGraph.prototype;
CoreGraph.prototype.compileNow = function spied(options, isLast) {
  if (!options.relocatable) compilations += 1;
  return compileNow.call(this, options, isLast);
};

beforeEach(async () => {
  await settle();
  await tl.cache.clear();
  compilations = 0;
});

const files = () => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

/** Waits for writes in the background: until nothing has changed for half a second. */
async function settle() {
  let before;
  for (let same = 0; same < 5; same += 1) {
    await pause(100);
    const now = files().join();
    if (now !== before) same = 0;
    before = now;
  }
}

const x = tl.tensor2d(
  Array.from({ length: 40 }, (_, at) => Math.sin(at)),
  [10, 4],
);
const y = tl.tensor2d(
  Array.from({ length: 20 }, (_, at) => Math.cos(at)),
  [10, 2],
);

function network({ seed = 1, units = 8, layers = [] } = {}) {
  const dense = (units, more) => tl.layers.dense({ units, ...more, name: `dense${units}` });
  const model = tl.sequential({
    seed,
    name: 'network',
    layers: [dense(units, { inputShape: [4], activation: 'relu' }), ...layers, dense(2)],
  });
  model.compile({ optimizer: 'adam', loss: 'meanSquaredError' });
  return model;
}

/** The results of a new model: predictions, losses of a training, and predictions after it. */
async function resultsOf(options) {
  const model = network(options);
  const first = Array.from(await model.predict(x).data());
  const { history } = await model.fit(x, y, { epochs: 2, batchSize: 5, shuffle: false });
  const last = Array.from(await model.predict(x).data());
  model.dispose();
  return { first, last, losses: history.loss };
}

test('what is stored gives the same bits', async () => {
  const compiled = await resultsOf();
  assert.ok(compilations > 0);
  await settle();
  assert.equal(files().length, compilations);
  compilations = 0;
  assert.deepEqual(await resultsOf(), compiled);
  assert.equal(compilations, 0);
});

test('models of other seeds share it, unless their layers are random', async () => {
  const one = await resultsOf({ seed: 1 });
  await settle();
  compilations = 0;
  const two = await resultsOf({ seed: 2 });
  assert.equal(compilations, 0);
  assert.notDeepEqual(two.first, one.first);
  tl.env().set('EXECUTABLE_CACHE', false);
  assert.deepEqual(await resultsOf({ seed: 2 }), two);
  tl.env().set('EXECUTABLE_CACHE', true);

  const random = (seed) =>
    resultsOf({ seed, layers: [tl.layers.dropout({ rate: 0.5, name: 'd' })] });
  await random(1);
  await settle();
  compilations = 0;
  await random(2);
  assert.ok(compilations > 0);
  await settle();
  compilations = 0;
  await random(2);
  assert.equal(compilations, 0);
});

test('the module, and what it is exported to, are compiled when they are asked for', async () => {
  const bytesOf = () => {
    const model = network();
    model.predict(x);
    const found = [model.toWasm(), model.toWasm({ training: true })];
    model.dispose();
    return found;
  };
  const compiled = bytesOf();
  await settle();
  assert.deepEqual(bytesOf(), compiled);
});

test('damaged records are compiled again and replaced', async () => {
  const expected = await resultsOf();
  await settle();
  for (const damage of [
    (bytes) => (bytes[bytes.length >> 1] ^= 1),
    (bytes) => bytes.fill(0),
    () => new Uint8Array(7),
  ]) {
    const originals = files().map((file) => [join(folder, file), readFileSync(join(folder, file))]);
    for (const [path, bytes] of originals) {
      const copy = Uint8Array.from(bytes);
      const damaged = damage(copy);
      writeFileSync(path, ArrayBuffer.isView(damaged) ? damaged : copy);
    }
    compilations = 0;
    assert.deepEqual(await resultsOf(), expected);
    assert.equal(compilations, originals.length);
    await settle();
    for (const [path, bytes] of originals) assert.deepEqual(readFileSync(path), bytes);
  }
});

test('custom layers are not stored', async () => {
  const layer = tl.layers.lambda((x) => x.mul(2));
  await resultsOf({ layers: [layer] });
  await settle();
  assert.deepEqual(files(), []);
});

test('the oldest records are removed', async () => {
  for (let units = 3; units < 73; units += 1) {
    const model = network({ units });
    model.predict(x);
    model.dispose();
    await pause(1);
  }
  await settle();
  assert.equal(files().length, 64);
  compilations = 0;
  for (const units of [72, 3]) {
    const model = network({ units });
    model.predict(x);
    model.dispose();
  }
  assert.equal(compilations, 1);
});

test('clear removes them, and an option turns them off', async () => {
  await resultsOf();
  await settle();
  assert.ok(files().length > 0);
  await tl.cache.clear();
  assert.deepEqual(files(), []);
  tl.env().set('EXECUTABLE_CACHE', false);
  await resultsOf();
  tl.env().set('EXECUTABLE_CACHE', true);
  await settle();
  assert.deepEqual(files(), []);
});

test('storage that cannot be written is as none', async () => {
  rmSync(folder, { recursive: true, force: true });
  writeFileSync(folder, 'a file, no folder');
  const expected = await resultsOf();
  assert.deepEqual(await resultsOf(), expected);
  rmSync(folder);
});

test('functions with variables and gradients', async () => {
  const run = (factor, count = 3) => {
    const f = tl.compile({ x: [count, 4] }, ({ x }, g) => {
      const w = g.variable('w', [4, 2]);
      const loss = x.matMul(w).sub(1).mul(factor).square().mean();
      const [gradient] = g.grad(loss, [w]);
      g.assign(w, w.sub(gradient.mul(0.1)));
      return { loss };
    });
    const data = x.slice(0, count);
    const losses = [0, 1, 2].map(() => f.run({ x: data }).loss.dataSync()[0]);
    const bytes = f.module();
    f.dispose();
    return [losses, bytes];
  };
  const [losses, bytes] = run(2);
  assert.equal(compilations, 1);
  await settle();
  compilations = 0;
  const f = tl.compile({ x: [1] }, ({ x }) => ({ y: x.add(1) }));
  assert.equal(compilations, 1, 'another function');
  f.dispose();
  compilations = 0;
  const [again, whole] = run(2);
  assert.deepEqual(again, losses);
  assert.equal(compilations, 1, 'only for the complete module');
  assert.deepEqual(whole, bytes);
  assert.notDeepEqual(run(3)[0], losses);
  assert.equal(run(2, 5)[0].length, 3);
});
