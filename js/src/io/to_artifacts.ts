/** The way to saving that costs nothing until it is taken. */
import type { Storable } from '../storable.js';
import type { ModelArtifacts } from './artifacts.js';
import type { SaveArgs } from './save.js';

/** Everything that is saved of a model. */
export async function toArtifacts(model: Storable, args: SaveArgs = {}): Promise<ModelArtifacts> {
  const save = await import('./save.js');
  return save.toArtifacts(model, args);
}
