/** Models of TensorFlow.js between model.json and memory. */
import { LatheError } from '../../base/errors.js';
import { isBuffer } from '../../base/kinds.js';
import type { ModelArtifactsInfo } from '../../io/artifacts.js';
import { CompositeArrayBuffer, stringByteLength } from './bytes.js';

export type WeightData = ArrayBuffer | ArrayBuffer[];

/** A tensor in weight data. */
export interface WeightsManifestEntry {
  name: string;
  shape: number[];
  dtype: 'float32' | 'int32' | 'bool' | 'string' | 'complex64';
  group?: 'model' | 'optimizer';
  quantization?: {
    dtype: 'uint8' | 'uint16' | 'float16';
    scale?: number;
    min?: number;
    original_dtype?: 'float32' | 'int32';
  };
}

/** Files of concatenated tensors. */
export interface WeightsManifestGroupConfig {
  paths: string[];
  weights: WeightsManifestEntry[];
}

export type WeightsManifestConfig = WeightsManifestGroupConfig[];

/** The stored parts of a model of any producer. */
interface Common {
  modelTopology?: any;
  format?: string;
  generatedBy?: string;
  convertedBy?: string | null;
  signature?: object | null;
  userDefinedMetadata?: object;
  modelInitializer?: object | null;
  initializerSignature?: object | null;
  trainingConfig?: any;
}

export interface ModelArtifacts extends Common {
  weightSpecs?: WeightsManifestEntry[];
  weightData?: WeightData;
  getWeightStream?: () => ReadableStream<ArrayBuffer>;
}

export interface ModelJSON extends Common {
  weightsManifest?: WeightsManifestConfig;
}

const optional = [
  'signature',
  'userDefinedMetadata',
  'modelInitializer',
  'initializerSignature',
  'trainingConfig',
] as const;

/** Copies the common members; those of `optional` only if present. */
function common(model: Common): Common {
  const { modelTopology, format, generatedBy, convertedBy } = model;
  const rest = optional.filter((name) => model[name] != null);
  const entries = rest.map((name) => [name, model[name]] as const);
  return {
    modelTopology,
    format,
    generatedBy,
    convertedBy,
    ...Object.fromEntries(entries),
  } as Common;
}

/** model.json for artifacts whose tensors are in these files. */
export const getModelJSONForModelArtifacts = (
  artifacts: ModelArtifacts,
  manifest: WeightsManifestConfig,
): ModelJSON => ({ ...common(artifacts), weightsManifest: manifest });

/** The artifacts of model.json and its tensors. Error: model.json lists tensors, but their data is missing. */
export function getModelArtifactsForJSONSync(
  json: ModelJSON,
  weightSpecs?: WeightsManifestEntry[],
  weightData?: WeightData,
): ModelArtifacts {
  if (json.weightsManifest == null) return common(json);
  for (const [name, value] of Object.entries({ weightSpecs, weightData })) {
    if (!value) throw new LatheError(`modelJSON has weightsManifest but ${name} is null`);
  }
  return { ...common(json), weightSpecs: weightSpecs!, weightData: weightData! };
}

/** As `getModelArtifactsForJSONSync`, with a function that loads the tensors. */
export async function getModelArtifactsForJSON(
  json: ModelJSON,
  loadWeights: (manifest: WeightsManifestConfig) => Promise<[WeightsManifestEntry[], WeightData]>,
): Promise<ModelArtifacts> {
  if (json.weightsManifest == null) return getModelArtifactsForJSONSync(json);
  return getModelArtifactsForJSONSync(json, ...(await loadWeights(json.weightsManifest)));
}

/** The summary of artifacts that are being saved. Error: the topology is not JSON. */
export function getModelArtifactsInfoForJSON(artifacts: ModelArtifacts): ModelArtifactsInfo {
  const { modelTopology, weightSpecs, weightData } = artifacts;
  if (isBuffer(modelTopology))
    throw new LatheError('Expected JSON model topology, received ArrayBuffer.');
  const bytes = (value: unknown) => (value == null ? 0 : stringByteLength(JSON.stringify(value)));
  return {
    dateSaved: new Date(),
    modelTopologyType: 'JSON',
    modelTopologyBytes: bytes(modelTopology),
    weightSpecsBytes: bytes(weightSpecs),
    weightDataBytes: weightData == null ? 0 : new CompositeArrayBuffer(weightData).byteLength,
  };
}

/** The tensors of all groups. */
export const getWeightSpecs = (manifest: WeightsManifestConfig): WeightsManifestEntry[] =>
  manifest.flatMap(({ weights }) => weights);
