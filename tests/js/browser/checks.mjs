// The checks that every browser runs on the plain page, and the counting of their results.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import * as tl from 'tensorlathe';
import { mnistAbsent, readMnist, tensors } from '../lib.mjs';
import { trainMnist } from '../mnist_run.mjs';

/** Counts checks; `end` prints the line that the test runner of the repository reads. */
export class Report {
  #passed = 0;
  #failed = 0;
  #skipped = 0;

  async check(name, action) {
    const begin = performance.now();
    const elapsed = () => `${((performance.now() - begin) / 1000).toFixed(1)} s`;
    try {
      const note = await action();
      ++this.#passed;
      console.log(`ok      ${name}${note === undefined ? '' : `: ${note}`} (${elapsed()})`);
    } catch (error) {
      ++this.#failed;
      console.log(`FAILED  ${name} (${elapsed()}): ${error.stack ?? error}`);
    }
  }

  skip(name, reason) {
    ++this.#skipped;
    console.log(`skipped ${name}: ${reason}`);
  }

  end() {
    console.log(`${this.#passed} passed, ${this.#failed} failed, ${this.#skipped} skipped`);
    process.exitCode = this.#failed > 0 ? 1 : 0;
  }
}

async function openPlain(page, url) {
  await page.goto(`${url}/tests/js/browser/page.html`);
  await page.waitForFunction('window.isReady === true', { timeout: 30000 });
}

/** The package from a script tag: trains, predicts, exports, rejects. */
export async function checkPlainPage(page, url, isIsolated) {
  await openPlain(page, url);
  const result = await page.evaluate('window.smoke()');
  assert.ok(result.loss < 0.05, String(result.loss));
  assert.deepEqual(result.predicted, [0, 1, 1, 0]);
  for (const name of ['memory', 'predict', 'predict_1', 'predict.x']) {
    assert.ok(result.exports.includes(name), name);
  }
  assert.equal(
    result.refusal,
    'LatheError: predict: x has shape [1,3], but the model expects [batch,2]',
  );
  assert.equal(result.features.CROSS_ORIGIN_ISOLATED, isIsolated);
  assert.equal(result.features.SIMD, true);
  assert.deepEqual(await page.evaluate('window.largeConstants()'), [1, 728]);
  const { loss, expected, predicted } = await page.evaluate('window.trainingModule()');
  assert.deepEqual([loss, predicted], [expected, 9]);
  assert.deepEqual(await page.evaluate('window.customLayer()'), {
    before: [[1, 2]],
    after: [[2, 4]],
    refusal: 'model "sequential": layer "scale_Scale1" (Scale): of mine',
  });
  return `relaxed SIMD ${result.features.RELAXED_SIMD ? 'yes' : 'no'}`;
}

/** Models are created and disposed without leaks. */
export async function checkMemory(page, url) {
  await openPlain(page, url);
  const { before, after } = await page.evaluate('window.memoryOfModels(100)');
  assert.deepEqual(after, before);
  assert.equal(after.modules + after.liveObjects, 0);
}

/** Five thousand functions in one memory, each with the output of the previous one as its input. */
export async function checkManyFunctions(page, url) {
  await openPlain(page, url);
  const { alive, sum, left } = await page.evaluate('window.manyFunctions(5000)');
  assert.deepEqual([alive, sum, left], [5000, (5000 * 4999) / 2, 0]);
}

/** Tuned schedules are cached in IndexedDB for the next page. */
export async function checkTuning(page, url) {
  await openPlain(page, url);
  const first = await page.evaluate('window.tune()');
  assert.deepEqual(first, { cached: 0, tuned: 1 });
  await openPlain(page, url);
  const second = await page.evaluate('window.tune()');
  assert.deepEqual(second, { cached: 1, tuned: 1 });
}

// Runs in the page: trains a network over 25 steps by gradients of tensors, and counts the turns of other tasks.
const trainLong = `(async () => {
  const tf = await import('/js/dist/tfjs.js');
  await tf.ready();
  const numbers = (count) => Array.from({ length: count }, (_, i) => Math.sin(7 * i) / 3);
  const [w, u] = [tf.tensor2d(numbers(36), [6, 6]).variable(), tf.tensor2d(numbers(12), [2, 6]).variable()];
  const x = tf.tensor2d(numbers(6), [3, 2]);
  const pass = (h) => tf.tanh(h.matMul(w).add(x.matMul(u)));
  let steps = 25;
  const loss = () => {
    let h = tf.zeros([3, 6]);
    for (let step = 0; step < steps; ++step) h = pass(h);
    return h.square().sum().asScalar();
  };
  let [turns, isOver] = [0, false];
  const turn = () => (turns++, isOver || setTimeout(turn));
  const optimizer = tf.train.sgd(0.05);
  const losses = [];
  let longest = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
  }).observe({ type: 'longtask' });
  setTimeout(turn);
  for (const wait of [(cost) => cost.data(), () => tf.nextFrame(), () => undefined]) {
    const expected = tf.tidy(() => loss().dataSync()[0]);
    const [before, cost] = [turns, optimizer.minimize(loss, true)];
    await wait(cost);
    losses.push({ expected, turnsDuring: turns - before, found: (await cost.data())[0] });
    cost.dispose();
    steps += 1;
  }
  isOver = true;
  return { losses, longest };
})()`;

// Runs in the page: trains where workers cannot be created. Returns the requested workers, and the modules compiled in the page for the last steps.
const trainWithoutWorkers = `(async () => {
  let [requested, modules] = [0, 0];
  const { Worker } = window;
  const { Module } = WebAssembly;
  window.Worker = class {
    constructor() {
      requested += 1;
      throw new Error('no workers here');
    }
  };
  WebAssembly.Module = class extends Module {
    constructor(...args) {
      super(...args);
      modules += 1;
    }
  };
  const tf = await import('/js/dist/tfjs.js');
  await tf.ready();
  const w = tf.tidy(() => tf.linspace(-1, 1, 16).reshape([4, 4]).variable());
  const loss = () => {
    let h = w;
    for (let step = 0; step < 40; ++step) h = tf.tanh(h.matMul(w).add(w));
    return h.square().mean().asScalar();
  };
  const optimizer = tf.train.sgd(0.1);
  for (let step = 0; step < 3; ++step) {
    optimizer.minimize(loss);
    await tf.nextFrame();
  }
  const before = modules;
  for (let step = 0; step < 3; ++step) {
    optimizer.minimize(loss);
    await tf.nextFrame();
  }
  const found = await w.data();
  window.Worker = Worker;
  WebAssembly.Module = Module;
  return { requested, later: modules - before, found: [...found] };
})()`;

/** Then each training step is compiled once, in the page, and few workers are requested. */
export async function checkNoWorkers(page, url) {
  await openPlain(page, url);
  const { requested, later, found } = await page.evaluate(trainWithoutWorkers);
  assert.ok(found.every(Number.isFinite));
  assert.ok(requested <= 2, `${requested} workers requested`);
  assert.equal(later, 0, `${later} modules of the last steps`);
}

/** The page stays responsive while training steps are compiled in the background. */
export async function checkLongPlans(page, url) {
  await openPlain(page, url);
  const { losses, longest } = await page.evaluate(trainLong);
  for (const { expected, found } of losses) assert.ok(Math.abs(expected - found) < 1e-4 * expected);
  const [read, framed] = losses.map(({ turnsDuring }) => turnsDuring);
  assert.ok(read > 2 && framed > 2, `${read} and ${framed} turns`);
  return `longest task ${longest.toFixed(0)} ms`;
}

// Runs in the page: trains a network of layers, and counts the turns of other tasks and the modules compiled in the page before training begins.
const trainLayers = `(async () => {
  const tf = await import('/js/dist/tfjs.js');
  await tf.ready();
  const { layers } = tf;
  const model = tf.sequential({
    layers: [
      layers.conv2d({ filters: 6, kernelSize: 3, inputShape: [9, 9, 2], activation: 'relu' }),
      layers.flatten(),
      layers.dense({ units: 3, activation: 'softmax' }),
    ],
  });
  model.compile({ optimizer: 'adam', loss: 'categoricalCrossentropy' });
  const [x, y] = [tf.ones([10, 9, 9, 2]), tf.ones([10, 3])];
  await Promise.all([x.data(), y.data()]);
  const { Module } = WebAssembly;
  let [modules, turns, isOver] = [0, 0, false];
  WebAssembly.Module = class extends Module {
    constructor(...args) {
      super(...args);
      modules += 1;
    }
  };
  const turn = () => (turns++, isOver || setTimeout(turn));
  setTimeout(turn);
  const { history } = await model.fit(x, y, { callbacks: { onTrainBegin: () => (isOver = true) } });
  WebAssembly.Module = Module;
  model.dispose();
  return { modules, turns, losses: history.loss };
})()`;

/** The page stays responsive while a worker compiles the modules of fit. */
export async function checkFirstStep(page, url) {
  await openPlain(page, url);
  const { modules, turns, losses } = await page.evaluate(trainLayers);
  assert.ok(losses.every(Number.isFinite));
  assert.ok(modules === 0 && turns > 2, `${modules} modules, ${turns} turns`);
}

// Runs in the page: loads a graph model that is never executed, and a long one, and counts workers and modules compiled in the page.
const loadGraphModels = `(async () => {
  const { Worker } = window;
  let [requested, ended] = [0, 0];
  window.Worker = class extends Worker {
    constructor(...args) {
      super(...args);
      requested += 1;
    }
    terminate() {
      ended += 1;
      super.terminate();
    }
  };
  const until = async (isSo) => {
    for (let left = 600; !isSo(); --left) {
      if (left === 0) throw new Error(requested + ' workers requested, ' + ended + ' ended');
      await new Promise((done) => setTimeout(done, 50));
    }
  };
  const tf = await import('/js/dist/tfjs.js');
  await tf.ready();
  const type = { T: { type: 'DT_FLOAT' } };
  const shape = { dim: [{ size: '4' }] };
  const node = [{ name: 'x', op: 'Placeholder', attr: { dtype: type.T, shape: { shape } } }];
  for (let at = 0; at < 120; ++at)
    node.push({ name: 'n' + at, op: 'LeakyRelu', input: [node.at(-1).name], attr: { ...type, alpha: { f: 0.5 + at / 1000 } } });
  const load = () =>
    tf.loadGraphModel({
      async load() {
        await until(() => requested > ended);
        return { modelTopology: { node }, weightSpecs: [], weightData: new ArrayBuffer(0) };
      },
    });
  await load();
  await until(() => requested === ended);
  const model = await load();
  const { Module } = WebAssembly;
  let modules = 0;
  WebAssembly.Module = class extends Module {
    constructor(...args) {
      super(...args);
      modules += 1;
    }
  };
  const x = tf.tensor1d([0.1, -0.2, 0.3, -0.4]);
  const found = await model.predict(x).data();
  WebAssembly.Module = Module;
  await until(() => requested === ended);
  window.Worker = Worker;
  return { modules, found: [...found], expected: [...model.predict(x).dataSync()] };
})()`;

/** The worker that compiles a graph model starts while its weights arrive, and ends where none is compiled. */
export async function checkGraphModels(page, url) {
  await openPlain(page, url);
  const { modules, found, expected } = await page.evaluate(loadGraphModels);
  assert.equal(modules, 0, `${modules} modules compiled in the page`);
  assert.deepEqual(found, expected);
}

const opsFolder = 'build/native/ops-cases';

// Runs in the page.
const runOps = `(async () => {
  const { runCase } = await import('/tests/ops/run_case.mjs');
  const manifest = await (await fetch('/${opsFolder}/manifest.jsonl')).text();
  const tests = manifest.split('\\n').filter(Boolean).map((line) => JSON.parse(line));
  let count = 0;
  const problems = [];
  while (tests.length > count) {
    const some = tests.slice(count, count + 100);
    const answer = await fetch('/several?' + some.map(({ file }) => '/${opsFolder}/' + file).join('&'));
    const lengths = answer.headers.get('Lengths').split(',').map(Number);
    const bytes = await answer.arrayBuffer();
    let at = 0;
    for (const [index, test] of some.entries()) {
      const problem = runCase(test, new Uint8Array(bytes, at, lengths[index]));
      if (problem) problems.push(test.name + ' (' + test.variant + '): ' + problem);
      at += lengths[index];
      count += 1;
    }
  }
  return { count, problems };
})()`;

/** The modules of tests/ops, each entry against the evaluator. */
export async function checkOps(report, page, url) {
  if (!existsSync(`${opsFolder}/manifest.jsonl`)) {
    report.skip('compiled operations', `ops_test has not created ${opsFolder}`);
    return;
  }
  await report.check('compiled operations', async () => {
    await openPlain(page, url);
    const { count, problems } = await page.evaluate(runOps);
    assert.ok(count > 0);
    assert.deepEqual(problems, []);
    return `${count} modules`;
  });
}

/** MNIST: at least 97.5 %, within 0.2 % of Node, and the page stays responsive. */
export async function checkMnist(report, page, url) {
  if (mnistAbsent) {
    report.skip('MNIST', mnistAbsent);
    return;
  }
  await report.check('MNIST reaches 97.5 % and what Node reaches', async () => {
    await openPlain(page, url);
    const { accuracy, seconds, longest } = await page.evaluate('window.mnist()');
    const inNode = await trainMnist(tl, await readMnist(), tensors);
    const share = (value) => `${(100 * value).toFixed(2)} %`;
    const text =
      `${share(accuracy)}, Node ${share(inNode)}, ` +
      `${seconds.toFixed(1)} s, longest wait of the page ${longest.toFixed(0)} ms`;
    assert.ok(accuracy >= 0.975, text);
    assert.ok(Math.abs(accuracy - inNode) <= 0.002, text);
    return text;
  });
}
