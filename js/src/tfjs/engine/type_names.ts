/** Types by their TensorFlow.js names, where these differ from ours. */
import type { FitDatasetArgs } from '../../model/fit_args.js';
import type { Tensor } from '../../tensor/tensor.js';

export type { GradSaver as GradSaveFunc } from '../../eager/autodiff/gradients.js';
export type {
  GRUArgs as GRULayerArgs,
  GRUCellArgs as GRUCellLayerArgs,
  LSTMArgs as LSTMLayerArgs,
  LSTMCellArgs as LSTMCellLayerArgs,
  RNNArgs as RNNLayerArgs,
  SimpleRNNArgs as SimpleRNNLayerArgs,
  SimpleRNNCellArgs as SimpleRNNCellLayerArgs,
} from '../../layers/layer_args.js';
export type { EarlyStoppingArgs as EarlyStoppingCallbackArgs } from '../../model/monitor.js';
export type { Callbacks as CustomCallbackArgs } from '../../model/callbacks.js';
export type { FitArgs as ModelFitArgs } from '../../model/fit_args.js';
export type {
  CompileArgs as ModelCompileArgs,
  EvaluateArgs as ModelEvaluateArgs,
  PredictArgs as ModelPredictConfig,
} from '../../model/model_args.js';
export type { PixelData } from '../../ops/images/pixels.js';
export type { MemoryInfo } from './memory.js';
export type { Platform } from '../platform/platform.js';
export type { TimingInfo } from './profile.js';

/** T: the element type of the dataset, which is not checked. */
export type ModelFitDatasetArgs<_T = unknown> = FitDatasetArgs;
export type TypedArray = Float32Array | Int32Array | Uint8Array;
export type DataValues = TypedArray | string[];
export type ScalarLike = number | boolean | string | Uint8Array;
export type RecursiveArray<T> = { [index: number]: T | RecursiveArray<T> };
/** Shapes of layers: null for sizes that depend on the data. */
export type Shape = (null | number)[];
export type DataId = object;
export type ForwardFunc<T> = (backend: unknown, save?: (tensors: Tensor[]) => void) => T;
export type TensorContainerObject = Record<string, unknown>;
export type TensorContainerArray = unknown[];
