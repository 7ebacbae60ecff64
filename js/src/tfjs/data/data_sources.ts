/** Bytes for datasets, in chunks of one size: `data.FileDataSource` and `data.URLDataSource` of TensorFlow.js. */
import { LatheError } from '../../base/errors.js';
import { isBlob } from '../../base/kinds.js';
import { fileUrlOrPath, nodeModule, nodeProcess } from '../../base/node.js';
import { web } from '../../base/web.js';
import type { ByteSource } from '../../data/text_source.js';

/** The start offset and the chunk size in bytes; default: 0 and 1 MiB. */
export interface ChunkOptions {
  offset?: number;
  chunkSize?: number;
}

type Bytes = Blob | Uint8Array<ArrayBuffer>;

/** A Blob, a File or bytes; in Node also an address `file://…`. */
export class FileDataSource implements ByteSource {
  constructor(
    protected input: string | Bytes,
    protected readonly options: ChunkOptions = {},
  ) {}

  /** Iterates over the chunks. Rejects: unreadable. */
  async iterator(): Promise<AsyncIterator<Uint8Array>> {
    if (typeof this.input === 'string') this.input = await readFile(this.input);
    return chunksOf(this.input, this.options);
  }
}

/** The body of an address or a Request, fetched for each iterator; in Node also files. */
export class URLDataSource implements ByteSource {
  constructor(
    protected readonly url: string | Request,
    protected readonly fileOptions: ChunkOptions = {},
  ) {}

  /** Iterates over the chunks. Rejects: an error response. */
  async iterator(): Promise<AsyncIterator<Uint8Array>> {
    const { url, fileOptions } = this;
    if (isLocal(url)) return new FileDataSource(url, fileOptions).iterator();
    const response = await web.fetch(url);
    if (!response.ok) throw new LatheError(`URLDataSource: ${response.statusText}`);
    return chunksOf(await response.blob(), fileOptions);
  }
}

const isLocal = (source: unknown): source is string =>
  typeof source === 'string' && source.startsWith('file://');

async function readFile(address: string): Promise<Uint8Array<ArrayBuffer>> {
  if (nodeProcess === undefined || !isLocal(address)) {
    throw new LatheError(
      `FileDataSource: a File, a Blob, a Uint8Array or, in Node, file://… is needed, got ${address}`,
    );
  }
  return nodeModule('node:fs').promises.readFile(fileUrlOrPath(address));
}

async function* chunksOf(
  bytes: Bytes,
  { offset = 0, chunkSize = 2 ** 20 }: ChunkOptions,
): AsyncGenerator<Uint8Array> {
  const content = isBlob(bytes) ? bytes : new Blob([bytes]);
  for (let at = offset; at < content.size; at += chunkSize) {
    yield new Uint8Array(await content.slice(at, at + chunkSize).arrayBuffer());
  }
}
