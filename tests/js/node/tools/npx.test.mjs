// The command of the packed package: inspect, serve, create.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

test('create makes a program that trains', () => {
  assert.equal(run('create', 'node', 'mine').stdout, 'cd mine && npm install && npm start\n');
  const { stdout, stderr } = spawnSync(process.execPath, ['mine/main.js'], {
    cwd: folder,
    encoding: 'utf8',
  });
  assert.match(stdout, /^accuracy 0\.\d+\n$/, stderr);
  assert.match(run('create', 'node', 'mine').stderr, /mine exists/);
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
