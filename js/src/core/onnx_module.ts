/** lathe-onnx.wasm, which is loaded when an ONNX model is first opened, unless the core is lathe-core-onnx.wasm. */
import type { OnnxExports } from './abi.js';
import { FetchedCore } from './fetched_core.js';

export const onnxReader = new FetchedCore<OnnxExports>(
  {
    name: 'lathe-onnx.wasm',
    url: () => new URL('./lathe-onnx.wasm', import.meta.url),
    inlined: () => import('./inlined_onnx.js'),
  },
  'lathe_onnx_open',
);
