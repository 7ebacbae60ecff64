/** Generated modules in the memory of a core. */
import type { Pointer } from './abi.js';

/**
 * A module without its data section, and the segments of that: engines then compile
 * code only, and Chromium compiles no more than 8 MB on the main thread of a page.
 */
export interface ModuleParts {
  code: Uint8Array<ArrayBuffer>;
  segments: { offset: number; data: Uint8Array }[];
  /** Compiled by a worker. */
  module?: WebAssembly.Module | undefined;
}

/** Bytes of a module in parts. */
export const moduleSize = ({ code, segments }: ModuleParts) =>
  segments.reduce((sum, { data }) => sum + data.length, code.length);

/** Reads the structure of `lathe_executable_parts`. */
export function partsAt(buffer: ArrayBuffer, pointer: Pointer): ModuleParts {
  const at = pointer / Uint32Array.BYTES_PER_ELEMENT;
  const words = new Uint32Array(buffer);
  const part = (word: number) => new Uint8Array(buffer, words[word], words[word + 1]);
  const segments = Array.from({ length: words[at + 2]! }, (_, index) => {
    const word = at + 3 + 3 * index;
    return { offset: words[word]!, data: part(word + 1) };
  });
  return { code: part(at), segments };
}
