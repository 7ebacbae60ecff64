/** The weights of a model as one safetensors file: `model.saveWeights` and `model.loadWeights`. */
import { LatheError } from '../base/errors.js';
import { isSource, nameOf, readSource, type FileSource } from '../base/source.js';
import { bytesOf, isAddress } from '../base/kinds.js';
import { checkOptions, type OptionNames } from '../base/options.js';
import { loadFormats } from '../core/formats.js';
import { type Storable, storable } from '../train/storable.js';
import type { IOHandler } from './artifacts.js';
import { artifactsOf, weightsOf } from './load_artifacts.js';
import { decodeSafetensors, encodeSafetensors } from './safetensors.js';
import { assignWeights, savedArrays } from './stored_tensors.js';
import type { NamedArray } from './weight_data.js';

/** A file by its address or content, or a saved model. */
export type WeightSource = FileSource | ArrayBuffer | Uint8Array | IOHandler;

/** Options of `model.loadWeights`. */
export interface LoadWeightsArgs {
  /** Whether missing or unexpected weights are errors. Default: true. */
  strict?: boolean;
}

const names: OptionNames<LoadWeightsArgs> = { strict: true };

/** The weights of a model as the bytes of a safetensors file. */
export async function toSafetensors(model: Storable): Promise<Uint8Array<ArrayBuffer>> {
  await Promise.all([loadFormats(), model.synced()]);
  return encodeSafetensors(savedArrays(model[storable], false));
}

/** As `model.saveWeights`. */
export async function saveWeights(model: Storable, target: string | URL): Promise<void> {
  const bytes = await toSafetensors(model);
  const address = String(target);
  if (address.startsWith('downloads://')) {
    const { download } = await import('./browser_files.js');
    const name = address.slice('downloads://'.length).replace(/(\.safetensors)?$/, '.safetensors');
    return download(name, new Blob([bytes]));
  }
  if (!address.startsWith('file://')) {
    throw new LatheError(`saveWeights: ${address} must begin with file:// or downloads://`);
  }
  const { filePath, replaceFile } = await import('./file.js');
  await replaceFile(await filePath(target), bytes);
}

/** As `model.loadWeights`. */
export async function loadWeights(
  model: Storable,
  source: WeightSource,
  args: LoadWeightsArgs = {},
): Promise<void> {
  checkOptions('loadWeights', args, names);
  const where = nameOf(source, 'the weights');
  await loadFormats();
  const arrays = await read(source, where);
  await model.synced();
  assignWeights(model[storable], arrays, args.strict ?? true, where);
}

async function read(source: WeightSource, where: string): Promise<NamedArray[]> {
  const isOneFile = !isAddress(source) || /\.safetensors(\?|$)|^(blob|data):/.test(String(source));
  const isRead = isSource(source) && isOneFile;
  const bytes = isRead ? await readSource(source, where) : bytesOf(source);
  if (bytes !== undefined) return decodeSafetensors(bytes, where);
  return weightsOf(await artifactsOf(source as IOHandler, {}, 'loadWeights'), where);
}
