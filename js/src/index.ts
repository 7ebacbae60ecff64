/**
 * Tensorlathe: builds a network with the names of TensorFlow.js Layers and compiles it, at run time,
 * to one WebAssembly module that trains and predicts. Importing this module loads the compiler core.
 */
import { ready } from './load.js';

export type { Dump } from './abi.js';
export {
  Callback,
  callbacks,
  CustomCallback,
  EarlyStopping,
  type EarlyStoppingArgs,
  ModelCheckpoint,
  type ModelCheckpointArgs,
  type MonitorArgs,
} from './callbacks.js';
export type { CompileStats, ToWasmArgs } from './compiled.js';
export {
  type CallArgs,
  type CustomLayer,
  type LayerFunction,
  type LayerVariable,
} from './custom_layer.js';
export * as data from './data/index.js';
export type { EvaluateDatasetArgs, FitDatasetArgs } from './data/fit_dataset.js';
export { LatheError } from './errors.js';
export { math, oneHot } from './encode.js';
export {
  activations,
  constraints,
  type Formula,
  losses,
  metrics,
  regularizers,
} from './factories.js';
export { env, Environment, type FeatureName, type FeatureReport, type SettingName } from './env.js';
export type { FitArgs, Scores } from './fit.js';
export { compile, CompiledFunction, type FunctionOptions, type InputSpec } from './function.js';
export type * from './generated.js';
export type { LossLike, MetricLike, Metrics, MetricValue } from './metrics.js';
export { type Callbacks, History, type HistoryKey, type Logs, type Params } from './history.js';
export * as io from './io/index.js';
export { loadLayersModel } from './io/load_layers_model.js';
export {
  input,
  type InputArgs,
  Layer,
  type LayerArgs,
  type LayerCall,
  type LayerConfig,
  type SymbolicShape,
  SymbolicTensor,
} from './layer.js';
export { initializers, layers, type OptimizerLike, train } from './layers.js';
export type { PerOutput } from './per_output.js';
export {
  learningRates,
  type LearningRateSchedule,
  scheduleLearningRate,
} from './learning_rates.js';
export { ready } from './load.js';
export { LayersModel, model } from './model.js';
export type { CompileArgs, ModelArgs } from './model_args.js';
export type { YieldEvery } from './pause.js';
export { memory, type MemoryCounts } from './program.js';
export { type EntryTimes, layerTimes, type LayerTimes } from './times.js';
export { moduleText } from './text.js';
export { type LayerClass, serialization } from './serialization.js';
export { sequential, Sequential, type SequentialArgs } from './sequential.js';
export type { ModelData } from './rows.js';
export type { Schedule } from './schedules.js';
export {
  type DataArray,
  type DType,
  type NestedArray,
  Tensor,
  tensor,
  type TensorLike,
} from './tensor.js';
export { type Operand, TracedTensor, Trace, Variable } from './trace.js';
export {
  tune,
  type Tunable,
  type TuneArgs,
  type TuneProgress,
  type TunedKernel,
  type TuneResult,
} from './tunable.js';

// Whoever imports the package finds it usable; why it is not, if so, is what ready() rejects with.
await ready().catch(() => undefined);
