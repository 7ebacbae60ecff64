// `tl.image.toTensor`: sizes, normalization, layouts, files in Node.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import jpeg from 'jpeg-js';
import { PNG } from 'pngjs';
import * as tl from 'tensorlathe';
import * as tf from 'tensorlathe/tfjs';
import { rejects } from '../../lib.mjs';

const folder = mkdtempSync(join(tmpdir(), 'image-'));
after(() => rmSync(folder, { recursive: true }));

/** An image whose pixel at (x, y) is [x, y, 7, 255]. */
function ramp(width, height) {
  const data = Uint8Array.from({ length: width * height * 4 }, (_, at) => {
    const [pixel, channel] = [Math.floor(at / 4), at % 4];
    return [pixel % width, Math.floor(pixel / width), 7, 255][channel];
  });
  return { width, height, data };
}

const close = (actual, expected, tolerance = 1e-6) => {
  assert.equal(actual.length, expected.length);
  actual.forEach((value, at) =>
    assert.ok(Math.abs(value - expected[at]) <= tolerance, `${at}: ${value}`),
  );
};

test('the size of the image, channels last, from 0 to 1', async () => {
  const x = await tl.image.toTensor(ramp(3, 2));
  assert.deepEqual(x.shape, [1, 2, 3, 3]);
  assert.equal(x.dtype, 'float32');
  close(
    [...x.dataSync().slice(9, 15)],
    [0, 1, 7, 1, 1, 7].map((each) => each / 255),
  );
});

test('mean and std for each channel, channels first', async () => {
  const [mean, std] = [
    [0.5, 0.25, 0],
    [2, 1, 0.5],
  ];
  const x = await tl.image.toTensor(ramp(2, 2), { mean, std, layout: 'nchw' });
  assert.deepEqual(x.shape, [1, 3, 2, 2]);
  const expected = [0, 1, 0, 1, 0, 0, 1, 1, 7, 7, 7, 7].map((value, at) => {
    const c = Math.floor(at / 4);
    return (value / 255 - mean[c]) / std[c];
  });
  close([...x.dataSync()], expected);
});

test('one channel is the brightness, four have alpha', async () => {
  const gray = await tl.image.toTensor(ramp(2, 1), { channels: 1 });
  close(
    [...gray.dataSync()],
    [0.114 * 7, 0.299 + 0.114 * 7].map((each) => each / 255),
  );
  const all = await tl.image.toTensor(ramp(1, 1), { channels: 4 });
  close([...all.dataSync()], [0, 0, 7 / 255, 1]);
});

test('halving averages with the weights of a triangle', async () => {
  const x = await tl.image.toTensor(ramp(8, 4), { size: [2, 4], std: 1 / 255, channels: 3 });
  const red = [...x.dataSync()].filter((_, at) => at % 3 === 0).slice(0, 4);
  // Inside, a ramp stays a ramp: pixel k is centered at 2k + 0.5.
  close(red.slice(1, 3), [2.5, 4.5], 1e-4);
});

test('cover cuts the center', async () => {
  const x = await tl.image.toTensor(ramp(9, 3), { size: 3, fit: 'cover', std: 1 / 255 });
  const red = [...x.dataSync()].filter((_, at) => at % 3 === 0).slice(0, 3);
  close(red, [3, 4, 5], 1e-4);
});

test('files of JPEG and PNG: paths, bytes, addresses', async () => {
  const flat = { width: 8, height: 8, data: Buffer.alloc(256, 128) };
  const photo = join(folder, 'photo.jpg');
  writeFileSync(photo, jpeg.encode(flat, 100).data);
  const close128 = (x) => close([...x.dataSync()], Array(192).fill(128 / 255), 0.01);
  close128(await tl.image.toTensor(photo));
  const png = PNG.sync.write(
    Object.assign(new PNG({ width: 3, height: 2 }), { data: Buffer.from(ramp(3, 2).data) }),
  );
  const expected = (await tl.image.toTensor(ramp(3, 2))).dataSync();
  assert.deepEqual((await tl.image.toTensor(new Uint8Array(png))).dataSync(), expected);
  const server = createServer((_, response) => response.end(png)).listen(0);
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address();
  const fetched = await tl.image.toTensor(`http://127.0.0.1:${port}/a.png`);
  server.close();
  server.closeAllConnections();
  assert.deepEqual(fetched.dataSync(), expected);
  assert.deepEqual((await tf.image.toTensor(ramp(3, 2))).dataSync(), expected);
});

test('errors name the image, the option and the package', async () => {
  await rejects(tl.image.toTensor('missing.png'), /^cannot read missing\.png: ENOENT/);
  writeFileSync(join(folder, 'a.gif'), 'GIF89a');
  await rejects(tl.image.toTensor(join(folder, 'a.gif')), /a\.gif is neither JPEG nor PNG/);
  writeFileSync(join(folder, 'bad.png'), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1]));
  await rejects(tl.image.toTensor(join(folder, 'bad.png')), /bad\.png is damaged: /);
  await rejects(tl.image.toTensor(undefined), /expects an image file or pixels/);
  await rejects(
    tl.image.toTensor(ramp(1, 1), { mean: [1, 2] }),
    /mean must be a number or 3 numbers.*\[1,2\]/,
  );
  await rejects(
    tl.image.toTensor(ramp(1, 1), { layout: 'NCHW' }),
    /layout must be nhwc or nchw, got NCHW/,
  );
  await rejects(tl.image.toTensor(ramp(1, 1), { sise: 3 }), /no option sise; did you mean size\?/);
  await rejects(
    tl.image.toTensor(ramp(1, 1), { size: 0 }),
    /size must be a positive integer, got 0/,
  );
});

test('what newcomers reach for', () => {
  const [a, b] = [tl.tensor([[1, 2]]), [[3, 4]]];
  assert.deepEqual(tl.concat([a, b]).arraySync(), [
    [1, 2],
    [3, 4],
  ]);
  assert.deepEqual(tl.concat([a, b], -1).arraySync(), [[1, 2, 3, 4]]);
  assert.deepEqual(tl.stack([a, b]).shape, [2, 1, 2]);
  const draw = (seed) => tl.randomNormal([1000], 3, 2, 'float32', seed).dataSync();
  assert.deepEqual(draw(1), draw(1));
  assert.notDeepEqual(draw(), draw());
  const mean = draw(5).reduce((total, each) => total + each) / 1000;
  assert.ok(Math.abs(mean - 3) < 0.3, `${mean}`);
  const uniform = tl.randomUniform([100], 2, 3).dataSync();
  assert.ok(uniform.every((each) => each >= 2 && each < 3));
  const elsewhere = /^tl\.(variable|browser\.fromPixels) is in tensorlathe\/tfjs/;
  assert.throws(() => tl.variable(a), { name: 'LatheError', message: elsewhere });
  assert.throws(() => tl.browser.fromPixels({}), { name: 'LatheError', message: elsewhere });
  assert.equal(typeof tf.variable(tf.tensor([1])).assign, 'function');
});
