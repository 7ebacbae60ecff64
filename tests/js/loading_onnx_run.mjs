// What tests/js/node/core/loading.test.mjs runs in a thread that looks like a page, of a program that makes ONNX sessions.
import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { model, node, value } from './onnx/write.mjs';

const requested = [];
delete globalThis.process;
globalThis.location = { href: 'https://example.org/app/page.html' };
globalThis.navigator ??= { userAgent: 'tests' };
globalThis.fetch = async (url) => {
  const name = String(url).split('/').pop();
  requested.push(name);
  if (workerData.absent) return new Response('', { status: 404 });
  const body = readFileSync(new URL(`../../js/dist/core/${name}`, import.meta.url));
  return new Response(body, { headers: { 'content-type': 'application/wasm' } });
};

const squares = model({
  inputs: [value('x', 'float32', [2])],
  outputs: [value('y', 'float32', [2])],
  nodes: [node('Mul', ['x', 'x'], ['y'])],
});

async function run() {
  const ort = await import('tensorlathe/onnxruntime');
  const session = await ort.InferenceSession.create(squares);
  const { y } = await session.run({ x: new ort.Tensor('float32', [2, 3], [2]) });
  await session.release();
  return [...y.data];
}
const steps = {
  run,
  async add() {
    const tl = await import('tensorlathe');
    await tl.ready();
    return [...tl.tensor([1, 2]).add(1).dataSync()];
  },
  async both() {
    const tl = await import('tensorlathe');
    return Promise.all([run(), tl.ready()]).then(([result]) => result);
  },
};
const results = [];
for (const each of workerData.steps) results.push(await steps[each]());
parentPort.postMessage({ results, requested });
