/** ONNX Runtime Web, from an ONNX file to the first result. */
import * as ort from 'onnxruntime-web/wasm';
import { loadNumbers, report } from './report.mjs';

const folder = '/node_modules/onnxruntime-web/dist/';

report(async () => {
  ort.env.wasm.wasmPaths = { wasm: `${folder}ort-wasm-simd-threaded.wasm` };
  const [session, data] = await Promise.all([
    ort.InferenceSession.create('/model.onnx', { executionProviders: ['wasm'] }),
    loadNumbers('/input_channels_first.bin'),
  ]);
  const [input] = session.inputMetadata;
  const results = await session.run({ [input.name]: new ort.Tensor('float32', data, input.shape) });
  return results[session.outputNames[0]].data;
});
