// Sessions of tensorlathe/onnxruntime with the execution provider webgpu: results, tensors in buffers of the GPU, fallbacks, memory.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tl from 'tensorlathe';
import * as ort from 'tensorlathe/onnxruntime';
import { model, node, value } from '../onnx/write.mjs';
import { cnn, encoder, tokens } from './onnx_models.mjs';

const { InferenceSession, Tensor, env } = ort;
const onGpu = { executionProviders: ['webgpu'] };
let gpu;

before(async () => {
  env.webgpu.powerPreference = 'high-performance';
  assert.throws(() => (env.webgpu.device = {}), /must be a GPUDevice/);
  gpu = await env.webgpu.device;
});

const counts = () => {
  const { bytes = 0, buffers = 0 } = tl.memory().devices.webgpu ?? {};
  return { bytes, buffers };
};

const image = (batch) =>
  Float32Array.from({ length: batch * 768 }, (_, at) => Math.sin(at * 0.37) + batch);

function near(actual, expected, tolerance = 1e-4) {
  assert.equal(actual.length, expected.length);
  for (const [at, each] of expected.entries())
    assert.ok(Math.abs(Number(actual[at]) - Number(each)) <= tolerance, `${at}: ${actual[at]}`);
}

/** Runs calls on both providers. */
async function assertSame(bytes, calls) {
  const expected = await InferenceSession.create(bytes, { executionProviders: ['wasm'] });
  const before = counts();
  const actual = await InferenceSession.create(bytes, {
    executionProviders: [{ name: 'webgpu', preferredLayout: 'NHWC' }, 'wasm'],
    enableGraphCapture: false,
  });
  for (const feeds of calls) {
    const [a, b] = [await actual.run(feeds), await expected.run(feeds)];
    assert.deepEqual(Object.keys(a), Object.keys(b));
    for (const [name, { data, dims, type }] of Object.entries(b)) {
      assert.deepEqual([a[name].type, a[name].dims, a[name].location], [type, dims, 'cpu']);
      near(a[name].data, data);
    }
  }
  await actual.release();
  await expected.release();
  assert.deepEqual(counts(), before);
}

test('a network of convolutions', () => {
  const calls = [1, 2].map((batch) => ({ x: new Tensor(image(batch), [batch, 3, 16, 16]) }));
  return assertSame(cnn(), calls);
});

test('an encoder', () => {
  const calls = [5, 7].map((length) => {
    const { ids, mask } = tokens(1, length);
    return { ids: new Tensor(ids, [1, length]), mask: new Tensor(mask, [1, length]) };
  });
  return assertSame(encoder({ layers: 1 }), calls);
});

/** A buffer with the bytes of an array. */
function bufferOf(data) {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const size = Math.ceil(bytes.length / 16) * 16;
  const buffer = gpu.createBuffer({ size, usage: 128 | 4 | 8, mappedAtCreation: true });
  new Uint8Array(buffer.getMappedRange()).set(bytes);
  buffer.unmap();
  return buffer;
}

/** The bytes of a buffer. */
async function bytesOf(buffer, length) {
  const staging = gpu.createBuffer({ size: Math.ceil(length / 4) * 4, usage: 1 | 8 });
  const commands = gpu.createCommandEncoder();
  commands.copyBufferToBuffer(buffer, 0, staging, 0, staging.size);
  gpu.queue.submit([commands.finish()]);
  await staging.mapAsync(1);
  const bytes = new Uint8Array(staging.getMappedRange().slice(0, length));
  staging.destroy();
  return bytes;
}

const identity = (dtype) =>
  model({
    nodes: [node('Concat', ['x', 'x'], ['y'], { axis: 0 })],
    inputs: [value('x', dtype, ['n'])],
    outputs: [value('y', dtype, ['m'])],
  });
const elements = {
  float32: Float32Array.of(1.5, -2, 0.25),
  int32: Int32Array.of(1, -2, 2 ** 30),
  uint32: Uint32Array.of(1, 2, 2 ** 32 - 1),
  int64: BigInt64Array.of(1n, -2n, 2n ** 30n),
  uint8: Uint8Array.of(1, 255, 128, 7, 9),
  bool: Uint8Array.of(1, 0, 1, 1, 0),
  float16: Uint16Array.of(0x3c00, 0xc000, 0x0001),
};
for (const [dtype, data] of Object.entries(elements)) {
  test(`inputs and outputs in buffers of ${dtype}`, async () => {
    const before = counts();
    const session = await InferenceSession.create(identity(dtype), {
      ...onGpu,
      preferredOutputLocation: 'gpu-buffer',
      enableGraphCapture: true,
    });
    const buffer = bufferOf(data);
    const x = Tensor.fromGpuBuffer(buffer, { dataType: dtype, dims: [data.length] });
    const { y } = await session.run({ x });
    const doubled = new data.constructor([...data, ...data]);
    assert.deepEqual([y.location, y.type, y.dims], ['gpu-buffer', dtype, [2 * data.length]]);
    const bytes = new Uint8Array(doubled.buffer);
    assert.deepEqual(await bytesOf(y.gpuBuffer, bytes.length), bytes);
    // An output as the next input, and as the buffer of another output.
    const target = Tensor.fromGpuBuffer(bufferOf(new data.constructor(4 * data.length)), {
      dataType: dtype,
      dims: [4 * data.length],
    });
    const fetched = await session.run({ x: y }, { y: target });
    assert.equal(fetched.y, target);
    const both = new Uint8Array([...bytes, ...bytes]);
    assert.deepEqual(await bytesOf(target.gpuBuffer, both.length), both);
    const read = await y.getData(true);
    assert.deepEqual(new Uint8Array(read.buffer, read.byteOffset, read.byteLength), bytes);
    assert.equal(y.location, 'cpu');
    await session.release();
    assert.deepEqual(counts(), before);
  });
}

test('locations by output', async () => {
  const before = counts();
  const session = await InferenceSession.create(cnn(), {
    ...onGpu,
    preferredOutputLocation: { y: 'gpu-buffer' },
  });
  const { y, classes } = await session.run({ x: new Tensor(image(1), [1, 3, 16, 16]) });
  assert.deepEqual([y.location, classes.location], ['gpu-buffer', 'cpu']);
  const only = await session.run({ x: new Tensor(image(1), [1, 3, 16, 16]) }, ['classes']);
  assert.deepEqual(only.classes.data, classes.data);
  y.dispose();
  await session.release();
  assert.deepEqual(counts(), before);
});

test('tensors in buffers need the provider, and enough elements', async () => {
  const session = await InferenceSession.create(identity('float32'), {
    executionProviders: ['wasm'],
  });
  const x = Tensor.fromGpuBuffer(bufferOf(Float32Array.of(1)), { dims: [1] });
  await assert.rejects(session.run({ x }), /"gpu-buffer" is not supported without .* webgpu/);
  await session.release();
  const other = await InferenceSession.create(identity('float32'), onGpu);
  const short = Tensor.fromGpuBuffer(bufferOf(Float32Array.of(1)), { dims: [100] });
  await assert.rejects(other.run({ x: short }), /16 bytes is too small for float32 \[100\]/);
  await other.release();
});

test('what shaders do not have runs on the processor, with one warning; outputs move to the GPU', async () => {
  const { warn } = console;
  const printed = [];
  console.warn = (message) => printed.push(message);
  try {
    // Arithmetic in float64.
    const wide = model({
      nodes: [
        node('Cast', ['x'], ['d'], { to: 11 }),
        node('Sin', ['d'], ['s']),
        node('Cast', ['s'], ['y'], { to: 1 }),
      ],
      inputs: [value('x', 'float32', ['n'])],
      outputs: [value('y', 'float32', ['n'])],
    });
    const expected = Float32Array.of(0, Math.sin(1), Math.sin(2));
    const options = { ...onGpu, preferredOutputLocation: 'gpu-buffer' };
    const session = await InferenceSession.create(wide, options);
    const x = Tensor.fromGpuBuffer(bufferOf(Float32Array.of(0, 1, 2)), { dims: [3] });
    for (let k = 0; k < 2; k++) {
      const { y } = await session.run({ x });
      assert.deepEqual([y.location, y.dims], ['gpu-buffer', [3]]);
      assert.deepEqual(await y.getData(), expected);
    }
    await session.release();
    const quiet = await InferenceSession.create(wide, { ...onGpu, logSeverityLevel: 3 });
    assert.deepEqual((await quiet.run({ x })).y.data, expected);
    await quiet.release();
  } finally {
    console.warn = warn;
  }
  assert.equal(printed.length, 1);
  assert.match(printed[0], /runs on wasm, not on webgpu: .*f64/);
});

test('the settings of env.webgpu', async () => {
  assert.equal(await env.webgpu.device, gpu);
  assert.throws(() => (env.webgpu.device = gpu), /before the first session/);
  await tl.setDevice('webgpu');
  assert.equal((await tl.ones([2]).data())[0], 1);
  await tl.setDevice('wasm');
});
