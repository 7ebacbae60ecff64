// Runs the code of a person in a worker first, with a limit of time: a loop without end, or an error, harms nothing.
import type { DataSet } from './data/data_set';
import { codeOfGraph, type Description, rowOf } from './code';
import type { Network } from './network';

/** What code sees of the data. */
export type DataFacts = Pick<DataSet, 'shape' | 'classes' | 'target'>;

/** What the worker answers; first that it is there. */
export type Answer =
  | { kind: 'open' }
  | { kind: 'model'; description: Description; hasOwn: boolean }
  | { kind: 'error'; name: string; message: string };

const mostMs = 5000;
/** The worker loads a core of its own. */
const mostMsToOpen = 30000;

/** Asks a worker of its own, which does not outlive the answer. Errors: what the code throws; it takes too long. */
function ask(code: string, data: DataFacts): Promise<Answer> {
  const worker = new Worker(new URL('./code_worker.ts', import.meta.url), { type: 'module' });
  return new Promise<Answer>((done, fail) => {
    const late = (text: string, ms: number) => setTimeout(() => fail(new Error(text)), ms);
    let timer = late('The worker that runs the code does not start.', mostMsToOpen);
    worker.onerror = ({ message }) =>
      fail(new Error(message || 'The worker that runs the code does not start.'));
    worker.onmessage = ({ data: answer }: MessageEvent<Answer>) => {
      clearTimeout(timer);
      if (answer.kind !== 'open') return done(answer);
      worker.postMessage({ code, data });
      const text = `The code ran for ${mostMs / 1000} s and was stopped. Does it have a loop that never ends?`;
      timer = late(text, mostMs);
    };
  }).finally(() => worker.terminate());
}

/**
 * The network that the code builds. Where it has layers of its own, which only code can make, the page
 * runs the code again whenever it builds the network; else it never does. Rejects with what went wrong.
 */
export async function tryCode(code: string, data: DataSet): Promise<Network> {
  const { shape, classes, target } = data;
  const facts = { shape, target, ...(classes === undefined ? {} : { classes }) };
  const answer = await ask(code, facts);
  if (answer.kind === 'error') {
    const where = answer.name === 'SyntaxError' ? 'The code does not parse: ' : '';
    throw new Error(`${where}${answer.message}`);
  }
  if (answer.kind !== 'model' || answer.hasOwn) return { code };
  const row = rowOf(answer.description, data, code);
  if (row !== undefined) return row;
  try {
    return { code, built: codeOfGraph(answer.description) };
  } catch {
    return { code };
  }
}
