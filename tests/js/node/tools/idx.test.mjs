// Reading idx files: valid files are read, every error names the file.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { parseIdx, readDigits, unpack, writeIdx } from '../../../../examples/lib/idx.mjs';

const images = (count) => ({
  name: 'images',
  bytes: writeIdx([count, 28, 28], new Uint8Array(count * 784)),
});
const labels = (...values) => ({
  name: 'labels',
  bytes: writeIdx([values.length], Uint8Array.from(values)),
});

test('files round-trip, plain and gzip', async () => {
  const data = Uint8Array.from([1, 2, 3, 4, 5, 6]);
  const bytes = writeIdx([2, 3], data);
  assert.deepEqual(parseIdx(bytes, 'f'), { shape: [2, 3], data });
  assert.deepEqual(await unpack(new Uint8Array(gzipSync(bytes)), 'f'), bytes);
  const digits = await readDigits(images(2), labels(3, 9));
  assert.equal(digits.count, 2);
  assert.deepEqual([...digits.labels], [3, 9]);
});

test('bytes at an offset in their buffer are read', () => {
  const bytes = writeIdx([3], Uint8Array.of(7, 8, 9));
  const shifted = new Uint8Array([...new Uint8Array(5), ...bytes]).subarray(5);
  assert.deepEqual([...parseIdx(shifted, 'f').data], [7, 8, 9]);
});

test('invalid files are rejected by name', async () => {
  const good = images(2).bytes;
  assert.throws(() => parseIdx(new Uint8Array(), 'f'), /f: no idx file \(it starts with nothing/);
  assert.throws(
    () => parseIdx(Uint8Array.of(0x50, 0x4b, 3, 4, 0), 'f'),
    /it starts with 50 4b 03 04/,
  );
  assert.throws(() => parseIdx(Uint8Array.of(0, 0, 0x0d, 1, 0, 0, 0, 0), 'f'), /element type 0x0d/);
  assert.throws(() => parseIdx(good.subarray(0, 9), 'f'), /truncated within the header, 9 bytes/);
  assert.throws(() => parseIdx(good.subarray(0, 100), 'f'), /f: truncated: 100 bytes.*needs 1584/);
  assert.throws(() => parseIdx(new Uint8Array([...good, 0]), 'f'), /f: too long: 1585 bytes/);
  const packed = new Uint8Array(gzipSync(good));
  await assert.rejects(unpack(packed.subarray(0, 20), 'f.gz'), /f.gz: damaged or truncated gzip/);
});

test('images and labels of different counts are rejected', async () => {
  await assert.rejects(
    readDigits(images(2), labels(1)),
    /images has 2 images, but labels has 1 labels/,
  );
  await assert.rejects(readDigits(images(1), labels(10)), /labels: label 10 at 0 is no digit/);
  await assert.rejects(readDigits(labels(1), labels(1)), /\[count,28,28\] is needed/);
  await assert.rejects(readDigits(images(1), images(1)), /\[count\] is needed/);
});
