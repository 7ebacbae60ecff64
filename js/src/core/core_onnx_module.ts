/** lathe-core-onnx.wasm: the compiler and what reads ONNX models in one, smaller than both. For who begins with such a model. */
import { compileInstead } from './core_module.js';

/** In place of `compileCore`; that one where the core is on its way or somewhere else. Rejects with LatheError. */
export const compileCoreWithOnnx = (): Promise<WebAssembly.Module> =>
  compileInstead({
    name: 'lathe-core-onnx.wasm',
    beside: () => new URL('./lathe-core-onnx.wasm', import.meta.url),
    inlined: () => import('./inlined_core_onnx.js'),
  });
