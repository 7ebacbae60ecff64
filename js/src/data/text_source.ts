/** Streams text from a file, an address or a Blob. Closing the iterator aborts the transfer. */
import { isBlob, kindOf } from '../base/kinds.js';
import { nodeModule } from '../base/node.js';
import { nameOf, openSource, pathOf, type FileSource, unreadable } from '../base/source.js';
import { TextDecoder } from '../base/text.js';
import { once } from './iterate.js';

/** A source of text; addresses are relative to the page. */
export type TextSource = FileSource;

/** A source that streams its bytes, from the start on each call; `data.URLDataSource` of TensorFlow.js is one. */
export interface ByteSource {
  iterator(): Promise<AsyncIterator<Uint8Array>>;
}

const isByteSource = (source: object | string): source is ByteSource =>
  typeof source === 'object' && 'iterator' in source;

/** The text of a source, decoded from UTF-8. Error: it cannot be read, with the reason. */
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
  // A response can be read only once, a dataset several times.
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
