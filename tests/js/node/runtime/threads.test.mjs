// Several threads: the same bits as with one thread, pending results, and no leaks.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import * as tl from 'tensorlathe';
import { Instance } from '../../../../js/dist/runtime/instance.js';
import { runFlag, runState } from '../../../../js/dist/runtime/control_block.js';
import { blobs, throws, startedWorkers } from '../../lib.mjs';

/** Splits even the smallest model. */
function force(count) {
  tl.env().set('THREADS_COUNT', count);
  tl.env().set('THREADS_MIN_WORK', 1);
}

beforeEach(() => force(4));
afterEach(() => {
  tl.env().reset();
  const { threads, sharedModules, sharedBytes } = tl.memory();
  assert.deepEqual(
    { threads, sharedModules, sharedBytes },
    { threads: 0, sharedModules: 0, sharedBytes: 0 },
  );
});

const classes = 3;

function model() {
  const made = tl.sequential({ seed: 3 });
  made.add(tl.layers.dense({ units: 40, activation: 'tanh', inputShape: [2] }));
  made.add(tl.layers.dense({ units: classes, activation: 'softmax' }));
  made.compile({ loss: 'softmaxCrossEntropy', optimizer: tl.train.adam(0.01) });
  return made;
}

/** Runs until the threads have started and compute. */
async function warmUp(action) {
  for (let i = 0; i < 200 && tl.memory().threads === 0; ++i) await action();
  await pause(150);
  await action();
}

async function trained(count) {
  force(count);
  const made = model();
  const [x, y] = blobs(150);
  await warmUp(() => made.predict(x).data());
  await made.fit(x, y, { epochs: 3, batchSize: 32, shuffle: true });
  const weights = made.getWeights().map((weight) => [...weight.dataSync()]);
  const results = [...(await made.predict(x).data())];
  const used = tl.memory().threads;
  made.dispose();
  return { weights, results, used };
}

test('weights and results do not depend on the number of threads', async () => {
  const single = await trained(1);
  assert.equal(single.used, 0);
  for (const count of [2, 4]) {
    const several = await trained(count);
    assert.equal(several.used, count);
    assert.deepEqual(several.weights, single.weights);
    assert.deepEqual(several.results, single.results);
  }
});

test('a prediction uses the weights and rows at call time', async () => {
  const made = model();
  const [x] = blobs(300);
  const rows = x.dataSync().slice();
  await warmUp(() => made.predict(x).data());
  const expected = [...made.predict(x).dataSync()];
  const zeros = made.getWeights().map((weight) => new Float32Array(weight.size));
  const pending = [made.predict(x), made.predict(x)];
  rows.forEach((_, at) => (x.dataSync()[at] = 0));
  made.setWeights(zeros);
  assert.deepEqual([...(await pending[0].data())], expected);
  assert.deepEqual([...pending[1].dataSync()], expected);
  x.dataSync().set(rows);
  assert.notDeepEqual([...made.predict(x).dataSync()], expected);
  const last = made.predict(x);
  made.dispose();
  assert.deepEqual([...(await last.data())], Array(300 * classes).fill(Math.fround(1 / 3)));
});

test('functions run concurrently and sequentially', async () => {
  const make = () =>
    tl.compile({ x: [64, 64] }, ({ x }) => ({ y: x.matMul(x).relu(), z: x.mul(2) }));
  const [f, g] = [make(), make()];
  const data = (call) => Float32Array.from({ length: 64 * 64 }, (_, i) => Math.sin(i * call));
  await warmUp(() => f.runAsync({ x: data(0) }));
  await warmUp(() => g.runAsync({ x: data(0) }));
  const inputs = [1, 2, 3, 4, 5, 6, 7, 8].map(data);
  const expected = inputs.map((x) => [...f.run({ x }).y.dataSync()]);
  const many = await Promise.all(inputs.map((x, at) => (at % 2 === 0 ? f : g).runAsync({ x })));
  for (const [at, { y, z }] of many.entries()) {
    assert.deepEqual([...y.dataSync()], expected[at]);
    assert.equal(z.dataSync()[5], Math.fround(2 * inputs[at][5]));
  }
  f.dispose();
  throws(() => f.run({ x: inputs[0] }), 'this function has been disposed');
  assert.deepEqual([...g.run({ x: inputs[0] }).y.dataSync()], expected[0]);
  g.dispose();
});

const assemblerAbsent = spawnSync('wat2wasm', ['--version']).status === 0 ? false : 'no wat2wasm';

function assemble(text) {
  const folder = mkdtempSync(join(tmpdir(), 'lathe-'));
  const [from, to] = ['in.wat', 'out.wasm'].map((name) => join(folder, name));
  writeFileSync(from, text);
  const { status, stderr } = spawnSync('wat2wasm', ['--enable-all', '-o', to, from]);
  assert.equal(status, 0, String(stderr));
  const bytes = new Uint8Array(readFileSync(to));
  rmSync(folder, { recursive: true });
  return bytes;
}

function metadataOf(bytes) {
  const [section] = WebAssembly.Module.customSections(new WebAssembly.Module(bytes), 'tensorlathe');
  return JSON.parse(new TextDecoder().decode(section));
}

test(
  'a trap in one thread ends the run everywhere and is an error',
  { skip: assemblerAbsent },
  async () => {
    const f = tl.compile({ x: [64, 64] }, ({ x }) => ({ y: x.matMul(x).relu() }));
    const metadata = metadataOf(f.module());
    const task = /\(func \$run\.k0\.task0 .*\n *\(local .*\)\n/;
    const text = (await tl.moduleText(f.module())).replace(task, (head) => {
      return `${head} local.get 0 i32.const 3 i32.eq if unreachable end\n`;
    });
    const instance = new Instance({ code: assemble(text), segments: [] }, metadata);
    const entry = instance.entry('run');
    const failure = { name: 'LatheError', message: 'a thread failed: RuntimeError: unreachable' };
    for (let name = ''; name !== 'LatheError'; await pause(5)) {
      assert.throws(
        () => entry.run(),
        (error) => {
          name = error.name; // RuntimeError while there is only one thread
          return /unreachable$/.test(error.message);
        },
      );
    }
    for (let i = 0; i < 20; ++i) assert.throws(() => entry.run(), failure);
    const nothing = () => {};
    for (let i = 0; i < 20; ++i) {
      await assert.rejects(instance.call('run', nothing, nothing), failure);
    }
    const x = Float32Array.from({ length: 64 * 64 }, (_, i) => i % 3);
    const expected = x.subarray(0, 64).reduce((sum, value, k) => sum + value * x[64 * k], 0);
    await warmUp(() => f.runAsync({ x }));
    assert.equal(f.run({ x }).y.dataSync()[0], expected);
    instance.dispose();
    f.dispose();
  },
);

/** A run on threads: it is not finished when its call returns. */
async function sharedRun(f) {
  for (;;) {
    let isOver = false;
    const running = f.callAsync();
    void running.then(
      () => (isOver = true),
      () => {},
    );
    for (let i = 0; i < 5; ++i) await undefined;
    if (!isOver) return { running };
    await pause(5);
  }
}

test('a thread that is killed in a run ends it with an error', async () => {
  const size = 700;
  const f = tl.compile({ x: [size, size] }, ({ x }) => {
    let y = x;
    for (let i = 0; i < 6; ++i) y = y.matMul(x).relu();
    return { y };
  });
  f.input('x').fill(1);
  const workers = startedWorkers();
  let message = '';
  for (let i = 0; i < 20 && message === ''; ++i) {
    force(4);
    const { running } = await sharedRun(f);
    await pause(1 + i); // until they have tasks
    for (const worker of workers.splice(0)) void worker.terminate();
    const note = (error) => ({ message } = error);
    try {
      f.call(); // waits for the run before; fails itself where that was over
    } catch (error) {
      note(error);
    }
    await running.catch(note);
  }
  assert.equal(message, 'a thread failed: it ended');
  assert.equal(tl.env().threads.why, 'the threads could not be used: it ended');
  f.dispose();
});

/** Repeats `start`, which kills busy threads, at least so many times and until one was hit; returns the error messages. */
async function killed(workers, rounds, start) {
  const kill = () => void workers.splice(0).map((worker) => worker.terminate());
  const messages = [];
  const isEnough = (round) => round >= rounds && (messages.length > 0 || round >= 10 * rounds);
  for (let round = 0; !isEnough(round); ++round) {
    force(4);
    messages.push(...(await start(kill, round)));
  }
  return messages;
}

test('variables are unchanged by a call whose thread is lost', async () => {
  const size = 400;
  const count = 8;
  const f = tl.compile({ x: [size, size] }, ({ x }, g) => {
    let y = x;
    for (let i = 0; i < count; ++i) {
      const weight = g.variable(`w${i}`, [size, size]);
      y = y.matMul(x).clipByValue(-1, 1);
      g.assign(weight, weight.add(1).add(y.mul(0)));
    }
    return { y };
  });
  f.input('x').fill(0.01);
  const workers = startedWorkers();
  const messages = await killed(workers, 24, async (kill, round) => {
    for (let i = 0; i < count; ++i) f.setVariable(`w${i}`, new Float32Array(size * size));
    const { running } = await sharedRun(f);
    const calls = Promise.allSettled([running, f.callAsync()]);
    await pause(4 * (round % 24)); // threads need time to start
    kill();
    const failed = (await calls).filter(({ status }) => status === 'rejected');
    const first = f.variable('w0').dataSync()[0];
    for (let i = 0; i < count; ++i) {
      const values = f.variable(`w${i}`).dataSync();
      assert.ok(
        values.every((value) => value === first),
        `w${i} is half of a call`,
      );
    }
    return failed.map(({ reason }) => reason.message);
  });
  assert.ok(messages.length > 0);
  for (const message of messages) assert.equal(message, 'a thread failed: it ended');
  f.dispose();
});

test('only the one who catches the error of a prediction receives it', async () => {
  const made = tl.sequential({ seed: 1 });
  for (let i = 0; i < 3; ++i) made.add(tl.layers.dense({ units: 700, inputShape: [700] }));
  const x = new Float32Array(700 * 700);
  const workers = startedWorkers();
  const unhandled = [];
  const note = (error) => unhandled.push(error);
  process.on('unhandledRejection', note);
  const messages = await killed(workers, 8, async (kill, round) => {
    const predict = () => made.predict(x, { batchSize: 700 });
    await warmUp(() => predict().data());
    const result = predict();
    await pause(1 + (round % 4));
    kill();
    try {
      result.dataSync();
      return [];
    } catch (error) {
      await assert.rejects(result.data(), error);
      return [error.message];
    }
  });
  process.off('unhandledRejection', note);
  assert.ok(messages.length > 0);
  assert.deepEqual(unhandled, []);
  made.dispose();
});

test('a late thread finds a single-threaded run finished', () => {
  const f = tl.compile({ x: [64, 64] }, ({ x }) => ({ y: x.matMul(x).relu() }));
  const bytes = f.module();
  const { memoryBytes, entries } = metadataOf(bytes);
  const [input, output] = [entries[0].inputs[0], entries[0].outputs[0]];
  const pages = Math.ceil(memoryBytes / 65536);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  const module = new WebAssembly.Module(bytes);
  const [ready, late] = [1, 2].map(
    () => new WebAssembly.Instance(module, { env: { memory } }).exports,
  );
  new Float32Array(memory.buffer, input.offset, 64 * 64).fill(1);
  const result = new Float32Array(memory.buffer, output.offset, 64 * 64);
  ready['threads.begin'](0, 1);
  assert.equal(late.run(runFlag.maySleep), runState.over);
  assert.equal(late.run(runFlag.maySleep + runFlag.fromBack), runState.over);
  assert.ok(
    result.every((value) => value === 0),
    'it has run no task',
  );
  assert.equal(ready.run(runFlag.singleThread), runState.over);
  assert.ok(result.every((value) => value === 64));
  result.fill(0);
  ready['threads.begin'](0, 2);
  assert.equal(late.run(runFlag.maySleep), runState.over, 'as one of two it runs tasks');
  assert.ok(result.every((value) => value === 64));
  f.dispose();
});

test('the environment states the number of threads, and why there is only one', () => {
  assert.deepEqual(tl.env().threads, { count: 4 });
  tl.env().set('THREADS', false);
  assert.equal(tl.env().threads.count, 1);
  assert.match(tl.env().threads.why, /^turned off by env\(\)\.set/);
  throws(() => tl.env().set('THREADS_COUNT', 0), 'THREADS_COUNT must be an integer ≥ 1, got 0');
  tl.env().reset();
  assert.ok(tl.env().get('THREADS_COUNT') >= 1);
});

test('small models have no threads', async () => {
  tl.env().reset();
  tl.env().set('THREADS_COUNT', 4);
  const made = model();
  const [x] = blobs(3);
  for (let i = 0; i < 20; ++i) await made.predict(x).data();
  assert.equal(tl.memory().sharedModules, 0);
  made.dispose();
});

test('memory of evicted builds is released', async () => {
  const conv = (filters, more) => tl.layers.conv2d({ filters, kernelSize: 1, ...more });
  const model = tl.sequential({ layers: [conv(64, { inputShape: [null, 256, 1] }), conv(1)] });
  const sizeNow = () => process.memoryUsage().rss / 2 ** 20;
  const before = sizeNow();
  for (let size = 1000; size < 1024; ++size) {
    const x = tl.zeros([1, size, 256, 1]);
    await model.predict(x).data();
    x.dispose();
    await pause(0);
  }
  const grown = sizeNow() - before;
  assert.ok(grown < 800, `${grown} MiB`);
  model.dispose();
});
