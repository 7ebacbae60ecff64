/** Files of external data. */
import { isBuffer } from '../base/kinds.js';
import type { ModelSource } from '../onnx/options.js';
import type { ExternalDataFileType, FileType } from './options.js';

const plain = (path: string) => path.replace(/^(\.?\/)+/, '');

/**
 * Gives the files of external data by the path that the model has for them, and what lies beside the model where it came by
 * path or address. Error: a file that was not named.
 */
export function externalFiles(
  files: readonly ExternalDataFileType[],
  model: string | undefined,
): (path: string) => Promise<ModelSource> {
  const known = new Map<string, FileType>();
  for (const each of files) {
    if (typeof each === 'string') known.set(nameOf(each), each).set(plain(each), each);
    else known.set(plain(each.path), each.data);
  }
  return async (path) => {
    const file = known.get(plain(path)) ?? (model && beside(model, path));
    if (file !== undefined) return isBuffer(file) ? new Uint8Array(file) : file;
    const names = [...known.keys()].join(', ') || 'none';
    throw new Error(`failed to load external data file "${path}": externalData names ${names}`);
  };
}

/** The model may know a file by its name in the folder. */
const nameOf = (address: string) => address.split(/[?#]/)[0]!.split('/').at(-1)!;

/** What lies in the folder of a file. */
const beside = (file: string, path: string) => file.replace(/[^/\\]*([?#].*)?$/, '') + plain(path);
