// Tuning: schedules preserve results; they are cached in the process, in a file, and for the native compiler; tuning
// stops when its budget is spent or its signal is aborted.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { afterEach, before } from 'node:test';
import * as tl from 'tensorlathe';
import { ScheduleCache, schedules } from '../../../../js/dist/tune/schedules.js';
import { openStorage } from '../../../../js/dist/base/storage.js';
import { targetName } from '../../../../js/dist/tune/target.js';
import { Trial } from '../../../../js/dist/tune/trial.js';
import { tunable } from '../../../../js/dist/tune/tunable.js';
import { blobs, rejects } from '../../lib.mjs';

// Without those that the user has.
before(async () => {
  await tl.ready();
  schedules.clear();
});
afterEach(() => schedules.clear());

function network() {
  const model = tl.sequential({ seed: 5 });
  model.add(tl.layers.dense({ units: 40, activation: 'tanh', inputShape: [2] }));
  model.add(tl.layers.dense({ units: 33, activation: 'relu' }));
  model.add(tl.layers.dense({ units: 3, activation: 'softmax' }));
  model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'adam' });
  return model;
}

const near = (x, y) => x.every((value, at) => Math.abs(value - y[at]) <= 1e-5);

test('a tuned model has unchanged results', async () => {
  const [x, y] = blobs(60);
  const model = network();
  await model.fit(x, y, { epochs: 2, batchSize: 20 });
  const before = model.predict(x).dataSync();
  const seen = [];
  const result = await tl.tune(model, {
    budgetMs: 6000,
    onProgress: (progress) => seen.push(progress),
  });
  assert.deepEqual(
    seen.map(({ kernel }) => kernel),
    result.kernels,
  );
  seen.forEach(({ done, total }, at) => assert.ok(done === at + 1 && done <= total && total > 3));
  assert.ok(result.kernels.length > 0);
  for (const { key, schedule, standard, speedup, confirmed, gflops, tried } of result.kernels) {
    assert.equal(schedules.has(targetName(), key), confirmed);
    assert.ok(schedule.rows > 0 && standard.rows > 0 && speedup >= 1 && gflops > 0);
    assert.ok(tried.every((each) => each.schedule.rows > 0 && each.gflops > 0));
  }
  assert.ok(near(model.predict(x).dataSync(), before));
  await model.fit(x, y, { epochs: 1, batchSize: 20 });
  model.dispose();
});

test('a schedule whose speedup is not confirmed is not cached', async (t) => {
  let isBusy = true;
  const comparisons = new WeakMap();
  const of = (trial) => comparisons.get(trial) ?? 0;
  const { restart } = Trial.prototype;
  t.mock.method(Trial.prototype, 'restart', function () {
    comparisons.set(this, of(this) + 1);
    restart.call(this);
  });
  t.mock.method(Trial.prototype, 'measure', function () {
    const isStandard = JSON.stringify(this.schedule) === JSON.stringify(standard);
    this.milliseconds = isStandard ? 2 : isBusy && of(this) === 2 ? 3 : 1;
  });
  const model = tl.compile({ x: [64, 64] }, ({ x }) => ({ y: x.matMul(x) }));
  const { key, standard } = firstContraction(model);
  const [busy] = (await tl.tune(model, { budgetMs: 1e6 })).kernels;
  assert.deepEqual([busy.confirmed, busy.speedup, busy.schedule], [false, 1, standard]);
  assert.deepEqual(schedules.of(targetName()), {});
  isBusy = false;
  const [idle] = (await tl.tune(model, { budgetMs: 1e6 })).kernels;
  assert.deepEqual([idle.confirmed, idle.speedup], [true, 2]);
  assert.deepEqual(schedules.of(targetName()), { [key]: idle.schedule });
  assert.notDeepEqual(idle.schedule, standard);
  model.dispose();
});

test('a tuned function retains its variables', async () => {
  const f = tl.compile({ x: [33, 21] }, ({ x }, g) => {
    const w = g.variable('w', [21, 19]);
    g.assign(w, w.add(0.5));
    return { y: x.matMul(w) };
  });
  const x = Float32Array.from({ length: 33 * 21 }, (_, at) => (at % 7) - 3);
  f.run({ x });
  const { kernels } = await tl.tune(f, { budgetMs: 4000 });
  assert.equal(kernels.length, 1);
  assert.ok(
    f
      .variable('w')
      .dataSync()
      .every((value) => value === 0.5),
  );
  const sums = f.run({ x }).y.dataSync();
  assert.equal(sums[0], 0.5 * x.slice(0, 21).reduce((sum, value) => sum + value, 0));
  f.dispose();
  await rejects(tl.tune(f), 'this function has been disposed');
});

test('every candidate of every contraction agrees with the standard schedule', () => {
  const model = network();
  const executable = model[tunable].executable();
  let compared = 0;
  for (const { key, standard, candidates } of executable.contractions()) {
    const first = new Trial(executable, key, standard);
    for (const each of candidates) {
      assert.ok(new Trial(executable, key, each).agrees(first), `${key}: ${JSON.stringify(each)}`);
      ++compared;
    }
  }
  assert.ok(compared > 20);
  executable.free();
  model.dispose();
});

test('a later model uses cached schedules', async () => {
  const plain = network();
  const before = await plain.toWat();
  const { key } = firstContraction(plain);
  schedules.set(targetName(), key, { rows: 1, columns: 4 });
  const later = network();
  assert.notEqual(await later.toWat(), before);
  schedules.clear();
  const last = network();
  assert.equal(await last.toWat(), before);
  for (const model of [plain, later, last]) model.dispose();
});

function firstContraction(model) {
  const executable = model[tunable].executable();
  const [first] = executable.contractions().filter(({ candidates }) => candidates.length > 0);
  executable.free();
  return first;
}

test('with AUTO_TUNE a new model is tuned in the background, and later models use the schedules', async () => {
  assert.equal(tl.env().get('AUTO_TUNE'), false, tl.env().report().AUTO_TUNE.why);
  tl.env().set('AUTO_TUNE', true);
  const product = () => tl.compile({ x: [128, 128] }, ({ x }) => ({ y: x.matMul(x) }));
  try {
    // On a machine that is busy with other work the time may not suffice for one model.
    for (let models = 0, key; models < 20 && !(key && schedules.has(targetName(), key)); ++models) {
      const model = product();
      ({ key } = firstContraction(model));
      for (let i = 0; i < 40 && !schedules.has(targetName(), key); ++i) {
        await new Promise((done) => setTimeout(done, 50));
      }
      model.dispose();
    }
  } finally {
    tl.env().reset();
  }
  assert.equal(Object.keys(schedules.of(targetName())).length, 1);
});

test('tuning stops when its budget is spent or its signal is aborted, and leaks nothing', async () => {
  const model = network();
  model.stats();
  const { liveObjects } = tl.memory();
  const short = await tl.tune(model, { budgetMs: 0.001 });
  assert.equal(short.complete, false);
  assert.deepEqual(short.kernels, []);
  const stop = new AbortController();
  const stopped = tl.tune(model, {
    budgetMs: 1e6,
    signal: stop.signal,
    onProgress: () => stop.abort(),
  });
  await assert.rejects(stopped, { name: 'AbortError' });
  assert.equal(tl.memory().liveObjects, liveObjects);
  await rejects(tl.tune(model, { budgetMs: 0 }), 'tune: budgetMs must be above 0, got 0');
  await rejects(tl.tune({}), 'tune: expects a model or a compiled function');
  model.dispose();
  await rejects(tl.tune(model), /^tune: Container ".*" is already disposed$/);
});

test('the cache outlives the process and merges with entries of other processes', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'schedules-'));
  const previous = process.env.TENSORLATHE_CACHE;
  process.env.TENSORLATHE_CACHE = folder;
  const warn = t.mock.method(console, 'warn', () => {});
  try {
    const open = () => new ScheduleCache(openStorage('schedules'));
    const [first, second] = [open(), open()];
    first.set('engine', 'a', { rows: 2 });
    await first.save();
    second.set('engine', 'b', { columns: 12 });
    await second.save();
    const both = open();
    await both.load();
    assert.deepEqual(both.of('engine'), { a: { rows: 2 }, b: { columns: 12 } });
    assert.deepEqual(both.of('another'), {});
    assert.deepEqual(readdirSync(folder), ['schedules.json']);

    const file = join(folder, 'schedules.json');
    const complete = readFileSync(file, 'utf8');
    const damaged = [
      complete.slice(0, -9),
      '[]',
      complete.replace('rows', 'rose'),
      '',
      '{"version":2}',
    ];
    for (const text of damaged) {
      writeFileSync(file, text);
      const cache = open();
      await cache.load();
      assert.deepEqual(cache.of('engine'), {}, text);
    }
    assert.equal(warn.mock.callCount(), damaged.length);
    await first.save();
    const repaired = open();
    await repaired.load();
    assert.deepEqual(repaired.of('engine'), { a: { rows: 2 } });

    process.env.TENSORLATHE_CACHE = 'off';
    assert.equal(openStorage('schedules'), undefined);
  } finally {
    process.env.TENSORLATHE_CACHE = previous ?? 'off';
    rmSync(folder, { recursive: true });
  }
});

test('the native compiler reads the same file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'schedules-'));
  const at = (name) => join(folder, name);
  const config = { units: 48, inputShape: [32], useBias: false };
  writeFileSync(at('model.json'), JSON.stringify({ layers: [{ class: 'Dense', config }] }));
  const lathe = (out, ...flags) => {
    const args = ['compile', at('model.json'), '-o', at(out), '--features=simd', ...flags];
    const { status, stderr } = spawnSync('build/native/tools/lathe', args, { encoding: 'utf8' });
    return { status, stderr, bytes: status === 0 ? readFileSync(at(out)) : undefined };
  };
  const schedulesFlag = `--schedules=${at('schedules.json')}`;
  try {
    const model = tl.sequential({ layers: [tl.layers.dense(config)] });
    const executable = model[tunable].executable();
    // The native compiler has the key for one row, too.
    const keys = executable.contractions().map(({ key }) => key);
    executable.free();
    model.dispose();
    const cache = new ScheduleCache({
      read: async () => undefined,
      write: async (text) => writeFileSync(at('schedules.json'), text),
    });
    for (const target of ['V8 13 simd', 'V8 14 simd', 'V8 14 simd relaxedSimd']) {
      for (const key of keys) cache.set(target, key, { rows: 1, columns: 4 });
    }
    await cache.save();
    const plain = lathe('plain.wasm');
    const tuned = lathe('tuned.wasm', schedulesFlag, '--tuned-for=V8 13');
    assert.deepEqual([plain.status, tuned.status], [0, 0]);
    assert.match(tuned.stderr, /^lathe: .*it names no weights, so they are those of the seed\n$/);
    assert.ok(!tuned.bytes.equals(plain.bytes));
    assert.match(
      lathe('x.wasm', schedulesFlag).stderr,
      /more than one target has the features simd/,
    );
    const unknown = lathe('x.wasm', schedulesFlag, '--tuned-for=V8 15');
    assert.equal(unknown.status, 2);
    assert.match(
      unknown.stderr,
      /no target has the features simd and the name V8 15; there are "V8 13/,
    );
    const noSchedules = lathe('x.wasm', '--tuned-for=V8 13');
    assert.equal(noSchedules.status, 2);
    assert.match(noSchedules.stderr, /--tuned-for is a target of --schedules, which is missing/);

    writeFileSync(at('schedules.json'), '{"version":1,"targets":{"V8 13 simd":[["key"]]}}');
    const damaged = lathe('damaged.wasm', schedulesFlag);
    assert.match(
      damaged.stderr,
      /the schedules of .* are ignored: targets\.V8 13 simd: must contain/,
    );
    assert.ok(damaged.bytes.equals(plain.bytes));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the cache evicts the oldest schedules of a target, and the oldest targets, first', () => {
  const cache = new ScheduleCache(undefined);
  for (let i = 0; i < 600; ++i) cache.set('engine', `key ${i}`, { rows: 1 });
  assert.equal(Object.keys(cache.of('engine')).length, 512);
  assert.ok(cache.has('engine', 'key 599') && !cache.has('engine', 'key 0'));
  for (let i = 0; i < 8; ++i) cache.set(`engine ${i}`, 'key', { rows: 1 });
  assert.deepEqual(cache.of('engine'), {});
});
