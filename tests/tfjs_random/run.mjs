// Programs of operations on tensors drawn at random behave as in TensorFlow.js: values, shapes, types, errors, gradients,
// what is alive. node tests/tfjs_random/run.mjs --seeds=0..1000 [--only=NAMES] [--check=NAME]
// The last line is N passed, M failed, K skipped. A failure is printed as the shortest program that still fails.
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe/tfjs';
import { Draw } from '../js/draw.mjs';
import { checks } from './checks.mjs';
import { unlisted } from './exports.mjs';
import { leaks } from './leaks.mjs';
import { drawProgram } from './program.mjs';
import { shrunk } from './shrink.mjs';
import { programText } from './text.mjs';

const option = (name) =>
  process.argv.find((each) => each.startsWith(`--${name}=`))?.slice(name.length + 3);
const [first, end] = (option('seeds') ?? '0..300').split('..').map(Number);
const only = option('only') && new RegExp(`^(${option('only')})$`);
const check = option('check');
const isVerbose = process.argv.includes('--verbose');
const counts = { passed: 0, failed: 0, skipped: 0 };

/** What is wrong with a program by a check, or undefined. */
const problemBy = (run) => async (program) => {
  try {
    await run(program);
    return undefined;
  } catch (error) {
    return error;
  }
};

async function checkSeed(seed) {
  const program = await drawProgram(seed, only);
  const d = new Draw(seed + 99);
  for (const [name, [share, run]] of Object.entries(checks)) {
    if (check !== undefined ? name !== check : !d.chance(share)) continue;
    const fails = problemBy(run);
    if ((await fails(program)) === undefined) {
      counts.passed += 1;
      continue;
    }
    counts.failed += 1;
    const found = await shrunk(program, fails);
    console.log(`seed ${seed}, ${name} (${program.stream}): ${found.error.message}`);
    if (isVerbose) console.log(found.error.stack);
    const lines = programText(found.program).split('\n');
    console.log(lines.map((line) => `  ${line.slice(0, 1500)}`).join('\n'));
  }
}

await tf.setBackend('cpu');
await tl.ready();
for (const problem of unlisted()) {
  console.log(problem);
  counts.failed += 1;
}
const warn = console.warn;
console.warn = () => {};
for (let seed = first; seed < end; ++seed) {
  if (isVerbose) console.error(seed);
  await checkSeed(seed);
}
console.warn = warn;
if (only === undefined && check === undefined) {
  await leaks().then(
    () => (counts.passed += 1),
    (error) => {
      counts.failed += 1;
      console.log(`leaks: ${error.message}`);
    },
  );
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed > 0 ? 1 : 0;
