// `lathe run`, which starts Node: arrays and images in, arrays and labels out.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import jpeg from 'jpeg-js';
import { PNG } from 'pngjs';
import { inFolder, lathe, skip } from '../../command.mjs';
import { largestDifference } from '../../lib.mjs';
import { model, node, random, tensor, tensorMessage, value } from '../../onnx/write.mjs';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
// Uses the Node that runs the tests; packages resolve from the repository.
process.env.LATHE_NODE = process.execPath;
const options = { skip };

const identity = (dtype, shape) =>
  model({
    nodes: [node('Identity', ['x'], ['y'])],
    inputs: [value('x', dtype, shape)],
    outputs: [value('y', dtype, shape)],
  });

/** Calls `use` with functions that run the model in a temporary folder, and return its output or assert its failure. */
const withModel = (bytes, use) =>
  inFolder((folder) => {
    const file = join(folder, 'model.onnx');
    writeFileSync(file, bytes);
    const call = (...args) => lathe(['run', file, `--package=${root}`, ...args], { cwd: folder });
    const run = (...args) => {
      const { status, stdout, stderr } = call(...args);
      assert.equal(status, 0, stderr);
      return stdout.toString();
    };
    const fails = (status, expected, ...args) => {
      const result = call(...args);
      assert.equal(result.status, status, result.stderr);
      assert.match(result.stderr, /^lathe: [^\n]+\n(usage|$)/);
      assert.match(result.stderr, expected);
    };
    return use({ folder, at: (name) => join(folder, name), run, fails });
  });

/** The header and the data bytes of an .npy file. */
function npy(file) {
  const bytes = readFileSync(file);
  assert.equal(bytes.toString('latin1', 0, 8), '\x93NUMPY\x01\x00');
  const end = 10 + bytes.readUInt16LE(8);
  assert.equal(end % 64, 0);
  return { header: bytes.toString('latin1', 10, end), data: bytes.subarray(end) };
}

const types = {
  float32: ['<f4', Float32Array],
  float64: ['<f8', Float64Array],
  float16: ['<f2', Uint16Array],
  int64: ['<i8', BigInt64Array],
  int32: ['<i4', Int32Array],
  int8: ['|i1', Int8Array],
  uint8: ['|u1', Uint8Array],
  bool: ['|b1', Uint8Array],
};
for (const [dtype, [descr, ArrayOf]] of Object.entries(types)) {
  test(`${dtype} round-trips through .npy, .pb and raw bytes`, options, () =>
    withModel(identity(dtype, ['rows', 3]), ({ at, run }) => {
      const isBig = dtype === 'int64';
      const values = ArrayOf.from([1, 0, 1, 1, 0, 0], isBig ? BigInt : undefined);
      const bytes = Buffer.from(values.buffer);
      writeFileSync(at('x.bin'), bytes);
      writeFileSync(at('x.pb'), tensorMessage(tensor(dtype, values, [2, 3])).encoded());
      assert.match(run('--input', 'x=x.bin', '--output=y=y.npy'), /^y.npy: y \w+ \[2,3\]\n$/);
      const { header, data } = npy(at('y.npy'));
      assert.match(header, new RegExp(`'descr': '${descr.replace('|', '\\|')}', .*\\(2, 3\\)`));
      assert.ok(data.equals(bytes));
      for (const file of ['x.pb', 'y.npy']) {
        run(`--input=x=${file}`, '--output=y=y.raw');
        assert.ok(readFileSync(at('y.raw')).equals(bytes), file);
      }
    }),
  );
}

test('an image is resized, laid out and normalized for the model', options, async () => {
  const [width, height] = [8, 6];
  const png = new PNG({ width, height });
  for (let at = 0; at < width * height; at++) {
    png.data.set([51, 102, 255 * (at % width >= 4), 255], 4 * at);
  }
  const pixels = { width, height, data: png.data };
  const shapes = { nchw: [1, 3, 3, 4], nhwc: [1, 3, 4, 3] };
  for (const [layout, shape] of Object.entries(shapes)) {
    await withModel(identity('float32', shape), ({ at, run, fails }) => {
      writeFileSync(at('x.png'), PNG.sync.write(png));
      writeFileSync(at('x.jpg'), jpeg.encode(pixels, 100).data);
      const numbers = (...args) => {
        run(...args, `--layout=${layout}`, '--output=y=y.bin');
        const { buffer } = Uint8Array.from(readFileSync(at('y.bin')));
        const y = new Float32Array(buffer);
        // Red of pixel 0, green of pixel 1, blue of the first and the last pixel of row 0.
        const of = (c, x) => y[layout === 'nchw' ? c * 12 + x : x * 3 + c];
        return [of(0, 0), of(1, 1), of(2, 0), of(2, 3)];
      };
      const plain = ['--mean=0', '--std=1'];
      const near = (actual, expected, tolerance) =>
        assert.ok(largestDifference(actual, expected) < tolerance, `${actual} ${expected}`);
      near(numbers('--input=x.png', ...plain), [0.2, 0.4, 0, 1], 1e-6);
      near(numbers('--input=x.jpg', ...plain), [0.2, 0.4, 0, 1], 0.12);
      const [mean, std] = [
        [0.485, 0.456, 0.406],
        [0.229, 0.224, 0.225],
      ];
      const expected = [0.2, 0.4, 0, 1].map(
        (v, k) => (v - mean[Math.min(k, 2)]) / std[Math.min(k, 2)],
      );
      near(numbers('--input=x.png'), expected, 1e-5);
      fails(1, /--mean has 2 numbers, the image 3 channels/, '--input=x.png', '--mean=0,0');
      writeFileSync(at('bad.png'), 'PNG');
      fails(1, /bad.png: no readable image/, '--input=bad.png');
      writeFileSync(at('bad.jpg'), 'JPEG');
      fails(1, /bad.jpg: no readable image/, '--input=bad.jpg');
    });
  }
  await withModel(identity('uint8', [1, 1, 3, 4]), ({ at, run }) => {
    writeFileSync(at('x.png'), PNG.sync.write(png));
    run('--input=x.png', '--layout=nchw', '--output=y=y.bin');
    const bright = Math.round(0.299 * 51 + 0.587 * 102);
    const y = readFileSync(at('y.bin'));
    assert.deepEqual([y.length, y[0], y[4], y[8]], [12, bright, bright, bright]);
  });
  await withModel(identity('float32', [2, 5]), ({ at, fails }) => {
    writeFileSync(at('x.png'), PNG.sync.write(png));
    fails(1, /input x has the shape \[2,5\], no image/, '--input=x.png');
  });
});

test('--top prints the largest values with their labels', options, () =>
  withModel(identity('float32', [1, 4]), ({ at, run, fails }) => {
    writeFileSync(at('x.bin'), Buffer.from(Float32Array.of(0.5, 3, -1, 2).buffer));
    writeFileSync(at('labels.txt'), 'ant\nbee\r\ncat\ndog\n');
    const lines = run('--input=x=x.bin', '--top', '2', 'labels.txt').trimEnd().split('\n');
    assert.deepEqual(
      lines.map((each) => each.trim()),
      ['3  1  bee', '2  3  dog'],
    );
    assert.match(run('--input=x.bin', '--top=9'), /-1 {2}2\n$/);
    assert.equal(run('--input=x.bin'), 'y  float32 [1,4]  0.5 3 -1 2\n');
    fails(1, /no.txt: /, '--input=x.bin', '--top=2', 'no.txt');
    fails(2, /--top must be a positive integer, got 0/, '--input=x.bin', '--top=0');
    fails(2, /LABELS.txt is for --top/, '--input=x.bin', 'labels.txt');
  }),
);

test('--top ranks each row separately and requires one label per column', options, () =>
  withModel(identity('float32', ['rows', 3]), ({ at, run, fails }) => {
    const rows = [0.5, 3, -1, 7, 2, 4];
    writeFileSync(at('x.bin'), Buffer.from(Float32Array.from(rows).buffer));
    writeFileSync(at('labels.txt'), 'ant\nbee\ncat\n\n');
    const lines = run('--input=x.bin', '--top=2', 'labels.txt').trimEnd().split('\n');
    assert.deepEqual(
      lines.map((each) => each.trim()),
      ['row 0', '3  1  bee', '0.5  0  ant', 'row 1', '7  0  ant', '4  2  cat'],
    );
    for (const labels of ['ant\nbee\n', 'ant\nbee\ncat\ndog\n', '']) {
      writeFileSync(at('labels.txt'), labels);
      fails(
        1,
        /labels.txt: has \d lines?, and y \[2,3\] has 3 numbers/,
        '--input=x.bin',
        '--top=2',
        'labels.txt',
      );
    }
  }),
);

test('- is standard input and output', options, () =>
  withModel(identity('float32', [2]), ({ folder, at }) => {
    const bytes = Buffer.from(Float32Array.of(0.5, 3).buffer);
    writeFileSync(at('x.bin'), bytes);
    const call = (input, ...args) =>
      lathe(['run', ...args, `--package=${root}`], { input, cwd: folder });
    const model = readFileSync(at('model.onnx'));
    for (const result of [
      call(model, '-', '--input=x.bin', '--output=-'),
      call(bytes, 'model.onnx', '--input=x=-', '--output=y=-'),
    ]) {
      assert.equal(result.status, 0, result.stderr);
      assert.ok(result.stdout.equals(bytes));
      assert.equal(result.stderr, '-: y float32 [2]\n');
    }
    const both = call(model, '-', '--input=-');
    assert.equal(both.status, 1);
    assert.match(both.stderr, /standard input is one file/);
  }),
);

test('flags that apply to no input are rejected', options, () =>
  withModel(identity('float32', ['rows', 3]), ({ at, fails }) => {
    const bytes = Buffer.from(new Float32Array(6).buffer);
    writeFileSync(at('x.bin'), bytes);
    const values = Float32Array.from([1, 2, 3]);
    writeFileSync(at('x.pb'), tensorMessage(tensor('float32', values, [1, 3])).encoded());
    fails(1, /--shape: there is no input z; known: x/, '--input=x.bin', '--shape=z=2,3');
    fails(1, /x.pb: has the shape \[1,3\], --shape x is/, '--input=x.pb', '--shape=x=2,3');
    for (const flag of ['--mean=0', '--std=1', '--layout=nchw']) {
      fails(1, / is for images, and no input is an image/, '--input=x.bin', flag);
    }
    for (const number of ['nan', 'inf', '1e999']) {
      fails(2, /--mean expects numbers/, '--input=x.png', `--mean=${number}`);
    }
    fails(2, /--std divides, so none may be 0/, '--input=x.png', '--std=1,0,1');
    fails(1, /no\/y.npy: ENOENT/, '--input=x.bin', '--output=no/y.npy');
  }),
);

test('errors of run are one line', options, () =>
  withModel(
    model({
      nodes: [node('MatMul', ['a', 'b'], ['y'])],
      inputs: [value('a', 'float32', ['m', 'k']), value('b', 'float32', ['k', 2])],
      outputs: [value('y', 'float32', ['m', 2])],
    }),
    async ({ folder, at, run, fails }) => {
      const b = random(1, [3, 2]);
      writeFileSync(at('a.bin'), Buffer.from(Float32Array.of(0, 1, 0).buffer));
      writeFileSync(at('b.bin'), Buffer.from(b.data.buffer));
      run('--input=a=a.bin', '--shape=a=1,3', '--input=b=b.bin', '--output=y.npy');
      const { buffer } = Uint8Array.from(npy(at('y.npy')).data);
      assert.deepEqual(new Float32Array(buffer), b.data.slice(2, 4));
      const inputA = ['--input=a=a.bin', '--shape=a=1,3'];
      fails(
        1,
        /input b is missing, float32 \[k,2\]: --input b=FILE reads it from an image, \.npy, /,
        ...inputA,
      );
      fails(1, /several sizes of input a are open; use --shape a=/, '--input=a=a.bin');
      fails(1, /there is no input c; known: a, b/, '--input=c=a.bin');
      fails(1, /specify which one, NAME=a.bin; inputs: a, b/, '--input=a.bin');
      fails(1, /no.npy: ENOENT/, '--input=a=no.npy');
      fails(1, /there is no output z; known: y/, ...inputA, '--input=b=b.bin', '--output=z=z.npy');
      fails(
        1,
        /12 bytes are not the 4 elements of float32 \[2,2\]/,
        '--input=a=a.bin',
        '--shape=a=2,2',
      );
      for (const bad of [
        '',
        '\x93NUMPY',
        '\x93NUMPY\x01\x00\xff\xff{',
        'text that is long enough',
      ]) {
        writeFileSync(at('bad.npy'), Buffer.from(bad, 'latin1'));
        fails(1, /bad.npy: no readable array/, '--input=a=bad.npy');
        writeFileSync(at('bad.pb'), Buffer.from(bad, 'latin1'));
        fails(1, /bad.pb: /, '--input=a=bad.pb');
      }
      fails(2, /--layout must be nchw or nhwc/, '--layout=x');
      fails(2, /--mean expects numbers/, '--mean=0,x');
      const model = at('model.onnx');
      const runModel = (...args) => lathe(['run', model, ...args], { cwd: folder });
      const none = runModel(`--package=${folder}`);
      assert.equal(none.status, 1);
      assert.match(
        none.stderr,
        /requires the npm package tensorlathe, which is not found from .*npm install tensorlathe/,
      );
      const node = process.env.LATHE_NODE;
      process.env.LATHE_NODE = at('nothing');
      const { status, stderr } = runModel();
      process.env.LATHE_NODE = node;
      assert.equal(status, 1);
      assert.match(stderr, /cannot start .*nothing: `lathe run` drives Node 20 or later/);
      writeFileSync(model, readFileSync(model).subarray(0, 60));
      fails(1, /^lathe: .*model.onnx: ./, ...inputA);
      writeFileSync(at('layers.json'), '{}');
      assert.match(lathe(['run', at('layers.json')]).stderr, /layers.json: is no ONNX model/);
      assert.match(
        lathe(['run', at('no.onnx'), `--package=${root}`]).stderr,
        /no.onnx: there is no such file/,
      );
    },
  ),
);
