/** Addresses: what lies in the folder of a file. */

/** What relative addresses begin at, in a page; workers made of a Blob have no such address. */
export function pageAddress(): string | undefined {
  const address = globalThis.document?.baseURI ?? globalThis.location?.href;
  return /^(blob|data):/.test(address ?? '') ? undefined : address;
}

/** Stands for a folder that nobody knows. */
const somewhere = 'http://somewhere.invalid/folder/';

/**
 * Whether a path names a file in the folder of the file that tells of it. What counts is not the text but
 * what it resolves to: backslashes, tabs and escaped dots lead out of folders, too.
 */
export function isBeside(path: string): boolean {
  const isRelative = !/^([a-z][a-z0-9+.-]*:|[/\\])/i.test(path);
  const climbs = path.split(/[/\\]/).includes('..');
  return isRelative && !climbs && addressBelow(somewhere, path) !== undefined;
}

/** The address that a prefix and a path make; undefined where it is not in the folder of the prefix. */
export function addressBelow(prefix: string, path: string): string | undefined {
  const page = pageAddress();
  try {
    const folder = new URL('.', new URL(prefix, page ?? somewhere));
    const place = new URL(prefix + path, page ?? somewhere);
    const name = place.pathname.slice(folder.pathname.length);
    // Servers take an escaped slash for a slash.
    const isBelow = place.href.startsWith(folder.href) && name !== '' && !/%2f|%5c/i.test(name);
    if (!isBelow) return undefined;
    return page === undefined && place.href.startsWith(somewhere) ? prefix + path : place.href;
  } catch {
    return undefined;
  }
}
