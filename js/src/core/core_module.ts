/**
 * Locations of the modules of the compiler, and their compilation: at the URL of `setWasmUrl`, or next to this
 * module, or, if a bundler has not copied the file, in a JavaScript module with their bytes.
 */
import { fromBase64 } from '../base/arrays.js';
import { LatheError, reasonOf } from '../base/errors.js';
import { nodeModule, nodeProcess } from '../base/node.js';

/** The location of a module of the compiler. */
export interface ModuleLocation {
  name: string;
  /** Its default URL. Error: some kinds of bundles have none. */
  url(): URL;
  /** Its bytes, compressed by gzip, in base64. */
  inlined(): Promise<{ default: string }>;
}

const core: ModuleLocation = {
  name: 'lathe-core.wasm',
  url: () => new URL('./lathe-core.wasm', import.meta.url),
  inlined: () => import('./inlined_core.js'),
};

/** URLs set by `setWasmUrl`, by the names of modules. */
const chosen: Record<string, URL | undefined> = {};

/** The compilation in progress, and its abort controller. */
let begun: { module: Promise<WebAssembly.Module>; abort: AbortController } | undefined;

/** Whether the core has been requested. */
let isRequested = false;

/** Starts to fetch the core in a page, in parallel with other scripts. */
export function prefetchCore(): void {
  if (nodeProcess !== undefined || isRequested) return;
  const abort = new AbortController();
  begun = { module: compileModuleAt(core, abort.signal), abort };
  begun.module.catch(() => {}); // reported by compileCore()
}

/** The compiled core: that of `prefetchCore`, and a new attempt at each later call. Rejects with LatheError. */
export function compileCore(): Promise<WebAssembly.Module> {
  const result = begun?.module ?? compileModuleAt(core);
  begun = undefined;
  return result;
}

/** As `compileCore` for a module that includes the core, unless the core is loading or `setWasmUrl` was called. */
export function compileCoreIncludedIn(larger: ModuleLocation): Promise<WebAssembly.Module> {
  const isChosen = Object.keys(chosen).length > 0;
  isRequested = true;
  return begun !== undefined || isChosen ? compileCore() : compileModuleAt(larger);
}

/** The compiled core where files can be read synchronously: in Node, unless a bundler has moved this module. */
export const readCore = (): WebAssembly.Module | undefined => readModuleAt(core);

/** The same of any module. */
export function readModuleAt(location: ModuleLocation): WebAssembly.Module | undefined {
  if (nodeProcess === undefined) return undefined;
  try {
    return read(chosen[location.name] ?? location.url());
  } catch {
    return undefined; // compileModuleAt() reports the reason
  }
}

/** @internal `tl.setWasmUrl` before the core is loaded. */
export function setModuleUrls(...urls: (string | URL | undefined)[]): void {
  const { location } = globalThis as { location?: { href: string } };
  const base = location?.href ?? nodeModule('node:url').pathToFileURL('./').href;
  ['core', 'text', 'onnx', 'formats', 'onnx-export', 'webgpu'].forEach((name, at) => {
    const url = urls[at];
    if (url !== undefined) chosen[`lathe-${name}.wasm`] = new URL(url, base);
  });
  if (begun === undefined) return;
  begun.abort.abort();
  prefetchCore();
}

/** The compiled module. Rejects with LatheError. */
export async function compileModuleAt(
  location: ModuleLocation,
  signal?: AbortSignal,
): Promise<WebAssembly.Module> {
  try {
    return await compileUrl(chosen[location.name] ?? location.url(), signal);
  } catch (cause) {
    if (chosen[location.name] === undefined && signal?.aborted !== true) {
      const inlined = await location.inlined().catch(() => undefined);
      if (inlined !== undefined) return compileInlined(inlined.default);
    }
    const reason = reasonOf(cause);
    throw new LatheError(`cannot load ${chosen[location.name]?.href ?? location.name}: ${reason}`, {
      cause,
    });
  }
}

function read(url: URL): WebAssembly.Module {
  return new WebAssembly.Module(nodeModule('node:fs').readFileSync(url));
}

async function compileUrl(url: URL, signal?: AbortSignal): Promise<WebAssembly.Module> {
  if (nodeProcess !== undefined && url.protocol === 'file:') return read(url);
  const response = await fetch(url, { credentials: 'same-origin', signal });
  if (!response.ok) throw new Error(`HTTP status ${response.status}`);
  // Engines cache the code of modules that they compile from a stream.
  if (response.headers.get('content-type') === 'application/wasm') {
    return WebAssembly.compileStreaming(response);
  }
  const bytes = await response.arrayBuffer();
  if (bytes.byteLength < 4 || new DataView(bytes).getUint32(0) !== 0x0061736d) {
    throw new Error('what the server sends is not WebAssembly');
  }
  return WebAssembly.compile(bytes);
}

async function compileInlined(base64: string): Promise<WebAssembly.Module> {
  const unpacked = new Blob([fromBase64(base64)])
    .stream()
    .pipeThrough(new DecompressionStream('gzip'));
  return WebAssembly.compile(await new Response(unpacked).arrayBuffer());
}
