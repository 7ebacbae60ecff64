/** `loadLayersModel`, whose implementation is loaded on demand. */
import { withCaller } from '../base/errors.js';
import { type FileSource } from '../base/source.js';
import type { IOHandler, LoadOptions } from '../io/artifacts.js';
import type { LayersModel } from './model.js';

/**
 * A model from an address (file://, http(s)://, indexeddb://, localstorage://, any that fetch knows) of its model.json, in Node
 * also its path, from a response or a file, or from a handler.
 * If it was saved with its training, it is compiled.
 * Errors: it cannot be read, is damaged, has unknown layers or options, or weights that do not match
 * its layers; each with the file and the layer or tensor.
 */
export function loadLayersModel(
  source: FileSource | IOHandler,
  options: LoadOptions = {},
): Promise<LayersModel> {
  return withCaller(async () => {
    const load = await import('./model_from_artifacts.js');
    return await load.loadLayersModel(source, options);
  });
}

/** As in TensorFlow.js. */
export const models = {
  /** Creates a model from a topology of `model.toJSON(null, false)`, with initial weights. Error: no topology. */
  async modelFromJSON(topology: object): Promise<LayersModel> {
    return (await import('./model_from_artifacts.js')).modelFromJSON(topology);
  },
};
