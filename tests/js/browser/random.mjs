// The random functions and models of tests/random in a page: all modules on one thread, some of those for threads on several.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';

const folder = 'build/native/random-cases';
const threads = 2;
const every = 5; // Node runs all of them
// A thread frees memories when it ends, and Chromium has address space for about a hundred.
const casesOfTeam = 10;

// Runs in the page: the cases from `first` to `end`.
const runSome = (first, end) => `(async () => {
  const { RandomCase } = await import('/tests/random/case.mjs');
  const { Team } = await import('/tests/ops/run_threads_case.mjs');
  const start = () => {
    const worker = new Worker('/tests/ops/thread_worker.mjs', { type: 'module' });
    return {
      postMessage: (message) => worker.postMessage(message),
      receive: (handler) => (worker.onmessage = ({ data }) => handler(data)),
      terminate: () => worker.terminate(),
    };
  };
  const text = await (await fetch('/${folder}/manifest.jsonl')).text();
  const lines = text.split('\\n').filter(Boolean).slice(${first}, ${end});
  const problems = [];
  let team;
  let inTeam = 0;
  let count = 0;
  for (const [index, line] of lines.entries()) {
    const parsed = JSON.parse(line);
    const test = new RandomCase(parsed, await (await fetch('/${folder}/' + parsed.file)).arrayBuffer());
    for (const [at, { variant, metadata }] of parsed.modules.entries()) {
      if (variant.includes('relaxed') && !WebAssembly.validate(test.module(at))) continue;
      count++;
      if (metadata.threads && index % ${every} === 0) {
        if (inTeam++ % ${casesOfTeam} === 0) {
          team?.stop();
          team = new Team(start, ${threads});
        }
        const problem = await team.runModule(test.module(at), metadata, test);
        if (problem) problems.push(parsed.name + ' (' + variant + '): ' + problem);
      } else if (!metadata.threads) {
        const problem = test.run(at);
        if (problem) problems.push(parsed.name + ' (' + variant + '): ' + problem);
      }
    }
  }
  team?.stop();
  return { cases: lines.length, count, problems };
})()`;

/** Functions and models at random; `url` is cross-origin isolated. */
export async function checkRandom(report, page, url) {
  if (!existsSync(`${folder}/manifest.jsonl`)) {
    report.skip('random functions and models', `tests/random has not created ${folder}`);
    return;
  }
  await report.check('random functions and models', async () => {
    let modules = 0;
    // One page at a time, so that memories are freed.
    for (let first = 0; ; first += 100) {
      await page.goto(`${url}/tests/js/browser/page.html`);
      await page.waitForFunction('window.isReady === true', { timeout: 30000 });
      const { cases, count, problems } = await page.evaluate(runSome(first, first + 100));
      assert.deepEqual(problems, []);
      modules += count;
      if (cases === 0) break;
    }
    assert.ok(modules > 0);
    return `${modules} modules`;
  });
}
