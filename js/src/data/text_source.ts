/** Text as it arrives: from a file, an address or a Blob, chunk by chunk. Closing the iterator stops the transfer. */
import { LatheError } from '../base/errors.js';
import { nodeModule, nodeProcess } from '../base/node.js';
import { TextDecoder } from '../base/text.js';

/** An http(s) or file address, relative in a page; a path in Node; a Blob or a File. */
export type TextSource = string | URL | Blob;

/** The text of a source, decoded from UTF-8. Errors: it cannot be read, and why. */
export async function* readText(source: TextSource, what: string): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const name = source instanceof Blob ? ((source as File).name ?? 'a Blob') : String(source);
  try {
    for await (const bytes of readBytes(source)) yield decoder.decode(bytes, { stream: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new LatheError(`${what}: cannot read ${name}: ${reason}`, { cause: error });
  }
  yield decoder.decode();
}

async function* readBytes(source: TextSource): AsyncGenerator<Uint8Array> {
  if (source instanceof Blob) return yield* readStream(source.stream());
  const address = String(source);
  const isFile = address.startsWith('file:');
  if (isFile || (nodeProcess !== undefined && !/^https?:/.test(address))) {
    const { createReadStream } = await nodeModule('node:fs');
    return yield* createReadStream(isFile ? new URL(address) : address);
  }
  const response = await fetch(address);
  if (!response.ok) throw new Error(`HTTP status ${response.status}`);
  if (response.body !== null) yield* readStream(response.body);
}

async function* readStream(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
