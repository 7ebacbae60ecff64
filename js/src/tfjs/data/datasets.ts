/** Further datasets of TensorFlow.js: lines of text, and results of a function. */
import { Dataset, generator } from '../../data/dataset.js';
import type { ByteSource } from '../../data/text_source.js';

/** The lines of UTF-8 text, without LF or CRLF. */
export class TextLineDataset extends Dataset<string> {
  constructor(protected readonly input: ByteSource) {
    super(async function* () {
      const { readText } = await import('../../data/text_source.js');
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

/** The results of a function, called per element until its `done` is true; a second iteration continues there. */
export function func<T>(next: () => IteratorResult<T> | Promise<IteratorResult<T>>): Dataset<T> {
  return generator(() => ({ next }) as AsyncIterator<T>);
}
