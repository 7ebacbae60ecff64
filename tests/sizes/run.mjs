// Minimizes the modules of the core, runs programs on them, and compares what pages download with docs/benchmarks/size.json: no
// row may be more than 1% larger after gzip. `./dev bench size` writes that file.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { size } from '../../bench/suites/size.mjs';
import { minimize } from '../../js/scripts/minimize.mjs';

const TOLERANCE = 1.01;
const root = fileURLToPath(new URL('../../', import.meta.url));
let [passed, failed] = [0, 0];

function check(title, problem) {
  if (problem) console.log(`${title}: ${problem}`);
  problem ? failed++ : passed++;
}

const start = performance.now();
await minimize();
console.log(`minimized in ${((performance.now() - start) / 1000).toFixed(0)} s`);

const { rows } = await size.run();
const file = new URL('../../docs/benchmarks/size.json', import.meta.url);
const recorded = new Map(
  JSON.parse(readFileSync(file, 'utf8')).rows.map(({ name, gzip }) => [name, gzip]),
);
for (const { name, gzip } of rows) {
  const limit = recorded.get(name);
  const larger = `${gzip} bytes after gzip, ${limit} in docs/benchmarks/size.json: ./dev bench size`;
  check(name, (limit === undefined || gzip > limit * TOLERANCE) && larger);
}

/** Training, saved models, ONNX import and export. */
const programs = ['train/training', 'io/io', 'onnx/session', 'onnx_export/export', 'model/model'];
const preload = ['--import', './tests/sizes/minimized_modules.mjs'];
for (const name of programs) {
  const file = `tests/js/node/${name}.test.mjs`;
  const { status, stdout, stderr } = spawnSync(process.execPath, [...preload, file], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  check(file, status !== 0 && `ended with ${status}\n${(stdout + stderr).slice(-3000)}`);
}
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exit(failed === 0 ? 0 : 1);
