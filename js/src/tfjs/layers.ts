/**
 * The ways to layers, with all that describes them at once: pages of programs for TensorFlow.js need not fetch it first.
 * Bundlers leave it out where a program has no layers.
 */
import { useExtras } from '../layers/extras.js';
import { input as plainInput, type Layer as AnyLayer } from '../layers/layer.js';
import { layers as plainLayers } from '../layers/makers.js';
import { makeOptimizersBy } from '../layers/optimizer.js';
import { extras } from '../model/extras.js';
import { boundProbabilities } from '../model/goal.js';
import { loadLayersModel as load, models as plainModels } from '../model/load_layers_model.js';
import { model as plainModel } from '../model/make_model.js';
import { sequential as plainSequential } from '../model/sequential.js';
import { optimizerOf } from './optimizers/train.js';
import { randomWidth } from './random_width.js';

function withExtras<T>(way: T): T {
  useExtras(extras);
  makeOptimizersBy(optimizerOf);
  boundProbabilities(1e-7);
  return way;
}

/** Those of the package, and what works on tensors only; a function, as bundlers keep objects that others are spread into. */
const allLayers = () => withExtras({ ...plainLayers, randomWidth });

export const input = /* @__PURE__ */ withExtras(plainInput);
export const layers = /* @__PURE__ */ allLayers();
/** The types among them. */
export declare namespace layers {
  export type Layer = AnyLayer;
}
export const loadLayersModel = /* @__PURE__ */ withExtras(load);
export const model = /* @__PURE__ */ withExtras(plainModel);
export const models = /* @__PURE__ */ withExtras(plainModels);
export const sequential = /* @__PURE__ */ withExtras(plainSequential);
