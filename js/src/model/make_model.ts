/** Models as a graph between tensors. */
import { LatheError } from '../base/errors.js';
import { extrasAtHand } from '../layers/extras.js';
import { LayersModel } from './model.js';
import type { ModelArgs } from './model_args.js';

/** A model of what lies between inputs and outputs. Errors: an output that needs another input. */
export function model(args: ModelArgs): LayersModel {
  if (args?.inputs === undefined || args.outputs === undefined) {
    throw new LatheError('model: inputs and outputs are needed');
  }
  extrasAtHand()?.checkArguments('model', args);
  return new LayersModel(args);
}
