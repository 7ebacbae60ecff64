/** Generated modules as they lie in the memory of a core. */
import type { Pointer } from './abi.js';

/**
 * A module without its data section, and what belongs where in its memory: engines then compile
 * code only, and Chromium compiles no more than 8 MB on a page's own thread.
 */
export interface ModuleParts {
  code: Uint8Array<ArrayBuffer>;
  segments: { offset: number; data: Uint8Array }[];
  /** Where a worker has compiled it. */
  module?: WebAssembly.Module | undefined;
}

/** Bytes of a module in parts. */
export const sizeOf = ({ code, segments }: ModuleParts) =>
  segments.reduce((sum, { data }) => sum + data.length, code.length);

/** What `lathe_executable_parts` points to. */
export function partsAt(buffer: ArrayBuffer, place: Pointer): ModuleParts {
  const at = place / Uint32Array.BYTES_PER_ELEMENT;
  const words = new Uint32Array(buffer);
  const part = (word: number) => new Uint8Array(buffer, words[word], words[word + 1]);
  const segments = Array.from({ length: words[at + 2]! }, (_, index) => {
    const word = at + 3 + 3 * index;
    return { offset: words[word]!, data: part(word + 1) };
  });
  return { code: part(at), segments };
}
