/**
 * Where the modules of the compiler are, and their compilation: at the address that the user gave, or beside this
 * module, or, where a bundler has left no file there, in a module that holds their bytes.
 */
import { fromBase64 } from '../base/arrays.js';
import { LatheError, reasonOf } from '../base/errors.js';
import { nodeModule, nodeProcess } from '../base/node.js';

/** A module of the compiler, and where it may be. */
export interface Place {
  name: string;
  /** Error: bundles of some kinds have no address. */
  beside(): URL;
  /** Its bytes, compressed by gzip, in base64. */
  inlined(): Promise<{ default: string }>;
}

const core: Place = {
  name: 'lathe-core.wasm',
  beside: () => new URL('./lathe-core.wasm', import.meta.url),
  inlined: () => import('./inlined_core.js'),
};

/** What `setWasmUrl` said, by the names of modules. */
const chosen: Record<string, URL | undefined> = {};

/** What is under way or there, and what ends it. */
let begun: { module: Promise<WebAssembly.Module>; abort: AbortController } | undefined;

/** Whether somebody waits for the core. */
let asked = false;

/** Begins to fetch the core in a page, so that it comes while other scripts do. */
export function beginCore(): void {
  if (nodeProcess !== undefined || asked) return;
  const abort = new AbortController();
  begun = { module: compileAt(core, abort.signal), abort };
  begun.module.catch(() => {}); // whoever takes it hears of it
}

/** The compiled core: what `beginCore` began, and at each later call a new attempt. Rejects with LatheError. */
export function compileCore(): Promise<WebAssembly.Module> {
  const result = begun?.module ?? compileAt(core);
  begun = undefined;
  return result;
}

/** As `compileCore` of a module that holds more than the core, unless that is on its way or `setWasmUrl` said where it is. */
export function compileInstead(larger: Place): Promise<WebAssembly.Module> {
  const isChosen = Object.keys(chosen).length > 0;
  asked = true;
  return begun !== undefined || isChosen ? compileCore() : compileAt(larger);
}

/** The compiled core where files can be read at once: in Node, unless a bundler has moved this module. */
export const readCore = (): WebAssembly.Module | undefined => readAt(core);

/** The same of any module. */
export function readAt(place: Place): WebAssembly.Module | undefined {
  if (nodeProcess === undefined) return undefined;
  try {
    return read(chosen[place.name] ?? place.beside());
  } catch {
    return undefined; // compileAt() says why
  }
}

/** @internal What `tl.setWasmUrl` does before the core is there. */
export function chooseWasm(...urls: (string | URL | undefined)[]): void {
  const { location } = globalThis as { location?: { href: string } };
  const base = location?.href ?? nodeModule('node:url').pathToFileURL('./').href;
  ['core', 'text', 'onnx', 'formats', 'onnx-export'].forEach((name, at) => {
    const url = urls[at];
    if (url !== undefined) chosen[`lathe-${name}.wasm`] = new URL(url, base);
  });
  if (begun === undefined) return;
  begun.abort.abort();
  beginCore();
}

/** The compiled module. Rejects with LatheError. */
export async function compileAt(place: Place, signal?: AbortSignal): Promise<WebAssembly.Module> {
  try {
    return await compileUrl(chosen[place.name] ?? place.beside(), signal);
  } catch (cause) {
    if (chosen[place.name] === undefined && signal?.aborted !== true) {
      const inlined = await place.inlined().catch(() => undefined);
      if (inlined !== undefined) return compileInlined(inlined.default);
    }
    const reason = reasonOf(cause);
    throw new LatheError(`cannot load ${chosen[place.name]?.href ?? place.name}: ${reason}`, {
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
  // Engines keep the compiled code of what they compile while it comes.
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
