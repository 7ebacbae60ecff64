// The checks of several threads in a browser: generated modules, and the package on a pool of workers.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';

const opsFolder = 'build/native/ops-cases';
const threads = 3;
const every = 4; // Node runs all of them
// A thread lets memories go when it ends, and Chromium has address space for about a hundred.
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
  const alone = await trained(1);
  const several = await trained(${threads});
  const left = tl.memory();
  tl.env().reset();
  return { alone, several, left };
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
    report.skip('compiled operations on threads', `ops_test has not written ${opsFolder}`);
  }
  await report.check('package on several threads', async () => {
    await open(page, url);
    const { alone, several, left } = await page.evaluate(runPackage);
    assert.equal(alone.threads, 0);
    assert.equal(several.threads, threads);
    assert.deepEqual(several.results, alone.results);
    assert.deepEqual(several.together, alone.together);
    assert.deepEqual([left.threads, left.sharedModules, left.sharedBytes], [0, 0, 0]);
  });
}

/** Without isolation one thread does everything, and the environment says why. */
export async function checkOneThread(report, page, url) {
  await report.check('package without isolation has one thread', async () => {
    await open(page, url);
    const { alone, several } = await page.evaluate(runPackage);
    assert.equal(several.threads, 0);
    assert.deepEqual(several.results, alone.results);
    const why = await page.evaluate(`import('/js/dist/index.js').then((tl) => tl.env().threads)`);
    assert.equal(why.count, 1);
    assert.match(why.why, /not cross-origin isolated/);
  });
}
