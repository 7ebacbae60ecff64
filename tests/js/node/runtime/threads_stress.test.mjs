// 10,000 models on four threads, with random cancellation, disposal and errors: nothing leaks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { blobs, startedWorkers } from '../../lib.mjs';

const models = 10000;
const atOnce = 20;

/** Numbers below a bound that are the same in every run. */
function dice(seed) {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

const size = 24;
/** Different numbers for every call. */
const data = (call) => Float32Array.from({ length: size * size }, (_, i) => ((i + call) % 7) - 3);
const [rows, labels] = blobs(40);

/** Exact in any order: sums of small integers. */
function product(x, at) {
  const [i, j] = [Math.floor(at / size), at % size];
  let sum = 0;
  for (let k = 0; k < size; ++k) sum += x[i * size + k] * x[k * size + j];
  return Math.max(sum, 0);
}

async function runFunction(random) {
  const f = tl.compile({ x: [size, size] }, ({ x }) => ({ y: x.matMul(x).relu() }));
  const results = [];
  for (let left = random(4); left > 0; --left) {
    if (random(5) === 0) {
      await assert.rejects(f.runAsync({ x: [1] }), { name: 'LatheError' });
      continue;
    }
    const x = data(random(7));
    if (random(2) === 0) {
      results.push([x, f.run({ x }).y]);
      continue;
    }
    const result = f.runAsync({ x }).then(({ y }) => results.push([x, y]));
    if (random(4) > 0) await result;
    else result.catch((error) => assert.match(error.message, /disposed/));
  }
  f.dispose();
  const at = random(size * size);
  for (const [x, y] of results) assert.equal(y.dataSync()[at], product(x, at));
}

async function runModel(random, seed) {
  const model = tl.sequential({ seed });
  model.add(tl.layers.dense({ units: 9, activation: 'relu', inputShape: [2] }));
  model.add(tl.layers.dense({ units: 3, activation: 'softmax' }));
  model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'sgd' });
  const first = model.predict(rows);
  const stop = new AbortController();
  const training = model.fit(rows, labels, {
    epochs: 2,
    batchSize: 16,
    signal: stop.signal,
    callbacks: { onBatchEnd: () => (random(3) === 0 ? stop.abort() : undefined) },
  });
  if (random(2) === 0) stop.abort();
  await training;
  assert.throws(() => model.predict([[1]]), { name: 'LatheError' });
  const last = model.predict(rows);
  model.dispose();
  const sums = [first, last].map((result) => result.dataSync().reduce((a, b) => a + b, 0));
  for (const sum of sums) assert.ok(Math.abs(sum - 40) < 1e-3, String(sum));
}

test('10,000 models leak no thread, module or byte', { timeout: 300000 }, async () => {
  tl.env().set('THREADS_COUNT', 4);
  tl.env().set('THREADS_MIN_WORK', 1);
  const keeper = tl.compile({ x: [size, size] }, ({ x }) => ({ y: x.matMul(x) }));
  while (tl.memory().threads < 4) keeper.run({ x: data(0) });
  const before = tl.memory().liveObjects;
  let shared = 0;
  let next = 0;
  const work = async () => {
    for (let seed = next++; seed < models; seed = next++) {
      const random = dice(seed);
      if (random(10) > 0) await runFunction(random);
      else await runModel(random, seed);
      shared = Math.max(shared, tl.memory().sharedModules);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  assert.ok(shared > 1);
  assert.equal(tl.memory().liveObjects, before);
  assert.equal(tl.memory().sharedModules, 1);
  keeper.dispose();
  const { threads, sharedModules, sharedBytes } = tl.memory();
  assert.deepEqual([threads, sharedModules, sharedBytes], [0, 0, 0]);
  tl.env().reset();
});

test('threads killed at random leak nothing', { timeout: 300000 }, async () => {
  const workers = startedWorkers();
  const random = dice(7);
  const length = 160;
  const rows = Float32Array.from({ length: length * length }, (_, i) => (i % 5) - 2);
  let expected;
  let errors = 0;
  const lost = (error) => {
    assert.equal(error.message, 'a thread failed: it ended');
    ++errors;
  };
  for (let round = 0; round < 60; ++round) {
    tl.env().set('THREADS_COUNT', 3);
    tl.env().set('THREADS_MIN_WORK', 1);
    const f = tl.compile({ x: [length, length] }, ({ x }) => {
      let y = x;
      for (let i = 0; i < 3; ++i) y = y.matMul(x).clipByValue(-9, 9);
      return { y };
    });
    expected ??= f.run({ x: rows }).y.dataSync().slice();
    for (let i = 0; i < 20; ++i) await f.runAsync({ x: rows });
    await new Promise((done) => setTimeout(done, random(40)));
    const running = f.runAsync({ x: rows });
    if (random(2) === 0) await new Promise((done) => setTimeout(done));
    if (random(4) > 0) void workers.at(-1 - random(3))?.terminate();
    try {
      assert.deepEqual(f.run({ x: rows }).y.dataSync(), expected);
    } catch (error) {
      lost(error);
    }
    await running.then(({ y }) => assert.deepEqual(y.dataSync(), expected), lost);
    f.dispose();
  }
  tl.env().reset();
  const { threads, sharedModules, sharedBytes } = tl.memory();
  assert.deepEqual([threads, sharedModules, sharedBytes], [0, 0, 0]);
  assert.ok(workers.length > 3 && errors < 60, `${workers.length} workers, ${errors} errors`);
});
