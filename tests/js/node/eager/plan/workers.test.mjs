// Background compilation with workers whose script is missing, and with workers that never answer.
import assert from 'node:assert/strict';
import test, { mock } from 'node:test';
import * as tf from 'tensorlathe/tfjs';
import { engine } from '../../../../../js/dist/eager/engine.js';
import { inlineThreads } from '../../../../../js/dist/runtime/thread.js';
import { countModules } from '../lib.mjs';

await tf.ready();

/** A plan of more than a hundred operations, nearly all of them different. */
const long = (seed) => {
  const loss = (x) => {
    let h = x;
    for (let step = 0; step < 26; step += 1) h = tf.tanh(h.matMul(x).add(x.mul(step + seed)));
    return h.square().sum();
  };
  return tf.tidy(() => tf.grad(loss)(tf.fill([3, 3], 0.1)));
};

const original = process.getBuiltinModule;
const { Worker } = original.call(process, 'node:worker_threads');
const withWorkers = (how) => {
  process.getBuiltinModule = (name) =>
    name === 'node:worker_threads' ? { Worker: how } : original.call(process, name);
};

/** The result of `data` of a slow plan, and the number of modules that this thread compiled. */
async function read(seed) {
  const gradient = long(seed);
  try {
    return await countModules(() => gradient.data());
  } finally {
    gradient.dispose();
    engine.plans.clear();
  }
}

test('a missing worker script is fetched and the worker started, with concurrent fetches', async () => {
  const expected = tf.tidy(() => long(1).dataSync());
  engine.plans.clear();
  let started = 0;
  withWorkers(function (script, options) {
    started += 1;
    if (options?.eval) return new Worker(script, options);
    const on = (event, handler) =>
      event === 'exit' && void inlineThreads().then(() => setTimeout(handler, 20));
    const nothing = () => {};
    return { on, ref: nothing, unref: nothing, postMessage: nothing, terminate: nothing };
  });
  const { actual, modules } = await read(1);
  process.getBuiltinModule = original;
  assert.deepEqual([modules, started], [0, 2]);
  assert.deepEqual(actual, expected);
});

test('plans of a silent worker, and later plans, are compiled synchronously', async () => {
  const expected = tf.tidy(() => [2, 3].map((seed) => long(seed).dataSync()));
  engine.plans.clear();
  let started = 0;
  let stopped = 0;
  let posted = 0;
  withWorkers(function () {
    started += 1;
    const nothing = () => {};
    const terminate = () => (stopped += 1);
    const postMessage = () => (posted += 1);
    return { on: nothing, ref: nothing, unref: nothing, postMessage, terminate };
  });
  mock.timers.enable({ apis: ['setTimeout'] });
  const before = engine.plans.modules.made;
  const reading = read(2);
  while (posted === 0) await new Promise((next) => setImmediate(next));
  mock.timers.tick(30_000);
  const first = await reading;
  mock.timers.reset();
  const second = await read(3);
  process.getBuiltinModule = original;
  assert.deepEqual([first.actual, second.actual], expected);
  assert.deepEqual([first.modules, second.modules, started, stopped], [1, 1, 1, 1]);
  assert.equal(engine.plans.modules.made - before, 2);
});
