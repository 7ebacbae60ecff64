/** lathe-formats.wasm at work: what is in files of saved models. It is loaded when a model is first loaded or saved. */
import { LatheError } from '../base/errors.js';
import { jsonText } from '../base/json.js';
import type { FormatsExports, FormatsQuestions } from './abi.js';
import { Core } from './core.js';
import { compileAt, type Place, readAt } from './core_module.js';

const place: Place = {
  name: 'lathe-formats.wasm',
  beside: () => new URL('./lathe-formats.wasm', import.meta.url),
  inlined: () => import('./inlined_formats.js'),
};
/** Memory that an instance may keep between calls: one that has held large tensors is given up. */
const mostKeptBytes = 16 * 2 ** 20;

let module: WebAssembly.Module | undefined;
let opening: Promise<void> | undefined;
let instance: Core<FormatsExports> | undefined;

/** Resolves when it can be asked: in Node it always can. Rejects with LatheError, and tries again when it is called again. */
export async function openFormats(): Promise<void> {
  if (hasFormats()) return;
  opening ??= compileAt(place).then((compiled) => void (module = compiled));
  try {
    await opening;
  } finally {
    opening = undefined;
  }
}

/** Whether it can be asked at once. */
export const hasFormats = (): boolean => (module ??= readAt(place)) !== undefined;

function formats(where: string): Core<FormatsExports> {
  if (!hasFormats()) {
    throw new LatheError(
      `${where}: a page fetches the code of it when it is first asked for; await tl.ready() once more, then call it`,
    );
  }
  const kept = instance?.exports.memory.buffer.byteLength ?? 0;
  if (instance?.dead === true || kept > mostKeptBytes) instance = undefined;
  return (instance ??= new Core<FormatsExports>(module!));
}

/** The answer to a question. Errors begin with `where`. */
export function askFormats<Answer>(
  what: keyof FormatsQuestions,
  question: unknown,
  where: string,
): Answer {
  const core = formats(where);
  return telling(where, () => {
    const text = jsonText(question);
    const at = core.withText(where, text, (json, length) => core.exports[what](json, length));
    return JSON.parse(core.text(at)) as Answer;
  });
}

/** The same about bytes: what it gives lies in the memory of the module and is there for `read` alone. */
export function askOfBytes<Answer>(
  what: 'lathe_decode_elements' | 'lathe_encode_elements',
  question: object,
  bytes: Uint8Array,
  where: string,
  read: (core: Core<FormatsExports>, at: number) => Answer,
): Answer {
  const core = formats(where);
  return telling(where, () => {
    let at = 0;
    core.withBytes(where, bytes, (data, size) =>
      core.withText(where, jsonText(question), (json, length) => {
        at = core.exports[what](json, length, data, size) >>> 0;
        return at;
      }),
    );
    return read(core, at);
  });
}

function telling<Answer>(where: string, action: () => Answer): Answer {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof LatheError) || error.message.startsWith(`${where}: `)) throw error;
    throw new LatheError(`${where}: ${error.message}`, { cause: error });
  }
}
