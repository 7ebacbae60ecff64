// Spec files in headless Chromium: bundled one by one, with the modules that they import replaced as in Node.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { serve } from '../js/browser/server.mjs';
import { adapterOf } from './adapters.mjs';
import { importedNames, inDist, isSpec, loadSubject, specFolder } from './subjects.mjs';

const root = new URL('../../', import.meta.url);
const folder = new URL('build/tfjs-specs/', root);
const require = createRequire(import.meta.url);

const html = `<!doctype html><title>specs</title>
<script type="importmap">{ "imports": { "tensorlathe/tfjs": "/js/dist/tfjs.js" } }</script>
<script src="jasmine.js"></script>
<script type="module" src="/tests/tfjs/in_page.mjs"></script>`;

/** Imports of specs that are not specs are resolved to the subject. */
const fromSubject = (parts) => ({
  name: 'subject',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[.]/ }, ({ path, importer }) => {
      const found = inDist(path, pathToFileURL(importer).href);
      if (found === undefined || isSpec(found)) return undefined;
      return { path: found, namespace: 'subject' };
    });
    onLoad({ filter: /./, namespace: 'subject' }, ({ path }) => ({
      contents: adapterOf(path, parts[path]),
    }));
  },
});

async function bundle(files) {
  const parts = await loadSubject('tensorlathe/tfjs', {});
  await build({
    entryPoints: files.map((file) => fileURLToPath(`${specFolder.href}${file}.js`)),
    outbase: fileURLToPath(specFolder),
    outdir: fileURLToPath(folder),
    bundle: true,
    splitting: true,
    format: 'esm',
    plugins: [fromSubject(parts)],
    logLevel: 'error',
  });
  const jasmine = require.resolve('jasmine-core/lib/jasmine-core/jasmine.js');
  writeFileSync(new URL('jasmine.js', folder), readFileSync(jasmine));
  writeFileSync(new URL('index.html', folder), html);
}

/** Runs files in pages and calls `receive` with their messages; a file that is silent for `longest` milliseconds is reported as hanging. */
export async function runInChromium(files, { only, longest, receive }) {
  await bundle(files);
  const server = await serve(false);
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking'];
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args });
  const open = async () => {
    const page = await browser.newPage();
    await page.goto(`${server.url}/build/tfjs-specs/index.html`);
    await page.waitForFunction('window.runSpecs !== undefined');
    await page.evaluate((requiredNames) => window.loadSubject(requiredNames), importedNames());
    return page;
  };
  try {
    let page = await open();
    for (const file of files) {
      const late = new Promise((resolve) => setTimeout(resolve, longest).unref());
      const run = page.evaluate(([...args]) => window.runSpecs(...args), [file, only]);
      const messages = await Promise.race([run, late]);
      for (const message of messages ?? [
        { file, error: `silent for ${longest / 1000} s`, broken: true },
      ]) {
        receive(message);
      }
      if (messages === undefined) {
        await page.close();
        page = await open();
      }
    }
  } finally {
    await browser.close();
    server.stop();
  }
}
