/** Saving and loading: `tl.io`, with the names of TensorFlow.js. */
export type {
  IOHandler,
  LoadOptions,
  ModelArtifacts,
  ModelArtifactsInfo,
  Quantization,
  SaveResult,
  TrainingConfig,
  WeightSpec,
} from './artifacts.js';
export {
  browserFiles,
  copyModel,
  decodeSafetensors,
  encodeSafetensors,
  fromMemory,
  http,
  listModels,
  moveModel,
  removeModel,
  toArtifacts,
  toSafetensors,
  withSaveHandler,
} from './on_demand.js';
export type { SaveArgs } from './save.js';
export type { LoadWeightsArgs, WeightSource } from './weight_files.js';
export type { NamedArray } from './weight_data.js';
