/** Text as it arrives: from a file, an address or a Blob, chunk by chunk. Closing the iterator stops the transfer. */
import { isBlob, kindOf } from '../base/kinds.js';
import { nodeModule } from '../base/node.js';
import { nameOf, openSource, pathOf, type FileSource, unreadable } from '../base/source.js';
import { TextDecoder } from '../base/text.js';
import { once } from './iterate.js';

/** Where text is; an address is relative in a page. */
export type TextSource = FileSource;

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
    const name = isByteSource(source) ? 'the data source' : nameOf(source, 'a Blob');
    const unread = unreadable(name, error);
    unread.message = `${what}: ${unread.message}`;
    throw unread;
  }
  yield decoder.decode();
}

async function* readBytes(source: TextSource | ByteSource): AsyncGenerator<Uint8Array> {
  if (isByteSource(source)) return yield* once(await source.iterator());
  const path = pathOf(source);
  if (path !== undefined) return yield* nodeModule('node:fs').createReadStream(path);
  let opened = await openSource(source);
  // A response is read once, a table more often.
  if (kindOf(source) === 'Response') opened = await (opened as Response).clone().blob();
  const stream = isBlob(opened) ? opened.stream() : opened.body;
  if (stream !== null) yield* readStream(stream);
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
