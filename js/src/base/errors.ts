/** The one error class of the package. */

/**
 * What every failing call throws or rejects with: bad arguments, a model the core refuses, memory
 * that is not there. The message is complete; after it everything is as it was before the call.
 */
export class LatheError extends Error {
  override name = 'LatheError';
}
