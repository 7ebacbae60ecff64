/** Addresses: the content of one file, and what lies in the folder of another. */
import { LatheError } from '../base/errors.js';
import { nodeModule } from '../base/node.js';
import { web } from '../base/web.js';

/** Reads file:// in Node, anything else by fetch. Error: it cannot be read, and why. */
export async function readAddress(address: string | URL, where: string): Promise<Uint8Array> {
  try {
    if (String(address).startsWith('file:')) {
      const { filePath } = await import('./file.js');
      const { readFile } = await nodeModule('node:fs/promises');
      return await readFile(await filePath(address));
    }
    const response = await web.fetch(address);
    if (!response.ok) throw new Error(`HTTP status ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new LatheError(`cannot read ${where}: ${reason}`, { cause: error });
  }
}

/** What relative addresses begin at, in a page. */
export const pageAddress = (): string | undefined =>
  globalThis.document?.baseURI ?? globalThis.location?.href;

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
