// Image files: what jpeg-js and pngjs decode and encode, as tensors.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import jpeg from 'jpeg-js';
import { PNG } from 'pngjs';
import * as tl from 'tensorlathe/tfjs';

const { node } = tl;
const [height, width] = [13, 17];

/** An image of smooth colors. */
const image = (channels) =>
  tl.tidy(() => {
    const down = tl.linspace(0, 255, height).reshape([height, 1, 1]);
    const across = tl.linspace(255, 40, width).reshape([1, width, 1]);
    const weights = tl.linspace(0.2, 1, channels).reshape([1, 1, channels]);
    return down.add(across).mul(0.5).mul(weights).round().cast('int32');
  });
const values = (x) => [...x.dataSync()];

for (const channels of [1, 2, 3, 4]) {
  test(`PNG of ${channels} channels round trip`, async () => {
    const x = image(channels);
    const file = await node.encodePng(x);
    const found = node.decodePng(file);
    assert.deepEqual(found.shape, [height, width, channels]);
    assert.equal(found.dtype, 'int32');
    assert.deepEqual(values(found), values(x));
    assert.deepEqual(values(node.decodeImage(file)), values(x));
    const all = PNG.sync.read(Buffer.from(file)).data;
    assert.deepEqual(values(node.decodePng(file, 4)), [...all]);
    const grey = values(node.decodePng(file, 1));
    grey.forEach((each, at) => {
      const [r, g, b] = all.subarray(4 * at);
      assert.ok(Math.abs(each - (0.2126 * r + 0.7152 * g + 0.0722 * b)) <= 1);
    });
  });
}

for (const channels of [1, 3]) {
  test(`JPEG of ${channels} channels round trip, approximately`, async () => {
    const x = image(channels);
    const file = await node.encodeJpeg(x);
    const all = jpeg.decode(file, { useTArray: true, formatAsRGBA: false }).data;
    const found = node.decodeJpeg(file, 3);
    assert.deepEqual(found.shape, [height, width, 3]);
    assert.deepEqual(values(found), [...all]);
    const far = tl.max(tl.abs(tl.sub(found, x.cast('int32')))).dataSync()[0];
    assert.ok(far <= 12, `${far}`);
    assert.deepEqual(node.decodeImage(file, 1).shape, [height, width, 1]);
    const coarse = await node.encodeJpeg(x, '', 20);
    assert.ok(coarse.length < file.length);
  });
}

test('a gray JPEG has one channel', () => {
  // A frame of one component of 8 by 8 pixels, all of them gray.
  const head = [0xff, 0xd8, 0xff, 0xdb, 0, 67, 0, ...Array(64).fill(1)];
  const frame = [0xff, 0xc0, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0];
  const table = (kind) => [0xff, 0xc4, 0, 20, kind, 1, ...Array(15).fill(0), 0];
  const scan = [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x3f, 0xff, 0xd9];
  const file = new Uint8Array([...head, ...frame, ...table(0), ...table(0x10), ...scan]);
  const found = node.decodeJpeg(file);
  assert.deepEqual(found.shape, [8, 8, 1]);
  assert.deepEqual(new Set(values(found)), new Set([128]));
});

test('invalid images are rejected', async () => {
  const throws = (action, message) => assert.throws(action, { name: 'LatheError', message });
  const file = await node.encodePng(image(3));
  throws(() => node.decodeImage(new Uint8Array([71, 73, 70, 56, 0])), /expected a JPEG or a PNG/);
  throws(() => node.decodePng(file.subarray(0, 40)), /^decodePng: the file cannot be read: /);
  throws(() => node.decodeJpeg(file), /^decodeJpeg: the file cannot be read: /);
  throws(() => node.decodePng('name.png'), /^decodePng: a Uint8Array is needed/);
  throws(() => node.decodeJpeg(file, 4), /^decodeJpeg: channels must be one of 0, 1, 3, got 4$/);
  throws(() => node.decodeImage(file, 0, 'float32'), /could only return Tensor of type `int32`/);
  const rejects = (promise, message) => assert.rejects(promise, { name: 'LatheError', message });
  await rejects(node.encodeJpeg(image(4)), /^encodeJpeg: expected \[height, width, channels\]/);
  await rejects(node.encodePng(tl.zeros([3, 3])), /got \[3,3\]$/);
});

test('a missing package is named', () => {
  const program = `
    import module from 'node:module';
    module.registerHooks({
      resolve(name, context, next) {
        if (/^(jpeg-js|pngjs)$/.test(name)) throw new Error('not there');
        return next(name, context);
      },
    });
    const { node } = await import('tensorlathe/tfjs');
    const messages = [];
    for (const decode of [node.decodeJpeg, node.decodePng]) {
      try { decode(new Uint8Array(9)); } catch ({ message }) { messages.push(message); }
    }
    console.log(JSON.stringify(messages));`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--no-warnings', '--input-type=module', '-e', program],
    { encoding: 'utf8', timeout: 60_000 },
  );
  assert.deepEqual(
    JSON.parse(stdout || 'null'),
    ['decodeJpeg: needs the npm package jpeg-js', 'decodePng: needs the npm package pngjs'].map(
      (start) => `${start}, which is not installed: npm install ${start.split(' ').at(-1)}`,
    ),
    stderr,
  );
});
