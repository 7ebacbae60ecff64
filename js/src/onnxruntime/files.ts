/** Files of external data. */
import { isBuffer } from '../base/kinds.js';
import type { ModelSource } from '../onnx/options.js';
import type { ExternalDataFileType, FileType } from './options.js';

const plain = (path: string) => path.replace(/^(\.?\/)+/, '');

/**
 * Gives the files of external data by the path that the model has for them; undefined for others, which are in the folder of
 * the model. Error: it has none, and the file was not named.
 */
export function externalFiles(
  files: readonly ExternalDataFileType[],
  hasFolder: boolean,
): (path: string) => Promise<ModelSource | undefined> {
  const known = new Map<string, FileType>();
  for (const each of files) {
    if (typeof each === 'string') known.set(nameOf(each), each).set(plain(each), each);
    else known.set(plain(each.path), each.data);
  }
  return async (path) => {
    const file = known.get(plain(path));
    if (file !== undefined || hasFolder) return isBuffer(file) ? new Uint8Array(file) : file;
    const names = [...known.keys()].join(', ') || 'none';
    throw new Error(`failed to load external data file "${path}": externalData names ${names}`);
  };
}

/** The model may know a file by its name in the folder. */
const nameOf = (address: string) => address.split(/[?#]/)[0]!.split('/').at(-1)!;
