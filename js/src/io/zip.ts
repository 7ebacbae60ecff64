/** Files in a zip archive, stored or deflated. */
import { TextDecoder } from '../base/text.js';

interface Entry {
  method: number;
  crc: number;
  stored: number;
  size: number;
  offset: number;
}

/** Deflate expands a byte to up to 1032. */
const maxRatio = 1032;

/** The files of an archive by name, read on demand. Error: not an archive, or damaged. */
export function openZip(bytes: Uint8Array): {
  names: string[];
  read(name: string): Promise<Uint8Array<ArrayBuffer>>;
} {
  const entries = directoryOf(bytes);
  return {
    names: [...entries.keys()],
    async read(name) {
      const entry = entries.get(name);
      if (entry === undefined) throw new Error(`${name} is not in the archive`);
      const content = await contentOf(bytes, name, entry);
      if (crc32(content) !== entry.crc) throw new Error(`${name} is damaged: its checksum differs`);
      return content;
    },
  };
}

const viewOf = (bytes: Uint8Array) =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The entries of the central directory, located by the end record. */
function directoryOf(bytes: Uint8Array): Map<string, Entry> {
  const view = viewOf(bytes);
  let end = bytes.length - 22;
  // A comment of up to 65535 bytes follows.
  const least = Math.max(0, end - 65535);
  while (end >= least && view.getUint32(end, true) !== 0x06054b50) end -= 1;
  if (end < least) throw new Error('it is no zip archive');
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  if (count === 0xffff || at === 0xffffffff) throw new Error('zip64 archives cannot be read');
  const entries = new Map<string, Entry>();
  for (let i = 0; i < count; i += 1) {
    if (at + 46 > end || view.getUint32(at, true) !== 0x02014b50) {
      throw new Error('the directory of the archive is damaged');
    }
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) =>
      view.getUint16(at + field, true),
    ) as [number, number, number];
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength));
    if (entries.has(name)) throw new Error(`${name} is twice in the archive`);
    entries.set(name, {
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      stored: view.getUint32(at + 20, true),
      size: view.getUint32(at + 24, true),
      offset: view.getUint32(at + 42, true),
    });
    at += 46 + nameLength + extraLength + commentLength;
  }
  return entries;
}

async function contentOf(
  bytes: Uint8Array,
  name: string,
  { method, stored, size, offset }: Entry,
): Promise<Uint8Array<ArrayBuffer>> {
  const view = viewOf(bytes);
  if (offset + 30 > bytes.length || view.getUint32(offset, true) !== 0x04034b50) {
    throw new Error(`${name} is not at the offset in the directory`);
  }
  const start = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
  if (start + stored > bytes.length) throw new Error(`${name} extends past the end of the archive`);
  const content = new Uint8Array(bytes.subarray(start, start + stored));
  if (method === 0 && stored === size) return content;
  if (method !== 8) throw new Error(`${name} is compressed by method ${method}, not by deflate`);
  if (size > stored * maxRatio) throw new Error(`${name} cannot have ${size} bytes`);
  return inflate(content, name, size);
}

/** Reads no more than the declared bytes. */
async function inflate(
  content: Uint8Array<ArrayBuffer>,
  name: string,
  size: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const result = new Uint8Array(size);
  const reader = new Blob([content])
    .stream()
    .pipeThrough(new DecompressionStream('deflate-raw'))
    .getReader();
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (length + value.length > size) {
      await reader.cancel();
      throw new Error(`${name} has more than its ${size} bytes`);
    }
    result.set(value, length);
    length += value.length;
  }
  if (length !== size) throw new Error(`${name} has ${length} bytes, not ${size}`);
  return result;
}

function crc32(bytes: Uint8Array): number {
  const table = Uint32Array.from({ length: 256 }, (_, byte) => {
    for (let bit = 0; bit < 8; bit += 1) byte = byte & 1 ? (byte >>> 1) ^ 0xedb88320 : byte >>> 1;
    return byte;
  });
  let crc = 0xffffffff;
  for (const byte of bytes) crc = table[(crc ^ byte) & 255]! ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}
