/** Loads the printer of modules on demand. */

/** The WebAssembly text format of any module. Rejects invalid modules. */
export async function moduleText(bytes: Uint8Array): Promise<string> {
  return (await import('./module_printer.js')).printModule(bytes);
}
