/** The functions of `tl.io`, imported on first use. */
import { LatheError } from '../base/errors.js';
import type { Storable } from '../train/storable.js';
import type { IOHandler, LoadOptions, ModelArtifacts, ModelArtifactsInfo } from './artifacts.js';
import type { SaveArgs } from './save.js';
import type { NamedArray } from './weight_data.js';

/** The artifacts of a saved model. */
export async function toArtifacts(model: Storable, args: SaveArgs = {}): Promise<ModelArtifacts> {
  const save = await import('./save.js');
  return save.toArtifacts(model, args);
}

/** The weights of a model as a safetensors file. */
export async function toSafetensors(model: Storable): Promise<Uint8Array<ArrayBuffer>> {
  const files = await import('./weight_files.js');
  return files.toSafetensors(model);
}

/** A safetensors file of these tensors. */
export async function encodeSafetensors(
  tensors: readonly NamedArray[],
): Promise<Uint8Array<ArrayBuffer>> {
  const format = await import('./safetensors.js');
  return format.encodeSafetensors(tensors);
}

/** The tensors of a safetensors file; errors name the file as `where`. */
export async function decodeSafetensors(file: Uint8Array, where: string): Promise<NamedArray[]> {
  const format = await import('./safetensors.js');
  return format.decodeSafetensors(file, where);
}

/** A handler that passes saved artifacts to a function. */
export function withSaveHandler<Result extends object>(
  save: (artifacts: ModelArtifacts) => Promise<Result>,
): IOHandler & { save(artifacts: ModelArtifacts): Promise<Result> } {
  return { save };
}

/** A handler that loads a model from memory. */
export function fromMemory(artifacts: ModelArtifacts): IOHandler {
  return { load: async () => artifacts };
}

/**
 * A model by the address of its model.json. Saving sends a form with the files model.json and
 * model.weights.bin to it, by POST unless requestInit sets another method.
 */
export function http(address: string | URL, options: LoadOptions = {}): IOHandler {
  const open = async () => (await import('./http.js')).http(address, options);
  return {
    load: async () => (await open()).load!(),
    save: async (artifacts) => (await open()).save!(artifacts),
  };
}

/** A model from selected files: model.json, then its weight files in any order. */
export function browserFiles(files: readonly File[]): IOHandler {
  const all = Array.from(files ?? []);
  if (all.length === 0) throw new LatheError('browserFiles: at least 1 file is needed');
  return { load: async () => (await import('./browser_files.js')).chosen(all).load!() };
}

/** The models in IndexedDB and localStorage, by address. */
export async function listModels(): Promise<Record<string, ModelArtifactsInfo>> {
  return (await import('./manage.js')).listModels();
}

/** Removes a model from IndexedDB or localStorage. Error: not found. */
export async function removeModel(address: string): Promise<ModelArtifactsInfo> {
  return (await import('./manage.js')).removeModel(address);
}

/** Copies a model from one address to another. Error: not found. */
export async function copyModel(from: string, to: string): Promise<ModelArtifactsInfo> {
  return (await import('./manage.js')).copyModel(from, to);
}

/**
 * As `copyModel`, and then removes the first, which must be in IndexedDB or localStorage. A model that
 * is saved there in the meantime moves too.
 */
export async function moveModel(from: string, to: string): Promise<ModelArtifactsInfo> {
  return (await import('./manage.js')).moveModel(from, to);
}
