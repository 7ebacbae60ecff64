// Plans that take long to compile: loops that are computed operation by operation first, and what is compiled in the background.
import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as nextTask } from 'node:timers/promises';
import * as tf from 'tensorlathe/tfjs';
import { compiledOperations, forgetOperations } from '../../../js/dist/eager/compute.js';
import { env } from '../../../js/dist/runtime/env.js';
import { heapCounts } from '../../../js/dist/runtime/heap.js';
import { counted } from './eager_lib.mjs';

await tf.ready();

const drawn = (shape, seed) => tf.randomUniform(shape, -0.5, 0.5, 'float32', seed);

/** The gradients by two weights of a recurrent network over so many steps, and what shows them. */
function recurrent(steps, units = 5) {
  const [w, u] = [drawn([units, units], 1), drawn([3, units], 2)];
  const xs = Array.from({ length: steps }, (_, at) => drawn([2, 3], at + 3));
  const loss = (w, u) =>
    xs
      .reduce((h, x) => tf.tanh(h.matMul(w).add(x.matMul(u))), tf.zeros([2, units]))
      .square()
      .sum();
  const gradients = tf.grads(loss)([w, u]);
  tf.dispose([w, u, xs]);
  return gradients;
}

/** Whether the event loop turns before a promise is settled, and what that gives. */
async function meanwhile(promise) {
  let isOver = false;
  let turns = 0;
  const found = promise.finally(() => (isOver = true));
  while (!isOver) {
    await nextTask();
    turns += 1;
  }
  return { turns, found: await found };
}

const threadsNow = () =>
  process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;

function withoutWorkers(how) {
  const original = process.getBuiltinModule;
  process.getBuiltinModule = (name) =>
    name === 'node:worker_threads' ? { Worker: how } : original.call(process, name);
  return () => (process.getBuiltinModule = original);
}

test('data() of a long plan compiles it while other tasks run; dataSync() gives the same', async () => {
  const wanted = tf.tidy(() => recurrent(30).map((each) => each.dataSync()));
  forgetOperations();
  const gradients = recurrent(30);
  const before = compiledOperations();
  const { turns, found } = await meanwhile(Promise.all(gradients.map((each) => each.data())));
  assert.ok(turns > 2, `${turns} turns`);
  assert.deepEqual(found, wanted);
  assert.equal(compiledOperations() - before, 1, 'both gradients come from one module');
  const again = recurrent(30);
  assert.deepEqual(await again[0].data(), wanted[0]);
  assert.equal(compiledOperations() - before, 1, 'which is kept');
  tf.dispose([gradients, again]);
});

test('nothing stays of it', async () => {
  forgetOperations();
  const count = () => [tf.memory().numTensors, heapCounts().heapBlocks, threadsNow()];
  await nextTask();
  const before = count();
  for (let round = 0; round < 3; round += 1) {
    const gradients = recurrent(30 + round);
    await Promise.all(gradients.map((each) => each.data()));
    tf.dispose(gradients);
  }
  forgetOperations();
  for (let turn = 0; turn < 100 && String(count()) !== String(before); turn += 1) await nextTask();
  assert.deepEqual(count(), before);
});

test('tensors may be disposed of, or read at once, while it is compiled', async () => {
  const wanted = tf.tidy(() => recurrent(31).map((each) => each.dataSync()));
  forgetOperations();
  const disposed = recurrent(31);
  const reading = disposed.map((each) => each.data());
  tf.dispose(disposed);
  assert.deepEqual(await Promise.all(reading), wanted);
  forgetOperations();
  const both = recurrent(31);
  const [later, now] = [both[0].data(), both[0].dataSync()];
  assert.deepEqual([...now], [...wanted[0]]);
  assert.deepEqual(await later, wanted[0]);
  assert.deepEqual(await both[1].data(), wanted[1]);
  tf.dispose(both);
});

test('an option that changes while it is compiled', async () => {
  const wanted = tf.tidy(() => recurrent(32).map((each) => each.dataSync()));
  forgetOperations();
  const gradients = recurrent(32);
  const reading = gradients[0].data();
  env().set('SIMD', false);
  const plain = tf.tidy(() => recurrent(32).map((each) => each.dataSync()));
  const found = await reading;
  env().reset();
  for (const [at, value] of wanted[0].entries()) {
    assert.ok(Math.abs(found[at] - value) < 1e-5 && Math.abs(plain[0][at] - value) < 1e-5);
  }
  tf.dispose(gradients);
});

test('where no worker can be had it is compiled at once', async () => {
  const wanted = tf.tidy(() => recurrent(33).map((each) => each.dataSync()));
  const refuses = function () {
    throw new Error('no workers here');
  };
  const ends = function () {
    const on = (event, handler) => event === 'exit' && queueMicrotask(handler);
    const nothing = () => {};
    return { on, ref: nothing, unref: nothing, postMessage: nothing, terminate: nothing };
  };
  for (const how of [refuses, ends]) {
    forgetOperations();
    const restore = withoutWorkers(how);
    const gradients = recurrent(33);
    try {
      assert.deepEqual(await gradients[0].data(), wanted[0]);
    } finally {
      restore();
      tf.dispose(gradients);
    }
  }
});

/** Counts the plans that workers are sent; `spoil` may throw instead. */
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

test('what has the same plan is compiled once for all', async () => {
  const wanted = tf.tidy(() => recurrent(34)[0].dataSync());
  forgetOperations();
  const alike = Array.from({ length: 4 }, () => recurrent(34));
  const watched = watchWorkers();
  const { found, modules } = await counted(() => Promise.all(alike.map(([each]) => each.data())));
  watched.restore();
  assert.deepEqual([watched.sent, modules], [1, 0]);
  for (const each of found) assert.deepEqual(each, wanted);
  tf.dispose(alike);
});

test('what follows from values that are on their way waits for these', async () => {
  const follow = (x) => {
    const loss = (x) => {
      let h = x;
      for (let step = 0; step < 26; step += 1) h = tf.tanh(h.matMul(x).add(x.mul(step)));
      return h.square().sum();
    };
    return tf.tidy(() => tf.grad(loss)(x));
  };
  const wanted = tf.tidy(() => {
    const [first] = recurrent(27);
    first.dataSync();
    return follow(first).dataSync();
  });
  forgetOperations();
  const [first, other] = recurrent(27);
  const reading = first.data();
  const second = follow(first);
  const { found, modules } = await counted(() => Promise.all([second.data(), second.data()]));
  assert.equal(modules, 0);
  for (const each of found) assert.deepEqual(each, wanted);
  assert.deepEqual(await reading, first.dataSync());
  tf.dispose([first, other, second]);
});

test('a copy of the core that cannot be sent is no harm to what follows', async () => {
  const wanted = tf.tidy(() => [36, 37].map((steps) => recurrent(steps)[0].dataSync()));
  forgetOperations();
  const threads = threadsNow();
  const watched = watchWorkers(() => {
    if (watched.sent === 1) throw new RangeError('Data cannot be cloned, out of memory.');
  });
  for (const [at, steps] of [36, 37].entries()) {
    const gradients = recurrent(steps);
    const { found, modules } = await counted(() => gradients[0].data());
    assert.deepEqual([found, modules], [wanted[at], 1 - at]);
    tf.dispose(gradients);
  }
  watched.restore();
  for (let turn = 0; turn < 100 && threadsNow() !== threads; turn += 1) await nextTask();
  assert.equal(threadsNow(), threads);
});

/** Steps of a loop, each of eight operations on the same sizes. */
function loop(steps, size = 4, first = 0.3) {
  let x = tf.fill([size], first);
  for (let at = 0; at < steps; at += 1) {
    const y = x.mul(x.sin()).add(x.cos().mul(0.5));
    x = y.sub(y.mean()).abs();
  }
  return x;
}

test('a loop is computed operation by operation first, with the numbers of its module', () => {
  forgetOperations();
  let modules = compiledOperations();
  const first = tf.tidy(() => loop(25).dataSync());
  const fresh = compiledOperations() - modules;
  assert.ok(fresh > 1 && fresh <= 8, `${fresh} modules`);
  modules = compiledOperations();
  let runs = 1;
  while (compiledOperations() === modules && runs < 100) {
    assert.deepEqual(
      tf.tidy(() => loop(25).dataSync()),
      first,
    );
    runs += 1;
  }
  assert.ok(runs > 10 && runs < 100, `${runs} runs`);
  assert.equal(compiledOperations() - modules, 1);
});

test('the more elements, the sooner it is a module', () => {
  forgetOperations();
  for (let run = 0; run < 2; run += 1) tf.tidy(() => loop(25, 2 ** 19).dataSync());
  const modules = compiledOperations();
  tf.tidy(() => loop(25, 2 ** 19).dataSync());
  assert.equal(compiledOperations() - modules, 1);
});

test('operation by operation nothing stays but what is shown', () => {
  forgetOperations();
  const before = [tf.memory().numTensors, heapCounts().heapBlocks];
  const found = tf.tidy(() => {
    const result = loop(30, 6);
    result.dataSync();
    return result;
  });
  found.dispose();
  forgetOperations();
  assert.deepEqual([tf.memory().numTensors, heapCounts().heapBlocks], before);
});
