/** What a page downloads: the core and the JavaScript of the package, bundled and minified, raw and gzip. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { formatTable } from '../report.mjs';

const dist = fileURLToPath(new URL('../../js/dist/', import.meta.url));

export const size = { run };

async function run() {
  const bundle = await build({
    entryPoints: [`${dist}index.js`],
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
    external: ['node:*'],
    logLevel: 'error',
  });
  const parts = [
    ['lathe-core.wasm', readFileSync(`${dist}lathe-core.wasm`)],
    ['JavaScript, one minified module', bundle.outputFiles[0].contents],
  ].map(([name, bytes]) => ({
    name,
    raw: bytes.length,
    gzip: gzipSync(bytes, { level: 9 }).length,
  }));
  const sum = (key) => parts.reduce((total, part) => total + part[key], 0);
  const rows = [...parts, { name: 'together', raw: sum('raw'), gzip: sum('gzip') }];
  const markdown = formatTable(
    ['', 'bytes', 'gzip -9'],
    rows.map(({ name, raw, gzip }) => [name, raw, gzip]),
  );
  console.log(`\n${markdown}`);
  return { rows, markdown, problems: [] };
}
