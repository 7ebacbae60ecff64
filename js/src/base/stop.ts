/** Limits of work: multi-step computations in JavaScript check between steps whether to stop. */
import { LatheError } from './errors.js';
import { nextTask } from './pause.js';

/** Options of cancelable calls. */
export interface StopOptions {
  /** Rejects the call with its reason, an `AbortError`, at the next asynchronous step. */
  signal?: AbortSignal | undefined;
  /** Milliseconds after which the call ends with an error. */
  timeLimit?: number | undefined;
}

/** The limits of a call. */
export class Stop {
  readonly #signal: AbortSignal | undefined;
  readonly #limit: number;
  readonly #end: number;

  /** Error: an invalid time limit or signal. */
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

  /** Error: the call is aborted or out of time. */
  check(): void {
    this.#signal?.throwIfAborted();
    if (performance.now() < this.#end) return;
    throw new LatheError(`${this.what}: stopped at its timeLimit of ${this.#limit} ms`);
  }

  /** Whether a signal can end the call, which the event loop has to deliver. */
  get hasSignal(): boolean {
    return this.#signal !== undefined;
  }

  /** Yields to the event loop if there is a signal. Error: as `check`. */
  async pause(): Promise<void> {
    if (this.#signal !== undefined) await nextTask();
    this.check();
  }

  /** Runs a synchronous action in which `checkStop` checks these limits, or without limits those of the outer call. */
  within<T>(action: () => T): T {
    return within(this.#signal === undefined && this.#end === Infinity ? current : this, action);
  }
}

let current: Stop | undefined;

/** Runs a synchronous action under these limits, or under none. */
export function within<T>(stop: Stop | undefined, action: () => T): T {
  const outer = current;
  current = stop;
  try {
    return action();
  } finally {
    current = outer;
  }
}

/** The limits of the current synchronous call. Modules that are compiled under limits check them as they run. */
export const currentStop = (): Stop | undefined => current;

/** Checks the limits of the current call; generated modules import it as `env.check`. Error: as `check`. */
export const checkStop = (): void => current?.check();

/** The result of an action, or the LatheError that it throws. Errors: `checkStop`'s, and those of other classes. */
export function attempt<T>(action: () => T): T | LatheError {
  try {
    return action();
  } catch (error) {
    checkStop();
    if (error instanceof LatheError) return error;
    throw error;
  }
}
