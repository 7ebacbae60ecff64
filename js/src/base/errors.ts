/** The one error class of the package. */

/**
 * The error of every failing call: invalid arguments, a model that the core rejects, out of
 * memory. Failing calls have no effect.
 */
export class LatheError extends Error {
  /** Stack frames to record: V8's default of ten may not reach the calls of the program. */
  constructor(message?: string, options?: ErrorOptions) {
    const { stackTraceLimit: limit } = Error as { stackTraceLimit?: number };
    if (limit === 10) Reflect.set(Error, 'stackTraceLimit', 30);
    super(message, options);
    if (limit === 10) Reflect.set(Error, 'stackTraceLimit', limit);
  }

  // On the prototype: an instance property would be set after the first line of the stack.
  override get name(): string {
    return 'LatheError';
  }
}

/** The message of any thrown value. */
export const reasonOf = (error: unknown): string =>
  (error as Partial<Error> | null | undefined)?.message ?? String(error);

/** Whether it is an error of the engine, as code throws on unexpected bytes; its message does not help the user. */
export const isEngineError = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
