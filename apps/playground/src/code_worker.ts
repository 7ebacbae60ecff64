// A worker that runs code of the user and describes the model it builds. The page terminates it after a timeout.
import * as tl from 'tensorlathe';
import { descriptionOf, hasCustomLayers, runCode } from './code';
import type { Answer, DataFacts } from './code_runner';
import { messageOf } from './dom';

const answer = (what: Answer) => postMessage(what);

addEventListener('message', ({ data: { code, data } }: MessageEvent) => {
  try {
    const model = runCode(code as string, data as DataFacts);
    const description = descriptionOf(model);
    answer({ kind: 'model', description, hasCustomLayers: hasCustomLayers(description) });
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    answer({ kind: 'error', name, message: messageOf(error) });
  }
});

await tl.ready();
answer({ kind: 'open' });
