/** The text form of modules, spelled by lathe-text.wasm, which is loaded when it is first asked for. */
import type { TextExports } from './abi.js';
import { Core } from './core.js';
import { compileAt, type Place } from './core_module.js';

const place: Place = {
  name: 'lathe-text.wasm',
  beside: () => new URL('./lathe-text.wasm', import.meta.url),
  inlined: () => import('./inlined_text.js'),
};

let compiling: Promise<WebAssembly.Module> | undefined;

/** As `moduleText`. */
export async function spellModule(bytes: Uint8Array): Promise<string> {
  compiling ??= compileAt(place).catch((error: unknown) => {
    compiling = undefined;
    throw error;
  });
  const speller = new Core<TextExports>(await compiling);
  const at = speller.withBytes('text', bytes, (start, length) =>
    speller.exports.lathe_wat(start, length),
  );
  return speller.text(at);
}
