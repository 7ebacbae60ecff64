/** Loads the core, and the schedules that were tuned on this machine before. */
import { LatheError } from '../base/errors.js';
import { nodeProcess } from '../base/node.js';
import { setModuleUrls, compileCore } from '../core/core_module.js';
import { currentCore, isCoreLoaded, useCoreModule } from '../core/core.js';
import { pendingLoads } from '../layers/deferred.js';
import { env, useRevectorize } from '../runtime/env.js';
import { loadPool } from '../runtime/threads.js';
import { loadSchedules } from '../tune/schedules.js';
import { probeTarget } from '../tune/target.js';

/** How long the first use waits for a slow cache of schedules once the core is loaded. */
const maxWaitMs = 20;
let loading: Promise<void> | undefined;

/**
 * Resolves when the compiler is loaded, which begins when the package is imported. Pages await it before their first call; in
 * Node the first call loads it. Rejects with LatheError; a later call retries.
 */
export const ready = (): Promise<void> => readyWith(compileCore);

/** The same; the first call specifies the function that compiles the core. */
export function readyWith(compile: () => Promise<WebAssembly.Module>): Promise<void> {
  loading ??= load(compile).catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return Promise.all([loading, pendingLoads()]).then(() => {});
}

async function load(compile: () => Promise<WebAssembly.Module>): Promise<void> {
  const remembered = Promise.all([probeTarget(), loadSchedules(), loadExecutables()]);
  if (!isCoreLoaded()) useCoreModule(await compile());
  currentCore();
  // Programs may never call `ready` a second time.
  if (nodeProcess !== undefined) {
    await loadPool();
    useRevectorize((await import('../runtime/revectorize.js')).revectorize);
  }
  await Promise.race([remembered, new Promise((done) => setTimeout(done, maxWaitMs))]);
}

/** Those that earlier visits compiled. Where nothing can be imported, as in service workers, models are compiled as always. */
async function loadExecutables(): Promise<void> {
  if (!env().get('EXECUTABLE_CACHE')) return;
  await import('../runtime/stored_executables.js').then(
    ({ openExecutables }) => openExecutables(),
    () => {},
  );
}

/**
 * Sets the URL of lathe-core.wasm, for pages that serve it elsewhere. Call before `ready`. The URL may be relative
 * to the page (in Node: to the working directory). lathe-text.wasm, which `moduleText` needs, lathe-onnx.wasm, for ONNX models,
 * lathe-formats.wasm, by which models are loaded and saved, lathe-onnx-export.wasm, for `toOnnx`, and lathe-webgpu.wasm, for
 * `setDevice('webgpu')`, may have one, too.
 * Error: the compiler is loaded already.
 */
export function setWasmUrl(
  core: string | URL,
  text?: string | URL,
  onnx?: string | URL,
  formats?: string | URL,
  onnxExport?: string | URL,
  webgpu?: string | URL,
): void {
  if (isCoreLoaded())
    throw new LatheError('setWasmUrl: the compiler is loaded already; call it before');
  loading = undefined;
  setModuleUrls(core, text, onnx, formats, onnxExport, webgpu);
}
