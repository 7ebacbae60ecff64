/**
 * Tensorlathe: the API of TensorFlow.js Layers; compiles a model, at run time, to one WebAssembly module that trains and
 * predicts. Importing this module starts to load the compiler core.
 *
 * @module tensorlathe
 */
import './preload_core.js';
import './register_deferred.js';
import { installOperations } from './eager/apply.js';
import { installTo } from './eager/set_device.js';
import { loadSchedules } from './tune/schedules.js';

export { DeviceLostError, LimitError, OutOfMemoryError } from './base/device_errors.js';
export { LatheError } from './base/errors.js';
export type { YieldEvery } from './base/pause.js';
export type { Dump, LayerConfig, Schedule } from './core/abi.js';
export { moduleText } from './core/module_text.js';
export type * from './core/names.js';
export { math, oneHot } from './tensor/class_numbers.js';
export { ones, zeros } from './eager/constants.js';
export {
  browser,
  concat,
  randomNormal,
  randomUniform,
  stack,
  variable,
} from './eager/make_tensors.js';
export { getDevice, setDevice } from './eager/set_device.js';
export {
  print,
  scalar,
  tensor,
  tensor1d,
  tensor2d,
  tensor3d,
  tensor4d,
  tensor5d,
  tensor6d,
} from './tensor/create.js';
export type { DataArray, NumberArray, NumberDType, StoredDType } from './tensor/convert.js';
export type { BigIntDType, DataTypeMap, DType } from './tensor/dtypes.js';
export type * from './tensor/ranked_tensors.js';
export type * from './tensor/ranks.js';
export type { TensorContainer } from './tensor/live_tensors.js';
export { dispose, keep, tidy } from './tensor/scopes.js';
export { type NestedArray, Tensor, type TensorLike } from './tensor/tensor.js';
export type { CompileStats } from './runtime/build.js';
export {
  env,
  Environment,
  type FeatureName,
  type FeatureReport,
  type SettingName,
} from './runtime/env.js';
export type { DeviceMemory, DeviceName, DeviceOptions } from './runtime/device.js';
export { memory, type MemoryCounts } from './devices/memory.js';
export { tune } from './tune/tune.js';
export type { Tunable, TuneArgs, TuneProgress, TunedKernel, TuneResult } from './tune/tunable.js';
export * as cache from './cache.js';
export { compile } from './trace/compile.js';
export { CompiledFunction, type FunctionOptions } from './trace/compiled_function.js';
export type { InputSpec } from './trace/trace_graph.js';
export { SizedFunction, type SizedInputSpec } from './trace/sized_function.js';
// Exported from the module that augments Tensor with them, so that the declarations include it.
export type { TensorMethods } from './eager/apply.js';
export type * from './trace/operations.js';
export { type Operand, Trace, TracedTensor, TracedVariable } from './trace/trace.js';
export {
  type CallArgs,
  type CustomLayer,
  type LayerFunction,
  type LayerVariable,
} from './layers/custom_layer.js';
export type { InputRule, InputRules } from './layers/input_spec.js';
export type { LayerArgs } from './layers/base_args.js';
export { input, type InputArgs } from './layers/input.js';
export { Layer, type LayerCall, type SymbolicShape, SymbolicTensor } from './layers/layer.js';
export type * from './layers/layer_args.js';
export {
  activations,
  constraints,
  initializers,
  layers,
  type Layers,
  type OptimizerFactories,
  type OtherLayers,
  regularizers,
  train,
} from './layers/factories.js';
export type { CustomLossFunction as OwnFormula } from './layers/custom_loss.js';
export { Optimizer, type OptimizerLike } from './layers/optimizer.js';
export { type AnyCellArgs, RNN, RNNCell } from './layers/rnn_cell.js';
export { type LayerClass, serialization } from './layers/serialization.js';
export * as data from './data/index.js';
export type { CsvLoggerArgs } from './train/csv_logger.js';
export type { TensorBoardArgs } from './train/tensor_board.js';
export type { EvaluateDatasetArgs } from './train/fit_dataset.js';
export { History, type HistoryKey, type Logs, type Params } from './train/history.js';
export type { LossLike, MetricLike, Metrics, MetricValue } from './train/metrics.js';
export type { PerOutput } from './train/per_output.js';
export type { ModelData } from './train/examples.js';
export type { Scores } from './train/score.js';
export * as io from './io/index.js';
export type { EarlyStoppingArgs, MonitorArgs } from './model/monitor.js';
export {
  Callback,
  callbacks,
  type Callbacks,
  CustomCallback,
  EarlyStopping,
  ModelCheckpoint,
  type ModelCheckpointArgs,
} from './model/callbacks.js';
export type { ToWasmArgs } from './model/compiled_model.js';
export { type LossFunction as Formula, losses, metrics } from './model/loss_functions.js';
export {
  type EntryEquations,
  type EntryTimes,
  type EquationTime,
  equationTimes,
  layerTimes,
  type LayerTimes,
} from './model/layer_times.js';
export {
  learningRates,
  type LearningRateSchedule,
  scheduleLearningRate,
} from './model/learning_rates.js';
export { loadLayersModel, models } from './model/load_layers_model.js';
export { model } from './model/make_model.js';
export { LayersModel } from './model/model.js';
export type { FitArgs, FitDatasetArgs } from './model/fit_args.js';
export type {
  CompileArgs,
  EvaluateArgs,
  KnownCompileArgs,
  ModelArgs,
  PredictArgs,
} from './model/model_args.js';
export { sequential, Sequential, type SequentialArgs } from './model/sequential.js';
export * as image from './media/to_tensor.js';
export type { ImageOptions, ImageSource, RgbaImage } from './media/image_options.js';
export { loadModel } from './load_model.js';
export { toOnnx } from './to_onnx.js';
export type { OnnxSource, ToOnnxOptions } from './onnx_export/options.js';
export type { ModelInput, ModelOutput, ModelPort, NestedStrings, OnnxModel } from './onnx/model.js';
export type { LoadModelOptions, ModelSource, Placement } from './onnx/options.js';
export { ready, setWasmUrl } from './model/ready.js';

void loadSchedules();
installOperations();
installTo();
