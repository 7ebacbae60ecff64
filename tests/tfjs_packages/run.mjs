// Checks that tensorlathe/tfjs can replace TensorFlow.js: npm packages that import it have, unchanged, the same
// results with both, in Node and in Chromium. The last line is N passed, M failed, K skipped.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { call, closeBrowser, pinned, root, serveFolder, visit } from '../bundlers/lib.mjs';
import { difference } from '../difference.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const work = join(root, 'build/tfjs_packages');
const counts = { passed: 0, failed: 0 };

/** The packages in a separate folder, without the TensorFlow.js that they depend on. */
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

const names = ['', '-core', '-layers', '-data', '-converter', '-backend-cpu'];

/** A page in which the names of TensorFlow.js resolve to this package, or to the real one. */
async function inPage(isOurs) {
  const of = (name) =>
    isOurs ? join(root, 'js/dist/tfjs.js') : join(root, 'node_modules/@tensorflow', `tfjs${name}`);
  const alias = Object.fromEntries(names.map((name) => [`@tensorflow/tfjs${name}`, of(name)]));
  const chained = '@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops';
  const folder = join(work, isOurs ? 'ours' : 'reference');
  mkdirSync(folder, { recursive: true });
  await build({
    entryPoints: [join(here, 'page.mjs')],
    bundle: true,
    splitting: true,
    format: 'esm',
    conditions: ['browser'],
    alias: isOurs ? { ...alias, [chained]: of('') } : alias,
    outdir: folder,
    logLevel: 'error',
  });
  writeFileSync(
    join(folder, 'index.html'),
    '<!doctype html><meta charset="utf-8"><script type="module" src="page.js"></script>',
  );
  const server = await serveFolder(folder);
  try {
    return JSON.parse(await visit(`${server.url}/`));
  } finally {
    server.stop();
  }
}

function note(where, expected, got) {
  for (const name of Object.keys(expected)) {
    const why = expected[name].error ?? difference(expected[name], got[name], 'result');
    counts[why === undefined ? 'passed' : 'failed']++;
    console.log(`${why === undefined ? 'pass' : 'FAIL'} ${where}, ${name}${why ? `: ${why}` : ''}`);
  }
}

install();
note('Node', inNode('reference'), inNode('ours'));
const [expected, got] = [await inPage(false), await inPage(true)];
if (got.error === undefined) note('Chromium, tfjs-vis', expected, got);
else note('Chromium', { 'tfjs-vis': {} }, { 'tfjs-vis': got });
await closeBrowser();
console.log(`${counts.passed} passed, ${counts.failed} failed, 0 skipped`);
process.exit(counts.failed > 0 ? 1 : 0);
