/** The WebAssembly text format of modules, printed by lathe-text.wasm, which is loaded on first use. */
import type { TextExports } from './abi.js';
import { Core } from './core.js';
import { compileModuleAt, type ModuleLocation } from './core_module.js';

const location: ModuleLocation = {
  name: 'lathe-text.wasm',
  url: () => new URL('./lathe-text.wasm', import.meta.url),
  inlined: () => import('./inlined_text.js'),
};

let compiling: Promise<WebAssembly.Module> | undefined;

/** As `moduleText`. */
export async function printModule(bytes: Uint8Array): Promise<string> {
  compiling ??= compileModuleAt(location).catch((error: unknown) => {
    compiling = undefined;
    throw error;
  });
  const printer = new Core<TextExports>(await compiling);
  const at = printer.withBytes('text', bytes, (start, length) =>
    printer.exports.lathe_wat(start, length),
  );
  return printer.readString(at);
}
