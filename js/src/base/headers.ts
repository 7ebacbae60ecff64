/** Headers of programs, which may be secrets: they go to the origin of the model alone. */
import { LatheError } from './errors.js';
import { kindOf } from './kinds.js';
import type { Fetch } from './web.js';

/** Browsers are told to remove these at a redirect to another origin, or may send them anywhere. */
const isSafe = (name: string) => /^(authorization|accept(-language)?)$/.test(name);
const mostRedirects = 20;

/** The origin of an address; '' for those that are relative to no page, and for what has none. */
function originOf(address: string): string {
  const page = globalThis.document?.baseURI ?? globalThis.location?.href;
  try {
    const { protocol, host } = new URL(address, page);
    return host && `${protocol}//${host}`;
  } catch {
    return '';
  }
}

/**
 * Fetches a file of a model that comes from `model`, '' where it has no address. Redirects are followed here, where pages are
 * not told their targets by a request without headers that looks for them. Errors: too many; a page does not learn the target.
 */
export async function fetchFrom(
  model: string,
  source: string | URL | Request,
  given: RequestInit,
  get: Fetch,
): Promise<Response> {
  const isRequest = kindOf(source) === 'Request';
  const { headers: own, credentials, signal } = source as Request;
  const init: RequestInit = isRequest ? { credentials, signal, headers: own, ...given } : given;
  const names = [...new Headers(init.headers).keys()];
  const mode = init.redirect ?? (isRequest ? (source as Request).redirect : 'follow');
  if (names.length === 0 || mode !== 'follow') return get(source, given);
  const { headers: _, ...bare } = init;
  let at = isRequest ? (source as Request).url : String(source);
  let origin = originOf(/^(blob|data):|^$/.test(model) ? at : model);
  for (let count = 0; count <= mostRedirects; ++count) {
    if (originOf(at) !== origin) return get(at, bare);
    const response = await get(count === 0 ? source : at, { ...init, redirect: 'manual' });
    // The address was relative to what `get` knows.
    origin ||= originOf(response.url);
    if (response.type === 'opaqueredirect') {
      if (names.every(isSafe)) return get(at, init);
      const found = await get(at, bare);
      if (!found.redirected) {
        throw new Error('it redirects, where headers do not go; fetch it yourself');
      }
      if (originOf(found.url) !== origin) return found;
      await found.body?.cancel();
      at = found.url;
      continue;
    }
    const target = /^30[12378]$/.test(`${response.status}`) && response.headers.get('location');
    if (!target) return response;
    await response.body?.cancel();
    at = new URL(target, response.url || at).href;
  }
  throw new LatheError(`more than ${mostRedirects} redirects`);
}
