// tools/check_layers.py on a copy of the sources in which a violation is planted.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const copies = [];
let copy;

beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), 'layers-'));
  copies.push(copy);
  for (const each of ['tools/check_layers.py', 'tools/layers.txt', 'src', 'js/src'])
    cpSync(join(root, each), join(copy, each), { recursive: true });
});
after(() => copies.forEach((each) => rmSync(each, { recursive: true })));

const check = () => {
  const { status, stdout } = spawnSync('python3', ['tools/check_layers.py'], {
    cwd: copy,
    encoding: 'utf8',
  });
  return { status, stdout };
};
const append = (file, line) => appendFileSync(join(copy, file), `${line}\n`);
const add = (file, line) => {
  mkdirSync(dirname(join(copy, file)), { recursive: true });
  writeFileSync(join(copy, file), `${line}\n`);
};
/** Adds a line to tools/layers.txt above that of a folder. */
const declare = (line, above) => {
  const file = join(copy, 'tools/layers.txt');
  const lines = readFileSync(file, 'utf8');
  writeFileSync(file, lines.replace(`\n${above}:`, `\n${line}\n${above}:`));
};

test('the sources respect the layers', () => {
  const { status, stdout } = check();
  assert.match(stdout, /^layers: \d+ folders respect their grants/);
  assert.equal(status, 0);
});

for (const [what, statement] of Object.entries({
  values: "import { Tensor } from './tensor.js';",
  types: "import type { Tensor } from './tensor.js';",
  're-exports': "export type { Tensor } from './tensor.js';",
  'imports on demand': "const load = () => import('./tensor.js');",
})) {
  test(`a circle of files by ${what} is named`, () => {
    append('js/src/tensor/live_tensors.ts', statement);
    const { status, stdout } = check();
    assert.equal(status, 1);
    assert.match(stdout, /^js\/src: these files import each other in a circle$/m);
    assert.match(stdout, /^ {2}js\/src\/tensor\/live_tensors\.ts:\d+: tensor\/tensor\.ts$/m);
    assert.match(stdout, /^ {2}js\/src\/tensor\/tensor\.ts:\d+: tensor\/live_tensors\.ts$/m);
  });
}

test('a circle of three files is named once', () => {
  for (const [from, to] of ['ab', 'bc', 'ca'])
    add(`js/src/base/${from}.ts`, `export type * from './${to}.js';`);
  const { status, stdout } = check();
  assert.equal(status, 1);
  const files = [...'abc'].map((each) => `  js/src/base/${each}.ts:1: base/`);
  assert.equal(
    stdout,
    'js/src: these files import each other in a circle\n' +
      `${files[0]}b.ts\n${files[1]}c.ts\n${files[2]}a.ts\n`,
  );
});

test('a circle of includes is named', () => {
  add('src/base/first.h', '#include "base/second.h"');
  add('src/base/second.h', '#include "base/first.h"');
  const { status, stdout } = check();
  assert.equal(status, 1);
  assert.equal(
    stdout,
    'src: these files import each other in a circle\n' +
      '  src/base/first.h:1: base/second.h\n  src/base/second.h:1: base/first.h\n',
  );
});

test('a subfolder with a line may import only what the line grants', () => {
  declare('eager/planted: base', 'eager');
  add('js/src/eager/planted/step.ts', "import type { LazyNode } from '../lazy_nodes.js';");
  const { status, stdout } = check();
  assert.equal(status, 1);
  assert.equal(stdout, 'js/src/eager/planted/step.ts:1: eager/planted may not import from eager\n');
});

test('a subfolder with a line is imported only where it is granted', () => {
  declare('eager/planted: base', 'eager');
  add('js/src/eager/planted/step.ts', "import { LatheError } from '../../base/errors.js';");
  add('js/src/layers/planted.ts', "import '../eager/planted/step.js';");
  const { status, stdout } = check();
  assert.equal(status, 1);
  assert.equal(stdout, 'js/src/layers/planted.ts:1: layers may not import from eager/planted\n');
});

test('a subfolder without a line has the layers of its parent', () => {
  add('js/src/eager/planted/step.ts', "import '../../trace/trace.js';");
  assert.equal(check().status, 0);
  add('js/src/eager/planted/step.ts', "import '../../layers/layer.js';");
  const { status, stdout } = check();
  assert.equal(status, 1);
  assert.equal(stdout, 'js/src/eager/planted/step.ts:1: eager may not import from layers\n');
});

test('a line without files is reported', () => {
  declare('eager/planted: base', 'eager');
  const { status, stdout } = check();
  assert.equal(status, 1);
  assert.equal(stdout, 'tools/layers.txt: js/src/eager/planted has no files\n');
});
