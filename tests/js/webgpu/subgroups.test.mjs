// Long rows are reduced in subgroups where the GPU has them, in workgroup memory elsewhere: the same within rounding, and equal bits
// from run to run.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, test } from 'node:test';
import * as tl from 'tensorlathe/tfjs';

const gpu = createRequire(new URL('../../../js/dist/index.js', import.meta.url))('webgpu').create(
  [],
);
globalThis.navigator ??= {}; // Node 20
Object.defineProperty(navigator, 'gpu', { value: gpu, configurable: true });

after(() => tl.setDevice('wasm'));

const operations = {
  sum: (x) => x.sum(1),
  'sum of all': (x) => x.sum(),
  'sum of columns': (x) => x.sum(0),
  mean: (x) => x.mean(1),
  max: (x) => x.max(1),
  min: (x) => x.min(1),
  product: (x) => x.mul(0.01).add(1).prod(1),
  'sum of integers': (x) => x.toInt().sum(1),
  'extremes of integers': (x) => x.mul(100).toInt().max(1).sub(x.mul(100).toInt().min(1)),
  any: (x) => x.greater(4.9).any(1),
  argMax: (x) => x.argMax(1),
  softmax: (x) => x.softmax(),
  logSumExp: (x) => x.logSumExp(1),
  norm: (x) => x.norm('euclidean', 1),
  'layer norm': (x) => {
    const { mean, variance } = tl.moments(x, 1, true);
    return x.sub(mean).div(variance.add(1e-5).sqrt());
  },
};

const input = (rows, columns) =>
  tl.tensor2d(
    Float32Array.from({ length: rows * columns }, (_, i) => ((i * 7919) % 1000) / 100 - 5),
    [rows, columns],
  );

/** Lengths differ by device, as equal programs are compiled once. */
const devices = [
  { name: 'without subgroups', features: [], lengths: [128, 5000] },
  { name: 'with subgroups', features: ['subgroups'], lengths: [129, 6000] },
];

let last;
for (const { name, features, lengths } of devices) {
  test(`long rows ${name}`, async (t) => {
    const adapter = await gpu.requestAdapter();
    if (!features.every((each) => adapter.features.has(each))) return t.skip('the GPU has none');
    last?.destroy();
    await last?.lost;
    await tl.setDevice('wasm');
    last = await adapter.requestDevice({ requiredFeatures: features });
    const codes = [];
    const { createShaderModule } = last;
    last.createShaderModule = (descriptor) => {
      codes.push(descriptor.code);
      return createShaderModule.call(last, descriptor);
    };
    // Nothing is on a GPU that is lost.
    await tl.setDevice('webgpu', { device: last });
    for (const length of lengths) {
      for (const [operation, apply] of Object.entries(operations)) {
        await tl.setDevice('wasm');
        const expected = await apply(input(5, length)).data();
        await tl.setDevice('webgpu');
        const x = input(5, length);
        const results = [];
        for (let run = 0; run < 3; ++run) results.push(Array.from(await apply(x).data()));
        assert.deepEqual(results[1], results[0], operation);
        assert.deepEqual(results[2], results[0], operation);
        results[0].forEach((actual, i) => {
          const error = Math.abs(actual - Number(expected[i]));
          assert.ok(
            error <= 2e-5 * Math.max(1, Math.abs(expected[i])),
            `${operation} of ${length}: ${actual} for ${expected[i]}`,
          );
        });
      }
    }
    const used = codes.filter((code) => code.includes('enable subgroups;'));
    assert.equal(used.length > 0, features.length > 0);
    for (const call of ['subgroupAdd(', 'subgroupMax(', 'subgroup_max(', 'subgroup_min(']) {
      assert.equal(
        codes.some((code) => code.includes(call)),
        features.length > 0,
        call,
      );
    }
    assert.ok(codes.some((code) => code.includes('workgroupBarrier()')));
  });

  test(`NaN and infinities ${name}`, async () => {
    for (const special of [NaN, Infinity, -Infinity]) {
      const data = new Float32Array(2 * lengths[0]).fill(1);
      data[lengths[0] - 3] = special;
      const x = tl.tensor2d(data, [2, lengths[0]]);
      for (const [operation, fold] of Object.entries({ max: Math.max, min: Math.min })) {
        const actual = Array.from(await x[operation](1).data());
        assert.deepEqual(actual, [fold(1, special), 1], `${operation} with ${special}`);
      }
      assert.deepEqual(Array.from(await x.sum(1).data())[0], special);
    }
  });
}
