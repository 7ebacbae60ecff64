/**
 * Layers with all deferred members loaded: programs for TensorFlow.js use them synchronously.
 * Bundlers drop it from programs without layers.
 */
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
import { optimizerOf } from './optimizers/train.js';
import { randomWidth } from './layers/random_width.js';

function withDeferredMembers<T>(way: T): T {
  registerDeferred(deferredMembers);
  setOptimizerFactory(optimizerOf);
  clipProbabilities(1e-7);
  return way;
}

/** The layers of the package, and those for tensors only; a function, as bundlers cannot drop objects that are spread. */
const allLayers = () => withDeferredMembers({ ...plainLayers, randomWidth });

export const input = /* @__PURE__ */ withDeferredMembers(plainInput);
export const layers = /* @__PURE__ */ allLayers();
/** The layer types. */
export declare namespace layers {
  export type Layer = AnyLayer;
}
export const loadLayersModel = /* @__PURE__ */ withDeferredMembers(load);
export const model = /* @__PURE__ */ withDeferredMembers(plainModel);
export const models = /* @__PURE__ */ withDeferredMembers(plainModels);
export const sequential = /* @__PURE__ */ withDeferredMembers(plainSequential);
