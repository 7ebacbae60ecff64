/** Loads artifacts and weights from handlers and addresses. */
import { LatheError } from '../base/errors.js';
import { type FileSource } from '../base/source.js';
import {
  type IOHandler,
  isObject,
  type LoadOptions,
  type ModelArtifacts,
  weightBytes,
} from './artifacts.js';
import { openHandler } from './handlers.js';
import { decodeWeights, type NamedArray } from './weight_data.js';

/** The artifacts at a handler or an address. */
export async function artifactsOf(
  source: FileSource | IOHandler,
  options: LoadOptions,
  where: string,
): Promise<ModelArtifacts> {
  let last = 0;
  const onProgress = (fraction: number) => options.onProgress?.((last = fraction));
  const handler = await openHandler(source, { ...options, onProgress }, where);
  if (typeof handler.load !== 'function')
    throw new LatheError(`${where}: nothing can be loaded from there`);
  const artifacts: unknown = await handler.load();
  if (!isObject(artifacts)) {
    throw new LatheError(`${where}: load must return model artifacts, got ${String(artifacts)}`);
  }
  if (last < 1) onProgress(1);
  return artifacts;
}

/** The model weights among the saved tensors. */
export function weightsOf(artifacts: ModelArtifacts, where: string): NamedArray[] {
  const arrays = decodeWeights(artifacts.weightSpecs, weightBytes(artifacts, where), where);
  return arrays.filter(({ group }) => group !== 'optimizer');
}
