// Runs the modules for threads that ops_test wrote on several threads and compares with the expected results and with one thread.
// Usage: node run_threads.mjs DIRECTORY THREADS

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Team } from './run_threads_case.mjs';

const [directory, threads] = process.argv.slice(2);
const script = new URL('./thread_worker.mjs', import.meta.url);

function start() {
  const worker = new Worker(script);
  return {
    postMessage: (message) => worker.postMessage(message),
    receive: (handler) => worker.once('message', handler),
    terminate: () => worker.terminate(),
  };
}

const lines = readFileSync(join(directory, 'manifest.jsonl'), 'utf8').split('\n').filter(Boolean);
const team = new Team(start, Number(threads));
let passed = 0;
let failed = 0;
let skipped = 0;
for (const line of lines) {
  const test = JSON.parse(line);
  if (!test.metadata.threads) continue;
  const bytes = readFileSync(join(directory, test.file));
  if (!WebAssembly.validate(bytes) && test.variant.includes('relaxed')) {
    skipped++;
    continue;
  }
  const problem = await team.runCase(test, bytes);
  if (problem) console.log(`${test.name} (${test.variant}, ${threads} threads): ${problem}`);
  problem ? failed++ : passed++;
}
team.stop();
if (skipped > 0) console.log(`${skipped} modules with relaxed SIMD skipped: this engine has none`);
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
