// The thread of conformance.mjs: runs the case of each message with the engine that it was started for.
import { parentPort, workerData } from 'node:worker_threads';
import { filesOf } from './cases.mjs';
import { whyFails } from './check_case.mjs';
import * as engines from './engines.mjs';

/** ONNX Runtime Web in Node, on one thread. */
async function onnxruntime() {
  const ort = await import('onnxruntime-web');
  ort.env.wasm.numThreads = 1;
  return engines.runtime(ort);
}

const load = workerData.withOrt ? await onnxruntime() : engines.lathe(await import('tensorlathe'));

parentPort.on('message', async (each) => {
  const why = await whyFails(load, each, filesOf(each)).catch(
    (error) => error.message || String(error),
  );
  parentPort.postMessage({ why });
});
