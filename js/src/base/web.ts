import { kindOf } from './kinds.js';

/** As that of pages; programs may have their own. */
export type Fetch = (address: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** What files are fetched with: `tensorlathe/tfjs` has it ask the platform that programs may replace. */
export const web: { fetch: typeof fetch; isReplaced(): boolean } = {
  fetch: (...args) => globalThis.fetch(...args),
  /** Whether a program has put in a fetch of its own, which may know paths, too. */
  isReplaced: () => false,
};

/** Fetches a file of a model from `model`: headers go to its origin alone. */
export const fetchOf = async (
  model: string,
  address: string | URL | Request,
  init: RequestInit | undefined,
  get: Fetch = web.fetch,
): Promise<Response> =>
  init?.headers || kindOf(address) === 'Request'
    ? (await import('./headers.js')).fetchFrom(model, address, init ?? {}, get)
    : get(address, init);
