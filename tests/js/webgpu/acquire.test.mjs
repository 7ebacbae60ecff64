// How a GPU is found: the npm package in Node, the compatibility level, features and limits, and reasons why there is none.
import assert from 'node:assert/strict';
import Module from 'node:module';
import { afterEach, test } from 'node:test';
import * as tl from 'tensorlathe';
import { acquireDevice } from '../../../js/dist/runtime/webgpu/acquire.js';
import { env } from '../../../js/dist/runtime/env.js';
import { WebGpuDevice } from '../../../js/dist/runtime/webgpu/device.js';

const resolve = Module._resolveFilename;
globalThis.navigator ??= {}; // Node 20
const pageGpu = (gpu) =>
  Object.defineProperty(navigator, 'gpu', { value: gpu, configurable: true });

afterEach(() => {
  delete navigator.gpu;
  Module._resolveFilename = resolve;
});

const report = () => env().report().WEBGPU;

test('without the npm package the error names it', async () => {
  assert.equal(report().why, 'it is there; no GPU has been requested yet');
  Module._resolveFilename = (name, ...rest) => {
    if (name === 'webgpu') throw Object.assign(new Error(name), { code: 'MODULE_NOT_FOUND' });
    return resolve(name, ...rest);
  };
  const device = new WebGpuDevice();
  const message =
    'WebGPU: Node needs the npm package webgpu, which is not installed: npm install webgpu';
  await assert.rejects(device.ready(), { name: 'LatheError', message });
  const error = await tl.setDevice('webgpu').catch((thrown) => thrown);
  assert.equal(error.message, `device "webgpu" is not available: ${message}`);
  assert.equal(error.cause, undefined, 'the message says all: Node would print each cause');
  const value = device.allocate('float32', 1);
  device.write(value, 'float32', Float32Array.of(1));
  await assert.rejects(device.read(value, 'float32', 1), { message });
  assert.deepEqual(report(), { value: false, by: 'probe', why: message.replace('WebGPU: ', '') });
});

test('a later use finds it', async () => {
  const device = new WebGpuDevice();
  await device.ready();
  assert.deepEqual(report(), { value: true, by: 'probe', why: 'a GPU is in use' });
  const { limits, features } = device.gpuDevice;
  assert.ok(limits.maxStorageBuffersPerShaderStage > 8, 'more than the default');
  assert.ok(limits.maxBufferSize > 2 ** 28, 'more than the default');
  assert.ok(features.has('subgroups'));
});

test('an adapter of the compatibility level is used if there is no other', async () => {
  const requests = [];
  const made = {};
  const adapter = {
    features: new Set(['shader-f16', 'unknown']),
    limits: { maxBufferSize: 1000 },
    requestDevice: async (request) => Object.assign(made, request),
  };
  pageGpu({
    requestAdapter: async (request) => {
      requests.push(request);
      return request.featureLevel === 'compatibility' ? adapter : null;
    },
  });
  assert.equal(await acquireDevice({ powerPreference: 'low-power' }), made);
  assert.deepEqual(requests, [
    { powerPreference: 'low-power' },
    { powerPreference: 'low-power', featureLevel: 'compatibility' },
  ]);
  assert.deepEqual(made.requiredFeatures, ['shader-f16']);
  assert.equal(made.requiredLimits.maxBufferSize, 1000);
});

test('without an adapter the reason is kept', async () => {
  pageGpu({ requestAdapter: async () => null });
  await assert.rejects(acquireDevice({}), {
    message: 'WebGPU: there is no GPU that WebGPU can use',
  });
  assert.equal(report().why, 'there is no GPU that WebGPU can use');
});

test('env().set turns it off', async () => {
  env().set('WEBGPU', false);
  try {
    await assert.rejects(new WebGpuDevice().ready(), /turned off by env\(\)\.set/);
  } finally {
    env().reset();
  }
});
