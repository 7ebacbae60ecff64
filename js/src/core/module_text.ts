/** The text form of modules, spelled by lathe-text.wasm, which is loaded when it is first asked for. */
import type { TextExports } from './abi.js';
import { Core } from './core.js';
import { compileText } from './core_module.js';

let compiling: Promise<WebAssembly.Module> | undefined;

/** The text form of any WebAssembly module. Rejects where the bytes are no valid module. */
export async function moduleText(bytes: Uint8Array): Promise<string> {
  compiling ??= compileText().catch((error: unknown) => {
    compiling = undefined;
    throw error;
  });
  const speller = new Core<TextExports>(await compiling);
  const at = speller.withBytes('text', bytes, (place, length) =>
    speller.exports.lathe_wat(place, length),
  );
  return speller.text(at);
}
