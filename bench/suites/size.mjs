/**
 * What a page downloads that imports the package as npm has it: the minimized core and the JavaScript, raw and gzip. Modules that are
 * imported when they are first needed do not count. Next to it what programs with tensors load, what one with an ONNX session
 * does until that is there, and what drives standalone modules that train, which needs no core.
 */
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { rolldown } from 'rolldown';
import { gzipped } from '../../js/scripts/gzipped.mjs';
import { moduleFile } from '../../js/scripts/minimize.mjs';
import { formatTable } from '../report.mjs';

const dist = fileURLToPath(new URL('../../build/package/dist/', import.meta.url));

const core = moduleFile('core', '.min');
const coreWithOnnx = moduleFile('core-onnx', '.min');
const shaderCompiler = moduleFile('webgpu', '.min');

export const size = { run };

/** Programs as those of README: a function; and variables, operations, an optimizer. */
const programs = {
  'a compiled function': `import { compile, ready } from 'tensorlathe';
await ready();
const f = compile({ x: [1, 784], w: [784, 10] }, ({ x, w }) => ({ y: x.matMul(w).softmax() }));
f.run({ x: new Float32Array(784), w: new Float32Array(7840) }).y.print();`,
  'a program with tensors': `import * as tf from 'tensorlathe/tfjs';
await tf.ready();
const weights = tf.variable(tf.tensor2d([0.5, -0.5, 0.1, 0.2], [2, 2]));
const loss = () => tf.tensor2d([[1, 2]]).matMul(weights).sub(1).square().mean();
for (let step = 0; step < 100; step++) tf.train.adam(0.1).minimize(loss);
weights.print();`,
};

const session = `import { InferenceSession, Tensor } from 'tensorlathe/onnxruntime';
const session = await InferenceSession.create('model.onnx');
const { y } = await session.run({ x: new Tensor('float32', new Float32Array(4), [4]) });
console.log(y.data);`;
/** What a session fetches when it is made. */
const ofSessions = /^(open|core_onnx_module)\W/;

const outdir = fileURLToPath(new URL('../../build/bench/size/', import.meta.url));

/** How each writes a program and its chunks into a folder. */
const bundlers = {
  async Rolldown(entry, dir) {
    const bundle = await rolldown({
      input: entry,
      external: /^node:/,
      resolve,
      logLevel: 'silent',
    });
    await bundle.write({ dir, minify: true });
  },
  async esbuild(entry, dir) {
    const options = { bundle: true, minify: true, splitting: true, format: 'esm' };
    const outdirOf = { outdir: dir, external: ['node:*'], ...resolve };
    await build({ entryPoints: [entry], ...options, ...outdirOf, logLevel: 'error' });
  },
};
const resolve = { alias: { tensorlathe: join(dist, '..') } };

/** The files that a page loads of a program as a bundler makes them, at once and of those that it requests later. */
async function bundled(bundler, program, later) {
  rmSync(outdir, { recursive: true, force: true });
  mkdirSync(outdir, { recursive: true });
  const entry = `${outdir}program.mjs`;
  writeFileSync(entry, program);
  await bundlers[bundler](entry, `${outdir}bundle`);
  const onDemand = later ? readdirSync(`${outdir}bundle`).filter((name) => later.test(name)) : [];
  return loadedAtOnce(...['program.js', ...onDemand].map((name) => `${outdir}bundle/${name}`));
}

const packed = (title, files) => {
  const contents = files.map((file) => readFileSync(file));
  return {
    name: title,
    raw: sum(contents.map(({ length }) => length)),
    gzip: sum(contents.map(gzipped)),
  };
};

async function run() {
  const page = [
    packed('lathe-core.wasm', [core]),
    packed('JavaScript', loadedAtOnce(`${dist}index.js`)),
  ];
  const others = [
    packed('core and tensorlathe/tfjs, full', [core, ...loadedAtOnce(`${dist}tfjs.js`)]),
  ];
  for (const [title, program] of Object.entries(programs)) {
    for (const bundler of Object.keys(bundlers)) {
      const files = await bundled(bundler, program);
      others.push(packed(`core and ${title}, by ${bundler}`, [core, ...files]));
    }
  }
  for (const bundler of Object.keys(bundlers)) {
    const files = [coreWithOnnx, ...(await bundled(bundler, session, ofSessions))];
    others.push(packed(`an ONNX session, with all that it fetches, by ${bundler}`, files));
  }
  others.push(packed('lathe-webgpu.wasm, on demand', [shaderCompiler]));
  others.push(packed('only tensorlathe/training-module', [`${dist}standalone/training_module.js`]));
  const total = (key) => sum(page.map((part) => part[key]));
  const rows = [...page, { name: 'together', raw: total('raw'), gzip: total('gzip') }, ...others];
  const markdown = formatTable(
    ['', 'bytes', 'gzip -9'],
    rows.map(({ name, raw, gzip }) => [name, raw, gzip]),
  );
  console.log(`\n${markdown}`);
  return { rows, markdown, problems: [] };
}

const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);

/** Modules and what they import statically. */
function loadedAtOnce(...entries) {
  const found = new Set(entries);
  for (const file of found) {
    const text = readFileSync(file, 'utf8');
    for (const [, path] of text.matchAll(/(?:from|import)\s*"(\.[^"]*)"/g)) {
      found.add(join(dirname(file), path));
    }
  }
  return [...found];
}
