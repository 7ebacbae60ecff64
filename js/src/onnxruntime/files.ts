/** Files by path or address, and those of external data. */
import { nodeModule, nodeProcess } from '../base/node.js';
import { type ExternalDataFileType, type FileType, isBuffer } from './options.js';

/** Whether Node reads it from its file system. */
export const isPath = (name: string) =>
  nodeProcess !== undefined && (/^file:/i.test(name) || !/^[a-z][a-z0-9+.-]+:/i.test(name));

async function readFile(name: string): Promise<Uint8Array> {
  if (isPath(name)) {
    const { readFile } = nodeModule('node:fs/promises');
    return readFile(/^file:/i.test(name) ? new URL(name) : name);
  }
  const response = await fetch(name);
  if (!response.ok) throw new Error(`HTTP status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** The bytes of a file. Error: it cannot be read, and why. */
export async function bytesOf(file: FileType): Promise<Uint8Array> {
  if (file instanceof Uint8Array) return file;
  if (isBuffer(file)) return new Uint8Array(file);
  if (typeof file !== 'string') return new Uint8Array(await file.arrayBuffer());
  try {
    return await readFile(file);
  } catch (error) {
    throw new Error(`failed to load ${file}: ${reasonOf(error)}`, { cause: error });
  }
}

/** What an error says. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const plain = (path: string) => path.replace(/^(\.?\/)+/, '');

/**
 * Gives the files of external data by the path that the model has for them, and what lies beside the model where it came by
 * path or address. Error: a file that was not named.
 */
export function externalFiles(
  files: readonly ExternalDataFileType[],
  model: string | undefined,
): (path: string) => Promise<Uint8Array> {
  const known = new Map<string, FileType>();
  for (const each of files) {
    if (typeof each === 'string') known.set(nameOf(each), each).set(plain(each), each);
    else known.set(plain(each.path), each.data);
  }
  return async (path) => {
    const file = known.get(plain(path));
    if (file !== undefined) return bytesOf(file);
    if (model === undefined) {
      const names = [...known.keys()].join(', ') || 'none';
      throw new Error(`failed to load external data file "${path}": externalData names ${names}`);
    }
    return bytesOf(beside(model, path));
  };
}

/** The model may know a file by its name in the folder. */
const nameOf = (address: string) => address.split(/[?#]/)[0]!.split('/').at(-1)!;

/** What lies in the folder of a file. */
const beside = (file: string, path: string) => file.replace(/[^/\\]*([?#].*)?$/, '') + plain(path);
