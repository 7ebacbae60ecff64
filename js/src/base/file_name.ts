/**
 * Names of files that a model contains: relative to its folder, whether that is a folder or an address.
 * `src/base/file_name.h` has the same rule.
 */
import { LatheError } from './errors.js';

/**
 * Whether a name stays in its folder for everybody who may read it: file systems, URL parsers (which skip tabs and
 * decode dots) and servers (which decode slashes, some more than once). A query after the name is part of an address.
 */
export function staysInFolder(name: unknown): name is string {
  if (typeof name !== 'string') return false;
  let decoded = name;
  for (let pass = 0; /%[0-7][\da-f]/i.test(decoded); ++pass) {
    if (pass === 4) return false;
    decoded = decoded.replace(/%([0-7][\da-f])/gi, (_, code) =>
      String.fromCharCode(parseInt(code as string, 16)),
    );
  }
  const isUrl = /^(\.\/+)*[^/?:]+:|^[^?]*%(25)*2f/i.test(name);
  const hasControls = /[\0-\x1f\x7f\\]|%(c[01]%|e0%[89]|f0%8)/i.test(decoded);
  const leaves = /^[/?#]|(^|\/)( *\. *\. *([/;?#]|$)|\.?(\?|$))/.test(decoded);
  return !isUrl && !hasControls && !leaves;
}

/** The folder of the file at an address; a data: or blob: address, which has no folder, itself. */
export const folderOf = (address: string): string =>
  /^(blob|data):/i.test(address) ? address : /^([^?#]*[/\\])?/.exec(address)![0];

/**
 * The address of a named file below a prefix, which usually is the folder of a model. Errors: the name leaves it; the
 * prefix ends within a host or is no address that has others below it. `fix` explains how to name other locations.
 */
export function addressBelow(prefix: string, name: unknown, where: string, fix: string): string {
  const isFolder = !/^(blob:|data:|([a-z][a-z\d+.-]*:|[/\\]{2})[/\\]*[^/\\]*$)/i.test(prefix);
  if (isFolder && staysInFolder(name)) {
    return prefix + name.replace(/%(?![\da-f]{2})|[ #]/gi, encodeURIComponent);
  }
  const below = prefix === '' ? 'in its folder' : `below ${prefix.slice(0, 256)}`;
  throw new LatheError(`${where}: there is no ${JSON.stringify(name)} ${below}; ${fix}`);
}
