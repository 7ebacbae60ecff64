/** The one error class of the package. */
import { nodeProcess } from './node.js';

const isOurs = /[\\/]node_modules[\\/]tensorlathe[\\/]dist[\\/]/;
const isEngines = /\(<anonymous>\)$/;
const isNodes = /[( ]node:/;

/**
 * The error of every failing call: invalid arguments, a model that the core rejects, out of
 * memory. Failing calls have no effect. In Node its stack begins at the call of the program, unless Node runs with
 * `--stack-trace-limit`.
 */
export class LatheError extends Error {
  /** Stack frames to record: V8's default of ten may not reach the calls of the program. */
  constructor(message?: string, options?: ErrorOptions) {
    const { stackTraceLimit: limit } = Error as { stackTraceLimit?: number };
    if (limit === 10) Reflect.set(Error, 'stackTraceLimit', 30);
    super(message, options);
    if (limit !== 10) return;
    Reflect.set(Error, 'stackTraceLimit', limit);
    if (nodeProcess !== undefined && isOurs.test(this.stack!)) {
      showFrames(this, programFrames(this));
    }
  }

  // On the prototype: an instance property would be set after the first line of the stack.
  override get name(): string {
    return 'LatheError';
  }
}

/** The frames of an error without those of an installed package; '' if none of the program is left. */
function programFrames({ stack = '', message }: Error): string {
  const lines = stack
    .slice(stack.indexOf(message) + message.length)
    .split('\n')
    .slice(1);
  const frames = lines.filter((line) => !isOurs.test(line) && !isEngines.test(line));
  return frames.some((line) => !isNodes.test(line)) ? frames.join('\n') : '';
}

/** Replaces the frames of a stack, unless they are ''. */
function showFrames(error: LatheError, frames: string): void {
  if (frames === '') return;
  Object.defineProperty(error, 'stack', {
    get: () => `${error.name}: ${error.message}\n${frames}`,
    set: (value: unknown) =>
      Object.defineProperty(error, 'stack', { value, writable: true, configurable: true }),
    configurable: true,
  });
}

/**
 * Runs the work of an exported function. In Node its errors have the frames of this call: V8 records them only as long as every
 * caller awaits.
 */
export async function withCaller<T>(work: () => Promise<T>): Promise<T> {
  const frames = nodeProcess === undefined ? '' : programFrames(new LatheError());
  try {
    return await work();
  } catch (error) {
    if (error instanceof LatheError && programFrames(error) === '') showFrames(error, frames);
    throw error;
  }
}

/** Runs an action whose errors about `tensor` name `what` instead. */
export function named<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof LatheError) error.message = error.message.replace(/^tensor:/, `${what}:`);
    throw error;
  }
}

/** The cause of an error whose message repeats that of `error`: none if that is ours, of which Node would print all again. */
export const causedBy = (error: unknown): ErrorOptions =>
  error instanceof LatheError ? {} : { cause: error };

/** The message of any thrown value. */
export const reasonOf = (error: unknown): string =>
  (error as Partial<Error> | null | undefined)?.message ?? String(error);

/** Whether it is an error of the engine, as code throws on unexpected bytes; its message does not help the user. */
export const isEngineError = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
