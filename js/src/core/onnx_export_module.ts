/** lathe-onnx-export.wasm, which is loaded when `tl.toOnnx` is first called. */
import type { OnnxExportExports } from './abi.js';
import { FetchedCore } from './fetched_core.js';

export const onnxWriter = new FetchedCore<OnnxExportExports>({
  name: 'lathe-onnx-export.wasm',
  url: () => new URL('./lathe-onnx-export.wasm', import.meta.url),
  inlined: () => import('./inlined_onnx_export.js'),
});
