/**
 * Fetches and compiles lathe-core.wasm, from the first moment of this package: it has next to no
 * imports, so that nothing is evaluated before. In Node the module is a file beside this one.
 */
import { nodeModule } from '../base/node.js';

export const coreUrl = new URL('./lathe-core.wasm', import.meta.url);

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

let first: Promise<WebAssembly.Module> | undefined = compileModule(coreUrl);
first.catch(() => {}); // whoever takes it hears of it

/** The compiled core: what importing this module began, and at each later call a new attempt. */
export function compileCore(): Promise<WebAssembly.Module> {
  const result = first ?? compileModule(coreUrl);
  first = undefined;
  return result;
}
