// Bundles of the package: modules that a page does not use are not in its initial chunks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** The names of the modules of the package in the initial chunks of a page with this script. */
async function loadedBy(script) {
  const { metafile } = await build({
    stdin: { contents: script, resolveDir: fileURLToPath(new URL('.', import.meta.url)) },
    bundle: true,
    format: 'esm',
    splitting: true,
    outdir: 'unused',
    write: false,
    metafile: true,
    external: ['node:*', 'jsfive'],
    logLevel: 'error',
  });
  const isEntry = ([, { entryPoint }]) => entryPoint === '<stdin>';
  const waiting = [Object.entries(metafile.outputs).find(isEntry)[0]];
  const seen = new Set();
  const modules = [];
  while (waiting.length > 0) {
    const name = waiting.pop();
    if (seen.has(name)) continue;
    seen.add(name);
    const { imports, inputs } = metafile.outputs[name];
    modules.push(...Object.keys(inputs).filter((input) => inputs[input].bytesInOutput > 0));
    for (const { path, kind } of imports) {
      if (kind === 'import-statement' && path in metafile.outputs) waiting.push(path);
    }
  }
  return modules.map((path) => path.replace(/^.*\/dist\//, ''));
}

test('a page that only builds a model loads no dataset code', async () => {
  const modules = await loadedBy('import { sequential } from "tensorlathe"; self.m = sequential()');
  assert.ok(modules.includes('model/sequential.js'));
  assert.deepEqual(
    modules.filter((name) => /^(data|io)\/|fit_dataset|from_artifacts/.test(name)),
    [],
  );
});

test('a page that uses datasets loads their code', async () => {
  const modules = await loadedBy('import * as tl from "tensorlathe"; self.d = tl.data.array([1])');
  assert.ok(modules.includes('data/dataset.js'));
});
