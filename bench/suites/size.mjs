/**
 * What a page downloads that imports all of the package: the core and the JavaScript, bundled and minified, raw and gzip.
 * Modules that are imported when they are first needed do not count.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
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
    splitting: true,
    outdir: dist,
    write: false,
    metafile: true,
    external: ['node:*', 'jsfive'],
    logLevel: 'error',
  });
  const parts = [
    ['lathe-core.wasm', readFileSync(`${dist}core/lathe-core.wasm`)],
    ['JavaScript, minified', Buffer.concat(loadedAtOnce(bundle))],
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

/** The entry of a bundle and what it imports statically. */
function loadedAtOnce({ metafile, outputFiles }) {
  const found = new Set();
  const add = (path) => {
    if (found.has(path) || !(path in metafile.outputs)) return;
    found.add(path);
    for (const each of metafile.outputs[path].imports) {
      if (each.kind === 'import-statement') add(each.path);
    }
  };
  add(Object.keys(metafile.outputs).find((path) => path.endsWith('index.js')));
  return [...found].map((path) => outputFiles.find((file) => file.path === resolve(path)).contents);
}
