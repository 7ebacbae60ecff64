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
export { browserFiles } from './browser_files.js';
export { fromMemory, withSaveHandler } from './handlers.js';
export { http } from './http.js';
export { copyModel, listModels, moveModel, removeModel } from './manage.js';
export { decodeSafetensors, encodeSafetensors, toArtifacts, toSafetensors } from './on_demand.js';
export type { SaveArgs } from './save.js';
export type { LoadWeightsArgs, WeightSource } from './weight_files.js';
export type { NamedArray } from './weight_data.js';
