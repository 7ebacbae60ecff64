/** Where lathe-onnx.wasm is, which is loaded when an ONNX model is first opened. */
import { compileAt, type Place } from './core_module.js';

const place: Place = {
  name: 'lathe-onnx.wasm',
  beside: () => new URL('./lathe-onnx.wasm', import.meta.url),
  inlined: () => import('./inlined_onnx.js'),
};

/** The compiled lathe-onnx.wasm. Rejects with LatheError. */
export const compileOnnx = (): Promise<WebAssembly.Module> => compileAt(place);
