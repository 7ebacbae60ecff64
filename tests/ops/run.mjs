// Runs the modules that ops_test wrote in this JavaScript engine and compares with the expected results.
// Usage: node run.mjs DIRECTORY

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCase } from './run_case.mjs';

const directory = process.argv[2];
const lines = readFileSync(join(directory, 'manifest.jsonl'), 'utf8').split('\n').filter(Boolean);
let passed = 0;
let failed = 0;
let skipped = 0;
for (const line of lines) {
  const test = JSON.parse(line);
  const bytes = readFileSync(join(directory, test.file));
  if (!WebAssembly.validate(bytes) && test.variant.includes('relaxed')) {
    skipped++;
    continue;
  }
  const problem = runCase(test, bytes);
  if (problem) console.log(`${test.name} (${test.variant}): ${problem}`);
  problem ? failed++ : passed++;
}
if (skipped > 0) console.log(`${skipped} modules with relaxed SIMD skipped: this engine has none`);
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
