// The thread of conformance.mjs: runs the case of each message with the engine that it was started for.
import { parentPort, workerData } from 'node:worker_threads';
import { filesOf } from './cases.mjs';
import { whyFails } from './check_case.mjs';
import * as engines from './engines.mjs';

/** A module with the API of ONNX Runtime Web, on one thread. */
async function runtime(name) {
  const ort = await import(name);
  ort.env.wasm.numThreads = 1;
  return engines.runtime(ort);
}

const { engine, options } = workerData;
let placement;
const load =
  engine === 'tensorlathe'
    ? engines.lathe(await import(engine), options, (end) => (placement = end))
    : await runtime(engine);

parentPort.on('message', async (each) => {
  const why = await whyFails(load, each, filesOf(each)).catch(
    (error) => error.message || String(error),
  );
  parentPort.postMessage({ why, placement });
});
