// A worker that runs the code of a person and says what it builds. The page ends it when it takes too long.
import * as tl from 'tensorlathe';
import { descriptionOf, hasOwnLayers, runCode } from './code';
import type { Answer, DataFacts } from './code_trial';
import { messageOf } from './dom';

const answer = (what: Answer) => postMessage(what);

addEventListener('message', ({ data: { code, data } }: MessageEvent) => {
  try {
    const model = runCode(code as string, data as DataFacts);
    const description = descriptionOf(model);
    answer({ kind: 'model', description, hasOwn: hasOwnLayers(description) });
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    answer({ kind: 'error', name, message: messageOf(error) });
  }
});

await tl.ready();
answer({ kind: 'open' });
