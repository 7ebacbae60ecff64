/**
 * Layers with all deferred members loaded: programs for TensorFlow.js use them synchronously.
 * Bundlers drop it from programs without layers.
 */
import { ignoreUnknownOptions } from '../layers/check_layer.js';
import { registerDeferred } from '../layers/deferred.js';
import { input as plainInput } from '../layers/input.js';
import type { Layer as AnyLayer } from '../layers/layer.js';
import { layers as plainLayers } from '../layers/factories.js';
import { setOptimizerFactory } from '../layers/optimizer.js';
import { deferredMembers } from '../deferred/members.js';
import { clipProbabilities } from '../model/training_config.js';
import { loadLayersModel as load, models as plainModels } from '../model/load_layers_model.js';
import { model as plainModel } from '../model/make_model.js';
import { sequential as plainSequential } from '../model/sequential.js';
import { trainQuietly } from '../train/verbose.js';
import { optimizerOf } from './optimizers/train.js';
import { randomWidth } from './layers/random_width.js';

function withDeferredMembers<T>(way: T): T {
  registerDeferred(deferredMembers);
  setOptimizerFactory(optimizerOf);
  clipProbabilities(1e-7);
  ignoreUnknownOptions();
  return way;
}

/** A factory, or a loader, of models whose training prints nothing. */
const quiet = <Args extends unknown[], Made extends object>(make: (...args: Args) => Made) =>
  withDeferredMembers((...args: Args): Made => {
    const made = make(...args);
    return made instanceof Promise ? (made.then(trainQuietly) as never) : trainQuietly(made);
  });

/** The layers of the package, and those for tensors only; a function, as bundlers cannot drop objects that are spread. */
const allLayers = () => withDeferredMembers({ ...plainLayers, randomWidth });

export const input = /* @__PURE__ */ withDeferredMembers(plainInput);
export const layers = /* @__PURE__ */ allLayers();
/** The layer types. */
export declare namespace layers {
  export type Layer = AnyLayer;
}
export const loadLayersModel = /* @__PURE__ */ quiet(load);
export const model = /* @__PURE__ */ quiet(plainModel);
export const models = { modelFromJSON: /* @__PURE__ */ quiet(plainModels.modelFromJSON) };
export const sequential = /* @__PURE__ */ quiet(plainSequential);
