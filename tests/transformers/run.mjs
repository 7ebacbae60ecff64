// Checks that tensorlathe/onnxruntime can replace ONNX Runtime: npm's transformers.js, unchanged, has the same results
// with both, in Node and in Chromium, on models that are generated here. Names pick ways: hook, redirect, webgpu, esbuild, vite. The last line is
// N passed, M failed, K skipped.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as esbuild } from 'esbuild';
import { build as vite } from 'vite';
import { call, closeBrowser, pinned, root, serveFolder, visit } from '../bundlers/lib.mjs';
import { difference } from '../difference.mjs';
import { writeModels } from './models.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const work = join(root, 'build/transformers');
const models = join(work, 'models');
const requested = process.argv.slice(2);
const counts = { passed: 0, failed: 0 };

/** transformers.js in a separate folder, without the runtimes and image libraries that it depends on. */
function install() {
  const lock = readFileSync(join(here, 'package-lock.json'), 'utf8');
  const stamp = join(here, 'node_modules/.installed-lock.json');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  call(here, 'npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund');
  writeFileSync(stamp, lock);
}

/** The GPU of the way webgpu: SwiftShader. */
const swiftShader = {
  VK_DRIVER_FILES: '/usr/lib/chromium/vk_swiftshader_icd.json',
  LD_LIBRARY_PATH: '/usr/lib/chromium',
};

function inNode(way) {
  const program = join(here, 'node.mjs');
  const { status, stdout, stderr } = spawnSync(join(pinned, 'node'), [program, models, way], {
    encoding: 'utf8',
    env: { ...process.env, ...(way === 'webgpu' ? swiftShader : {}) },
    maxBuffer: 2 ** 27,
    timeout: 300_000,
  });
  if (status !== 0) throw new Error(`${way}: ${stderr}`);
  return JSON.parse(stdout);
}

const ours = 'tensorlathe/onnxruntime';
const names = ['onnxruntime-web/webgpu', 'onnxruntime-web', 'onnxruntime-common'];

/** Bundlers that resolve the names of ONNX Runtime to this package. */
const bundlers = {
  esbuild: () =>
    esbuild({
      entryPoints: [join(here, 'page.mjs')],
      bundle: true,
      format: 'esm',
      conditions: ['browser'],
      alias: Object.fromEntries(names.map((name) => [name, ours])),
      outfile: join(work, 'page.js'),
      logLevel: 'error',
    }),
  vite: () =>
    vite({
      root: here,
      configFile: false,
      logLevel: 'error',
      resolve: { alias: [{ find: /^onnxruntime-(web|common)(\/\w+)?$/, replacement: ours }] },
      build: {
        outDir: work,
        emptyOutDir: false,
        target: 'es2022',
        rollupOptions: { input: join(here, 'page.mjs'), output: { entryFileNames: 'page.js' } },
      },
    }),
};

/** A page that a bundler has made. */
async function inPage(bundler) {
  await bundlers[bundler]();
  writeFileSync(
    join(work, 'index.html'),
    '<!doctype html><script type="module" src="page.js"></script>',
  );
  const server = await serveFolder(work);
  try {
    return JSON.parse(await visit(`${server.url}/`));
  } finally {
    server.stop();
  }
}

function note(way, task, why) {
  counts[why === undefined ? 'passed' : 'failed']++;
  console.log(
    `${why === undefined ? 'pass' : 'FAIL'} ${way}, ${task}${why === undefined ? '' : `: ${why}`}`,
  );
}

install();
mkdirSync(work, { recursive: true });
writeModels(models);
const reference = inNode('reference');
for (const [task, { error }] of Object.entries(reference)) {
  if (error !== undefined) note('ONNX Runtime Web', task, error);
}
const ways = {
  hook: () => inNode('hook'),
  redirect: () => inNode('redirect'),
  webgpu: () => inNode('webgpu'),
  esbuild: () => inPage('esbuild'),
  vite: () => inPage('vite'),
};
for (const [way, run] of Object.entries(ways)) {
  if (requested.length > 0 && !requested.includes(way)) continue;
  try {
    const results = await run();
    for (const task of Object.keys(reference)) {
      note(way, task, difference(reference[task], results[task], 'result'));
    }
  } catch (error) {
    note(way, 'all', error.stack);
  }
}
await closeBrowser();
console.log(`${counts.passed} passed, ${counts.failed} failed, 0 skipped`);
process.exit(counts.failed > 0 ? 1 : 0);
