/** The text form of modules, spelled by lathe-text.wasm, which is loaded when it is first asked for. */
import { LatheError } from '../base/errors.js';
import type { TextExports } from './abi.js';
import { Core } from './core.js';
import { compileModule } from './core_module.js';

const textUrl = new URL('./lathe-text.wasm', import.meta.url);
let compiling: Promise<WebAssembly.Module> | undefined;

/** The text form of any WebAssembly module. Rejects where the bytes are no valid module. */
export async function moduleText(bytes: Uint8Array): Promise<string> {
  compiling ??= compileModule(textUrl).catch((error: unknown) => {
    compiling = undefined;
    const reason = error instanceof Error ? error.message : String(error);
    throw new LatheError(`cannot load ${textUrl.href}: ${reason}`, { cause: error });
  });
  const speller = new Core<TextExports>(await compiling);
  const at = speller.withBytes('text', bytes, (place, length) =>
    speller.exports.lathe_wat(place, length),
  );
  return speller.text(at);
}
