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

test('its options are checked, and it has no views', async () => {
  assert.throws(
    () => tl.compile(specs, build, { device: 'wasm', heap: true }),
    /compile on a device: .*heap/,
  );
  const f = tl.compile(specs, build, { device: 'wasm' });
  assert.ok(f instanceof tl.CompiledFunction);
  for (const each of ['input', 'output', 'call'])
    assert.throws(() => f[each]('x'), new RegExp(`^LatheError: ${each}: .* use run`));
  await assert.rejects(f.callAsync(), /callAsync: .* use run/);
  await assert.rejects(tl.tune(f), /module of their own/);
  f.dispose();
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

for (const device of ['wasm', 'webgpu']) {
  test(`sizes that calls choose share variables on ${device}`, async () => {
    await tl.setDevice(device);
    const before = tl.memory().devices[device].buffers;
    const f = tl.compile(
      { x: ['rows', 2] },
      ({ x }, g) => {
        const total = g.variable('total', [2]);
        const sum = total.add(x.sum(0));
        g.assign(total, sum);
        return { y: x.add(sum) };
      },
      { device },
    );
    const run = async (...values) => {
      const x = tl.tensor(values, [values.length / 2, 2]);
      const { y } = await f.runAsync({ x });
      const data = Array.from(await y.data());
      for (const each of [x, y]) each.dispose();
      return data;
    };
    assert.deepEqual(await run(1, 2), [2, 4]);
    assert.deepEqual(await run(1, 2, 3, 4), [6, 10, 8, 12]);
    assert.deepEqual(await run(0, 1), [5, 10]);
    const bound = f.bind({ rows: 2 });
    assert.ok(bound instanceof tl.CompiledFunction);
    const { y } = bound.run({ x: new Float32Array(4) });
    assert.deepEqual(Array.from(await y.data()), [5, 9, 5, 9]);
    f.setVariable('total', [0, 0]);
    assert.deepEqual(await run(1, 1), [2, 2]);
    const total = f.variable('total');
    assert.deepEqual(Array.from(await total.data()), [1, 1]);
    for (const each of [y, total]) each.dispose();
    f.dispose();
    assert.throws(() => bound.run({ x: new Float32Array(4) }), /has been disposed/);
    assert.equal(tl.memory().devices[device].buffers, before);
  });

  test(`sizes that depend on data on ${device}`, async () => {
    await tl.setDevice(device);
    await runSegments(device);
    const before = tl.memory().devices[device].buffers;
    await runSegments(device);
    assert.equal(tl.memory().devices[device].buffers, before);
  });
}

async function runSegments(device) {
  const f = tl.compile(
    { x: [4] },
    ({ x }, g) => {
      const calls = g.variable('calls', tl.scalar(0));
      const count = calls.add(1);
      g.assign(calls, count);
      const at = x.nonZero();
      return { at, picked: x.gather(at.reshape([-1])).mul(count.add(1)) };
    },
    { segments: true, device },
  );
  const picked = async (...x) => {
    const results = await f.runAsync({ x });
    const data = Array.from(await results.picked.data());
    assert.deepEqual(results.at.shape, [data.length, 1]);
    for (const each of Object.values(results)) each.dispose();
    return data;
  };
  assert.deepEqual(await picked(1, 0, 2, 0), [2, 4]);
  assert.deepEqual(await picked(0, 3, 0, 0), [9]);
  // Overlapping calls run in order, on the inputs at the call.
  const x = Float32Array.of(1, 1, 1, 1);
  const overlapping = [f.runAsync({ x }), f.runAsync({ x: [0, 0, 0, 5] })];
  x.fill(0);
  const all = await Promise.all(overlapping);
  assert.deepEqual(
    await Promise.all(all.map(async (each) => Array.from(await each.picked.data()))),
    [[4, 4, 4, 4], [25]],
  );
  for (const each of all.flatMap(Object.values)) each.dispose();
  const calls = f.variable('calls');
  assert.equal((await calls.data())[0], 4);
  calls.dispose();
  if (device === 'webgpu')
    assert.throws(() => f.run({ x: [1, 0, 0, 0] }), /run: .*webgpu.*await runAsync/);
  const waiting = f.runAsync({ x: [1, 0, 0, 0] });
  f.dispose();
  await assert.rejects(waiting, /has been disposed/);
}
