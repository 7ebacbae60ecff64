/** An instance of lathe-formats.wasm, which reads and writes files of saved models. Loaded with the first model. */
import { LatheError } from '../base/errors.js';
import { stringifyJson } from '../base/json.js';
import type { FormatsExports, FormatsQueries } from './abi.js';
import { Core } from './core.js';
import { compileModuleAt, type ModuleLocation, readModuleAt } from './core_module.js';

const location: ModuleLocation = {
  name: 'lathe-formats.wasm',
  url: () => new URL('./lathe-formats.wasm', import.meta.url),
  inlined: () => import('./inlined_formats.js'),
};
/** Instances with more memory, after large tensors, are dropped. */
const maxIdleBytes = 16 * 2 ** 20;

let module: WebAssembly.Module | undefined;
let opening: Promise<void> | undefined;
let instance: Core<FormatsExports> | undefined;

/** Loads the module; in Node it always is. Rejects with LatheError; later calls retry. */
export async function loadFormats(): Promise<void> {
  if (formatsLoaded()) return;
  opening ??= compileModuleAt(location).then((compiled) => void (module = compiled));
  try {
    await opening;
  } finally {
    opening = undefined;
  }
}

/** Whether it can be called. */
export const formatsLoaded = (): boolean => (module ??= readModuleAt(location)) !== undefined;

function formats(where: string): Core<FormatsExports> {
  if (!formatsLoaded()) {
    throw new LatheError(
      `${where}: its code is loaded on first use in a page; await tl.ready() once more, then call it`,
    );
  }
  const memoryBytes = instance?.exports.memory.buffer.byteLength ?? 0;
  if (instance?.dead === true || memoryBytes > maxIdleBytes) instance = undefined;
  return (instance ??= new Core<FormatsExports>(module!));
}

/** The result of a JSON query. Errors begin with `where`. */
export function queryFormats<Answer>(
  what: keyof FormatsQueries,
  query: unknown,
  where: string,
): Answer {
  const core = formats(where);
  return withPrefix(where, () => {
    const request = stringifyJson(query);
    const at = core.withString(where, request, (json, length) => core.exports[what](json, length));
    return JSON.parse(core.readString(at)) as Answer;
  });
}

/** The result of a query with bytes: `read` may access it in the memory of the module. */
export function queryFormatsWithBytes<Answer>(
  what: 'lathe_decode_elements' | 'lathe_encode_elements',
  query: object,
  bytes: Uint8Array,
  where: string,
  read: (core: Core<FormatsExports>, at: number) => Answer,
): Answer {
  const core = formats(where);
  return withPrefix(where, () => {
    let at = 0;
    core.withBytes(where, bytes, (data, size) =>
      core.withString(where, stringifyJson(query), (json, length) => {
        at = core.exports[what](json, length, data, size) >>> 0;
        return at;
      }),
    );
    return read(core, at);
  });
}

function withPrefix<Answer>(where: string, action: () => Answer): Answer {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof LatheError) || error.message.startsWith(`${where}: `)) throw error;
    throw new LatheError(`${where}: ${error.message}`, { cause: error });
  }
}
