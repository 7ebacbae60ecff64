/** `tf.io`: the functions of `tl.io`, and the remaining ones of TensorFlow.js. */
export * from '../io/index.js';
export {
  getModelArtifactsForJSON,
  getModelArtifactsForJSONSync,
  getModelArtifactsInfoForJSON,
  getWeightSpecs,
  type ModelArtifacts,
  type ModelJSON,
  type WeightData,
  type WeightsManifestConfig,
  type WeightsManifestEntry,
} from './io/artifacts.js';
export { CompositeArrayBuffer, concatenateArrayBuffers } from './io/bytes.js';
export {
  fromMemory,
  fromMemorySync,
  getLoadHandlers,
  getSaveHandlers,
  type IOHandlerSync,
  type IORouter,
  registerLoadRouter,
  registerSaveRouter,
  withSaveHandlerSync,
} from './io/handlers.js';
export { browserHTTPRequest, http, isHTTPScheme } from './io/http.js';
export type * from './io/type_names.js';
export { decodeWeights, decodeWeightsStream, encodeWeights } from './io/weights.js';
export { loadWeights, weightsLoaderFactory } from './io/weights_loader.js';
