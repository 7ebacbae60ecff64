/** Finds and compiles lathe-core.wasm: from the file beside this module in Node, by fetch elsewhere. */
import { currentCore, useCoreModule } from './core.js';
import { LatheError } from './errors.js';

const coreUrl = new URL('./lathe-core.wasm', import.meta.url);
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
  useCoreModule(await (coreUrl.protocol === 'file:' ? readCore() : fetchCore()));
  currentCore();
}

async function readCore(): Promise<WebAssembly.Module> {
  // A name that bundlers do not follow: only Node gets here.
  const name = 'node:fs/promises';
  const { readFile } = await import(/* @vite-ignore */ /* webpackIgnore: true */ name);
  return WebAssembly.compile(await readFile(coreUrl));
}

async function fetchCore(): Promise<WebAssembly.Module> {
  const response = await fetch(coreUrl, { credentials: 'same-origin' });
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
