// The checks of several threads in a browser: generated modules, and the package on a pool of workers.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';

const opsFolder = 'build/native/ops-cases';
const threads = 3;
const every = 4; // Node runs all of them
// A thread frees memories when it ends, and Chromium has address space for about a hundred.
const casesOfTeam = 10;

// Each runs in the page.
const runOps = `(async () => {
  const { Team } = await import('/tests/ops/run_threads_case.mjs');
  const start = () => {
    const worker = new Worker('/tests/ops/thread_worker.mjs', { type: 'module' });
    return {
      postMessage: (message) => worker.postMessage(message),
      receive: (handler) => (worker.onmessage = ({ data }) => handler(data)),
      terminate: () => worker.terminate(),
    };
  };
  const manifest = await (await fetch('/${opsFolder}/manifest.jsonl')).text();
  const all = manifest.split('\\n').filter(Boolean).map((line) => JSON.parse(line));
  const tests = all.filter(({ metadata }) => metadata.threads).filter((_, at) => at % ${every} === 0);
  const problems = [];
  let team;
  for (const [at, test] of tests.entries()) {
    if (at % ${casesOfTeam} === 0) {
      team?.stop();
      team = new Team(start, ${threads});
    }
    const bytes = await (await fetch('/${opsFolder}/' + test.file)).arrayBuffer();
    const problem = await team.runCase(test, bytes);
    if (problem) problems.push(test.name + ': ' + problem);
  }
  team.stop();
  return { count: tests.length, problems };
})()`;

const runPackage = `(async () => {
  const tl = await import('/js/dist/index.js');
  const trained = async (count) => {
    tl.env().set('THREADS_COUNT', count);
    tl.env().set('THREADS_MIN_WORK', 1);
    const model = tl.sequential({ seed: 3 });
    model.add(tl.layers.dense({ units: 40, activation: 'tanh', inputShape: [2] }));
    model.add(tl.layers.dense({ units: 3, activation: 'softmax' }));
    model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'adam' });
    const x = tl.tensor(Float32Array.from({ length: 300 }, (_, i) => Math.sin(i)), [150, 2]);
    const y = tl.tensor(Int32Array.from({ length: 150 }, (_, i) => i % 3));
    for (let i = 0; i < 10; ++i) {
      await model.predict(x).data();
      await new Promise((done) => setTimeout(done, 50));
    }
    await model.fit(x, y, { epochs: 3, batchSize: 32 });
    const last = model.predict(x);
    model.setWeights(model.getWeights().map((weight) => new Float32Array(weight.size)));
    const results = [...(await last.data())];
    const together = [...model.predict(x).dataSync()];
    const { threads } = tl.memory();
    model.dispose();
    return { results, together, threads };
  };
  const single = await trained(1);
  const several = await trained(${threads});
  const left = tl.memory();
  tl.env().reset();
  return { single, several, left };
})()`;

const asUsers = `
  const tl = await import('/js/dist/index.js');
  tl.env().set('AUTO_TUNE', true);
  tl.env().set('THREADS_COUNT', ${threads});
  tl.env().set('THREADS_MIN_WORK', 1);
  const size = 96;
  const data = (number) =>
    Float32Array.from({ length: size * size }, (_, i) => ((i * 7 + number * 13) % 5) - 2);
  const warmUp = async (call) => {
    for (let i = 0; i < 10; ++i) {
      await call();
      await new Promise((done) => setTimeout(done, 50));
    }
  };`;

/** Calls of two functions and steps of a model that overlap, and the same ones sequentially. */
const runOverlapping = `(async () => {${asUsers}
  const functions = [1, 2].map(() =>
    tl.compile({ x: [size, size] }, ({ x }, g) => {
      const calls = g.variable('calls', [1]);
      g.assign(calls, calls.add(1));
      return { y: x.matMul(x), calls: calls.add(1) };
    }),
  );
  const models = [1, 2].map(() => {
    const model = tl.sequential({ seed: 3 });
    model.add(tl.layers.dense({ units: 64, activation: 'tanh', inputShape: [size] }));
    model.add(tl.layers.dense({ units: size }));
    model.compile({ loss: 'meanSquaredError', optimizer: 'adam' });
    return model;
  });
  for (const f of functions) await warmUp(() => f.runAsync({ x: data(0) }));
  for (const model of models) await warmUp(() => model.predict(tl.tensor(data(0), [size, size])).data());
  for (const f of functions) f.setVariable('calls', [0]);
  const x = new Float32Array(size * size);
  const pending = [];
  for (let number = 0; number < 12; ++number) {
    x.set(data(number));
    const f = functions[number % 2];
    pending.push(f.runAsync({ x }).then(({ y, calls }) => [calls.dataSync()[0], ...y.dataSync()]));
    pending.push(models[0].trainOnBatch(tl.tensor(x, [size, size]), tl.tensor(x, [size, size])));
  }
  const together = await Promise.all(pending);
  const sequential = [];
  for (let number = 0; number < 12; ++number) {
    const { y } = functions[0].run({ x: data(number) });
    sequential.push([Math.floor(number / 2) + 1, ...y.dataSync()]);
    const rows = tl.tensor(data(number), [size, size]);
    sequential.push(await models[1].trainOnBatch(rows, rows));
  }
  const { threads } = tl.memory();
  for (const each of [...functions, ...models]) each.dispose();
  tl.env().reset();
  return { isSame: JSON.stringify(together) === JSON.stringify(sequential), threads };
})()`;

/**
 * A worker that ends silently in the middle of its work, so that a claimed task is never done: the errors of a call that
 * waits for it synchronously, and of one that is awaited. The clock runs faster.
 */
const runSilent = `(async () => {
  let memory;
  const { Memory } = WebAssembly;
  WebAssembly.Memory = class extends Memory {
    constructor(options) {
      super(options);
      memory = this;
    }
  };${asUsers}
  tl.env().set('AUTO_TUNE', false);
  const start = performance.now();
  const now = performance.now.bind(performance);
  performance.now = () => start + 20 * (now() - start);
  const every = setInterval;
  window.setInterval = (action, ms) => every(action, ms / 20);
  const messages = {};
  const wide = 1000;
  const rows = new Float32Array(wide * wide);
  // On a busy machine all tasks may be done before this thread claims one: then it is repeated.
  const maxRuns = 10;
  for (let run = 0; run < maxRuns && !(messages.sync && messages.later); ++run) {
    const how = messages.sync ? 'later' : 'sync';
    tl.env().set('THREADS_COUNT', ${threads});
    const model = tl.sequential({ seed: 3 });
    model.add(tl.layers.dense({ units: wide, inputShape: [wide] }));
    const predict = () => model.predict(tl.tensor(rows, [wide, wide]), { batchSize: wide });
    await warmUp(() => predict().data());
    const result = predict();
    Atomics.add(new BigInt64Array(memory.buffer, 0, 1), 0, 1n); // claims a task
    try {
      if (how === 'sync') result.dataSync();
      else await result.data();
    } catch (error) {
      messages[how] = error.message;
    }
    model.dispose();
  }
  const { why } = tl.env().threads;
  tl.env().reset();
  return { messages, why };
})()`;

async function open(page, url) {
  await page.goto(`${url}/tests/js/browser/page.html`);
  await page.waitForFunction('window.isReady === true', { timeout: 30000 });
}

/** Modules and the package on several threads; `url` is cross-origin isolated. */
export async function checkThreads(report, page, url) {
  if (existsSync(`${opsFolder}/manifest.jsonl`)) {
    await report.check(`compiled operations on ${threads} threads`, async () => {
      await open(page, url);
      const { count, problems } = await page.evaluate(runOps);
      assert.ok(count > 0);
      assert.deepEqual(problems, []);
      return `${count} modules`;
    });
  } else {
    report.skip('compiled operations on threads', `ops_test has not created ${opsFolder}`);
  }
  await report.check('package on several threads', async () => {
    await open(page, url);
    const { single, several, left } = await page.evaluate(runPackage);
    assert.equal(single.threads, 0);
    assert.equal(several.threads, threads);
    assert.deepEqual(several.results, single.results);
    assert.deepEqual(several.together, single.together);
    assert.deepEqual([left.threads, left.sharedModules, left.sharedBytes], [0, 0, 0]);
  });
  await report.check('calls that overlap on several threads', async () => {
    await open(page, url);
    assert.deepEqual(await page.evaluate(runOverlapping), { isSame: true, threads });
  });
  await report.check('a worker that ended silently', async () => {
    await open(page, url);
    const { messages, why } = await page.evaluate(runSilent);
    const message = 'a thread failed: it ended';
    assert.deepEqual(messages, { sync: message, later: message });
    assert.equal(why, 'the threads could not be used: it ended');
  });
}

/** Without isolation one thread computes everything, and the environment states why. */
export async function checkOneThread(report, page, url) {
  await report.check('package without isolation has one thread', async () => {
    await open(page, url);
    const { single, several } = await page.evaluate(runPackage);
    assert.equal(several.threads, 0);
    assert.deepEqual(several.results, single.results);
    const why = await page.evaluate(`import('/js/dist/index.js').then((tl) => tl.env().threads)`);
    assert.equal(why.count, 1);
    assert.match(why.why, /not cross-origin isolated/);
  });
}
