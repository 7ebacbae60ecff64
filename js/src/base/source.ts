/** Sources of files, for all loaders: paths are read in Node; every other address is fetched. */
import { LatheError, reasonOf } from './errors.js';
import { isAddress, isBlob, kindOf } from './kinds.js';
import { fileUrlOrPath, nodeModule, nodeProcess } from './node.js';
import { web } from './web.js';

/** An address, in Node also a path; a request or its response; a file or its handle. */
export type FileSource = string | URL | Request | Response | Blob | FileSystemFileHandle;

/** Whether a value is a `FileSource`. */
export const isSource = (value: unknown): value is FileSource =>
  isAddress(value) || /^(Request|Response|Blob|File|FileSystemFileHandle)$/.test(kindOf(value));

/** The address of a source, '' where it has none. */
export const addressOf = (source: unknown): string =>
  isAddress(source) ? String(source) : isSource(source) ? ((source as Response).url ?? '') : '';

/** The address whose origin receives the program's headers for other files of the model; unknown after a redirect. */
export const trustedAddress = (source: unknown): string =>
  (source as Response | undefined)?.redirected ? 'about:blank' : addressOf(source);

/** The name of a source in errors: its address, the name of the file, or `other`. */
export const nameOf = (source: unknown, other: string): string =>
  (addressOf(source) || (isBlob(source) && (source as File).name) || other).slice(0, 256);

/** The path or file URL of a source in Node; undefined for others. */
export function pathOf(source: unknown): URL | string | undefined {
  if (nodeProcess === undefined || !isAddress(source)) return undefined;
  const address = String(source);
  if (address.startsWith('file:')) return fileUrlOrPath(address);
  return /^[a-z][a-z0-9+.-]+:/i.test(address) ? undefined : address;
}

/** The response or file of a source that is no path. Rejects: it cannot be fetched. */
export async function openSource(
  source: FileSource,
  request: (address: string | URL | Request) => Promise<Response> = web.fetch,
): Promise<Blob | Response> {
  const kind = kindOf(source);
  if (isBlob(source)) return source;
  if (kind === 'FileSystemFileHandle') return (source as FileSystemFileHandle).getFile();
  const response = kind === 'Response' ? source : await request(source as Request);
  if (!(response as Response).ok) throw new Error(`HTTP status ${(response as Response).status}`);
  return response as Response;
}

/** The bytes of a source. Error: it cannot be read, and why. */
export async function readSource(source: FileSource, where: string): Promise<Uint8Array> {
  try {
    const path = pathOf(source);
    if (path !== undefined) return await nodeModule('node:fs').promises.readFile(path);
    return new Uint8Array(await (await openSource(source)).arrayBuffer());
  } catch (error) {
    throw unreadable(where, error);
  }
}

/** The error of an unreadable source. Errors of Node's fetch have the reason in their cause. */
export function unreadable(where: string, error: unknown): LatheError {
  const { cause } = error as Error;
  const reason = [error, ...(cause ? [cause] : [])].map(reasonOf).join(': ');
  return new LatheError(`cannot read ${where}: ${reason}`, { cause: error });
}
