/**
 * lathe-core-onnx.wasm: compiler and ONNX importer in one module, smaller than both. For programs that start with an
 * ONNX model.
 */
import { compileCoreIncludedIn } from './core_module.js';

/** Replaces `compileCore`, which is used if the core is loading or has another URL. Rejects with LatheError. */
export const compileCoreWithOnnx = (): Promise<WebAssembly.Module> =>
  compileCoreIncludedIn({
    name: 'lathe-core-onnx.wasm',
    url: () => new URL('./lathe-core-onnx.wasm', import.meta.url),
    inlined: () => import('./inlined_core_onnx.js'),
  });
