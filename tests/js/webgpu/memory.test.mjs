// What programs and values allocate is freed: by dispose, by the garbage collector, and by the loss of the GPU.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { WebGpuDevice } from '../../../js/dist/runtime/webgpu/device.js';
import { executable, map, port, region, shader, Value } from './executables.mjs';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

/** y = x + constant, through a temporary. */
function program(constant, extra = {}) {
  const add = shader(['f32', 'f32', 'f32'], 'if (i < 64) { b2[i] = b0[i] + b1[i]; }');
  const temporary = { of: 'scratch', offset: 0, bytes: 256, access: 'read_write' };
  const constantRegion = { of: 'constants', offset: 0, bytes: 256, access: 'read' };
  const data = new Uint8Array(new Float32Array(64).fill(constant).buffer);
  return executable({
    scratchBytes: 256,
    constantBytes: 256,
    constants: [{ offset: 0, data }],
    states: [port('s', 'f32', 64)],
    inputs: [port('x', 'f32', 64)],
    outputs: [port('y', 'f32', 64)],
    shaders: [add],
    kernels: [
      {
        name: 'add',
        shader: 0,
        groups: [1, 1],
        bindings: [region('input', 0, 256, 'read'), constantRegion, temporary],
      },
    ],
    steps: [0, { copy: { from: temporary, to: region('output', 0, 256) } }],
    ...extra,
  });
}

const ones = (device) => Value.of(device, 'float32', Array(64).fill(1));
const firstOf = async (value) => (await value.read())[0];

test('1,000 programs loaded, run and disposed of leave bytes and counts as they were', async () => {
  const device = new WebGpuDevice();
  await device.ready();
  const cycle = async (at) => {
    const loaded = device.loadExecutable(program(at));
    const [x, y] = [ones(device), new Value(device, 'float32', [64])];
    loaded.run([x], [y]);
    const read = at % 10 === 0 ? firstOf(y) : undefined;
    [loaded.dispose(), x.deallocate(), y.deallocate()];
    if (read !== undefined) assert.equal(await read, at + 1);
  };
  const before = device.memory();
  assert.deepEqual([before.bytes, before.buffers], [0, 0]);
  for (let at = 0; at < 10; at += 1) await cycle(at);
  const warm = device.memory();
  for (let at = 0; at < 1000; at += 1) await cycle(at);
  assert.deepEqual(device.memory(), warm);
  assert.deepEqual([warm.bytes, warm.buffers], [0, 0]);
});

test('programs that are collected are freed', async () => {
  const device = new WebGpuDevice();
  await device.ready();
  (() => {
    for (let at = 0; at < 20; at += 1) device.loadExecutable(program(at));
  })();
  assert.equal(device.memory().buffers, 40); // constants and states; temporaries once one runs
  for (let at = 0; at < 50 && device.memory().buffers > 0; at += 1) {
    await pause(10);
    collect();
  }
  assert.deepEqual([device.memory().bytes, device.memory().buffers], [0, 0]);
});

/** y = x + the constants of three ranges: one of 80 KiB, and two small ones around it. */
function summed(first, large, last) {
  const [small, size] = [64, 20480];
  const offsets = [0, 256, 256 + 4 * size];
  const filled = (count, number) => new Uint8Array(new Float32Array(count).fill(number).buffer);
  const parts = [filled(small, first), filled(size, large), filled(small, last)];
  const bindings = parts.map(({ length: bytes }, at) => {
    return { of: 'constants', offset: offsets[at], bytes, access: 'read' };
  });
  const dtypes = ['f32', 'f32', 'f32', 'f32', 'f32'];
  const text = shader(dtypes, `b4[i] = b0[i] + b1[i] + b2[i + ${size - small}] + b3[i];`);
  return executable({
    shaders: [text],
    constantBytes: 512 + 4 * size,
    constants: parts.map((data, at) => ({ offset: offsets[at], data })),
    inputs: [port('x', 'float32', small)],
    outputs: [port('y', 'float32', small)],
    kernels: [
      {
        name: 'sum',
        shader: 0,
        groups: [1, 1],
        bindings: [
          region('input', 0, 256, 'read'),
          ...bindings,
          region('output', 0, 256, 'read_write'),
        ],
      },
    ],
  });
}

test('programs share large constants that are equal, until the last is gone', async () => {
  const device = new WebGpuDevice();
  await device.ready();
  const [x, y] = [ones(device), new Value(device, 'float32', [64])];
  const before = device.memory().bytes;
  const run = async (program) => {
    program.run([x], [y]);
    const sum = await firstOf(y);
    y.deallocate();
    return sum;
  };
  const first = device.loadExecutable(summed(1, 10, 100));
  const alone = device.memory().bytes - before;
  const second = device.loadExecutable(summed(2, 10, 200));
  const third = device.loadExecutable(summed(1, 20, 100));
  assert.deepEqual([await run(first), await run(second), await run(third)], [112, 213, 122]);
  // The small ones are equal, too, in the first and the third.
  assert.equal(device.memory().bytes - before, alone + 512 + 81920);
  first.dispose();
  assert.deepEqual([await run(second), await run(third)], [213, 122]);
  const gpu = device.gpuDevice;
  gpu.destroy();
  await gpu.lost;
  x.hostCopy = new Float32Array(64).fill(1);
  assert.deepEqual([await run(third), await run(second)], [122, 213]);
  for (const each of [second, third]) each.dispose();
  assert.equal(device.memory().bytes, before);
  x.deallocate();
});

test('idle buffers are bounded', async () => {
  const device = new WebGpuDevice();
  await device.ready();
  for (let size = 2 ** 20; size < 2 ** 22; size += 2 ** 16) {
    const value = new Value(device, 'float32', [size]).allocate();
    device.write(value.materialize(), 'float32', Float32Array.of(1));
    value.deallocate();
  }
  assert.ok(device.memory().reserved <= 80 * 2 ** 20, `${device.memory().reserved} bytes`);
});

test('the loss of the GPU rejects pending reads; the next use acquires another', async () => {
  const device = new WebGpuDevice();
  await device.ready();
  const loaded = device.loadExecutable(program(5));
  const again = device.loadExecutable(program(7));
  const [x, y] = [ones(device), new Value(device, 'float32', [64])];
  loaded.run([x], [y]);
  const pending = y.read();
  const gpu = device.gpuDevice;
  gpu.destroy();
  const lost = { name: 'DeviceLostError' };
  await assert.rejects(pending, lost);
  await assert.rejects(y.read(), lost);
  assert.notEqual(device.gpuDevice, gpu);
  y.deallocate();
  loaded.run([x], [y]); // of an input that is lost
  await assert.rejects(y.read(), {
    ...lost,
    message: 'the GPU was lost, and with it the elements of this tensor',
  });
  y.deallocate();
  x.hostCopy = new Float32Array(64).fill(4);
  const fresh = device.loadExecutable(map(64, ['f32', 'f32'], 'b1[i] = 2 * b0[i];'));
  fresh.run([x], [y]); // of the copy on the host
  assert.equal(await firstOf(y), 8);
  fresh.dispose();
  x.hostCopy = undefined;
  y.deallocate();
  device.write(x.materialize(), 'float32', new Float32Array(64).fill(2));
  device.write(loaded.state(0), 'float32', new Float32Array(64));
  device.write(again.state(0), 'float32', new Float32Array(64));
  loaded.run([x], [y]);
  assert.equal(await firstOf(y), 7);
  y.deallocate();
  again.run([x], [y]);
  assert.equal(await firstOf(y), 9);
  [x.deallocate(), y.deallocate(), loaded.dispose(), again.dispose()];
  assert.deepEqual([device.memory().bytes, device.memory().buffers], [0, 0]);
});

test('a loss while pipelines are compiled', async () => {
  const device = new WebGpuDevice();
  await device.ready();
  const loaded = device.loadExecutable(map(64, ['f32', 'f32'], 'b1[i] = 3 * b0[i] + 1;'));
  const y = new Value(device, 'float32', [64]);
  loaded.run([ones(device)], [y]);
  device.gpuDevice.destroy();
  await assert.rejects(y.read(), { name: 'DeviceLostError' });
  y.deallocate();
  loaded.run([ones(device)], [y]);
  assert.equal(await firstOf(y), 4);
});

test("the program's own device is used, and not replaced", async () => {
  const source = new WebGpuDevice({ powerPreference: 'high-performance' });
  await source.ready();
  const own = source.gpuDevice;
  const device = new WebGpuDevice({ device: own });
  assert.equal(await firstOf(ones(device)), 1);
  assert.equal(device.gpuDevice, own);
  own.destroy();
  await own.lost;
  await assert.rejects(ones(device).read(), { name: 'DeviceLostError', message: /passed is lost/ });
});
