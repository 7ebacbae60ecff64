/**
 * What a page downloads that imports the package as npm has it: the core and the JavaScript, raw and gzip. Modules that are
 * imported when they are first needed do not count. Beside it what drives stand-alone modules that train, which needs no core.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { formatTable } from '../report.mjs';

const dist = fileURLToPath(new URL('../../build/package/dist/', import.meta.url));

export const size = { run };

async function run() {
  const parts = [
    ['lathe-core.wasm', [`${dist}modules/core/lathe-core.wasm`]],
    ['JavaScript', loadedAtOnce(`${dist}index.js`)],
    ['tensorlathe/training-module, alone', [`${dist}standalone/training_module.js`]],
  ].map(([name, files]) => {
    const contents = files.map((file) => readFileSync(file));
    return {
      name,
      raw: sum(contents.map(({ length }) => length)),
      gzip: sum(contents.map((each) => gzipSync(each, { level: 9 }).length)),
    };
  });
  const [page, others] = [parts.slice(0, 2), parts.slice(2)];
  const total = (key) => sum(page.map((part) => part[key]));
  const rows = [...page, { name: 'together', raw: total('raw'), gzip: total('gzip') }, ...others];
  const markdown = formatTable(
    ['', 'bytes', 'gzip -9'],
    rows.map(({ name, raw, gzip }) => [name, raw, gzip]),
  );
  console.log(`\n${markdown}`);
  return { rows, markdown, problems: [] };
}

const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);

/** A module and what it imports statically. */
function loadedAtOnce(entry) {
  const found = new Set([entry]);
  for (const file of found) {
    const text = readFileSync(file, 'utf8');
    for (const [, path] of text.matchAll(/(?:from|import)\s*"(\.[^"]*)"/g)) {
      found.add(join(dirname(file), path));
    }
  }
  return [...found];
}
