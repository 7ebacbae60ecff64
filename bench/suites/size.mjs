/**
 * What a page downloads that imports the package as npm has it: the core and the JavaScript, raw and gzip. Modules that are
 * imported when they are first needed do not count. Beside it what programs with tensors load, and what drives stand-alone
 * modules that train, which needs no core.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { rolldown } from 'rolldown';
import { formatTable } from '../report.mjs';

const dist = fileURLToPath(new URL('../../build/package/dist/', import.meta.url));

const core = `${dist}modules/core/lathe-core.wasm`;

export const size = { run };

/** A program as those of README: variables, operations, an optimiser. */
const program = `import * as tf from 'tensorlathe/tfjs';
await tf.ready();
const weights = tf.variable(tf.tensor2d([0.5, -0.5, 0.1, 0.2], [2, 2]));
const loss = () => tf.tensor2d([[1, 2]]).matMul(weights).sub(1).square().mean();
for (let step = 0; step < 100; step++) tf.train.adam(0.1).minimize(loss);
weights.print();`;

const outdir = fileURLToPath(new URL('../../build/bench/size/', import.meta.url));

/** The files that a page loads at once of that program, as each bundler makes them. */
const bundlers = {
  async Rolldown(entry) {
    const bundle = await rolldown({
      input: entry,
      external: /^node:/,
      resolve,
      logLevel: 'silent',
    });
    await bundle.write({ dir: `${outdir}Rolldown`, minify: true });
  },
  async esbuild(entry) {
    const options = { bundle: true, minify: true, splitting: true, format: 'esm' };
    const outdirOf = { outdir: `${outdir}esbuild`, external: ['node:*'], ...resolve };
    await build({ entryPoints: [entry], ...options, ...outdirOf, logLevel: 'error' });
  },
};
const resolve = { alias: { tensorlathe: join(dist, '..') } };

async function bundled(name) {
  rmSync(`${outdir}${name}`, { recursive: true, force: true });
  mkdirSync(outdir, { recursive: true });
  const entry = `${outdir}program.mjs`;
  writeFileSync(entry, program);
  await bundlers[name](entry);
  return loadedAtOnce(`${outdir}${name}/program.js`);
}

async function run() {
  const parts = [
    ['lathe-core.wasm', [core]],
    ['JavaScript', loadedAtOnce(`${dist}index.js`)],
    ['core and tensorlathe/tfjs, whole', [core, ...loadedAtOnce(`${dist}tfjs.js`)]],
    ['core and a program with tensors, by Rolldown', [core, ...(await bundled('Rolldown'))]],
    ['core and a program with tensors, by esbuild', [core, ...(await bundled('esbuild'))]],
    ['tensorlathe/training-module, alone', [`${dist}standalone/training_module.js`]],
  ].map(([name, files]) => {
    const contents = files.map((file) => readFileSync(file));
    return {
      name,
      raw: sum(contents.map(({ length }) => length)),
      gzip: sum(contents.map(gzipped)),
    };
  });
  const [page, others] = [parts.slice(0, 2), parts.slice(2)];
  const total = (key) => sum(page.map((part) => part[key]));
  const rows = [...page, { name: 'together', raw: total('raw'), gzip: total('gzip') }, ...others];
  const markdown = formatTable(
    ['', 'bytes', 'gzip -9'],
    rows.map(({ name, raw, gzip }) => [name, raw, gzip]),
  );
  console.log(`\n${markdown}`);
  return { rows, markdown, problems: [] };
}

/** As gzip itself packs: the zlib of Node finds less, for speed. */
const gzipped = (input) => execFileSync('gzip', ['-9c'], { input }).length;

const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);

/** A module and what it imports statically. */
function loadedAtOnce(entry) {
  const found = new Set([entry]);
  for (const file of found) {
    const text = readFileSync(file, 'utf8');
    for (const [, path] of text.matchAll(/(?:from|import)\s*"(\.[^"]*)"/g)) {
      found.add(join(dirname(file), path));
    }
  }
  return [...found];
}
