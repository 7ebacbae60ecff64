// Without any tool: Node in its ways, and pages that load files of the package as they are.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { call, pack, pinned, project, root, serveFolder, visit } from './lib.mjs';
import { expected } from './program.mjs';

const dist = '/node_modules/tensorlathe/dist';
const noted = `.then((result) => (window.result = result), (error) => (window.result = { error: error.stack }))`;
const page = (script, head = '') =>
  `<!doctype html><link rel="icon" href="data:," />${head}<script type="module">${script}</script>`;
const main = (address) =>
  `import * as tl from '${address}'; import { run } from '/program.mjs'; run(tl)${noted};`;

/** The files that npm does not add by itself, and what publint and are-the-types-wrong say of the tarball. */
export function manifest() {
  const files = call(root, 'tar', '-tzf', pack()).split('\n');
  for (const each of ['LICENSE', 'THIRD_PARTY_NOTICES'])
    assert.ok(files.includes(`package/${each}`), each);
  const program = (name) => join(root, 'node_modules', name);
  call(root, 'node', program('publint/src/cli.js'), pack(), '--strict');
  const untyped = ['core', 'core-onnx', 'text', 'formats', 'onnx', 'onnx-export', 'webgpu'].map(
    (name) => `lathe-${name}.wasm`,
  );
  const attw = program('@arethetypeswrong/cli/dist/index.js');
  call(root, 'node', attw, pack(), '--no-color', '--exclude-entrypoints', ...untyped);
}

export async function node() {
  const print = 'run(tl).then((result) => console.log(JSON.stringify(result)))';
  const early = `try { tl.sequential({ layers: [tl.layers.dense({ units: 1, inputShape: [1] })] }) } catch (error) { console.log(error.message) }`;
  const folder = project('node', {
    'import.mjs': `import * as tl from 'tensorlathe'; import { run } from './program.mjs'; ${print};`,
    'require.cjs': `const tl = require('tensorlathe'); import('./program.mjs').then(({ run }) => ${print});`,
    'bundle.mjs': `import * as tl from './node_modules/tensorlathe/dist/bundle.js'; import { run } from './program.mjs'; ${print};`,
    'at_once.cjs': `const tl = require('tensorlathe'); ${early}; console.log(JSON.stringify(Object.keys(require('tensorlathe/data'))));`,
    'early.mjs': `import * as tl from './node_modules/tensorlathe/dist/bundle.js'; ${early};`,
    'one.mjs': `import { createRequire } from 'node:module'; import { Tensor } from 'tensorlathe';
      console.log(createRequire(import.meta.url)('tensorlathe').Tensor === Tensor);`,
  });
  for (const each of new Set([process.execPath, join(pinned, 'node')])) {
    const say = (...args) => call(folder, each, '--no-warnings', ...args).trim();
    const said = (...args) => JSON.parse(say(...args));
    assert.deepEqual(said('import.mjs'), expected(2));
    assert.deepEqual(said('bundle.mjs'), expected(2));
    assert.deepEqual(said('--no-experimental-require-module', 'require.cjs'), expected(2));
    assert.deepEqual(said('at_once.cjs').slice(0, 2), ['CSVDataset', 'Dataset']);
    assert.match(say('early.mjs'), /^the compiler is not loaded yet: `await tl\.ready\(\)` before/);
    assert.equal(said('one.mjs'), true);
  }
}

/** As pnpm and Deno lay packages out: a link to a folder of its own for each version. */
export function linked() {
  const print = 'run(tl).then((result) => console.log(JSON.stringify(result)))';
  const folder = project('linked', {
    'import.mjs': `import * as tl from 'tensorlathe'; import { run } from './program.mjs'; ${print};`,
    'require.cjs': `const tl = require('tensorlathe'); import('./program.mjs').then(({ run }) => ${print});`,
  });
  const packages = join(folder, 'node_modules');
  const store = join(packages, '.deno/tensorlathe@0.1.0/node_modules');
  mkdirSync(store, { recursive: true });
  renameSync(join(packages, 'tensorlathe'), join(store, 'tensorlathe'));
  symlinkSync(join(store, 'tensorlathe'), join(packages, 'tensorlathe'));
  for (const script of ['import.mjs', 'require.cjs']) {
    assert.deepEqual(
      JSON.parse(call(folder, 'node', '--no-warnings', script)),
      expected(2),
      script,
    );
  }
}

export async function pages() {
  const entry = `${dist}/index.js`;
  const folder = project('pages', {
    'split.html': page(main(entry)),
    'bundle.html': page(main(`${dist}/bundle.js`)),
    'wait.html': page(`
      import * as tl from '${entry}';
      try { tl.tensor([1]).add(1) } catch (error) { tl.ready().then(() => (window.result = error.message)) }`),
    'first.html': page(`
      import * as tl from '${entry}';
      tl.ready().then(() => (window.result = tl.tensor([1]).add(1).dataSync()[0]));`),
    'first_bundle.html': page(`
      import * as tl from '${dist}/bundle.js';
      tl.ready().then(() => (window.result = tl.tensor([1]).add(1).dataSync()[0]));`),
    'described.html': page(`
      import * as tl from '${entry}';
      const make = () => tl.sequential({ layers: [tl.layers.dense({ units: 1, inputShape: [1] })] });
      const classes = ({ layers }) => layers.map((each) => each.getConfig().units);
      async function describe() {
        const early = tl.layers.dense({ units: 3 });
        await tl.ready();
        return [early.getConfig().units, ...classes(make())];
      }
      describe()${noted};`),
    'early.html': page(`
      import * as tl from '${entry}';
      async function describe() {
        await tl.ready();
        const layer = tl.layers.dense({ units: 3 });
        try { return layer.getConfig(); } catch (error) {
          await tl.ready();
          return [error.message, layer.getConfig().units];
        }
      }
      describe()${noted};`),
    'trained.html': page(`
      import * as tl from '${entry}';
      async function train() {
        await tl.ready();
        const model = tl.sequential({ layers: [tl.layers.dense({ units: 1, inputShape: [1] })] });
        model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
        await model.fit([[1]], [[1]]);
        return Object.keys(model.toJSON(null, false));
      }
      train()${noted};`),
    'script.html': `<!doctype html><link rel="icon" href="data:," /><script src="${dist}/bundle.global.js"></script>
      <script>import('/program.mjs').then(({ run }) => run(tl))${noted}</script>`,
    'moved.html': page(`
      import * as tl from '${entry}';
      tl.setWasmUrl('elsewhere/core.wasm');
      tl.ready().then(() => {
        try { tl.setWasmUrl('core.wasm') } catch (error) { window.result = error.message }
      });`),
    'absent.html': page(`
      import * as tl from '${entry}';
      tl.setWasmUrl('absent.wasm');
      tl.ready().catch((error) => (window.result = error.message));`),
    'module_worker.html': page(`
      const worker = new Worker('worker.mjs', { type: 'module' });
      worker.onmessage = ({ data }) => (window.result = data);`),
    'worker.mjs': `import * as tl from '${entry}'; import { run } from '/program.mjs'; run(tl).then(postMessage);`,
    'classic_worker.html': page(`
      const worker = new Worker('worker.js');
      worker.onmessage = ({ data }) => (window.result = data);`),
    'worker.js': `importScripts('${dist}/bundle.global.js'); import('/program.mjs').then(({ run }) => run(tl)).then(postMessage);`,
    'strict.html': page('', `<script type="module" src="strict.mjs"></script>`),
    'strict.mjs': main(entry),
  });
  cpSync(join(folder, dist, 'modules/core/lathe-core.wasm'), join(folder, 'elsewhere/core.wasm'));
  const server = await serveFolder(folder);
  const strict = await serveFolder(folder, {
    'Content-Security-Policy': `default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src data:`,
  });
  const other = await serveFolder(folder, {
    'Access-Control-Allow-Origin': '*',
    'Cross-Origin-Resource-Policy': 'cross-origin',
  });
  try {
    for (const name of ['split', 'bundle', 'script', 'module_worker', 'classic_worker'])
      assert.deepEqual(await visit(`${server.url}/${name}.html`), expected(2), name);
    assert.deepEqual(await visit(`${strict.url}/strict.html`), expected(2));
    await strangers(server, other);
    await requests(server);
    assert.match(
      await visit(`${server.url}/wait.html`),
      /`await tl\.ready\(\)` before the first call/,
    );
    assert.match(
      await visit(`${server.url}/moved.html`),
      /setWasmUrl: the compiler is loaded already/,
    );
    assert.deepEqual(await visit(`${server.url}/described.html`), [3, 1]);
    const later = 'pages load this with their first layer; await tl.ready() after making it';
    const early = await visit(`${server.url}/early.html`);
    assert.deepEqual(early, [`getConfig: ${later}`, 3]);
    const parts = ['class_name', 'config', 'keras_version', 'backend'];
    assert.deepEqual(await visit(`${server.url}/trained.html`), parts);
    const absent = `cannot load ${server.url}/absent.wasm: HTTP status 404`;
    assert.equal(await visit(`${server.url}/absent.html`), absent);
  } finally {
    for (const each of [server, strict, other]) each.stop();
  }
}

/** The package from another origin, by a module and by a script. */
async function strangers(server, other) {
  const module = `<script type="module">${main(other.url + dist + '/index.js')}</script>`;
  const script = `<script src="${other.url}${dist}/bundle.global.js" crossorigin></script>
    <script>import('/program.mjs').then(({ run }) => run(tl))${noted}</script>`;
  for (const [name, text] of Object.entries({ module, script })) {
    const folder = project(`stranger_${name}`, { 'index.html': text });
    const own = await serveFolder(folder);
    assert.deepEqual(await visit(`${own.url}/`), expected(2), name);
    own.stop();
  }
}

/** How many files a first visit takes. */
async function requests(server) {
  for (const [name, most] of Object.entries({ first: 4, first_bundle: 2 })) {
    server.requests.length = 0;
    assert.equal(await visit(`${server.url}/${name}.html`), 2);
    assert.ok(server.requests.length <= most, `${name}: ${server.requests.join(' ')}`);
  }
}
