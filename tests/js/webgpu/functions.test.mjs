// `tl.compile` with a device: results and variables stay there.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as tl from 'tensorlathe';

before(() => tl.ready());
after(() => tl.setDevice('wasm'));

const specs = { x: [2, 3] };
const build = ({ x }, g) => {
  const w = g.variable('w', tl.tensor([1, 2, 3, 4, 5, 6], [3, 2]));
  const calls = g.variable('calls', tl.scalar(0));
  g.assign(calls, calls.add(1));
  return { y: x.matMul(w).relu(), calls: calls.add(0) };
};
const input = () => tl.tensor([1, -1, 2, 0, 3, 1], [2, 3]);
const expected = [8, 10, 14, 18];

test('a device that is not loaded is named', () => {
  assert.throws(
    () => tl.compile(specs, build, { device: 'webgpu' }),
    /device "webgpu" is not loaded yet: await tl.setDevice\('webgpu'\) before/,
  );
  assert.throws(
    () => tl.compile(specs, build, { device: 'webgp' }),
    /unknown device "webgp"; known: wasm, webgpu/,
  );
});

for (const device of ['wasm', 'webgpu']) {
  test(`a function on ${device} keeps its variables there`, async () => {
    await tl.setDevice(device);
    const f = tl.compile(specs, build, { device });
    const x = input();
    const first = f.run({ x });
    const second = f.run({
      x: first.y
        .reshape([4])
        .concat(tl.tensor([0, 0]))
        .reshape([2, 3]),
    });
    assert.deepEqual(Array.from(await first.y.data()), expected);
    assert.deepEqual(Array.from(await second.y.data()), [108, 140, 18, 36]);
    assert.deepEqual(Array.from(await f.run({ x: new Float32Array(6).fill(1) }).calls.data()), [2]);
    assert.deepEqual(Array.from(await (await f.variable('calls')).data()), [3]);
    f.setVariable('w', new Float32Array([0, 0, 0, 0, 0, 1]));
    assert.deepEqual(Array.from(await f.run({ x }).y.data()), [0, 2, 0, 1]);
    assert.throws(
      () => f.run({ x: new Float32Array(2) }),
      /input x: expects shape \[2,3\], got 2 values/,
    );
    assert.throws(
      () => f.setVariable('v', new Float32Array(1)),
      /there is no variable v; known: w, calls/,
    );
    f.dispose();
    assert.throws(() => f.run({ x }), /has been disposed/);
  });
}

test('a tensor on another device is an error that names both', async () => {
  await tl.setDevice('webgpu');
  const f = tl.compile(specs, build, { device: 'wasm' });
  const x = input().add(1);
  assert.throws(() => f.run({ x }), /webgpu.*wasm|wasm.*webgpu/);
  await x.to('wasm');
  assert.deepEqual(Array.from(await f.run({ x }).y.data()), [17, 22, 23, 30]);
  f.dispose();
});

test('its options are checked', () => {
  assert.throws(
    () => tl.compile(specs, build, { device: 'wasm', heap: true }),
    /compile on a device: .*heap/,
  );
  assert.throws(
    () => tl.compile({ x: ['rows', 3] }, ({ x }) => ({ y: x }), { device: 'wasm' }),
    /names for sizes do not go with device/,
  );
});

test('what it allocates is freed', async () => {
  await tl.setDevice('webgpu');
  const counts = () => tl.memory().devices.webgpu;
  const { bytes, buffers } = counts();
  for (let i = 0; i < 5; i += 1) {
    const f = tl.compile(specs, build, { device: 'webgpu' });
    const x = input();
    const { y, calls } = f.run({ x });
    await y.data();
    for (const each of [x, y, calls]) each.dispose();
    f.dispose();
  }
  assert.deepEqual([counts().bytes, counts().buffers], [bytes, buffers]);
});
