/** Text as it arrives: from a file, an address or a Blob, chunk by chunk. Closing the iterator stops the transfer. */
import { LatheError } from '../base/errors.js';
import { filePlace, nodeModule, nodeProcess } from '../base/node.js';
import { TextDecoder } from '../base/text.js';
import { web } from '../base/web.js';
import { once } from './iterate.js';

/** An http(s) or file address, relative in a page; a path in Node; a Blob or a File. */
export type TextSource = string | URL | Blob;

/** What gives its bytes itself, from the beginning each time; `data.URLDataSource` of TensorFlow.js is one. */
export interface ByteSource {
  iterator(): Promise<AsyncIterator<Uint8Array>>;
}

const isByteSource = (source: object | string): source is ByteSource =>
  typeof source === 'object' && 'iterator' in source;

/** The text of a source, decoded from UTF-8. Errors: it cannot be read, and why. */
export async function* readText(
  source: TextSource | ByteSource,
  what: string,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  try {
    for await (const bytes of readBytes(source)) yield decoder.decode(bytes, { stream: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new LatheError(`${what}: cannot read ${nameOf(source)}: ${reason}`, { cause: error });
  }
  yield decoder.decode();
}

function nameOf(source: TextSource | ByteSource): string {
  if (source instanceof Blob) return (source as File).name ?? 'a Blob';
  return isByteSource(source) ? 'the data source' : String(source);
}

async function* readBytes(source: TextSource | ByteSource): AsyncGenerator<Uint8Array> {
  if (isByteSource(source)) return yield* once(await source.iterator());
  if (source instanceof Blob) return yield* readStream(source.stream());
  const address = String(source);
  const isFile = address.startsWith('file:');
  if (isFile || (nodeProcess !== undefined && !/^https?:/.test(address))) {
    const { createReadStream } = await nodeModule('node:fs');
    return yield* createReadStream(isFile ? filePlace(address) : address);
  }
  const response = await web.fetch(address);
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
