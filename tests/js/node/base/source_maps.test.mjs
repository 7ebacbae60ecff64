// The source maps of the packed package: minified files lead to the lines of the TypeScript sources, which it contains.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { installPacked } from '../../installed.mjs';

let folder;
let dist;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'tensorlathe-'));
  installPacked(folder);
  dist = join(folder, 'node_modules/tensorlathe/dist');
});
after(() => rmSync(folder, { recursive: true, force: true }));

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The numbers of a segment of mappings (ECMA-426). */
function numbersOf(segment) {
  const numbers = [];
  let [value, shift] = [0, 0];
  for (const letter of segment) {
    const digit = digits.indexOf(letter);
    value += (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
}

/** The positions of a map: in the code, and in one of its sources. */
function positionsOf({ mappings }) {
  let [source, line, column] = [0, 0, 0];
  return mappings.split(';').flatMap((segments, row) => {
    let at = 0;
    return segments.split(',').flatMap((segment) => {
      const [step, ...original] = numbersOf(segment);
      at += step ?? 0;
      if (original.length < 3) return [];
      source += original[0];
      line += original[1];
      column += original[2];
      return { row, at, source, line, column };
    });
  });
}

/** The string that begins at a column, if one does. */
const stringAt = (line, column) =>
  /^['"`](\w{4,})/.exec(line?.slice(column, column + 40) ?? '')?.[1];

test('every minified file has a map whose sources are in the package', () => {
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' });
  const maps = files.filter((file) => file.endsWith('.map'));
  assert.ok(maps.length > 50, String(maps.length));
  const minified = files.filter((file) => /\.js$/.test(file) && !/^commonjs|inlined_/.test(file));
  for (const file of minified) {
    const code = readFileSync(join(dist, file), 'utf8');
    if (code.length < 100) continue; // only exports again
    const longest = Math.max(...code.split('\n').map((line) => line.length));
    if (!/\.min\.js$/.test(file) && (longest < 3000 || file.startsWith('modules'))) continue;
    assert.ok(maps.includes(`${file}.map`), `${file}: no map`);
    assert.match(code, /\n\/\/# sourceMappingURL=[\w.]+\.js\.map\n?$/, file);
  }
  for (const file of maps) {
    const { sources } = JSON.parse(readFileSync(join(dist, file), 'utf8'));
    const missing = sources.filter((each) => !existsSync(join(dist, dirname(file), each)));
    const others = missing.filter((each) => !/rolldown|inlined_/.test(each));
    assert.deepEqual(others, [], file);
  }
});

test('strings of minified files are at the mapped positions of the sources', () => {
  const files = ['modules/core/main.min.js', 'modules/core/deferred.min.js', 'tfjs.js'];
  for (const file of [...files, 'bundle.js', 'bundle.global.js', 'modules/core/kernels.min.js']) {
    const code = readFileSync(join(dist, file), 'utf8').split('\n');
    const map = JSON.parse(readFileSync(join(dist, `${file}.map`), 'utf8'));
    const sources = map.sources.map((each) => {
      const path = join(dist, dirname(file), each);
      return path.endsWith('.ts') ? readFileSync(path, 'utf8').split('\n') : [];
    });
    let compared = 0;
    for (const { row, at, source, line, column } of positionsOf(map)) {
      const [expected, actual] = [stringAt(sources[source][line], column), stringAt(code[row], at)];
      if (expected === undefined || actual === undefined) continue;
      assert.equal(
        actual,
        expected,
        `${file}:${row + 1}:${at}, ${map.sources[source]}:${line + 1}`,
      );
      compared += 1;
    }
    assert.ok(compared > 30, `${file}: ${compared} strings`);
  }
});

test('Node with --enable-source-maps names the TypeScript source of an error in a minified file', () => {
  const program = join(folder, 'program.mjs');
  writeFileSync(
    program,
    `import * as tl from './node_modules/tensorlathe/dist/bundle.js';
Error.stackTraceLimit = 30;
tl.train.adam(0.1).minimize();
`,
  );
  const { stderr } = spawnSync(process.execPath, ['--enable-source-maps', program], {
    encoding: 'utf8',
  });
  assert.match(stderr, /minimize: optimizers work within models/);
  assert.match(stderr, /src\/layers\/optimizer\.ts:\d+/);
});
