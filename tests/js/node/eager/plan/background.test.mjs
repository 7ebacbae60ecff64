// Slow compilations: loops that run operation by operation first, and compilation in background workers.
import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as nextTask } from 'node:timers/promises';
import * as tf from 'tensorlathe/tfjs';
import { engine } from '../../../../../js/dist/eager/engine.js';
import { env } from '../../../../../js/dist/runtime/env.js';
import { heapCounts } from '../../../../../js/dist/runtime/wasm/heap.js';
import { countModules } from '../lib.mjs';

await tf.ready();

const randomTensor = (shape, seed) => tf.randomUniform(shape, -0.5, 0.5, 'float32', seed);

/** The gradients with respect to two weights of a recurrent network over `steps` steps. */
function recurrent(steps, units = 5) {
  const [w, u] = [randomTensor([units, units], 1), randomTensor([3, units], 2)];
  const xs = Array.from({ length: steps }, (_, at) => randomTensor([2, 3], at + 3));
  const loss = (w, u) =>
    xs
      .reduce((h, x) => tf.tanh(h.matMul(w).add(x.matMul(u))), tf.zeros([2, units]))
      .square()
      .sum();
  const gradients = tf.grads(loss)([w, u]);
  tf.dispose([w, u, xs]);
  return gradients;
}

/** The result of a promise as `actual`, and how many `turns` the event loop made before it settled. */
async function withTurns(promise) {
  let isOver = false;
  let turns = 0;
  const actual = promise.finally(() => (isOver = true));
  while (!isOver) {
    await nextTask();
    turns += 1;
  }
  return { turns, actual: await actual };
}

const threadsNow = () =>
  process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;

function withoutWorkers(how) {
  const original = process.getBuiltinModule;
  process.getBuiltinModule = (name) =>
    name === 'node:worker_threads' ? { Worker: how } : original.call(process, name);
  return () => (process.getBuiltinModule = original);
}

test('data() of a slow plan compiles it while other tasks run; dataSync() returns equal bits', async () => {
  const expected = tf.tidy(() => recurrent(30).map((each) => each.dataSync()));
  engine.plans.clear();
  const gradients = recurrent(30);
  const before = engine.plans.modules.made;
  const { turns, actual } = await withTurns(Promise.all(gradients.map((each) => each.data())));
  assert.ok(turns > 2, `${turns} turns`);
  assert.deepEqual(actual, expected);
  assert.equal(engine.plans.modules.made - before, 1, 'both gradients come from one module');
  const second = recurrent(30);
  assert.deepEqual(await second[0].data(), expected[0]);
  assert.equal(engine.plans.modules.made - before, 1, 'which is cached');
  tf.dispose([gradients, second]);
});

test('background compilation leaks nothing', async () => {
  engine.plans.clear();
  const count = () => [tf.memory().numTensors, heapCounts().buffers, threadsNow()];
  await nextTask();
  const before = count();
  for (let round = 0; round < 3; round += 1) {
    const gradients = recurrent(30 + round);
    await Promise.all(gradients.map((each) => each.data()));
    tf.dispose(gradients);
  }
  engine.plans.clear();
  for (let turn = 0; turn < 100 && String(count()) !== String(before); turn += 1) await nextTask();
  assert.deepEqual(count(), before);
});

test('tensors may be disposed or read synchronously during compilation', async () => {
  const expected = tf.tidy(() => recurrent(31).map((each) => each.dataSync()));
  engine.plans.clear();
  const disposed = recurrent(31);
  const reading = disposed.map((each) => each.data());
  tf.dispose(disposed);
  assert.deepEqual(await Promise.all(reading), expected);
  engine.plans.clear();
  const both = recurrent(31);
  const [later, now] = [both[0].data(), both[0].dataSync()];
  assert.deepEqual([...now], [...expected[0]]);
  assert.deepEqual(await later, expected[0]);
  assert.deepEqual(await both[1].data(), expected[1]);
  tf.dispose(both);
});

test('an option changes during compilation', async () => {
  const expected = tf.tidy(() => recurrent(32).map((each) => each.dataSync()));
  engine.plans.clear();
  const gradients = recurrent(32);
  const reading = gradients[0].data();
  env().set('SIMD', false);
  const plain = tf.tidy(() => recurrent(32).map((each) => each.dataSync()));
  const actual = await reading;
  env().reset();
  for (const [at, value] of expected[0].entries()) {
    assert.ok(Math.abs(actual[at] - value) < 1e-5 && Math.abs(plain[0][at] - value) < 1e-5);
  }
  tf.dispose(gradients);
});

test('without workers compilation is synchronous', async () => {
  const expected = tf.tidy(() => recurrent(33).map((each) => each.dataSync()));
  const throws = function () {
    throw new Error('no workers here');
  };
  const ends = function () {
    const on = (event, handler) => event === 'exit' && queueMicrotask(handler);
    const nothing = () => {};
    return { on, ref: nothing, unref: nothing, postMessage: nothing, terminate: nothing };
  };
  for (const how of [throws, ends]) {
    engine.plans.clear();
    const restore = withoutWorkers(how);
    const gradients = recurrent(33);
    try {
      assert.deepEqual(await gradients[0].data(), expected[0]);
    } finally {
      restore();
      tf.dispose(gradients);
    }
  }
});

/** Counts the plans posted to workers; `spoil` may throw instead. */
function watchWorkers(spoil = () => {}) {
  const original = process.getBuiltinModule;
  const { Worker } = original.call(process, 'node:worker_threads');
  const watched = { sent: 0, restore: () => (process.getBuiltinModule = original) };
  const Watched = class extends Worker {
    postMessage(message) {
      watched.sent += 1;
      spoil();
      super.postMessage(message);
    }
  };
  process.getBuiltinModule = (name) =>
    name === 'node:worker_threads' ? { Worker: Watched } : original.call(process, name);
  return watched;
}

test('isomorphic plans are compiled once', async () => {
  const expected = tf.tidy(() => recurrent(34)[0].dataSync());
  engine.plans.clear();
  const networks = Array.from({ length: 4 }, () => recurrent(34));
  const watched = watchWorkers();
  const { actual, modules } = await countModules(() =>
    Promise.all(networks.map(([each]) => each.data())),
  );
  watched.restore();
  assert.deepEqual([watched.sent, modules], [1, 0]);
  for (const each of actual) assert.deepEqual(each, expected);
  tf.dispose(networks);
});

test('consumers of values in compilation wait for them', async () => {
  const follow = (x) => {
    const loss = (x) => {
      let h = x;
      for (let step = 0; step < 26; step += 1) h = tf.tanh(h.matMul(x).add(x.mul(step)));
      return h.square().sum();
    };
    return tf.tidy(() => tf.grad(loss)(x));
  };
  const expected = tf.tidy(() => {
    const [first] = recurrent(27);
    first.dataSync();
    return follow(first).dataSync();
  });
  engine.plans.clear();
  const [first, other] = recurrent(27);
  const reading = first.data();
  const second = follow(first);
  const { actual, modules } = await countModules(() => Promise.all([second.data(), second.data()]));
  assert.equal(modules, 0);
  for (const each of actual) assert.deepEqual(each, expected);
  assert.deepEqual(await reading, first.dataSync());
  tf.dispose([first, other, second]);
});

test('a core that cannot be posted to a worker does not break later plans', async () => {
  const expected = tf.tidy(() => [36, 37].map((steps) => recurrent(steps)[0].dataSync()));
  engine.plans.clear();
  const threads = threadsNow();
  const watched = watchWorkers(() => {
    if (watched.sent === 1) throw new RangeError('Data cannot be cloned, out of memory.');
  });
  for (const [at, steps] of [36, 37].entries()) {
    const gradients = recurrent(steps);
    const { actual, modules } = await countModules(() => gradients[0].data());
    assert.deepEqual([actual, modules], [expected[at], 1 - at]);
    tf.dispose(gradients);
  }
  watched.restore();
  for (let turn = 0; turn < 100 && threadsNow() !== threads; turn += 1) await nextTask();
  assert.equal(threadsNow(), threads);
});

/** A loop of `steps` steps, each of eight operations of equal sizes. */
function loop(steps, size = 4, first = 0.3) {
  let x = tf.fill([size], first);
  for (let at = 0; at < steps; at += 1) {
    const y = x.mul(x.sin()).add(x.cos().mul(0.5));
    x = y.sub(y.mean()).abs();
  }
  return x;
}

test('a loop runs operation by operation first, with bits equal to those of its module', () => {
  engine.plans.clear();
  let modules = engine.plans.modules.made;
  const first = tf.tidy(() => loop(25).dataSync());
  const fresh = engine.plans.modules.made - modules;
  assert.ok(fresh > 1 && fresh <= 8, `${fresh} modules`);
  modules = engine.plans.modules.made;
  let runs = 1;
  while (engine.plans.modules.made === modules && runs < 100) {
    assert.deepEqual(
      tf.tidy(() => loop(25).dataSync()),
      first,
    );
    runs += 1;
  }
  assert.ok(runs > 10 && runs < 100, `${runs} runs`);
  assert.equal(engine.plans.modules.made - modules, 1);
});

test('loops over more elements switch to a module earlier', () => {
  engine.plans.clear();
  for (let run = 0; run < 2; run += 1) tf.tidy(() => loop(25, 2 ** 19).dataSync());
  const modules = engine.plans.modules.made;
  tf.tidy(() => loop(25, 2 ** 19).dataSync());
  assert.equal(engine.plans.modules.made - modules, 1);
});

test('operation-by-operation execution retains only live tensors', () => {
  engine.plans.clear();
  const before = [tf.memory().numTensors, heapCounts().buffers];
  const actual = tf.tidy(() => {
    const result = loop(30, 6);
    result.dataSync();
    return result;
  });
  actual.dispose();
  engine.plans.clear();
  assert.deepEqual([tf.memory().numTensors, heapCounts().buffers], before);
});
