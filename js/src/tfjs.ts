/**
 * The exports of `@tensorflow/tfjs`, plus those of this package, on compiled modules: programs for TensorFlow.js change
 * one import.
 *
 * @module tensorlathe/tfjs
 */
import { engine } from './eager/engine.js';
import { parametrizeSlices } from './eager/plan/parametrize_slices.js';
import { installChained } from './tfjs/engine/chained.js';
import { installTensorMethods } from './tfjs/engine/tensor_methods.js';

export * from './index.js';
export * from './ops/index.js';
export {
  customGrad,
  type CustomGradient,
  grad,
  grads,
  type GradSaver,
  valueAndGrad,
  type ValueAndGrads,
  valueAndGrads,
} from './eager/autodiff/gradients.js';
export { variableGrads } from './tfjs/engine/variable_grads.js';
export { jit, type Jitted, type JitOptions } from './eager/transform/jit.js';
export { type BatchAxis, vmap } from './eager/transform/vmap.js';
export { disposeVariables, Variable, variable } from './eager/variable.js';
export { oneHot, print } from './ops/arrays/create.js';
export { losses } from './ops/nn/losses.js';
export { concat, randomNormal, randomUniform, stack } from './ops/index.js';
// Declarations drop side-effect imports: these types import those of the methods.
export type { ChainedMethods } from './tfjs/engine/chained.js';
export type { ElementMethods, GPUData } from './tfjs/engine/tensor_methods.js';
export * from './tfjs/engine/backend_packages.js';
export * as backend_util from './tfjs/backend_util.js';
export * as broadcast_util from './shapes/broadcast_util.js';
export * as browser from './tfjs/browser.js';
export { CallbackList } from './tfjs/layers/callback_list.js';
export { LayerVariable } from './tfjs/layers/layer_variable.js';
export { buffer, TensorBuffer } from './tfjs/util/buffer.js';
export * as data from './tfjs/data.js';
// The names of datasets in @tensorflow/tfjs-data.
export * from './tfjs/data.js';
export * as device_util from './tfjs/platform/device_util.js';
export { ENV, env, Environment, setPlatform } from './tfjs/platform/environment.js';
export * as fused from './tfjs/fused.js';
export * as gather_util from './shapes/gather_util.js';
export * as image from './tfjs/image.js';
export { InputSpec } from './tfjs/layers/input_spec.js';
export * as io from './tfjs/io.js';
export * as kernel_impls from './tfjs/engine/kernel_impls.js';
export * from './tfjs/engine/kernel_names.js';
export type * from './tfjs/engine/kernel_config.js';
export * from './tfjs/engine/kernel_registry.js';
export { math } from './tfjs/math.js';
export {
  type GraphArtifacts,
  GraphModel,
  type GraphSource,
  type LoadGraphOptions,
  type NamedTensorMap,
  type TensorInfo as ModelTensorInfo,
} from './graph_model/model.js';
export { loadGraphModel, loadGraphModelSync } from './graph_model/load.js';
export { deregisterOp, registerOp } from './graph_model/custom.js';
export { input, layers, loadLayersModel, model, models, sequential } from './tfjs/layers.js';
export { metrics } from './tfjs/layers/metrics.js';
export { nextFrame } from './tfjs/platform/next_frame.js';
export * as node from './tfjs/util/node_images.js';
export { op } from './tfjs/engine/op.js';
export { type NamedTensor, Optimizer } from './tfjs/optimizers/optimizer.js';
export {
  AdadeltaOptimizer,
  AdagradOptimizer,
  AdamaxOptimizer,
  AdamOptimizer,
  MomentumOptimizer,
  RMSPropOptimizer,
  SGDOptimizer,
  train,
  train as OptimizerConstructors,
} from './tfjs/optimizers/train.js';
export { registerCallbackConstructor } from './tfjs/layers/register_callback.js';
export * as scatter_util from './shapes/scatter_util.js';
export * as serialization from './tfjs/layers/serialization.js';
export * as slice_util from './shapes/slice_util.js';
export * as tensor_util from './tfjs/util/tensor_util.js';
export {
  ones,
  tensor,
  tensor1d,
  tensor2d,
  tensor3d,
  tensor4d,
  tensor5d,
  tensor6d,
  type WebGPUData,
  zeros,
} from './tfjs/engine/tensors.js';
export { Rank } from './tensor/ranks.js';
export * as test_util from './tfjs/test_util.js';
export {
  type DataType,
  type NumericDataType,
  OP_SCOPE_SUFFIX,
  sumOutType,
  upcastType,
} from './shapes/types.js';
export type * from './tfjs/engine/type_names.js';
export * as util from './tfjs/util.js';
export {
  backend,
  findBackend,
  findBackendFactory,
  getBackend,
  KernelBackend,
  ready,
  registerBackend,
  removeBackend,
  setBackend,
} from './tfjs/engine/backends.js';
export {
  deprecationWarn,
  disableDeprecationWarnings,
  enableDebugMode,
  enableProdMode,
} from './tfjs/platform/modes.js';
export { engine } from './tfjs/engine/engine.js';
export { memory } from './tfjs/engine/memory.js';
export { profile, time } from './tfjs/engine/profile.js';
export * from './tfjs/version.js';

installChained();
installTensorMethods();
engine.plans.parametrize = parametrizeSlices;
engine.movesTensors = true;
