/** The artifacts of a saved model, as in TensorFlow.js: topology, weight specifications, weight data. */
import { LatheError } from '../base/errors.js';
import { bytesOf, describeKind, isBuffer, kindOf } from '../base/kinds.js';
import { checkOptions, type OptionNames } from '../base/options.js';
import { TextEncoder } from '../base/text.js';
import { isDetached } from '../tensor/tensor.js';
import { staysInFolder } from '../base/file_name.js';

/** Quantization of a stored tensor: x = scale · q + min; float16 needs neither. */
export interface Quantization {
  dtype: 'uint8' | 'uint16' | 'float16';
  scale?: number;
  min?: number;
  original_dtype?: 'float32' | 'int32';
}

/** A tensor in the weight data. */
export interface WeightSpec {
  name: string;
  shape: number[];
  dtype: 'float32' | 'int32' | 'bool';
  /** 'optimizer' for optimizer state. */
  group?: 'model' | 'optimizer';
  quantization?: Quantization;
}

/** A training configuration in the format of Keras. */
export interface TrainingConfig {
  loss?: unknown;
  /** The losses in the notation of this package, where `loss` has substitutes. */
  tensorlathe_loss?: unknown;
  loss_weights?: unknown;
  metrics?: unknown;
  /** All metrics in the notation of this package, where `metrics` cannot express them. */
  tensorlathe_metrics?: unknown;
  optimizer_config?: { class_name?: unknown; config?: Record<string, unknown> };
}

/** The artifacts of a saved model. */
export interface ModelArtifacts {
  modelTopology?: object;
  format?: string;
  generatedBy?: string;
  convertedBy?: string | null;
  weightSpecs?: WeightSpec[];
  /** All tensors concatenated, little-endian; or chunks of that. */
  weightData?: ArrayBuffer | ArrayBuffer[];
  trainingConfig?: TrainingConfig;
  userDefinedMetadata?: object;
}

/** Summary of a saved model, without loading it. */
export interface ModelArtifactsInfo {
  dateSaved: Date;
  modelTopologyType: 'JSON';
  modelTopologyBytes: number;
  weightSpecsBytes: number;
  weightDataBytes: number;
}

/** The result of saving. */
export interface SaveResult {
  modelArtifactsInfo: ModelArtifactsInfo;
  [key: string]: unknown;
}

/** Options of loading. */
export interface LoadOptions {
  /** Whether missing or unexpected weights are errors. Default: true. */
  strict?: boolean;
  /** Called with the loaded fraction, 0 … 1. */
  onProgress?: (fraction: number) => void;
  /** Prefix of weight file addresses. Default: the folder of model.json. */
  weightPathPrefix?: string;
  /** Maps the name of a weight file, which then may be any string, to its address. */
  weightUrlConverter?: (name: string) => Promise<string>;
  /** Passed to `fetch`; headers are sent only to the model's origin. */
  requestInit?: RequestInit;
  /** Used instead of `fetch`. */
  fetchFunc?: typeof fetch;
  /** Accepted for compatibility with TensorFlow.js; weights are decoded when all have arrived. */
  streamWeights?: boolean;
}

/** `more`: additional options of the loader. Error: an unknown option. */
export function checkLoadOptions(
  what: string,
  options: LoadOptions,
  more: Readonly<Record<string, true>> = {},
): void {
  const names: OptionNames<LoadOptions> = {
    strict: true,
    onProgress: true,
    weightPathPrefix: true,
    weightUrlConverter: true,
    requestInit: true,
    fetchFunc: true,
    streamWeights: true,
  };
  checkOptions(what, options, { ...names, ...more });
}

/** Loads and saves a model; compatible with the handlers of TensorFlow.js. */
export interface IOHandler {
  save?(artifacts: ModelArtifacts): Promise<object>;
  load?(): Promise<ModelArtifacts>;
}

/** One group of files in model.json: concatenated, they contain the tensors. */
export interface WeightGroup {
  paths: string[];
  weights: WeightSpec[];
}

/** model.json. */
export type ModelJson = Omit<ModelArtifacts, 'weightSpecs' | 'weightData'> & {
  weightsManifest?: WeightGroup[] | null;
};

/** Its weight files and their tensors; none for a topology without weights. */
export const groupsOf = ({ weightsManifest }: ModelJson): WeightGroup[] => weightsManifest ?? [];

/** Serializes model.json for weight files at these paths. */
export function modelJson(artifacts: ModelArtifacts, paths: string[]): string {
  const { weightSpecs = [], weightData: _, ...rest } = artifacts;
  const json: ModelJson = { ...rest, weightsManifest: [{ paths, weights: weightSpecs }] };
  return JSON.stringify(json);
}

/** The fix for weight paths of model.json that are outside its folder. */
export const locationFix = 'weightUrlConverter specifies where';

/** Reads model.json; `hasConverter`: names may be any strings. Errors: malformed, with the path of the faulty entry. */
export async function parseModelJson(
  text: string,
  file: string,
  hasConverter = false,
): Promise<ModelJson> {
  const fail = (what: string): never => {
    throw new LatheError(`${file}: ${what}`);
  };
  let json: ModelJson | null = null;
  try {
    json = JSON.parse(text) as ModelJson | null;
  } catch (error) {
    const { describeFormat } = await import('../base/file_formats.js');
    const found = /^\s*\{/.test(text) ? '' : describeFormat(text);
    fail(found === '' ? `no JSON: ${(error as Error).message}` : `this is no model.json: ${found}`);
  }
  if (!isObject(json)) return fail('it must be an object');
  if (!isObject(json.modelTopology)) fail('it has no modelTopology');
  const groups = groupsOf(json);
  if (!Array.isArray(groups)) fail('weightsManifest must be an array');
  groups.forEach((group, at) => {
    const where = `weightsManifest[${at}]`;
    if (!isObject(group) || !Array.isArray(group.paths) || !Array.isArray(group.weights)) {
      fail(`${where} must have paths and weights`);
    }
    const isName = hasConverter ? (path: unknown) => typeof path === 'string' : staysInFolder;
    const wrong = group.paths.findIndex((path) => !isName(path));
    if (wrong >= 0) {
      fail(
        `${where}: ${JSON.stringify(group.paths[wrong])} is not a path in its folder; ${locationFix}`,
      );
    }
  });
  return json;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Concatenates parts. */
export function joinBytes(parts: readonly (ArrayBuffer | ArrayBufferView)[]): ArrayBuffer {
  const only = parts[0];
  if (parts.length === 1 && kindOf(only) === 'ArrayBuffer') return only as ArrayBuffer;
  const result = new Uint8Array(parts.reduce((total, { byteLength }) => total + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    result.set(bytesOf(part)!, at);
    at += part.byteLength;
  }
  return result.buffer;
}

/** The weight data as one buffer. Error: not a buffer, or detached. */
export function weightBytes({ weightData }: ModelArtifacts, where = 'the model'): ArrayBuffer {
  const parts = [weightData ?? []].flat();
  for (const part of parts) {
    if (!ArrayBuffer.isView(part) && !isBuffer(part)) {
      throw new LatheError(
        `${where}: weightData must be an ArrayBuffer or an array of them, got ${describeKind(part)}`,
      );
    }
    if (part.byteLength === 0 && isDetached(ArrayBuffer.isView(part) ? part.buffer : part)) {
      throw new LatheError(`${where}: weightData has been transferred; copy it before`);
    }
  }
  return joinBytes(parts);
}

/** Whether both are bit-identical. */
export function areSame(one: ModelArtifacts, other: ModelArtifacts): boolean {
  const textOf = ({ weightData: _, ...rest }: ModelArtifacts) => JSON.stringify(rest);
  const [first, second] = [one, other].map((each) => new Uint8Array(weightBytes(each)));
  const isSameText = textOf(one) === textOf(other) && first!.length === second!.length;
  return isSameText && first!.every((byte, at) => byte === second![at]);
}

/** The summary of artifacts that are being saved. */
export function infoOf(artifacts: ModelArtifacts): ModelArtifactsInfo {
  const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value ?? '')).length;
  return {
    dateSaved: new Date(),
    modelTopologyType: 'JSON',
    modelTopologyBytes: bytes(artifacts.modelTopology),
    weightSpecsBytes: bytes(artifacts.weightSpecs),
    weightDataBytes: weightBytes(artifacts).byteLength,
  };
}

/** The result of a save. */
export function savedAs(artifacts: ModelArtifacts): SaveResult {
  return { modelArtifactsInfo: infoOf(artifacts) };
}

/** Stores models by name; can list and remove them. */
export interface ModelStore {
  handler(name: string, options: LoadOptions): IOHandler;
  list(): Promise<Record<string, ModelArtifactsInfo>>;
  /** With `only`, another model is not removed and undefined is returned. Error: no model of this name. */
  remove(name: string, only?: ModelArtifacts): Promise<ModelArtifactsInfo | undefined>;
}
