// The device `webgpu` in Chromium on SwiftShader: programs, errors, and reads that cannot wait, which go through a canvas.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { serve } from '../browser/server.mjs';

const args = [
  '--no-sandbox',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
  // Without these the process of the GPU ends when a canvas of WebGPU is drawn.
  '--use-vulkan=swiftshader',
  '--enable-features=Vulkan',
  '--ignore-gpu-blocklist',
];

let browser;
let server;
let page;
const warnings = [];

before(async () => {
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args });
  server = await serve(true);
  page = await browser.newPage();
  page.on('console', (message) => warnings.push(message.text()));
  await page.goto(`${server.url}/tests/js/browser/page.html`);
  await page.evaluate(async () => {
    const { WebGpuDevice } = await import('/js/dist/runtime/webgpu/device.js');
    Object.assign(globalThis, await import('/tests/js/webgpu/executables.mjs'));
    globalThis.device = new WebGpuDevice();
    await device.ready();
  });
});

after(async () => {
  await browser.close();
  server.stop();
});

test('values, programs and errors', async () => {
  const result = await page.evaluate(async () => {
    const double = device.loadExecutable(map(3, ['f32', 'f32'], 'b1[i] = 2 * b0[i];'));
    const wrong = device.loadExecutable(map(3, ['f32', 'f32'], 'b1[i] = unknown;'));
    const x = Value.of(device, 'float32', [1, 2, 3]);
    const [y, z] = [0, 1].map(() => new Value(device, 'float32', [3]));
    double.run([x], [y]);
    wrong.run([y], [z]);
    const read = Array.from(await y.read());
    return [read, await z.read().catch(({ message }) => message)];
  });
  assert.deepEqual(result[0], [2, 4, 6]);
  assert.match(result[1], /kernel map does not compile: line 6: .*unknown/);
});

test('reads without waiting have all bits, before pipelines are compiled', async () => {
  warnings.length = 0;
  const differences = await page.evaluate(async () => {
    const found = [];
    for (const size of [0, 1, 255, 256, 257, 65536, 65537, 200_000]) {
      const program = device.loadExecutable(map(size, ['i32', 'i32'], `b1[i] = b0[i] ^ ${size};`));
      const values = Int32Array.from({ length: size }, (_, i) => Math.imul(i + 1, 0x9e3779b1));
      const x = Value.of(device, 'int32', values);
      const y = new Value(device, 'int32', [size]);
      program.run([x], [y]);
      const read = device.readSync(y.materialize(), 'int32', size);
      const wrong = values.findIndex((each, at) => read[at] !== (each ^ size));
      if (read.length !== size || wrong >= 0) {
        found.push(`${size}: at ${wrong} ${read[wrong]} instead of ${values[wrong] ^ size}`);
      }
    }
    return found;
  });
  assert.deepEqual(differences, []);
  const slow = warnings.filter((each) => /reading a tensor synchronously .* is slow/.test(each));
  assert.equal(slow.length, 1);
});

test('a lost device', async () => {
  const result = await page.evaluate(async () => {
    const x = Value.of(device, 'float32', [1, 2, 3]);
    const pending = x.read().catch(({ name }) => name);
    device.gpuDevice.destroy();
    const names = [await pending, await x.read().catch(({ name }) => name)];
    return [...names, (await Value.of(device, 'float32', [4]).read())[0]];
  });
  assert.deepEqual(result, ['DeviceLostError', 'DeviceLostError', 4]);
});
