/** The way to the text form of modules that costs nothing until it is taken. */

/** The text form of any WebAssembly module. Rejects where the bytes are no valid module. */
export async function moduleText(bytes: Uint8Array): Promise<string> {
  return (await import('./spell_module.js')).spellModule(bytes);
}
