/** A model outside a program, in the words of TensorFlow.js: topology, weight specifications, weight data. */
import { LatheError } from '../base/errors.js';
import { bytesOf, isBuffer, kindOf } from '../base/kinds.js';
import { checkOptions, type OptionNames } from '../base/options.js';
import { TextEncoder } from '../base/text.js';
import { isDetached } from '../tensor/tensor.js';
import { staysInFolder } from '../base/file_name.js';

/** How numbers of a tensor are stored with fewer bits: x = scale · q + min; float16 needs neither. */
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
  /** 'optimizer' for what is no weight. */
  group?: 'model' | 'optimizer';
  quantization?: Quantization;
}

/** How a model learns, in the words of Keras. */
export interface TrainingConfig {
  loss?: unknown;
  /** The losses in our own words, where `loss` has others in their place. */
  tensorlathe_loss?: unknown;
  loss_weights?: unknown;
  metrics?: unknown;
  /** All metrics in our own words, where `metrics` cannot say them. */
  tensorlathe_metrics?: unknown;
  optimizer_config?: { class_name?: unknown; config?: Record<string, unknown> };
}

/** Everything that is saved of a model. */
export interface ModelArtifacts {
  modelTopology?: object;
  format?: string;
  generatedBy?: string;
  convertedBy?: string | null;
  weightSpecs?: WeightSpec[];
  /** All tensors one after the other, little-endian; or parts of that. */
  weightData?: ArrayBuffer | ArrayBuffer[];
  trainingConfig?: TrainingConfig;
  userDefinedMetadata?: object;
}

/** What is known of a saved model without loading it. */
export interface ModelArtifactsInfo {
  dateSaved: Date;
  modelTopologyType: 'JSON';
  modelTopologyBytes: number;
  weightSpecsBytes: number;
  weightDataBytes: number;
}

/** What saving resolves with. */
export interface SaveResult {
  modelArtifactsInfo: ModelArtifactsInfo;
  [key: string]: unknown;
}

/** Options of loading. */
export interface LoadOptions {
  /** Whether weights that are missing or left over are errors. Default: true. */
  strict?: boolean;
  /** Called with the share that has arrived, 0 … 1. */
  onProgress?: (fraction: number) => void;
  /** What addresses of weight files begin with, if not with the folder of model.json. */
  weightPathPrefix?: string;
  /** The address of a weight file by its name, which then may be any string. */
  weightUrlConverter?: (name: string) => Promise<string>;
  /** Passed to `fetch`; headers go to the origin of the model alone. */
  requestInit?: RequestInit;
  /** Used instead of `fetch`. */
  fetchFunc?: typeof fetch;
  /** Taken from programs for TensorFlow.js; weights are decoded when all have arrived. */
  streamWeights?: boolean;
}

/** `more`: options that what loads has beside. Error: it has none of a name. */
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

/** A place where a model can be. Those of TensorFlow.js are such, too. */
export interface IOHandler {
  save?(artifacts: ModelArtifacts): Promise<object>;
  load?(): Promise<ModelArtifacts>;
}

/** One group of files in model.json: concatenated, they hold the tensors. */
export interface WeightGroup {
  paths: string[];
  weights: WeightSpec[];
}

/** model.json. */
export type ModelJson = Omit<ModelArtifacts, 'weightSpecs' | 'weightData'> & {
  weightsManifest?: WeightGroup[] | null;
};

/** Its weight files and what they hold; none where it is a topology alone. */
export const groupsOf = ({ weightsManifest }: ModelJson): WeightGroup[] => weightsManifest ?? [];

/** The text of model.json for weight files at these paths. */
export function modelJson(artifacts: ModelArtifacts, paths: string[]): string {
  const { weightSpecs = [], weightData: _, ...rest } = artifacts;
  const json: ModelJson = { ...rest, weightsManifest: [{ paths, weights: weightSpecs }] };
  return JSON.stringify(json);
}

/** How a program says where files are that model.json does not name as files of its folder. */
export const locationFix = 'weightUrlConverter says where';

/** Reads model.json; `hasConverter`: names may be any strings. Errors: it is none, with the place in it that is wrong. */
export function parseModelJson(text: string, file: string, hasConverter = false): ModelJson {
  const fail = (what: string): never => {
    throw new LatheError(`${file}: ${what}`);
  };
  let json: ModelJson | null = null;
  try {
    json = JSON.parse(text) as ModelJson | null;
  } catch (error) {
    fail(`no JSON: ${(error as Error).message}`);
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
      fail(`${where}: ${JSON.stringify(group.paths[wrong])} is no path beside it; ${locationFix}`);
    }
  });
  return json;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** All parts in one buffer. */
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

/** The weight data as one buffer. Error: they are something else, or gone. */
export function weightBytes({ weightData }: ModelArtifacts, where = 'the model'): ArrayBuffer {
  const parts = [weightData ?? []].flat();
  for (const part of parts) {
    if (!ArrayBuffer.isView(part) && !isBuffer(part)) {
      throw new LatheError(
        `${where}: weightData must be an ArrayBuffer or an array of them, got ${kindOf(part)}`,
      );
    }
    if (part.byteLength === 0 && isDetached(ArrayBuffer.isView(part) ? part.buffer : part)) {
      throw new LatheError(`${where}: weightData has been transferred; copy it before`);
    }
  }
  return joinBytes(parts);
}

/** Whether both are the same model, to the bit. */
export function areSame(one: ModelArtifacts, other: ModelArtifacts): boolean {
  const textOf = ({ weightData: _, ...rest }: ModelArtifacts) => JSON.stringify(rest);
  const [first, second] = [one, other].map((each) => new Uint8Array(weightBytes(each)));
  const isSameText = textOf(one) === textOf(other) && first!.length === second!.length;
  return isSameText && first!.every((byte, at) => byte === second![at]);
}

/** What is known of artifacts that are saved now. */
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
