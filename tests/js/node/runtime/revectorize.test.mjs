// NODE_REVECTORIZE: on where Node has it, with the same results; a clear error elsewhere.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'node:test';
import * as tl from 'tensorlathe';
import { throws } from '../../lib.mjs';

const [major, minor] = process.versions.node.split('.').map(Number);
const has = process.arch === 'x64' && (major > 22 || (major === 22 && minor >= 3));
const set = (value) => tl.env().set('NODE_REVECTORIZE', value);

function product(rows, depth, columns) {
  const f = tl.compile({ x: [rows, depth], y: [depth, columns] }, ({ x, y }) => ({
    z: x.matMul(y).tanh(),
  }));
  const fill = (length) => Float32Array.from({ length }, (_, at) => Math.sin(at) / 3);
  const inputs = { x: fill(rows * depth), y: fill(depth * columns) };
  let z;
  for (let call = 0; call < 200; ++call) z = f.run(inputs).z.dataSync();
  f.dispose();
  return z;
}

test('wide lanes change no result', { skip: has ? false : 'this Node cannot' }, () => {
  const shapes = [];
  for (const rows of [1, 6, 13])
    for (const columns of [8, 16, 37, 64]) shapes.push([rows, columns]);
  const all = () => shapes.map(([rows, columns]) => product(rows, 29, columns));
  const plain = all();
  set(true);
  assert.ok(tl.env().get('NODE_REVECTORIZE'));
  const wide = all();
  set(false);
  wide.forEach((values, at) =>
    values.forEach((value, i) => assert.ok(Math.abs(value - plain[at][i]) < 1e-5)),
  );
});

test('elsewhere it throws', { skip: has ? 'this Node can' : false }, () => {
  throws(() => set(true), 'NODE_REVECTORIZE needs Node 22.3 or later on x86-64');
  assert.equal(tl.env().get('NODE_REVECTORIZE'), false);
  set(false);
});

test('where ready() loads it, the error mentions that', () => {
  const program = `
    import * as tf from 'tensorlathe/tfjs';
    const set = () => { try { tf.env().set('NODE_REVECTORIZE', true); } catch (error) { return error.message; } };
    const before = set();
    await tf.ready();
    console.log(JSON.stringify([before, set() ?? 'on']));`;
  const found = execFileSync(process.execPath, ['--input-type=module', '-e', program]);
  const [before, after] = JSON.parse(String(found));
  assert.equal(before, 'NODE_REVECTORIZE: only in Node, after `await tl.ready()`');
  assert.equal(after, has ? 'on' : 'NODE_REVECTORIZE needs Node 22.3 or later on x86-64');
});
