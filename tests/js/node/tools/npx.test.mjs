// The command of the packed package: inspect, serve, create.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as tl from 'tensorlathe';
import { skip } from '../../command.mjs';
import { installPacked } from '../../installed.mjs';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'npx-'));
let command;
before(() => (command = join(installPacked(folder), 'bin/tensorlathe.mjs')));
after(() => rmSync(folder, { recursive: true }));
const run = (...args) =>
  spawnSync(process.execPath, [command, ...args], { cwd: folder, encoding: 'utf8' });

test('inspect prints inputs, outputs, layers', async () => {
  const model = tl.sequential({
    layers: [tl.layers.dense({ units: 2, inputShape: [3], name: 'scores' })],
  });
  writeFileSync(join(folder, 'a.onnx'), await tl.toOnnx(model));
  const { status, stdout } = run('inspect', 'a.onnx');
  assert.equal(status, 0);
  assert.match(
    stdout,
    /^input   scores_input  float32 \[batch, 3\]\noutput  scores  float32 \[batch, 2\]\n/,
  );
  await model.save(`file://${folder}/layers`);
  assert.match(run('inspect', 'layers/model.json').stdout, /scores \(Dense\)/);
  const missing = run('inspect', 'missing.onnx');
  assert.deepEqual([missing.status, missing.stderr.split(':')[0]], [1, 'tensorlathe']);
});

test('inspect of a folder is that of the one model in it', async () => {
  const model = tl.sequential({ layers: [tl.layers.dense({ units: 2, inputShape: [3] })] });
  const bytes = await tl.toOnnx(model);
  mkdirSync(join(folder, 'one/onnx'), { recursive: true });
  assert.match(
    run('inspect', 'one').stderr,
    /^tensorlathe: inspect: one is a folder without a model/,
  );
  writeFileSync(join(folder, 'one/onnx/a.onnx'), bytes);
  const { status, stdout } = run('inspect', 'one');
  assert.deepEqual([status, stdout.split('\n')[0]], [0, 'one/onnx/a.onnx']);
  writeFileSync(join(folder, 'one/b.onnx'), bytes);
  const several = run('inspect', 'one');
  assert.deepEqual(
    [several.status, several.stderr],
    [2, 'tensorlathe: inspect: one is a folder with several models: one/b.onnx, one/onnx/a.onnx\n'],
  );
});

test('version, help of every verb, mistyped verbs', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'js/package.json'), 'utf8'));
  assert.equal(run('--version').stdout, `${version}\n`);
  for (const [, verb] of run('--help').stdout.matchAll(/^  (\w+) /gm)) {
    const { status, stdout } = run(verb, '--help');
    assert.deepEqual([verb, status], [verb, 0]);
    assert.match(stdout, new RegExp(`${verb}\\b`));
  }
  assert.match(run('serve', '--help').stdout, /\[FOLDER\] \[PORT\]/);
  assert.deepEqual(
    [run('inspct').status, run('inspct').stderr],
    [
      2,
      'tensorlathe: unknown verb "inspct"; did you mean inspect? `npx tensorlathe --help` lists them\n',
    ],
  );
  assert.equal(
    run('serve', '--port', '80').stderr,
    'tensorlathe: serve: there is no option --port\n',
  );
});

test('create makes a program that trains', () => {
  const created = run('create', 'node', 'mine');
  assert.equal(created.stdout, 'cd mine && npm install && npm start\n');
  assert.match(created.stderr, /npm install PATH\/tensorlathe-[\d.]+\.tgz/);
  const { stdout, stderr } = spawnSync(process.execPath, ['mine/main.js'], {
    cwd: folder,
    encoding: 'utf8',
  });
  assert.match(stdout, /^accuracy 0\.\d+\n$/, stderr);
  assert.match(run('create', 'node', 'mine').stderr, /mine exists/);
  // A project that has it from a tarball gets starters that do, too.
  writeFileSync(join(folder, 'package.json'), '{"dependencies":{"tensorlathe":"file:a.tgz"}}');
  assert.equal(run('create', 'node', 'local').stderr, '');
  const local = JSON.parse(readFileSync(join(folder, 'local/package.json'), 'utf8'));
  assert.equal(local.dependencies.tensorlathe, `file:${join(realpathSync(folder), 'a.tgz')}`);
  assert.equal(run('create', 'vite', 'page').stdout, 'cd page && npm install && npm run dev\n');
  assert.equal(run('create', 'rails', 'x').status, 2);
});

test('serve sends the headers that threads need, and nothing outside the folder', async () => {
  writeFileSync(join(folder, 'secret'), 'x');
  const child = spawn(process.execPath, [command, 'serve', 'page', '0'], { cwd: folder });
  try {
    const [line] = await new Promise((done) =>
      child.stdout.once('data', (text) => done(String(text).split(' '))),
    );
    const page = await fetch(line);
    assert.match(await page.text(), /main\.js/);
    assert.equal(page.headers.get('cross-origin-opener-policy'), 'same-origin');
    assert.equal(page.headers.get('cross-origin-embedder-policy'), 'require-corp');
    assert.equal((await fetch(`${line}/%2e%2e%2fsecret`)).status, 404);
    assert.equal((await fetch(`${line}/none`)).status, 404);
    assert.equal((await fetch(`${line}/%`)).status, 400);
    assert.equal((await fetch(line)).status, 200);
  } finally {
    child.kill();
  }
});

test('other verbs are those of the command in tensorlathe-linux-x64', { skip }, () => {
  execFileSync(process.execPath, ['js/scripts/pack_lathe.mjs'], { cwd: root });
  const native = join(root, 'build/package-linux-x64');
  const { status, stderr } = spawnSync(process.execPath, [command, 'passes'], {
    encoding: 'utf8',
    env: { ...process.env, PATH: '' },
  });
  assert.deepEqual([status, /npm install tensorlathe-linux-x64/.test(stderr)], [2, true]);
  cpSync(native, join(folder, 'node_modules/tensorlathe-linux-x64'), { recursive: true });
  assert.match(run('passes').stdout, /^\w+/);
  const wasm = '\0asm\x01\0\0\0';
  writeFileSync(join(folder, 'empty.wasm'), wasm);
  assert.match(run('inspect', 'empty.wasm').stdout, /^empty\.wasm: 8 bytes, valid/);
  const manifest = JSON.parse(readFileSync(join(native, 'package.json'), 'utf8'));
  const { os, cpu, libc, description } = manifest;
  assert.deepEqual([os, cpu, libc], [['linux'], ['x64'], ['glibc']]);
  assert.match(description, /glibc 2\.34 or later/);
  assert.ok(statSync(join(native, 'bin/lathe')).size < 6e6, 'it is stripped');
});

test('unknown verbs print the usage', () => {
  assert.match(run().stdout, /^usage: npx tensorlathe/);
  const { status, stderr } = run('inspct');
  assert.equal(status, 2);
  assert.match(stderr, /unknown verb "inspct"/);
});
