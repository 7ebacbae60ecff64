// tools/check_state.py on a copy of the sources in which module state is planted, and on a page that lists other state.
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
const page = 'docs/design/module_state.md';
const copies = [];
let copy;

beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), 'state-'));
  copies.push(copy);
  for (const each of ['tools/check_state.py', page, 'js/src']) {
    mkdirSync(dirname(join(copy, each)), { recursive: true });
    cpSync(join(root, each), join(copy, each), { recursive: true });
  }
});
after(() => copies.forEach((each) => rmSync(each, { recursive: true })));

function check() {
  const command = ['tools/check_state.py'];
  const { status, stdout } = spawnSync('python3', command, { cwd: copy, encoding: 'utf8' });
  return { status, stdout: stdout.trim().split('\n') };
}
const plant = (file, line) => appendFileSync(join(copy, 'js/src', file), `${line}\n`);

test('the page lists the state of the sources', () => {
  assert.equal(check().status, 0);
});

test('variables, objects with state and changed constants are state', () => {
  plant('base/json.ts', 'let planted: number | undefined;');
  plant('base/json.ts', 'const cache = new Map<string, number>();');
  plant('base/json.ts', 'export const things = /* @__PURE__ */ new Thing(1);');
  plant('base/json.ts', "const names = new Set(['a']);\nnames.add('b');");
  plant('base/json.ts', 'export const settings = { strict: false };');
  plant('base/shape.ts', "import { settings } from './json.js';\nsettings.strict = true;");
  const planted = ['planted', 'cache', 'things', 'names', 'settings'];
  const stdout = planted.map((name) => `js/src/base/json.ts: ${page} does not list \`${name}\``);
  assert.deepEqual(check(), { status: 1, stdout });
});

test('functions, tables and what is within functions are no state', () => {
  plant('base/json.ts', 'const planted = (x: number) => new Map([[x, 1]]);');
  plant('base/json.ts', "const table = new Set(['a']);\nconst list = [1, 2];");
  plant('base/json.ts', 'function f() {\n  let inner = 1;\n  return inner;\n}');
  plant('base/json.ts', 'const decoder = /* @__PURE__ */ new TextDecoder();');
  assert.equal(check().status, 0);
});

test('rows without a binding, and twice the same, are refused', () => {
  const text = readFileSync(join(copy, page), 'utf8');
  const row = '| `eager/engine.ts` | `engine`, `other` | planted |';
  writeFileSync(join(copy, page), `${text}${row}\n`);
  assert.deepEqual(check(), {
    status: 1,
    stdout: [
      `${page}: \`other\` of eager/engine.ts is no mutable state`,
      `${page}: \`engine\` of eager/engine.ts is listed twice`,
    ],
  });
});
