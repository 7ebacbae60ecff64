/** Headers of programs, which may be secrets: they are sent to the origin of the model only. */
import { LatheError } from './errors.js';
import { kindOf } from './kinds.js';

/** The type of `fetch`, which programs may replace. */
export type Fetch = (address: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Whether a header may follow a redirect: browsers remove it at another origin, or it is no secret. */
const isSafe = (name: string) => /^(authorization|accept(-language)?)$/.test(name);
const maxRedirects = 20;

/** The origin of an address; '' for relative ones outside of pages, and for those without an origin. */
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
 * Fetches a file of a model that comes from `model`, '' where it has no address. Redirects are followed here; in pages,
 * which cannot read a redirect's target, a request without headers finds it. Errors: too many; a page cannot find the
 * target.
 */
export async function fetchFrom(
  model: string,
  source: string | URL | Request,
  options: RequestInit,
  get: Fetch,
): Promise<Response> {
  const isRequest = kindOf(source) === 'Request';
  const { headers, credentials, signal } = source as Request;
  const init: RequestInit = isRequest ? { credentials, signal, headers, ...options } : options;
  const names = [...new Headers(init.headers).keys()];
  const mode = init.redirect ?? (isRequest ? (source as Request).redirect : 'follow');
  if (names.length === 0 || mode !== 'follow') return get(source, options);
  const { headers: _, ...bare } = init;
  let at = isRequest ? (source as Request).url : String(source);
  let origin = originOf(/^(blob|data):|^$/.test(model) ? at : model);
  for (let count = 0; count <= maxRedirects; ++count) {
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
  throw new LatheError(`more than ${maxRedirects} redirects`);
}
