// A downloaded folder with packages in it: neither the command nor images in Node execute them.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inFolder, lathe, skip } from '../js/command.mjs';
import { model, node, value } from '../js/onnx/write.mjs';
import { runProgram } from './support/child_process.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
process.env.LATHE_NODE = process.execPath;

/** A folder with a model and packages that write a file when they are executed. */
const inStrangersFolder = (use) =>
  inFolder(async (folder) => {
    const mark = join(folder, 'executed');
    for (const name of ['tensorlathe', 'pngjs', 'jpeg-js']) {
      const at = join(folder, 'node_modules', name);
      mkdirSync(at, { recursive: true });
      writeFileSync(join(at, 'package.json'), JSON.stringify({ name, main: 'i.js' }));
      writeFileSync(join(at, 'i.js'), `require('fs').writeFileSync(${JSON.stringify(mark)}, '')`);
    }
    const bytes = model({
      nodes: [node('Neg', ['x'], ['y'])],
      inputs: [value('x', 'float32', [4])],
      outputs: [value('y', 'float32', [4])],
    });
    writeFileSync(join(folder, 'm.onnx'), bytes);
    writeFileSync(join(folder, 'x.bin'), new Uint8Array(16));
    for (const each of ['x.png', 'x.jpg']) writeFileSync(join(folder, each), 'no image');
    await use(folder, () => existsSync(mark));
  });

for (const file of ['x.bin', 'x.png', 'x.jpg']) {
  test(`run ${file} next to hostile node_modules`, { skip }, () =>
    inStrangersFolder((folder, executed) => {
      lathe(['run', 'm.onnx', `--input=${file}`], { cwd: folder });
      assert.equal(executed(), false);
      lathe(['run', 'm.onnx', `--input=${file}`, `--package=${root}`], { cwd: folder });
      assert.equal(executed(), false);
    }),
  );
}

test('--package names the folder whose packages are executed', { skip }, () =>
  inStrangersFolder((folder, executed) => {
    lathe(['run', 'm.onnx', '--input=x.bin', '--package=.'], { cwd: folder });
    assert.equal(executed(), true);
  }),
);

test('images in Node next to hostile node_modules', () =>
  inStrangersFolder(async (folder, executed) => {
    const entry = import.meta.resolve('tensorlathe/tfjs');
    // Resolved as if those packages were not installed next to the package itself.
    const source = `
      import module from 'node:module';
      const resolve = module._resolveFilename;
      module._resolveFilename = function (name, parent, ...rest) {
        if (/^(pngjs|jpeg-js)$/.test(name) && !parent?.filename?.startsWith(process.cwd()))
          throw new Error('not installed');
        return resolve.call(this, name, parent, ...rest);
      };
      const tf = await import(${JSON.stringify(entry)});
      for (const decode of ['decodePng', 'decodeJpeg'])
        try { tf.node[decode](new Uint8Array(64)); } catch (error) { console.log(error.message); }`;
    const { output } = await runProgram(
      process.execPath,
      ['--no-warnings', '--input-type=module', '--eval', source],
      { cwd: folder, seconds: 60 },
    );
    assert.match(output, /decodePng: needs the npm package pngjs[^]*decodeJpeg: needs/);
    assert.equal(executed(), false);
  }));

test('arrays whose shape is none', { skip }, () =>
  inStrangersFolder((folder) => {
    for (const shape of ['-4,', '-2, -2', '1e300,', 'x,', '0.5, 8', 'Infinity, 0']) {
      const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape}), }\n`;
      const head = Buffer.from(`\x93NUMPY\x01\x00\x00\x00${header}`, 'latin1');
      head.writeUInt16LE(header.length, 8);
      writeFileSync(join(folder, 'z.npy'), Buffer.concat([head, Buffer.alloc(16)]));
      const words = ['run', 'm.onnx', `--package=${root}`, '--input=z.npy'];
      const { status, stderr } = lathe(words, { cwd: folder });
      assert.equal(status, 1);
      assert.match(`${stderr}`, /^lathe: z\.npy: .*\n$/, shape);
    }
  }),
);
