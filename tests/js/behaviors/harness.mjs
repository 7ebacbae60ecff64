// Small programs run with TensorFlow.js and with us: results must be equal, or both throw. A theme is a file that
// exports a list of functions of `tf`; its source text is the name of a program. As a program it prints what differs:
// node tests/js/behaviors/harness.mjs [THEME …]
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { reasonOf } from './build.mjs';
import { expectedDifferences } from './expected_differences.mjs';

const tolerance = 2e-4;
/** Replaces the counters at the end of generated names. */
const plain = (text) =>
  text
    .replace(/\b([a-z]\w*?_[A-Z]\w*?|input|model|sequential_)\d+\b/g, '$1#')
    .replace(/\b(kernel|bias|\w+_kernel|\w\/\w)_\d+\b/g, '$1');

/** Anything as plain data: tensors by shape, type and elements, layers by class, functions as such. */
function toPlain(value, depth = 0) {
  if (value === null || value === undefined) return value;
  if (typeof value === 'string') return plain(value);
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object') return value;
  if (typeof value.read === 'function' && 'originalName' in value) {
    const { name, shape, trainable } = value;
    return { weight: plain(name), shape: [...shape], trainable, value: toPlain(value.read()) };
  }
  if (typeof value.dataSync === 'function') {
    return { tensor: [...value.shape], dtype: value.dtype, elements: [...value.dataSync()] };
  }
  if (ArrayBuffer.isView(value)) return [...value];
  if ('sourceLayer' in value) return { symbolic: [...value.shape], dtype: value.dtype };
  if (typeof value.getClassName === 'function') return { layer: value.getClassName() };
  if (depth > 12) return 'too deep';
  if (Array.isArray(value)) return value.map((each) => toPlain(each, depth + 1));
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => [plain(k), toPlain(v, depth + 1)]),
  );
}

function equal(a, b) {
  if (typeof a === 'number' && typeof b === 'number') {
    return Object.is(a, b) || Math.abs(a - b) <= tolerance * Math.max(1, Math.abs(b)) || a === b;
  }
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return a === b;
  const [mine, theirs] = [Object.keys(a), Object.keys(b)];
  return mine.length === theirs.length && theirs.every((key) => key in a && equal(a[key], b[key]));
}

async function outcome(program, lib) {
  try {
    return { returns: toPlain(await program(lib)) };
  } catch (error) {
    return { throws: error.message.split('\n')[0] };
  }
}

/** Runs a program in either library. */
export async function compare(program) {
  const silent = console.warn;
  console.warn = () => {};
  const theirs = await outcome(program, tf);
  const ours = await outcome(program, tl);
  console.warn = silent;
  const both = 'throws' in ours && 'throws' in theirs;
  const text = String(program).replace(/\s+/g, ' ');
  const [listed] =
    expectedDifferences.find(([, ...ends]) => ends.some((end) => text.endsWith(end))) ?? [];
  return { same: both || equal(ours, theirs), ours, theirs, reason: reasonOf(program) ?? listed };
}

/** Failures of a theme, one string for each program. */
export async function wrongIn(programs) {
  const wrong = [];
  for (const program of programs) {
    const { same, ours, theirs, reason } = await compare(program);
    if (same === (reason === undefined)) continue;
    const why = same
      ? `is equal now, though it is expected to differ: ${reason}`
      : `here ${JSON.stringify(ours)}\n    TensorFlow.js ${JSON.stringify(theirs)}`;
    wrong.push(`${program}\n    ${why}`);
  }
  return wrong;
}

/** The names of all themes. */
export const themes = readdirSync(new URL('.', import.meta.url))
  .filter(
    (file) => file.endsWith('.mjs') && !/^(harness|build|expected_differences)\.mjs$/.test(file),
  )
  .map((file) => file.slice(0, -4));

/** The programs of a theme. */
export const programsOf = async (theme) => (await import(`./${theme}.mjs`)).default.flat(Infinity);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await tf.setBackend('cpu');
  const chosen = process.argv.slice(2);
  let [count, failed] = [0, 0];
  for (const theme of chosen.length > 0 ? chosen : themes) {
    const programs = await programsOf(theme);
    const wrong = await wrongIn(programs);
    for (const each of wrong) console.log(`${theme}: ${each}`);
    [count, failed] = [count + programs.length, failed + wrong.length];
  }
  console.log(`${count - failed} passed, ${failed} failed, 0 skipped`);
}
