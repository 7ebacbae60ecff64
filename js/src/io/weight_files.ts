/** The weights of a model as one safetensors file: `model.saveWeights` and `model.loadWeights`. */
import { LatheError } from '../base/errors.js';
import { checkOptions, type OptionNames } from '../base/options.js';
import { openFormats } from '../core/formats.js';
import { type Storable, storable } from '../train/storable.js';
import { readAddress } from './address.js';
import type { IOHandler } from './artifacts.js';
import { artifactsOf, nameOf, weightsOf } from './load_artifacts.js';
import { decodeSafetensors, encodeSafetensors } from './safetensors.js';
import { assignWeights, savedArrays } from './stored_tensors.js';
import type { NamedArray } from './weight_data.js';

/** A file by its address, its content, or a whole saved model. */
export type WeightSource = string | URL | Blob | ArrayBuffer | Uint8Array | IOHandler;

/** Options of `model.loadWeights`. */
export interface LoadWeightsArgs {
  /** Whether weights that are missing or left over are errors. Default: true. */
  strict?: boolean;
}

const names: OptionNames<LoadWeightsArgs> = { strict: true };

/** The weights of a model as the bytes of a safetensors file. */
export async function toSafetensors(model: Storable): Promise<Uint8Array<ArrayBuffer>> {
  await openFormats();
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
  const where = source instanceof Blob ? ((source as File).name ?? 'the weights') : nameOf(source);
  await openFormats();
  const arrays = await read(source, where);
  assignWeights(model[storable], arrays, args.strict ?? true, where);
}

async function read(source: WeightSource, where: string): Promise<NamedArray[]> {
  const isAddress = typeof source === 'string' || source instanceof URL;
  if (isAddress && !/\.safetensors(\?|$)/.test(String(source))) {
    return weightsOf(await artifactsOf(source, {}, 'loadWeights'), where);
  }
  if (isAddress) return decodeSafetensors(await readAddress(source, where), where);
  if (source instanceof Blob) {
    return decodeSafetensors(new Uint8Array(await source.arrayBuffer()), where);
  }
  if (source instanceof ArrayBuffer) return decodeSafetensors(new Uint8Array(source), where);
  if (ArrayBuffer.isView(source)) return decodeSafetensors(source, where);
  return weightsOf(await artifactsOf(source, {}, 'loadWeights'), where);
}
