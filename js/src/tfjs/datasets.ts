/** Datasets that TensorFlow.js has beside ours: lines of text, and what a function gives. */
import { Dataset, generator } from '../data/dataset.js';
import type { ByteSource } from '../data/text_source.js';

/** The lines of a text in UTF-8, without their ends, which are LF or CRLF. */
export class TextLineDataset extends Dataset<string> {
  constructor(protected readonly input: ByteSource) {
    super(async function* () {
      const { readText } = await import('../data/text_source.js');
      yield* linesOf(readText(input, 'TextLineDataset'));
    });
  }
}

async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  const ended = (line: string) => line.replace(/\r$/, '');
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    yield* lines.map(ended);
  }
  if (rest !== '') yield ended(rest);
}

/** What a function gives, which is called for each element until its `done` is true; it knows of no second walk. */
export function func<T>(next: () => IteratorResult<T> | Promise<IteratorResult<T>>): Dataset<T> {
  return generator(() => ({ next }) as AsyncIterator<T>);
}
