/** Makes the package usable: the core, and what was measured on this machine before. */
import { LatheError } from '../base/errors.js';
import { nodeProcess } from '../base/node.js';
import { chooseWasm, compileCore } from '../core/core_module.js';
import { currentCore, hasCore, useCoreModule } from '../core/core.js';
import { extrasAsked } from '../layers/extras.js';
import { useRevectorize } from '../runtime/env.js';
import { fetchThreads } from '../runtime/threads.js';
import { schedulesRead } from '../tune/schedules.js';
import { probeTarget } from '../tune/target.js';

/** How long the first use waits for a slow cache of schedules once the core is there. */
const mostWaitMs = 20;
let loading: Promise<void> | undefined;

/**
 * Resolves when the compiler is loaded, which begins when the package is imported. Pages await it before their first call; in
 * Node the first call loads it. Rejects with LatheError, and tries again when it is called again.
 */
export const ready = (): Promise<void> => readyWith(compileCore);

/** The same; the first call says what compiles the core. */
export function readyWith(compile: () => Promise<WebAssembly.Module>): Promise<void> {
  loading ??= load(compile).catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return Promise.all([loading, extrasAsked()]).then(() => {});
}

async function load(compile: () => Promise<WebAssembly.Module>): Promise<void> {
  const remembered = Promise.all([probeTarget(), schedulesRead()]);
  if (!hasCore()) useCoreModule(await compile());
  currentCore();
  // Programs may never wait again.
  if (nodeProcess !== undefined) {
    await fetchThreads();
    useRevectorize((await import('../runtime/revectorize.js')).revectorize);
  }
  await Promise.race([remembered, new Promise((done) => setTimeout(done, mostWaitMs))]);
}

/**
 * Says where lathe-core.wasm is, for pages whose files were moved: called before `ready`, with an address that may be relative
 * to the page (in Node: to the working directory). lathe-text.wasm, which `moduleText` needs, lathe-onnx.wasm, for ONNX models,
 * lathe-formats.wasm, by which models are loaded and saved, and lathe-onnx-export.wasm, for `toOnnx`, may have one, too.
 * Error: the compiler is loaded already.
 */
export function setWasmUrl(
  core: string | URL,
  text?: string | URL,
  onnx?: string | URL,
  formats?: string | URL,
  onnxExport?: string | URL,
): void {
  if (hasCore()) throw new LatheError('setWasmUrl: the compiler is loaded already; call it before');
  loading = undefined;
  chooseWasm(core, text, onnx, formats, onnxExport);
}
