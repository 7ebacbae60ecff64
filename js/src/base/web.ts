import type { Fetch } from './headers.js';
import { kindOf } from './kinds.js';

/** The fetch function for files: `tensorlathe/tfjs` sets it to that of the platform, which programs may replace. */
export const web: { fetch: typeof fetch; isReplaced(): boolean } = {
  fetch: (...args) => globalThis.fetch(...args),
  /** Whether a program has replaced fetch, by one that may accept paths, too. */
  isReplaced: () => false,
};

/** Fetches a file of a model from `model`: headers are sent to its origin only. */
export const fetchOf = async (
  model: string,
  address: string | URL | Request,
  init: RequestInit | undefined,
  get: Fetch = web.fetch,
): Promise<Response> =>
  init?.headers || kindOf(address) === 'Request'
    ? (await import('./headers.js')).fetchFrom(model, address, init ?? {}, get)
    : get(address, init);
