/** The ways to saving, and to safetensors, that cost nothing until they are taken. */
import type { Storable } from '../train/storable.js';
import type { ModelArtifacts } from './artifacts.js';
import type { SaveArgs } from './save.js';
import type { NamedArray } from './weight_data.js';

/** Everything that is saved of a model. */
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

/** The tensors of a safetensors file; rejects with errors that call the file `where`. */
export async function decodeSafetensors(file: Uint8Array, where: string): Promise<NamedArray[]> {
  const format = await import('./safetensors.js');
  return format.decodeSafetensors(file, where);
}
