// Programs for ONNX Runtime Web that run on the package, by what its guide says of webpack, and of pages without a bundler.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { model, node, value } from '../js/onnx/write.mjs';
import { call, project, root, serveFolder, visit } from './lib.mjs';

export const bytesOfRelu = model({
  nodes: [node('Relu', ['x'], ['y'])],
  inputs: [value('x', 'float32', [3])],
  outputs: [value('y', 'float32')],
});
const program = `import * as ort from 'onnxruntime-web';
import { env } from 'onnxruntime-web/webgpu';
import * as wasm from 'onnxruntime-web/wasm';
import { Tensor } from 'onnxruntime-common';
async function run() {
  const session = await ort.InferenceSession.create(new Uint8Array([${bytesOfRelu}]));
  const { y } = await session.run({ x: new Tensor('float32', [-1, 2, 3], [3]) });
  return [[...y.data], y instanceof ort.Tensor, env === ort.env && wasm.env === env];
}
run().then((result) => (window.result = result), (error) => (window.result = { error: error.stack }));
`;
const icon = '<link rel="icon" href="data:," />';

/** The block of a language in the guide that has this in it. */
function fromGuide(language, text) {
  const guide = readFileSync(join(root, 'docs/guides/from_onnxruntime.md'), 'utf8');
  const blocks = [...guide.matchAll(/^```(\w+)\n([^]*?)^```/gm)];
  return blocks.find(([, tag, code]) => tag === language && code.includes(text))[2];
}

/** The compiler and what reads models come in one. */
async function visitFirst(folder) {
  const server = await serveFolder(folder);
  try {
    assert.deepEqual(await visit(`${server.url}/`), [[0, 2, 3], true, true]);
    const modules = server.requests.filter((each) => each.endsWith('.wasm'));
    assert.equal(modules.length, 1, modules.join(' '));
  } finally {
    server.stop();
  }
}

/** The aliases for webpack. */
export async function webpackAliases() {
  const versions = { webpack: '5.112.2', 'webpack-cli': '7.3.1' };
  const files = {
    'main.mjs': program,
    'index.html': `<!doctype html>${icon}<script src="out/main.js"></script>`,
    'webpack.config.js': fromGuide('javascript', "'onnxruntime-web$'"),
  };
  const folder = project('webpack_aliases', files, versions);
  const args = ['--mode', 'production', '--entry', './main.mjs', '-o', 'out'];
  call(folder, 'node_modules/.bin/webpack', ...args);
  await visitFirst(folder);
}

/** The import map, of a folder instead of a CDN. */
export async function importMap() {
  const cdn = /https:\/\/cdn[^"]*\/npm\//g;
  const map = fromGuide('xml', 'importmap').replace(cdn, '/node_modules/');
  assert.ok(!map.includes('https:'));
  const page = `<!doctype html>${icon}${map}<script type="module" src="main.mjs"></script>`;
  await visitFirst(project('import_map', { 'main.mjs': program, 'index.html': page }));
}
