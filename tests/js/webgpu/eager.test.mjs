// Tensors on the device `webgpu`: operations, gradients, training, seeds and memory agree with the device `wasm`.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inspect } from 'node:util';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as tl from 'tensorlathe/tfjs';
import { loadDevice } from '../../../js/dist/devices/registry.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
let webgpu;

before(async () => {
  webgpu = await loadDevice('webgpu');
});

after(() => tl.setBackend('wasm'));

/** What an asynchronous function of tensors returns on each device. */
async function onBoth(run) {
  const results = [];
  for (const name of ['wasm', 'webgpu']) {
    await tl.setBackend(name);
    results.push(await run());
  }
  return results;
}

async function elementsOf(x) {
  const { dtype, shape } = x;
  const data = Array.from(await x.data());
  x.dispose();
  return { dtype, shape, data };
}

function near(expected, actual, tolerance = 1e-4) {
  assert.deepEqual([actual.dtype, actual.shape], [expected.dtype, expected.shape]);
  for (const [at, value] of expected.data.entries()) {
    const error = Math.abs(actual.data[at] - value);
    assert.ok(error <= tolerance * (1 + Math.abs(value)), `[${at}]: ${actual.data[at]}, ${value}`);
  }
}

const matrix = () => tl.tensor2d([1, -2, 3, 0.5, 5, -6], [2, 3]);
const image = () => tl.sin(tl.range(0, 2 * 6 * 6 * 3)).reshape([2, 6, 6, 3]);
const cases = {
  add: () => tl.add(matrix(), 1),
  matMul: () => tl.matMul(matrix(), matrix(), false, true),
  softmax: () => tl.softmax(matrix()),
  'sum of an axis': () => tl.sum(matrix(), 1),
  argMax: () => tl.argMax(matrix(), 0),
  comparison: () => tl.greater(matrix(), 0.5),
  where: () => tl.where(tl.less(matrix(), 0), tl.zerosLike(matrix()), matrix()),
  'integers of floats': () => tl.cast(tl.mul(matrix(), 1.6), 'int32'),
  'bool to float': () => tl.cast(tl.tensor1d([true, false], 'bool'), 'float32'),
  gather: () => tl.gather(matrix(), tl.tensor1d([1, 0, 1], 'int32')),
  concat: () => tl.concat([matrix(), matrix()], 1),
  transpose: () => tl.transpose(matrix()),
  conv2d: () => tl.conv2d(image(), tl.ones([3, 3, 3, 4]), 1, 'same'),
  maxPool: () => tl.maxPool(image(), 2, 2, 'valid'),
  'sorted values': () => tl.topk(matrix(), 2).values,
  cumsum: () => tl.cumsum(matrix(), 1),
  'no elements': () => tl.add(tl.zeros([0, 3]), 1),
  gradient: () => tl.grad((x) => tl.sum(tl.mul(tl.softmax(x), x)))(matrix()),
  'gradient of conv2d': () =>
    tl.grad((x) => tl.sum(tl.square(tl.conv2d(x, tl.ones([3, 3, 3, 2]), 2, 'same'))))(image()),
};

for (const [name, run] of Object.entries(cases)) {
  test(`${name} is the same on both devices`, async () => {
    const [expected, actual] = await onBoth(() => elementsOf(tl.tidy(run)));
    near(expected, actual);
  });
}

test('random bits are the same on both devices', async () => {
  const draw = () => elementsOf(tl.randomUniform([1000], 0, 1, 'float32', 7));
  const [expected, actual] = await onBoth(draw);
  assert.deepEqual(actual, expected);
});

test('a training loop has the same losses on both devices', async () => {
  const [expected, actual] = await onBoth(async () => {
    const x = tl.randomNormal([32, 2], 0, 1, 'float32', 1);
    const w = tl.variable(tl.zeros([2, 1]));
    const y = tl.tidy(() => tl.matMul(x, tl.tensor2d([2, -1], [2, 1])).add(0.5));
    const b = tl.variable(tl.zeros([1]));
    const optimizer = tl.train.adam(0.1);
    const data = [];
    for (let step = 0; step < 50; step += 1) {
      const loss = () => tl.losses.meanSquaredError(y, x.matMul(w).add(b));
      const value = optimizer.minimize(loss, true);
      data.push((await value.data())[0]);
      value.dispose();
    }
    tl.dispose([x, y, w, b]);
    optimizer.dispose();
    return { dtype: 'float32', shape: [50], data };
  });
  assert.ok(expected.data[49] < 0.05 * expected.data[0]);
  near(expected, actual, 0.01);
});

test('what tensors and loops of operations allocate is freed', async () => {
  await tl.setBackend('webgpu');
  const run = async () => {
    const y = tl.tidy(() => tl.softmax(tl.matMul(matrix(), matrix(), false, true)));
    await y.data();
    y.dispose();
  };
  await run();
  const before = webgpu.memory();
  for (let at = 0; at < 100; at += 1) await run();
  const after = webgpu.memory(); // less where tensors of other tests were collected
  for (const [name, count] of Object.entries(after)) assert.ok(count <= before[name], name);
});

test('tensors that are collected are freed', async () => {
  await tl.setBackend('webgpu');
  const { buffers } = webgpu.memory();
  await (async () => {
    const alive = [];
    for (let at = 0; at < 20; at += 1) {
      const x = matrix();
      alive.push(x, tl.add(x, at));
      await alive.at(-1).data();
    }
    assert.ok(webgpu.memory().buffers >= buffers + alive.length);
  })();
  for (let at = 0; at < 100 && webgpu.memory().buffers >= buffers + 10; at += 1) {
    await pause(10);
    collect();
  }
  const left = webgpu.memory().buffers - buffers;
  assert.ok(left < 10, `${left} buffers`); // of cached programs
});

test('a tensor prints what to await, or its elements once they are read', async () => {
  await tl.setBackend('webgpu');
  const x = tl.add(matrix(), 1);
  assert.equal(String(x), 'Tensor float32 [2,3], on webgpu: await data() to read it');
  assert.match(inspect({ x }), /on webgpu: await data\(\) to read it/);
  await x.data();
  assert.match(String(x), /\[\[2 *, -1 *, 4 *\]/);
});

test('elements are not read synchronously in Node', async () => {
  await tl.setBackend('webgpu');
  const x = tl.add(matrix(), 1);
  assert.throws(() => x.dataSync(), { name: 'LatheError', message: /await tensor\.data\(\)/ });
  x.dispose();
});

test('tensors whose elements the host has survive the loss of the GPU', async () => {
  await tl.setBackend('webgpu');
  const x = matrix();
  const y = tl.add(x, 1);
  assert.equal((await y.data())[0], 2);
  const z = tl.mul(x, 2);
  const unread = tl.mul(z, 2);
  const pending = unread.data();
  const gpu = webgpu.gpuDevice;
  gpu.destroy();
  await assert.rejects(pending, { name: 'DeviceLostError' });
  await gpu.lost;
  near(await elementsOf(tl.add(x, y)), {
    dtype: 'float32',
    shape: [2, 3],
    data: [3, -3, 7, 2, 11, -11],
  });
});

test('times are those until the device is done', async () => {
  await tl.setBackend('webgpu');
  const x = tl.randomNormal([512, 512]);
  const run = () => {
    let y = x;
    for (let step = 0; step < 4; step++) y = tl.matMul(y, x);
    return y;
  };
  await run().data();
  const { kernelMs, wallMs } = await tl.time(run);
  const start = performance.now();
  await run().data();
  const untilRead = performance.now() - start;
  assert.ok(kernelMs <= wallMs && kernelMs > 0.2 * untilRead, `${kernelMs} of ${untilRead} ms`);
  const { kernels } = await tl.profile(run);
  const total = kernels.reduce((sum, { kernelTimeMs }) => sum + kernelTimeMs, 0);
  assert.ok(total > 0.2 * untilRead, `${total} of ${untilRead} ms`);
  assert.equal(kernels.length, 4);
});
