// Convolutions by transformed tiles: close to direct ones, the same on every number of threads.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as tl from 'tensorlathe';

const shape = [1, 29, 30, 32];
const numbers = (count, scale) =>
  Float32Array.from({ length: count }, (_, i) => scale * Math.sin(i * i));
const image = numbers(29 * 30 * 32, 1);
const filter = numbers(9 * 32 * 48, 0.1);

function convolve(given) {
  const f = tl.compile({ x: shape }, ({ x }, g) => ({ y: x.conv2d(given(g), 1, 'same').relu() }));
  const y = f.run({ x: image }).y.dataSync();
  f.dispose();
  return y;
}

function distance(a, b) {
  const largest = a.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0) / largest;
}

for (const [what, given, least, most] of [
  ['constant', (g) => g.constant(filter, [3, 3, 32, 48]), 1e-8, 3e-5],
  ['variable', (g) => g.variable('w', tl.tensor(filter, [3, 3, 32, 48])), 1e-8, 3e-6],
]) {
  test(`a ${what} filter: as a direct convolution up to rounding, with the bits of one thread`, () => {
    tl.env().set('WINOGRAD', false);
    const direct = convolve(given);
    tl.env().set('WINOGRAD', true);
    tl.env().set('THREADS_COUNT', 1);
    const alone = convolve(given);
    assert.ok(distance(direct, alone) > least, 'they are computed alike');
    assert.ok(distance(direct, alone) < most, `${distance(direct, alone)}`);
    tl.env().set('THREADS_COUNT', 3);
    assert.deepEqual(convolve(given), alone);
  });
}
