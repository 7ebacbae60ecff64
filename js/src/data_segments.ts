/**
 * Takes what fills the memory out of a module: engines then compile code only, and Chromium compiles no more than 8 MB on
 * a page's own thread. Knows the format of modules as far as sections go.
 */

import { LatheError } from './errors.js';

/** Bytes and where in the memory they belong. */
export interface Segment {
  offset: number;
  data: Uint8Array;
}

const headerBytes = 8;
const dataSection = 11;
const active = 0;
const i32Const = 0x41;
const end = 0x0b;

class Reader {
  at = 0;

  constructor(readonly bytes: Uint8Array) {}

  byte(): number {
    return this.bytes[this.at++]!;
  }

  /** Unsigned LEB128. */
  count(): number {
    return this.#leb().value >>> 0;
  }

  /** Signed LEB128, which addresses above 2 GiB are too. */
  address(): number {
    const { value, bits, last } = this.#leb();
    return (bits < 32 && last & 0x40 ? value | (-1 << bits) : value) >>> 0;
  }

  #leb(): { value: number; bits: number; last: number } {
    let value = 0;
    for (let bits = 7; ; bits += 7) {
      const last = this.byte();
      value |= (last & 0x7f) << (bits - 7);
      if (last < 0x80) return { value, bits, last };
    }
  }

  take(count: number): Uint8Array {
    return this.bytes.subarray(this.at, (this.at += count));
  }
}

/** The module without its data section, and what was in it. Modules of ours have active segments only. */
export function takeData(bytes: Uint8Array<ArrayBuffer>): {
  code: Uint8Array<ArrayBuffer>;
  segments: Segment[];
} {
  const reader = new Reader(bytes);
  reader.at = headerBytes;
  while (reader.at < bytes.length) {
    const start = reader.at;
    const id = reader.byte();
    const size = reader.count();
    const content = reader.take(size);
    if (id !== dataSection) continue;
    const code = new Uint8Array(bytes.length - (reader.at - start));
    code.set(bytes.subarray(0, start));
    code.set(bytes.subarray(reader.at), start);
    return { code, segments: readSegments(content) };
  }
  return { code: bytes, segments: [] };
}

function readSegments(content: Uint8Array): Segment[] {
  const reader = new Reader(content);
  return Array.from({ length: reader.count() }, () => {
    const expected = [reader.byte() === active, reader.byte() === i32Const];
    const offset = reader.address();
    expected.push(reader.byte() === end);
    if (expected.includes(false)) throw new LatheError('a data segment of an unknown form');
    return { offset, data: reader.take(reader.count()) };
  });
}
