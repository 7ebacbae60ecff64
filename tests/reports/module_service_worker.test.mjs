// microsoft/onnxruntime#20876: service workers of type module have no import(). tensorlathe/onnxruntime as it is published, and
// the bundle, work there without a bundler.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { model, node, value } from '../js/onnx/write.mjs';

const dist = fileURLToPath(new URL('../../build/package/dist', import.meta.url));
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const skip = !existsSync(dist)
  ? 'js/scripts/pack.mjs has not made build/package'
  : !existsSync(executablePath) && 'there is no Chromium';

const onnx = model({
  nodes: [node('Neg', ['x'], ['y'])],
  inputs: [value('x', 'float32', [1])],
  outputs: [value('y', 'float32', [1])],
});

const worker = (imported, run) => `${imported}
addEventListener('install', () => self.skipWaiting());
addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
const run = async () => { ${run} };
addEventListener('message', (event) =>
  event.waitUntil(run().catch((error) => error.message).then((result) => event.source.postMessage(result))));`;

const page = `<!doctype html><link rel="icon" href="data:," /><script type="module">
navigator.serviceWorker.onmessage = ({ data }) => (window.result = data);
const registered = await navigator.serviceWorker.register('/sw.js', { type: 'module' });
await navigator.serviceWorker.ready;
registered.active.postMessage('run');
</script>`;

const types = { '.js': 'text/javascript', '.wasm': 'application/wasm', '.html': 'text/html' };

/** What the service worker answers. */
async function answered(script) {
  const made = { '/index.html': page, '/sw.js': script, '/m.onnx': onnx };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://x');
    const file = dist + pathname;
    const content = made[pathname] ?? (existsSync(file) && readFileSync(file));
    const type = types[extname(pathname)] ?? 'application/octet-stream';
    response.writeHead(content ? 200 : 404, { 'Content-Type': type });
    response.end(content || undefined);
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const tab = await browser.newPage();
    await tab.goto(`http://localhost:${server.address().port}/index.html`);
    await tab.waitForFunction(() => window.result !== undefined, undefined, { timeout: 30000 });
    return await tab.evaluate(() => window.result);
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
}

test('tensorlathe/onnxruntime', { skip }, async () => {
  const script = worker(
    "import { InferenceSession, Tensor } from '/onnxruntime/index.js';",
    `const session = await InferenceSession.create('/m.onnx');
     const { y } = await session.run({ x: new Tensor('float32', [2], [1]) });
     return [...y.data];`,
  );
  assert.deepEqual(await answered(script), [-2]);
});

test('the bundle: models of layers and ONNX models', { skip }, async () => {
  const script = worker(
    "import * as tl from '/bundle.js';",
    `await tl.ready();
     const net = tl.sequential();
     net.add(tl.layers.dense({ units: 1, inputShape: [1], kernelInitializer: 'ones' }));
     net.compile({ loss: 'meanSquaredError', optimizer: tl.train.sgd(0.5) });
     await net.fit(tl.tensor([[1]]), tl.tensor([[3]]), { epochs: 1 });
     const onnx = await tl.loadModel('/m.onnx');
     const [y] = Object.values(await onnx.run({ x: [2] }));
     return [net.predict(tl.tensor([[1]])).dataSync()[0], y.dataSync()[0]];`,
  );
  assert.deepEqual(await answered(script), [5, -2]);
});
