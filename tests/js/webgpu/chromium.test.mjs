// The device `webgpu` in Chromium on SwiftShader, by Vulkan and in the compatibility mode by OpenGL ES: programs, errors, and reads that cannot wait, which go through a canvas.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { chromium } from 'playwright-core';
import { serve } from '../browser/server.mjs';

const args = [
  '--no-sandbox',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--enable-unsafe-webgpu',
  '--ignore-gpu-blocklist',
];
// Without Vulkan the process of the GPU ends when a canvas of WebGPU is drawn.
const vulkan = [
  '--use-webgpu-adapter=swiftshader',
  '--use-vulkan=swiftshader',
  '--enable-features=Vulkan',
];
const compatibility = ['--use-webgpu-adapter=opengles'];

for (const more of [vulkan, compatibility]) {
  const isCompatible = more === compatibility;
  describe(isCompatible ? 'compatibility' : 'core', () => testAdapter(more, isCompatible));
}

function testAdapter(more, isCompatible) {
  let browser;
  let server;
  let page;
  const warnings = [];

  before(async () => {
    browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: [...args, ...more],
    });
    server = await serve(true);
    page = await browser.newPage();
    page.on('console', (message) => warnings.push(message.text()));
    await page.goto(`${server.url}/tests/js/browser/page.html`);
    const hasCore = await page.evaluate(openDevice, isCompatible);
    assert.equal(hasCore, !isCompatible);
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
    // This canvas stays empty, as it does not belong to the adapter.
    if (isCompatible) return assert.rejects(page.evaluate(readSync), /await tensor\.data\(\)/);
    const differences = await page.evaluate(async () => {
      const found = [];
      for (const size of [0, 1, 255, 256, 257, 65536, 65537, 200_000]) {
        const program = device.loadExecutable(
          map(size, ['i32', 'i32'], `b1[i] = b0[i] ^ ${size};`),
        );
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

  test('tensors', async () => {
    const result = await page.evaluate(async (isCompatible) => {
      const tl = await import('/js/dist/tfjs.js');
      await tl.setBackend('webgpu');
      const x = tl.tensor2d([1, 2, 3, 4], [2, 2]);
      const product = tl.matMul(x, tl.add(x, 1));
      const gradient = tl.grad((each) => tl.sum(tl.square(each)))(x);
      const first = isCompatible ? await product.data() : product.dataSync();
      return [Array.from(first), Array.from(await gradient.data())];
    }, isCompatible);
    const gradient = [2, 4, 6, 8];
    assert.deepEqual(result, [[10, 13, 22, 29], gradient]);
  });

  test('images, canvases and videos stay on the GPU', async () => {
    const results = await page.evaluate(async () => {
      const tl = await import('/js/dist/tfjs.js');
      const size = { width: 37, height: 21 };
      const canvas = Object.assign(document.createElement('canvas'), size);
      const context = canvas.getContext('2d');
      const draw = (shift) => {
        for (let x = 0; x < size.width; x++) {
          context.fillStyle = `rgb(${(7 * x + shift) % 256} ${(90 + 3 * x) % 256} ${255 - 5 * x})`;
          context.fillRect(x, 0, 1, size.height);
        }
      };
      draw(0);
      const offscreen = new OffscreenCanvas(size.width, size.height);
      offscreen.getContext('2d').drawImage(canvas, 0, 0);
      const image = new Image();
      image.src = canvas.toDataURL();
      await image.decode();
      const video = Object.assign(document.createElement('video'), { muted: true });
      video.srcObject = canvas.captureStream();
      void video.play();
      while (video.readyState < 2) {
        draw(0);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const sources = { canvas, offscreen, image, bitmap: await createImageBitmap(canvas), video };
      const readBacks = { count: 0 };
      for (const { prototype } of [CanvasRenderingContext2D, OffscreenCanvasRenderingContext2D]) {
        const { getImageData } = prototype;
        prototype.getImageData = function (...args) {
          readBacks.count += 1;
          return getImageData.apply(this, args);
        };
      }
      const all = {};
      for (const [name, source] of Object.entries(sources)) {
        for (const channels of [1, 3, 4]) {
          const read = async (backend) => {
            await tl.setBackend(backend);
            readBacks.count = 0;
            const tensor = tl.browser.fromPixels(source, channels);
            const { count } = readBacks;
            // What is drawn later is not seen.
            if (name === 'canvas') draw(50);
            const data = Array.from(await tensor.data());
            if (name === 'canvas') draw(0);
            const shape = tensor.shape.join();
            tensor.dispose();
            return [data, count, shape];
          };
          const [expected, , shape] = await read('wasm');
          const [actual, count, sameShape] = await read('webgpu');
          const worst = Math.max(...actual.map((each, at) => Math.abs(each - expected[at])));
          all[`${name} ${channels}`] = [worst, count, shape === sameShape];
        }
      }
      video.srcObject.getTracks().forEach((track) => track.stop());
      await tl.setBackend('webgpu');
      const before = tl.memory().numTensors;
      const batch = await tl.browser.fromPixelsAsync(image);
      const mean = (await batch.toFloat().mean().data())[0];
      return { all, mean, before };
    });
    for (const [what, [worst, readBacks, isSameShape]] of Object.entries(results.all)) {
      assert.ok(isSameShape, what);
      const isVideo = what.startsWith('video');
      assert.equal(readBacks, isVideo && isCompatible ? 1 : 0, what);
      // Videos are converted from YUV.
      assert.ok(worst <= (isVideo ? 4 : 0), `${what}: ${worst}`);
    }
    assert.ok(results.mean > 0);
  });

  test('an ONNX model, and a session whose tensors are in buffers', async () => {
    const result = await page.evaluate(async () => {
      const [tl, ort, { cnn }] = await Promise.all(
        [
          '/js/dist/index.js',
          '/js/dist/onnxruntime/index.js',
          '/tests/js/webgpu/onnx_models.mjs',
        ].map((module) => import(module)),
      );
      await tl.ready();
      const x = Float32Array.from({ length: 768 }, (_, at) => Math.sin(at));
      const outputs = [];
      for (const device of ['wasm', 'webgpu']) {
        const model = await tl.loadModel(cnn(), { device, strict: true });
        outputs.push(Array.from(await (await model.run({ x })).y.data()));
        model.dispose();
      }
      const session = await ort.InferenceSession.create(cnn(), {
        executionProviders: ['webgpu'],
        preferredOutputLocation: 'gpu-buffer',
      });
      const gpu = await ort.env.webgpu.device;
      const buffer = gpu.createBuffer({
        size: x.byteLength,
        usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST,
      });
      gpu.queue.writeBuffer(buffer, 0, x);
      const { y } = await session.run({
        x: ort.Tensor.fromGpuBuffer(buffer, { dims: [1, 3, 16, 16] }),
      });
      const { location } = y;
      outputs.push(Array.from(await y.getData(true)));
      await session.release();
      return [location, ...outputs];
    });
    const [location, expected, ...others] = result;
    assert.equal(location, 'gpu-buffer');
    for (const actual of others)
      expected.forEach((each, at) => assert.ok(Math.abs(actual[at] - each) < 1e-4));
  });

  test('a decoder', async () => {
    const [expected, actual] = await page.evaluate(async () => {
      const [tl, { llama, generate }, { random }] = await Promise.all(
        ['/js/dist/index.js', '/tests/js/onnx/llama.mjs', '/tests/js/onnx/write.mjs'].map(
          (module) => import(module),
        ),
      );
      await tl.ready();
      const config = {
        width: 32,
        heads: 2,
        groups: 1,
        layers: 2,
        hidden: 24,
        vocabulary: 19,
        positions: 64,
      };
      const weights = (name, shape) =>
        name.includes('norm')
          ? new Float32Array(shape[0]).fill(1)
          : random(name.length + name.charCodeAt(0), shape, 0.4).data;
      const results = [];
      for (const device of ['wasm', 'webgpu']) {
        const model = await tl.loadModel(llama(config, weights), { device, strict: true });
        const make = {
          int64: (values) => tl.tensor(BigInt64Array.from(values, BigInt), [1, values.length]),
          zeros: (shape) => tl.zeros(shape),
          pick: async (logits, length, vocabulary) => {
            const last = (await logits.data()).subarray((length - 1) * vocabulary);
            return last.indexOf(Math.max(...last));
          },
        };
        const prompt = Array.from({ length: 21 }, (_, at) => (at * 7) % 19);
        results.push(await generate(config, (feeds) => model.run(feeds), prompt, 8, make));
        model.dispose();
      }
      return results;
    });
    assert.deepEqual(actual, expected);
  });

  test('a model of layers trains and predicts', async () => {
    const result = await page.evaluate(async (isCompatible) => {
      const tl = await import('/js/dist/tfjs.js');
      await tl.setBackend('webgpu');
      const model = tl.sequential();
      model.add(tl.layers.dense({ units: 1, inputShape: [1] }));
      model.compile({ loss: 'meanSquaredError', optimizer: tl.train.sgd(0.1) });
      const x = tl.tensor2d([-1, 0, 1, 2, 3, 4], [6, 1]);
      const y = tl.tensor2d([-3, -1, 1, 3, 5, 7], [6, 1]);
      await model.fit(x, y, { epochs: 200 });
      const at10 = model.predict(tl.tensor2d([10], [1, 1]));
      const loss = isCompatible ? await model.evaluateAsync(x, y) : model.evaluate(x, y);
      const read = (tensor) => (isCompatible ? tensor.data() : tensor.dataSync());
      const results = [(await read(at10))[0], (await read(loss))[0]];
      model.dispose();
      return results;
    }, isCompatible);
    assert.ok(Math.abs(result[0] - 19) < 0.05, `${result[0]}`);
    assert.ok(result[1] < 1e-3, `${result[1]}`);
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
}

const readSync = () =>
  device.readSync(Value.of(device, 'float32', [1]).materialize(), 'float32', 1);

/** In the page: opens a device, of the compatibility level only if so; whether it has the features of the core level. */
async function openDevice(isCompatible) {
  const { gpu } = navigator;
  const request = gpu.requestAdapter.bind(gpu);
  gpu.requestAdapter = async (options) =>
    isCompatible && options.featureLevel === undefined ? null : request(options);
  const { WebGpuDevice } = await import('/js/dist/runtime/webgpu/device.js');
  Object.assign(globalThis, await import('/tests/js/webgpu/executables.mjs'));
  globalThis.device = new WebGpuDevice();
  await device.ready();
  return device.gpuDevice.features.has('core-features-and-limits');
}

test(
  'where drawing a canvas ends the GPU, reads reject, and the next use acquires another',
  {
    timeout: 60_000,
  },
  async () => {
    const browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: ['--no-sandbox', '--enable-unsafe-webgpu'],
    });
    const server = await serve(true);
    try {
      const page = await browser.newPage();
      const uncaught = [];
      page.on('pageerror', ({ message }) => uncaught.push(message));
      await page.goto(`${server.url}/tests/js/browser/page.html`);
      const result = await page.evaluate(async () => {
        const tl = await import('/js/dist/index.js');
        await tl.ready();
        await tl.setDevice('webgpu');
        const x = tl.tensor([1, 2, 3, 4], [2, 2]);
        let refused;
        try {
          x.matMul(x).dataSync();
        } catch ({ message }) {
          refused = message;
        }
        // The first may be lost with the GPU.
        const first = await x
          .add(1)
          .data()
          .then(Array.from, ({ name }) => name);
        return { refused, first, second: Array.from(await x.add(2).data()) };
      });
      assert.match(result.refused ?? 'await tensor.data()', /await tensor\.data\(\)/);
      assert.ok(['DeviceLostError', '2,3,4,5'].includes(String(result.first)), result.first);
      assert.deepEqual(result.second, [3, 4, 5, 6]);
      assert.deepEqual(uncaught, []);
    } finally {
      await browser.close();
      server.stop();
    }
  },
);
