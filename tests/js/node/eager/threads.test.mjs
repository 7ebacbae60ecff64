// Eager operations on several threads: bits equal to those of one thread, for any sequence of modules, without
// leaks.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import * as tl from 'tensorlathe/tfjs';
import { engine } from '../../../../js/dist/eager/engine.js';
import { startedWorkers } from '../../lib.mjs';

await tl.ready();

/** Uses `count` threads, and splits even the smallest operation. */
function force(count) {
  tl.env().set('THREADS_COUNT', count);
  tl.env().set('THREADS_MIN_WORK', 1);
}

afterEach(() => {
  engine.plans.clear();
  tl.env().reset();
  assert.equal(tl.memory().threads, 0);
});

const values = (shape, seed) => tl.randomUniform(shape, -1, 1, 'float32', seed);

/** Programs that compile to different modules: odd sizes, several kernels, temporaries, constants, scalars, several results. */
const programs = [1, 3, 5, 17, 37].flatMap((size) => {
  const rows = 2 * size + 1;
  const [x, w] = [values([rows, size], 1), values([size, rows], 2)];
  const image = values([2, size + 4, size + 4, 3], 3);
  const filter = values([3, 3, 3, size], 4);
  return [
    () => [x.matMul(w).add(x.sum(1, true)).tanh()],
    () => [x.mul(3).sub(1).square(), x.mean(0)],
    () => [image.conv2d(filter, 2, 'same').relu().max([1, 2])],
    () => [x.softmax().matMul(w).argMax(1)],
    () => tl.grads((a, b) => a.matMul(b).sigmoid().sum())([x, w]),
  ];
});

const computed = (program) => tl.tidy(() => program().map((each) => [...each.dataSync()]));

/** Runs until the worker threads execute tasks. */
async function warmUp() {
  for (let i = 0; i < 2000; ++i) {
    programs.forEach(computed);
    await tl.scalar(i).square().data();
    if (tl.memory().threads > 0 && i > 20) return;
  }
  assert.fail('no thread has come');
}

test('results are bit-identical to those of one thread', async () => {
  force(1);
  const expected = programs.map(computed);
  assert.equal(tl.memory().threads, 0);
  for (const count of [2, 3, 5]) {
    force(count);
    await warmUp();
    assert.equal(tl.memory().threads, count);
    for (let round = 0; round < 40; ++round) {
      for (const [at, program] of programs.entries()) {
        assert.deepEqual(computed(program), expected[at]);
      }
    }
  }
});

test('new modules do not interfere with threads of freed ones', async () => {
  force(4);
  await warmUp();
  for (let size = 1; size < 150; ++size) {
    const x = tl.range(0, size * 7).reshape([size, 7]);
    const sums = () => tl.tidy(() => [...x.mul(2).add(1).sum(1).dataSync()]);
    const expected = Array.from({ length: size }, (_, row) => 98 * row + 49);
    for (let run = 0; run < 6; ++run) assert.deepEqual(sums(), expected);
    x.dispose();
    if (size % 10 === 0) engine.plans.clear();
  }
});

test('training on threads alternates with eager operations on its results', async () => {
  force(3);
  const model = tl.sequential({ layers: [tl.layers.dense({ units: 64, inputShape: [64] })] });
  model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
  const [x, y] = [values([256, 64], 5), values([256, 64], 6)];
  const expected = [...x.matMul(y, true, false).dataSync()];
  let isOver = false;
  const training = model.fit(x, y, { epochs: 20, verbose: 0 }).then(() => (isOver = true));
  while (!isOver) {
    const product = x.matMul(y, true, false);
    assert.deepEqual([...(await product.data())], expected);
    product.dispose();
    await new Promise((done) => setImmediate(done));
  }
  await training;
  model.dispose();
});

test('a lost thread is an error; later results are correct', async () => {
  force(2);
  const size = 500;
  const x = tl.fill([size, size], 0.5);
  const product = () => x.matMul(x).matMul(x).dataSync()[0];
  const workers = startedWorkers();
  for (let i = 0; i < 10; ++i) {
    assert.equal(product(), 31250);
    await new Promise((done) => setTimeout(done, 20));
  }
  assert.equal(tl.memory().threads, 2);
  for (const worker of workers.splice(0)) void worker.terminate();
  try {
    assert.equal(product(), 31250);
  } catch ({ message }) {
    assert.equal(message, 'a thread failed: it ended');
  }
  assert.equal(product(), 31250);
  x.dispose();
});

test('functions with variables run on one thread', () => {
  force(4);
  const counter = tl.compile(
    { x: [64, 64] },
    ({ x }, g) => {
      const sum = g.variable('sum', [64, 64]);
      g.assign(sum, sum.add(x.matMul(x)));
      return { y: sum };
    },
    { heap: true },
  );
  const x = tl.ones([64, 64]);
  for (let i = 0; i < 5; ++i) counter.run({ x }).y.dispose();
  assert.equal(counter.variable('sum').dataSync()[0], 5 * 64);
  counter.dispose();
});

test('more tensors than threaded modules support are rejected', () => {
  force(4);
  const names = Array.from({ length: 1100 }, (_, at) => `x${at}`);
  const inputs = (value) => Object.fromEntries(names.map((name) => [name, value]));
  const x = tl.ones([3]);
  assert.throws(
    () => {
      const add = (all) => ({ y: names.map((name) => all[name]).reduce((a, b) => a.add(b)) });
      tl.compile(inputs([3]), add, { heap: true }).run(inputs(x));
    },
    { name: 'LatheError', message: '1103 tensors in one module: the limit is 1008' },
  );
  x.dispose();
});
