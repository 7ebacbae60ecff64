/** Files of external data. */
import { isBuffer } from '../base/kinds.js';
import type { ModelSource } from '../onnx/options.js';
import type { ExternalDataFileType, FileType } from './options.js';

const plain = (path: string) => path.replace(/^(\.?\/)+/, '');

/**
 * Returns a function from the path of external data in the model to the file; undefined for files to be loaded from the model's
 * folder. Error: the model has no folder, and the file is not listed.
 */
export function externalFiles(
  files: readonly ExternalDataFileType[],
  hasFolder: boolean,
): (path: string) => Promise<ModelSource | undefined> {
  const filesByPath = new Map<string, FileType>();
  for (const each of files) {
    if (typeof each === 'string') filesByPath.set(nameOf(each), each).set(plain(each), each);
    else filesByPath.set(plain(each.path), each.data);
  }
  return async (path) => {
    const file = filesByPath.get(plain(path));
    if (file !== undefined || hasFolder) return isBuffer(file) ? new Uint8Array(file) : file;
    const names = [...filesByPath.keys()].join(', ') || 'none';
    throw new Error(`failed to load external data file "${path}": externalData names ${names}`);
  };
}

/** The file name of a URL or path. */
const nameOf = (address: string) => address.split(/[?#]/)[0]!.split('/').at(-1)!;
