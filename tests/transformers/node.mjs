// Runs the tasks in Node and prints their results. Arguments: where the models are; how the runtime gets in:
//   reference   ONNX Runtime Web by globalThis[Symbol.for('onnxruntime')], which transformers.js looks up first
//   hook        the same with tensorlathe/onnxruntime
//   redirect    imports and requires of onnxruntime-node and onnxruntime-common resolve to tensorlathe/onnxruntime
//   webgpu      the same on the device webgpu
import module from 'node:module';
import { runTasks } from './tasks.mjs';

const [folder, way] = process.argv.slice(2);
const web = new URL('../../node_modules/onnxruntime-web/dist/', import.meta.url);

if (way === 'redirect' || way === 'webgpu') {
  const names = ['onnxruntime-node', 'onnxruntime-common'];
  const ours = import.meta.resolve('tensorlathe/onnxruntime');
  module.registerHooks({
    resolve: (name, context, next) =>
      names.includes(name) ? { url: ours, shortCircuit: true } : next(name, context),
  });
} else {
  const isOurs = way === 'hook';
  const ort = await import(isOurs ? 'tensorlathe/onnxruntime' : new URL('ort.node.min.mjs', web));
  ort.env.wasm.numThreads = 1;
  // Else transformers.js fetches the files of ONNX Runtime Web.
  if (!isOurs) ort.env.wasm.wasmPaths = web.href;
  globalThis[Symbol.for('onnxruntime')] = ort;
}
const transformers = await import('@huggingface/transformers');
transformers.env.allowRemoteModels = false;
transformers.env.localModelPath = folder;
const device = { redirect: 'cpu', webgpu: 'webgpu' }[way] ?? 'auto';
const results = await runTasks(transformers, { device });
process.stdout.write(JSON.stringify(results), () => process.exit());
