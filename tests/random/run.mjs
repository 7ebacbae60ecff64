// Random programs in this JavaScript engine: has random_cases write them, runs each in all of its modules, those for threads on
// one, two and four of them, and shows what is wrong with the shortest program that still is. The last line is N passed, M failed, K skipped.
// Usage: node run.mjs FOLDER --seeds=FIRST..END
//   Five hundred seeds are in FOLDER at a time, a function and a model for each; the last of them stay.
import { Worker } from 'node:worker_threads';
import { Team } from '../ops/run_threads_case.mjs';
import { shrunk } from './shrink.mjs';
import { read, write } from './tool.mjs';

const atOnce = 500;
const [folder, option] = process.argv.slice(2);
const range = /^--seeds=(\d+)\.\.(\d+)$/.exec(option ?? '');
if (!folder || !range) {
  console.error('usage: node run.mjs FOLDER --seeds=FIRST..END');
  process.exit(2);
}

function start() {
  const worker = new Worker(new URL('../ops/thread_worker.mjs', import.meta.url));
  return {
    postMessage: (message) => worker.postMessage(message),
    receive: (handler) => worker.once('message', handler),
    terminate: () => worker.terminate(),
  };
}

const teams = [new Team(start, 2), new Team(start, 4)];
/** [module, what is wrong with it], or undefined where a case is right. */
async function problemOf(test) {
  for (const [at, { variant, metadata }] of test.line.modules.entries()) {
    if (variant.includes('relaxed') && !WebAssembly.validate(test.module(at))) {
      counts.skipped++;
      continue;
    }
    const single = test.run(at);
    if (single) return [variant, single];
    if (!metadata.threads) continue;
    for (const team of teams) {
      const problem = await team.runModule(test.module(at), metadata, test);
      if (problem) return [`${variant}, ${team.threads} threads`, problem];
    }
  }
  return undefined;
}

const counts = { passed: 0, failed: 0, skipped: 0 };
const totals = { numbers: 0, unknown: 0, slopes: 0, kinks: 0 };

// Writes the functions and models of these seeds. One that ends the tool is a failure, and the others go without it.
async function generated(seeds) {
  const without = [];
  for (;;) {
    const { lines, ended } = await write(
      folder,
      `--functions=${seeds}`,
      `--models=${seeds}`,
      ...without.map((name) => `--without=${name}`),
    );
    if (ended) return lines;
    console.log(lines.join('\n'));
    counts.failed++;
    const name = /^(\w+_\d+): /.exec(lines.at(-1))?.[1];
    if (!name || without.includes(name)) return [];
    without.push(name);
  }
}

async function runCases(first, end) {
  const lines = await generated(`${first}..${end}`);
  const [verdict, sums] = [lines.pop(), lines.pop()];
  counts.failed += Number(/ (\d+) failed, /.exec(verdict)?.[1] ?? 1);
  const found = /^(\d+) numbers, (\d+) of them unknown; (\d+) slopes, (\d+) more/.exec(sums);
  Object.keys(totals).forEach((key, at) => (totals[key] += Number(found?.[at + 1] ?? 0)));
  if (lines.length > 0) console.log(lines.join('\n'));
  for (const test of read(folder)) {
    const problem = await problemOf(test);
    problem ? counts.failed++ : counts.passed++;
    if (!problem) continue;
    console.log(`${test.line.name} (${problem[0]}): ${problem[1]}`);
    console.log(await shrunk(test.line.name, problemOf));
  }
}

const [first, end] = range.slice(1).map(Number);
for (let seed = first; seed < end; seed += atOnce) {
  const next = Math.min(end, seed + atOnce);
  await runCases(seed, next);
  if (end - first > atOnce) console.log(`up to ${next}: ${counts.failed} failed`);
}
for (const team of teams) team.stop();
if (counts.skipped > 0) {
  console.log(`${counts.skipped} modules with relaxed SIMD skipped: this engine has none`);
}
console.log(
  `${totals.numbers} numbers, ${totals.unknown} of them unknown; ${totals.slopes} slopes, ${totals.kinks} more at kinks`,
);
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1);
