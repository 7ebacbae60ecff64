// The synthetic digits of the demo: equal on every machine, all ten classes, centered as in MNIST.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { drawDigits } from '../../../../examples/lib/digits.mjs';
import { drawStrokes, normaliseStrokes, pixels } from '../../../../examples/lib/raster.mjs';

test('a seed decides every pixel', () => {
  const hash = createHash('sha256').update(drawDigits(200, 1).images).digest('hex');
  assert.equal(hash.slice(0, 16), '39f36825b1e851df');
  assert.notDeepEqual(drawDigits(5, 1).images, drawDigits(5, 2).images);
});

test('a digit depends on its index, not on the count', () => {
  const row = drawDigits(20, 3);
  const part = drawDigits(5, 3, 10);
  assert.deepEqual(part.images, row.images.subarray(10 * pixels, 15 * pixels));
  assert.deepEqual(part.labels, row.labels.subarray(10, 15));
});

test('all ten digits are about equally frequent', () => {
  const counts = new Array(10).fill(0);
  for (const label of drawDigits(2000, 1).labels) ++counts[label];
  assert.ok(Math.min(...counts) > 140 && Math.max(...counts) < 260, String(counts));
});

test('normalized strokes are 20 pixels long with centered ink', () => {
  const far = [
    [
      [300, 100],
      [300, 500],
    ],
  ];
  const image = new Float32Array(pixels);
  drawStrokes(image, normaliseStrokes(far), 2);
  const rows = [...Array(28).keys()].filter((y) =>
    image.subarray(y * 28, y * 28 + 28).some((v) => v > 0.5),
  );
  const columns = [...Array(28).keys()].filter((x) => rows.some((y) => image[y * 28 + x] > 0.4));
  assert.ok(rows.length >= 18 && rows.length <= 21, String(rows));
  assert.equal(rows[0] + rows.at(-1), 27);
  assert.equal(columns[0] + columns.at(-1), 27);
});
