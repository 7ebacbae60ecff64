// Bundlers, servers and test runners, each with the settings of its first page of documentation and no more.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import { call, isolate, project, root, serveFolder, start, visit } from './lib.mjs';
import { bytesOfRelu } from './in_place_of_onnxruntime.mjs';
import { expected } from './program.mjs';

const noted = `.then((result) => (window.result = result), (error) => (window.result = { error: error.stack }))`;
const main = `import * as tl from 'tensorlathe'; import { run } from './program.mjs'; run(tl)${noted};\n`;
const print = `import * as tl from 'tensorlathe'; import { run } from './program.mjs';
run(tl).then((result) => console.log(JSON.stringify(result)));\n`;
const html = (script, type = 'type="module"') =>
  `<!doctype html><html><head><link rel="icon" href="data:," /></head><body><script ${type} src="${script}"></script></body></html>`;

/** Program of a package, without npx. */
const bin = (name) => `node_modules/.bin/${name}`;

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

/** Serves what was built. */
async function visitFolder(folder, page = '') {
  const server = await serveFolder(folder);
  try {
    assert.deepEqual(await visit(`${server.url}/${page}`), expected(2), page);
  } finally {
    server.stop();
  }
}

/** Visits the pages of a program that serves. */
async function visitServer(folder, program, args, check = async () => {}) {
  const port = await freePort();
  const stop = await start(folder, port, program, ...args(String(port)));
  const proxy = await isolate(port);
  try {
    assert.deepEqual(await visit(`${proxy.url}/`), expected(2), args('').join(' '));
    await check(proxy.url);
  } finally {
    proxy.stop();
    stop();
  }
}

export async function esbuild() {
  const folder = project('esbuild', {
    'main.mjs': main,
    'print.mjs': print,
    'esm.html': html('esm.js'),
    'split.html': html('split/main.js'),
    'first.mjs': `import { ready, tensor } from 'tensorlathe';
      ready().then(() => (window.result = tensor([1]).add(1).dataSync()[0]));`,
    'first.html': html('first/first.js'),
    'begin.mjs': `import { tensor } from 'tensorlathe'; window.later = () => tensor([1]);`,
    'begin.html': `<!doctype html><script>
      const asks = window.fetch;
      window.fetch = (...args) => ((window.result ??= String(args[0])), asks(...args));
      </script><script type="module" src="begin/begin.js"></script>`,
    'session.mjs': `import { InferenceSession } from 'tensorlathe/onnxruntime';
      const names = ({ outputNames }) => outputNames;
      InferenceSession.create(new Uint8Array([${bytesOfRelu}])).then(names)${noted};`,
    'session.html': html('session/session.js'),
    'iife.html': html('iife.js', ''),
  });
  const at = (name) => join(folder, name);
  const bundle = async (entry, options) => {
    const { warnings } = await build({ entryPoints: [at(entry)], bundle: true, ...options });
    assert.deepEqual(warnings, []);
  };
  await bundle('main.mjs', { format: 'esm', outfile: at('esm.js') });
  await bundle('main.mjs', { format: 'esm', minify: true, splitting: true, outdir: at('split') });
  for (const name of ['first', 'begin', 'session'])
    await bundle(`${name}.mjs`, { format: 'esm', splitting: true, outdir: at(name) });
  await bundle('main.mjs', { format: 'iife', outfile: at('iife.js') });
  for (const page of ['esm', 'split', 'iife']) await visitFolder(folder, `${page}.html`);
  await visitFirst(folder);
  await visitBegin(folder);
  await visitSession(folder);
  for (const [format, ending] of Object.entries({ esm: 'mjs', cjs: 'cjs' })) {
    const outfile = at(`out/print.${ending}`);
    await bundle('print.mjs', { format, platform: 'node', outfile });
    assert.deepEqual(JSON.parse(call(folder, 'node', outfile)), expected(2), format);
  }
}

/** The page, the script, what it shares with files that come later (the beginning, tensors, layers), and what it looks for the core in. */
async function visitFirst(folder) {
  const server = await serveFolder(folder);
  try {
    assert.equal(await visit(`${server.url}/first.html`), 2);
    const scripts = server.requests.filter((each) => each.endsWith('.js'));
    const [inlined, ...others] = scripts.reverse();
    assert.match(inlined, /inlined_core/);
    assert.ok(others.length <= 4, others.join(' '));
  } finally {
    server.stop();
  }
}

/** Importing the package asks for the compiler, whatever is left out of it. */
async function visitBegin(folder) {
  const server = await serveFolder(folder);
  try {
    assert.match(await visit(`${server.url}/begin.html`), /lathe-core\.wasm$/);
  } finally {
    server.stop();
  }
}

/** The compiler and what reads models come in one. */
async function visitSession(folder) {
  const server = await serveFolder(folder);
  try {
    assert.deepEqual(await visit(`${server.url}/session.html`), ['y']);
    const modules = server.requests.filter((each) => /inlined|wasm$/.test(each));
    assert.match(modules.join(' '), /^\S*lathe-core-onnx.wasm \S*inlined_core_onnx\S*$/);
  } finally {
    server.stop();
  }
}

export async function rollup() {
  const versions = { rollup: '4.68.7', '@rollup/plugin-node-resolve': '16.0.3' };
  const files = {
    'main.mjs': main,
    'es.html': html('es/main.js'),
    'iife.html': html('iife.js', ''),
  };
  const folder = project('rollup', files, versions);
  const roll = (...args) => call(folder, bin('rollup'), 'main.mjs', '-p', 'node-resolve', ...args);
  roll('-f', 'es', '-d', 'es');
  roll('-f', 'iife', '-o', 'iife.js', '--inlineDynamicImports');
  for (const page of ['es', 'iife']) await visitFolder(folder, `${page}.html`);
}

async function vite(version) {
  const files = { 'index.html': html('/main.mjs'), 'main.mjs': main };
  const folder = project(`vite${version[0]}`, files, { vite: version });
  const at = (port) => ['--host', '127.0.0.1', '--port', port, '--strictPort'];
  await visitServer(folder, bin('vite'), at);
  call(folder, bin('vite'), 'build');
  await visitServer(folder, bin('vite'), (port) => ['preview', ...at(port)]);
}

export const vite5 = () => vite('5.4.21');
export const vite6 = () => vite('6.4.6');
export const vite7 = () => vite('7.3.8');
export const vite8 = () => vite('8.3.8');

export async function webpack() {
  const versions = { webpack: '5.112.2', 'webpack-cli': '7.3.1' };
  const files = { 'main.mjs': main, 'index.html': html('out/main.js', '') };
  const folder = project('webpack', files, versions);
  for (const mode of ['production', 'development']) {
    call(folder, bin('webpack'), '--mode', mode, '--entry', './main.mjs', '-o', 'out');
    await visitFolder(folder);
  }
}

export async function parcel() {
  const files = { 'index.html': html('main.mjs'), 'main.mjs': main };
  const folder = project('parcel', files, { parcel: '2.16.4' });
  call(
    folder,
    bin('parcel'),
    'build',
    'index.html',
    '--dist-dir',
    'out',
    '--no-cache',
    '--cache-dir',
    '.cache',
  );
  await visitFolder(join(folder, 'out'));
}

export async function next() {
  const page = `'use client';
import { useEffect } from 'react';
import * as tl from 'tensorlathe';
import { run } from '../program.mjs';
export default function Page() {
  useEffect(() => { run(tl)${noted}; }, []);
  return null;
}\n`;
  const layout = `export default function Layout({ children }) {
  return <html><body>{children}</body></html>;
}\n`;
  const route = `import * as tl from 'tensorlathe';
import { run } from '../../program.mjs';
export const dynamic = 'force-dynamic';
export const GET = async () => Response.json(await run(tl).catch((error) => ({ error: error.stack })));\n`;
  const files = { 'app/page.jsx': page, 'app/layout.jsx': layout, 'app/server/route.js': route };
  const versions = { next: '16.4.6', react: '19.3.1', 'react-dom': '19.3.1' };
  const folder = project('next', files, versions);
  for (const flag of ['--turbopack', '--webpack']) {
    call(folder, bin('next'), 'build', flag);
    const args = (port) => ['start', '-H', '127.0.0.1', '-p', port];
    await visitServer(folder, bin('next'), args, async (url) => {
      const answer = await fetch(`${url}/server`);
      assert.deepEqual(await answer.json(), expected(2), flag);
    });
  }
}

/** The program as Jest takes it without Babel. */
const asScript = () =>
  readFileSync(join(root, 'tests/bundlers/program.mjs'), 'utf8').replace(/^export /gm, '') +
  'module.exports = { run, expected };\n';

export function jest() {
  const test = (environment, threads) => `/** @jest-environment ${environment} */
const tl = require('tensorlathe');
const { run, expected } = require('./program.cjs');
test('runs', async () => expect(await run(tl)).toEqual(expected(${threads})), 60000);\n`;
  const files = {
    'program.cjs': asScript(),
    'node.test.js': test('node', 2),
    'jsdom.test.js': test('jsdom', 1),
  };
  const folder = project('jest', files, { jest: '30.5.2', 'jest-environment-jsdom': '30.5.2' });
  call(folder, bin('jest'));
}

export function vitest() {
  const test = (environment, threads) => `// @vitest-environment ${environment}
import * as tl from 'tensorlathe';
import { expect, test } from 'vitest';
import { run, expected } from './program.mjs';
test('runs', async () => expect(await run(tl)).toEqual(expected(${threads})), 60000);\n`;
  const files = { 'node.test.mjs': test('node', 2), 'jsdom.test.mjs': test('jsdom', 1) };
  const folder = project('vitest', files, { vitest: '5.1.1', jsdom: '31.0.1' });
  call(folder, bin('vitest'), 'run');
}
