// A worker that runs code of the user and describes the model it builds. The page terminates it after a timeout.
import * as tl from 'tensorlathe';
import { descriptionOf, hasCustomLayers, runCode } from './code';
import type { Answer, DataFacts } from './code_runner';
import { messageOf } from './dom';

const answer = (what: Answer) => postMessage(what);

/** Lines that `new Function` and `runCode` put before the code. */
const linesBefore = 3;

/** The line of the code where an error was thrown, as Chromium, Firefox and Safari write it. */
function lineOf(error: unknown): number | undefined {
  const stack = error instanceof Error && error.name !== 'SyntaxError' ? error.stack : undefined;
  const found = /(?:<anonymous>|> Function):(\d+):\d+/.exec(stack ?? '');
  return found === null ? undefined : Math.max(1, Number(found[1]) - linesBefore);
}

addEventListener('message', ({ data: { code, data } }: MessageEvent) => {
  try {
    const model = runCode(code as string, data as DataFacts);
    const description = descriptionOf(model);
    answer({ kind: 'model', description, hasCustomLayers: hasCustomLayers(description) });
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    const line = lineOf(error);
    answer({
      kind: 'error',
      name,
      message: messageOf(error),
      ...(line === undefined ? {} : { line }),
    });
  }
});

await tl.ready();
answer({ kind: 'open' });
