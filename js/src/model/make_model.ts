/** Models as a graph between tensors. */
import { LatheError } from '../base/errors.js';
import { loadedDeferred } from '../layers/deferred.js';
import { LayersModel } from './model.js';
import type { ModelArgs } from './model_args.js';

/** A model of the layers between inputs and outputs. Errors: an output that depends on another input. */
export function model(args: ModelArgs): LayersModel {
  if (args?.inputs === undefined || args.outputs === undefined) {
    throw new LatheError('model: inputs and outputs are needed');
  }
  loadedDeferred()?.checkArguments('model', args);
  return new LayersModel(args);
}
