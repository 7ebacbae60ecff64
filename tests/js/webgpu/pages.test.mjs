// Temporaries and constants of more bytes than one buffer may have, on a GPUDevice with the limits that every one has.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import * as tl from 'tensorlathe';

const gpu = createRequire(new URL('../../../js/dist/index.js', import.meta.url))('webgpu').create(
  [],
);
let limits;
before(async () => {
  const device = await (await gpu.requestAdapter()).requestDevice();
  ({ limits } = device);
  await tl.setDevice('webgpu', { device });
});
after(() => tl.setDevice('wasm'));

test('temporaries and constants that fill several buffers', async () => {
  const size = 4096;
  const bytes = 4 * size * size;
  assert.ok(bytes <= limits.maxStorageBufferBindingSize && 5 * bytes > limits.maxBufferSize);
  const before = tl.memory().devices.webgpu;
  // The products are live at once, as each is needed twice. The constants are kernels of their own, so that nothing is folded.
  const run = tl.compile(
    { x: [size, 1] },
    ({ x }, g) => {
      const constants = [1, 2, 3, 4, 5].map((k) =>
        g.constant(new Float32Array(size * size).fill(k), [size, size]),
      );
      const products = constants.map((each, k) =>
        x.matMul(g.constant(new Float32Array(size).fill(k + 1), [1, size])).add(each),
      );
      const rows = products.map((each) => each.sum(1));
      const all = products.reduce((sum, each, k) => sum.add(each.mul(rows[k].reshape([size, 1]))));
      return { y: all.slice([0, 0], [2, 2]) };
    },
    { device: 'webgpu' },
  );
  const x = tl.tensor(
    Float32Array.from({ length: size }, (_, k) => k % 3),
    [size, 1],
  );
  const { y } = run.run({ x });
  // Row r: (r k + k) + Σ over k > 1 of (r k + k) · size (r k + k).
  const expected = [0, 1].map((r) =>
    [2, 3, 4, 5].reduce((sum, k) => sum + size * ((r + 1) * k) ** 2, r + 1),
  );
  const actual = await y.data();
  for (const [at, each] of [expected[0], expected[0], expected[1], expected[1]].entries())
    assert.ok(Math.abs(actual[at] - each) <= 1e-5 * each, `${actual[at]} ${each}`);
  assert.ok(run.stats().temporaryBytes > limits.maxStorageBufferBindingSize);
  assert.ok(run.stats().memoryBytes > limits.maxBufferSize);
  for (const each of [x, y]) each.dispose();
  run.dispose();
  assert.deepEqual(tl.memory().devices.webgpu.bytes, before.bytes);
});
