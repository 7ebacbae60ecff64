// Convolutions by transformed tiles: close to direct ones, the same on every number of threads.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as tl from 'tensorlathe';

const shape = [1, 29, 30, 32];
const numbers = (count, scale) =>
  Float32Array.from({ length: count }, (_, i) => scale * Math.sin(i * i));
const image = numbers(29 * 30 * 32, 1);
const filter = numbers(9 * 32 * 48, 0.1);

function convolve(makeFilter) {
  const f = tl.compile({ x: shape }, ({ x }, g) => ({
    y: x.conv2d(makeFilter(g), 1, 'same').relu(),
  }));
  const y = f.run({ x: image }).y.dataSync();
  f.dispose();
  return y;
}

function distance(a, b) {
  const largest = a.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  return a.reduce((max, value, i) => Math.max(max, Math.abs(value - b[i])), 0) / largest;
}

for (const [what, makeFilter, min, max] of [
  ['constant', (g) => g.constant(filter, [3, 3, 32, 48]), 1e-8, 3e-5],
  ['variable', (g) => g.variable('w', tl.tensor(filter, [3, 3, 32, 48])), 1e-8, 3e-6],
]) {
  test(`a ${what} filter: as a direct convolution up to rounding, with the bits of one thread`, () => {
    tl.env().set('WINOGRAD', false);
    const direct = convolve(makeFilter);
    tl.env().set('WINOGRAD', true);
    tl.env().set('THREADS_COUNT', 1);
    const transformed = convolve(makeFilter);
    assert.ok(distance(direct, transformed) > min, 'Winograd is not used');
    assert.ok(distance(direct, transformed) < max, `${distance(direct, transformed)}`);
    tl.env().set('THREADS_COUNT', 3);
    assert.deepEqual(convolve(makeFilter), transformed);
  });
}
