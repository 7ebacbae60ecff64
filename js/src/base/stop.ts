/** Limits of work: what takes steps in JavaScript asks between them whether it shall stop. */
import { LatheError } from './errors.js';
import { nextTask } from './pause.js';

/** Options of calls that can be stopped. */
export interface StopOptions {
  /** Ends the call with its reason, an `AbortError`, at the next step that waits. */
  signal?: AbortSignal | undefined;
  /** Milliseconds after which the call ends with an error. */
  timeLimit?: number | undefined;
}

/** What a call may take. */
export class Stop {
  readonly #signal: AbortSignal | undefined;
  readonly #limit: number;
  readonly #end: number;

  /** Error: a limit that is no number of milliseconds, a signal that is none. */
  constructor(
    private readonly what: string,
    { signal, timeLimit = Infinity }: StopOptions = {},
  ) {
    if (!(timeLimit > 0)) {
      throw new LatheError(`${what}: timeLimit must be milliseconds above 0, got ${timeLimit}`);
    }
    if (signal !== undefined && typeof signal?.aborted !== 'boolean') {
      throw new LatheError(`${what}: signal must be an AbortSignal, got ${String(signal)}`);
    }
    this.#signal = signal;
    this.#limit = timeLimit;
    this.#end = performance.now() + timeLimit;
    this.check();
  }

  /** Error: the call shall stop. */
  check(): void {
    this.#signal?.throwIfAborted();
    if (performance.now() < this.#end) return;
    throw new LatheError(`${this.what}: stopped at its timeLimit of ${this.#limit} ms`);
  }

  /** Lets a signal come, where there is one. Error: as `check`. */
  async pause(): Promise<void> {
    if (this.#signal !== undefined) await nextTask();
    this.check();
  }

  /** Runs `action`, which waits for nothing, so that `checkStop` in it asks this. */
  within<T>(action: () => T): T {
    const outer = current;
    current = this;
    try {
      return action();
    } finally {
      current = outer;
    }
  }
}

let current: Stop | undefined;

/** Error: the call that is at work shall stop. */
export const checkStop = (): void => current?.check();
