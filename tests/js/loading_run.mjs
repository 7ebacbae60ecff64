// What tests/js/node/core/loading.test.mjs runs in a thread that looks like a page: there is no process, and `fetch` is ours.
import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

const requested = [];
let answers = [...workerData.answers];
delete globalThis.process;
globalThis.location = { href: 'https://example.org/app/page.html' };
globalThis.navigator ??= { userAgent: 'tests' };
globalThis.fetch = async (url, { signal } = {}) => {
  const request = { url: String(url), signal };
  requested.push(request);
  const { status = 200, type, text } = answers.shift() ?? {};
  await new Promise((done) => setTimeout(done));
  signal?.throwIfAborted();
  const name = /formats\.wasm$/.test(url) ? 'lathe-formats.wasm' : 'lathe-core.wasm';
  const body = text ?? readFileSync(new URL(`../../js/dist/core/${name}`, import.meta.url));
  return new Response(body, { status, headers: { 'content-type': type ?? 'application/wasm' } });
};

const attempt = async (action) => {
  try {
    return await action();
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
};

const tl = await import('tensorlathe');
const sum = () => [...tl.tensor([1, 2]).add(1).dataSync()];
const early = await attempt(sum);
if (workerData.chosen) tl.setWasmUrl(...workerData.chosen);
const results = [];
for (let i = 0; i < workerData.times; ++i)
  results.push(await attempt(async () => (await tl.ready(), sum())));
const late = await attempt(() => tl.setWasmUrl('x'));
/** Predictions of a model with one weight that `topology` describes. */
const one = (topology) => {
  const model = tl.Sequential.fromConfig(tl.Sequential, topology);
  return model.predict([[1]]).shape;
};
const made = [];
if (workerData.makesModels) {
  const config = { units: 2, batchInputShape: [null, 1] };
  const topology = { layers: [{ className: 'Dense', config }] };
  made.push(await attempt(() => one(topology)));
  await tl.ready();
  made.push(await attempt(() => one(topology)));
}
parentPort.postMessage({
  ...(workerData.makesModels && { made }),
  early,
  results,
  late,
  requested: requested.map(({ url, signal }) => [
    url.replace(/^file:.*\//, ''),
    signal?.aborted === true,
  ]),
});
