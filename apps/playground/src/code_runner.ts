// Runs code of the user in a worker first, with a time limit: an infinite loop or an error does not affect the page.
import type { DataSet } from './data/data_set';
import { codeOfGraph, type Description, rowOf } from './code';
import type { Network } from './network';

/** The facts of the data that code receives. */
export type DataFacts = Pick<DataSet, 'shape' | 'classes' | 'target'>;

/** Messages of the worker; the first one is `open`. */
export type Answer =
  | { kind: 'open' }
  | { kind: 'model'; description: Description; hasCustomLayers: boolean }
  | { kind: 'error'; name: string; message: string; line?: number };

/** An error of the code, with its line from 1 where the engine tells. */
export class CodeError extends Error {
  constructor(
    message: string,
    readonly line: number | undefined,
  ) {
    super(message);
  }
}

const maxMs = 5000;
/** The worker has to load its core. */
const maxStartMs = 30000;

/** Runs the code in a new worker, which is terminated afterwards. Errors: what the code throws; a timeout. */
function runInWorker(code: string, data: DataFacts): Promise<Answer> {
  const worker = new Worker(new URL('./code_worker.ts', import.meta.url), { type: 'module' });
  return new Promise<Answer>((done, fail) => {
    const late = (text: string, ms: number) => setTimeout(() => fail(new Error(text)), ms);
    let timer = late('The worker that runs the code does not start.', maxStartMs);
    worker.onerror = ({ message }) =>
      fail(new Error(message || 'The worker that runs the code does not start.'));
    worker.onmessage = ({ data: answer }: MessageEvent<Answer>) => {
      clearTimeout(timer);
      if (answer.kind !== 'open') return done(answer);
      worker.postMessage({ code, data });
      const text = `The code ran for ${maxMs / 1000} s and was stopped. Does it have a loop that never ends?`;
      timer = late(text, maxMs);
    };
  }).finally(() => worker.terminate());
}

/**
 * The network that the code builds. If it has custom layers, which only code can create, the page reruns the code whenever it
 * builds the network. Rejects with the error of the code.
 */
export async function runCodeInWorker(code: string, data: DataSet): Promise<Network> {
  const { shape, classes, target } = data;
  const facts = { shape, target, ...(classes === undefined ? {} : { classes }) };
  const answer = await runInWorker(code, facts);
  if (answer.kind === 'error') {
    const { line } = answer;
    const where =
      answer.name === 'SyntaxError'
        ? 'The code does not parse: '
        : line === undefined
          ? ''
          : `Line ${line}: `;
    throw new CodeError(`${where}${answer.message}`, line);
  }
  if (answer.kind !== 'model' || answer.hasCustomLayers) return { code };
  const row = rowOf(answer.description, data, code);
  if (row !== undefined) return row;
  try {
    return { code, built: codeOfGraph(answer.description) };
  } catch {
    return { code };
  }
}
