/** The one error class of the package. */

/**
 * What every failing call throws or rejects with: bad arguments, a model the core refuses, memory
 * that is not there. The message is complete; after it everything is as it was before the call.
 */
export class LatheError extends Error {
  /** The stack reaches the program's own calls: the package's alone may be more than the ten that V8 records. */
  constructor(message?: string, options?: ErrorOptions) {
    const { stackTraceLimit: limit } = Error as { stackTraceLimit?: number };
    if (limit === 10) Reflect.set(Error, 'stackTraceLimit', 30);
    super(message, options);
    if (limit === 10) Reflect.set(Error, 'stackTraceLimit', limit);
  }

  // Of the prototype: an own one comes too late for the first line of the stack.
  override get name(): string {
    return 'LatheError';
  }
}

/** What anything that was thrown says. */
export const reasonOf = (error: unknown): string =>
  (error as Partial<Error> | null | undefined)?.message ?? String(error);

/** Whether an engine threw it, as code does that meets bytes it does not expect; its message helps nobody. */
export const isOfEngine = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
