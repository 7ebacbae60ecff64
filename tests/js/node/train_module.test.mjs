// The C++ example writes a module that plain JavaScript trains: the convolutional network learns drawn digits.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { writeIdx } from '../../../examples/lib/idx.mjs';
import { drawnDigits } from '../../../examples/lib/load.mjs';

const program = 'build/native/examples/mnist';
const skip = existsSync(program) ? false : `${program} is not built`;

function run(command, ...args) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout;
}

test('a training module from C++ learns with nothing but the engine', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tensorlathe-'));
  try {
    const digits = drawnDigits(1, 2000, 500);
    for (const [set, { images, labels, count }] of [
      ['train', digits.train],
      ['t10k', digits.test],
    ]) {
      const write = (name, shape, data) =>
        writeFileSync(join(folder, `${set}-${name}-ubyte.gz`), gzipSync(writeIdx(shape, data)));
      write('images-idx3', [count, 28, 28], images);
      write('labels-idx1', [count], labels);
    }
    run(program, folder, 'cnn');
    const script = 'examples/train_module.mjs';
    const output = run(process.execPath, script, join(folder, 'mnist.wasm'), folder, '5');
    const accuracies = [...output.matchAll(/accuracy ([\d.]+) %/g)].map(([, each]) => Number(each));
    assert.equal(accuracies.length, 5);
    assert.ok(accuracies.at(-1) > 85, output);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
