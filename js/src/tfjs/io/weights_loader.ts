/** Tensors from the files of a manifest. */
import { LatheError } from '../../base/errors.js';
import { addressBelow } from '../../base/file_name.js';
import { setEntry } from '../../base/records.js';
import { elementCount } from '../../base/shape.js';
import { fetchOf } from '../../base/web.js';
import { env } from '../platform/environment.js';
import type { WeightsManifestConfig, WeightsManifestEntry } from './artifacts.js';
import { CompositeArrayBuffer } from './bytes.js';
import { decodeWeights, type NamedTensorMap } from './weights.js';

/** Calls `onProgress` whenever a promise resolves, with a fraction from `start` to `end`. Errors: an empty list; invalid fractions. */
export function monitorPromisesProgress<T>(
  promises: readonly Promise<T>[],
  onProgress: (share: number) => void,
  start = 0,
  end = 1,
): Promise<T[]> {
  if (!Array.isArray(promises) || promises.length === 0) {
    throw new LatheError('monitorPromisesProgress: promises must be a list that is not empty');
  }
  if (!(start >= 0 && start <= 1 && end >= start && end <= 1)) {
    throw new LatheError(`Progress fraction must be in range [0, 1], but got ${start} to ${end}`);
  }
  let done = 0;
  return Promise.all(
    promises.map(async (promise) => {
      const value = await promise;
      onProgress(start + (++done / promises.length) * (end - start));
      return value;
    }),
  );
}

const storedBytes: Record<string, number> = {
  float32: 4,
  int32: 4,
  bool: 1,
  complex64: 8,
  uint8: 1,
  uint16: 2,
  float16: 2,
};

function lengthOf({ name, dtype, shape, quantization }: WeightsManifestEntry): number {
  const each = storedBytes[quantization?.dtype ?? dtype];
  if (each === undefined) throw new LatheError(`Unsupported dtype in weight '${name}': ${dtype}`);
  return each * elementCount(shape);
}

type LoadWeights = (
  manifest: WeightsManifestConfig,
  filePathPrefix?: string,
  weightNames?: readonly string[],
) => Promise<NamedTensorMap>;

/**
 * A function that loads tensors by `fetchWeights`, which returns the bytes of files by address; only the files of groups
 * with a requested tensor are loaded. Errors: a tensor that is not in the manifest.
 */
export function weightsLoaderFactory(
  fetchWeights: (addresses: string[]) => Promise<ArrayBuffer[]>,
): LoadWeights {
  return async (manifest, filePathPrefix = '', weightNames) => {
    const all = manifest.flatMap(({ weights }) => weights.map(({ name }) => name));
    const missing = (weightNames ?? []).filter((name) => !all.includes(name));
    if (missing.length > 0) {
      throw new LatheError(
        `Could not find weights in manifest with names: ${missing.join(', ')}. \n` +
          `Manifest JSON has weights with names: ${all.join(', ')}.`,
      );
    }
    const isRequested = ({ name }: WeightsManifestEntry) => weightNames?.includes(name) ?? true;
    const groups = manifest.filter(({ weights }) => weights.some(isRequested));
    const slash = filePathPrefix === '' || filePathPrefix.endsWith('/') ? '' : '/';
    const addressOf = (path: string) =>
      addressBelow(filePathPrefix + slash, path, 'loadWeights', 'rename the file');
    const buffers = await fetchWeights(groups.flatMap(({ paths }) => paths.map(addressOf)));
    const tensors: NamedTensorMap = {};
    let file = 0;
    for (const { paths, weights } of groups) {
      const data = new CompositeArrayBuffer(buffers.slice(file, file + paths.length));
      file += paths.length;
      let at = 0;
      for (const spec of weights) {
        const end = at + lengthOf(spec);
        if (isRequested(spec)) {
          const decoded = decodeWeights(data.slice(at, end), [spec]);
          setEntry(tensors, spec.name, decoded[spec.name]!);
        }
        at = end;
      }
    }
    return tensors;
  };
}

/** The bytes of files, by the platform's fetch or that of the options. Error: one cannot be read. */
export async function loadWeightsAsArrayBuffer(
  addresses: readonly string[],
  options: {
    /** The address of the model; headers are sent only to its origin. Default: that of each file. */
    model?: string;
    fetchFunc?: (address: string, init?: RequestInit, hint?: object) => Promise<Response>;
    requestInit?: RequestInit;
    onProgress?: (share: number) => void;
  } = {},
): Promise<ArrayBuffer[]> {
  const {
    fetchFunc = env().platform.fetch.bind(env().platform),
    requestInit,
    onProgress,
    model = '',
  } = options;
  const load = async (address: string) => {
    const get = (each: unknown, init?: RequestInit) =>
      fetchFunc(each as string, init, { isBinary: true });
    const response = await fetchOf(model, address, requestInit, get);
    return response.arrayBuffer();
  };
  const loads = addresses.map(load);
  return onProgress && loads.length > 0
    ? monitorPromisesProgress(loads, onProgress)
    : Promise.all(loads);
}

/** Loads the tensors of a manifest whose files are below a path; by default all of them. */
export const loadWeights = (
  manifest: WeightsManifestConfig,
  filePathPrefix = '',
  weightNames?: readonly string[],
  requestInit?: RequestInit,
): Promise<NamedTensorMap> => {
  const load = (addresses: string[]) =>
    loadWeightsAsArrayBuffer(addresses, requestInit === undefined ? {} : { requestInit });
  return weightsLoaderFactory(load)(manifest, filePathPrefix, weightNames);
};
