// Workers that compile in the background and whose script is not there, or that are silent.
import assert from 'node:assert/strict';
import test, { mock } from 'node:test';
import * as tf from 'tensorlathe/tfjs';
import { compiledOperations, forgetOperations } from '../../../js/dist/eager/compute.js';
import { inlineThreads } from '../../../js/dist/runtime/thread.js';
import { counted } from './eager_lib.mjs';

await tf.ready();

/** A plan of more than a hundred operations, few of them alike. */
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

/** What `data` of a long plan gives, and whether this thread compiled it. */
async function read(seed) {
  const gradient = long(seed);
  try {
    return await counted(() => gradient.data());
  } finally {
    gradient.dispose();
    forgetOperations();
  }
}

test('a worker whose script is missing starts with it, whoever else fetches that meanwhile', async () => {
  const wanted = tf.tidy(() => long(1).dataSync());
  forgetOperations();
  let started = 0;
  withWorkers(function (script, options) {
    started += 1;
    if (options?.eval) return new Worker(script, options);
    const on = (event, handler) =>
      event === 'exit' && void inlineThreads().then(() => setTimeout(handler, 20));
    const nothing = () => {};
    return { on, ref: nothing, unref: nothing, postMessage: nothing, terminate: nothing };
  });
  const { found, modules } = await read(1);
  process.getBuiltinModule = original;
  assert.deepEqual([modules, started], [0, 2]);
  assert.deepEqual(found, wanted);
});

test('what a worker that is silent should compile is compiled at once, and that of later plans', async () => {
  const wanted = tf.tidy(() => [2, 3].map((seed) => long(seed).dataSync()));
  forgetOperations();
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
  const before = compiledOperations();
  const reading = read(2);
  while (posted === 0) await new Promise((next) => setImmediate(next));
  mock.timers.tick(30_000);
  const first = await reading;
  mock.timers.reset();
  const second = await read(3);
  process.getBuiltinModule = original;
  assert.deepEqual([first.found, second.found], wanted);
  assert.deepEqual([first.modules, second.modules, started, stopped], [1, 1, 1, 1]);
  assert.equal(compiledOperations() - before, 2);
});
