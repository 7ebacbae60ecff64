/** Finds and compiles lathe-core.wasm: from the file beside this module in Node, by fetch elsewhere. */
import { currentCore, useCoreModule } from './core.js';
import { LatheError } from './errors.js';
import { schedules } from './schedules.js';
import { nodeModule } from './storage.js';
import { probeTarget } from './target.js';

const coreUrl = new URL('./lathe-core.wasm', import.meta.url);
/** How long the first use waits for a slow cache of schedules once the core is there. */
const mostWaitMs = 20;
let loading: Promise<void> | undefined;

/**
 * Resolves when the compiler core is loaded. Importing the package already waits for it, so a call
 * is needed only to learn why loading failed, or to try again. Rejects with LatheError.
 */
export function ready(): Promise<void> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    const reason = error instanceof Error ? error.message : String(error);
    throw new LatheError(`cannot load ${coreUrl.href}: ${reason}`, { cause: error });
  });
  return loading;
}

async function load(): Promise<void> {
  const remembered = Promise.all([probeTarget(), schedules.load()]);
  useCoreModule(await compileModule(coreUrl));
  currentCore();
  await Promise.race([remembered, new Promise((done) => setTimeout(done, mostWaitMs))]);
}

/** Compiles a module that lies beside this one. */
export function compileModule(url: URL): Promise<WebAssembly.Module> {
  return url.protocol === 'file:' ? readModule(url) : fetchModule(url);
}

async function readModule(url: URL): Promise<WebAssembly.Module> {
  const { readFile } = await nodeModule('node:fs/promises');
  return WebAssembly.compile(await readFile(url));
}

async function fetchModule(url: URL): Promise<WebAssembly.Module> {
  const response = await fetch(url, { credentials: 'same-origin' });
  if (!response.ok) throw new Error(`HTTP status ${response.status}`);
  try {
    return await WebAssembly.compileStreaming(response.clone());
  } catch {
    const bytes = await response.arrayBuffer();
    if (new DataView(bytes).getUint32(0) !== 0x0061736d) {
      throw new Error('what the server sends is not WebAssembly');
    }
    return WebAssembly.compile(bytes);
  }
}
