/** The one error class of the package. */

/**
 * What every failing call throws or rejects with: bad arguments, a model the core refuses, memory
 * that is not there. The message is complete; after it everything is as it was before the call.
 */
export class LatheError extends Error {
  override name = 'LatheError';
}

/** What anything that was thrown says. */
export const reasonOf = (error: unknown): string =>
  (error as Partial<Error> | null | undefined)?.message ?? String(error);
