/** Options of sessions and runs, and their checks. */
import { reasonOf } from '../base/errors.js';
import { isArrayOf, isBlob, isBuffer } from '../base/kinds.js';
import { nearest } from '../base/options.js';
import { warn } from './env.js';
import type { TensorLocation } from './tensor_types.js';

/** A file: its URL or path, or its content. */
export type FileType = string | Blob | Uint8Array | ArrayBufferLike;
/** External data: its URL or path, or its content with the path used in the model. */
export type ExternalDataFileType = string | { data: FileType; path: string };
/** 'webgpu', 'wasm' and 'cpu' are this package; others are not available. */
export type ExecutionProviderConfig = string | { readonly name: string };

/** Options of `InferenceSession.create`. */
export interface SessionOptions {
  /** Execution providers in order of preference. Error: none of them is available. */
  executionProviders?: readonly ExecutionProviderConfig[];
  /** Number of threads; 0 for the maximum. Default: `env.wasm.numThreads`. */
  intraOpNumThreads?: number;
  /** No effect. */
  interOpNumThreads?: number;
  /** Sizes of named dimensions. */
  freeDimensionOverrides?: { readonly [name: string]: number };
  /** No effect: models are always compiled. */
  graphOptimizationLevel?: 'disabled' | 'basic' | 'extended' | 'layout' | 'all';
  /** No effect. */
  enableCpuMemArena?: boolean;
  /** No effect. */
  enableMemPattern?: boolean;
  /** No effect. */
  executionMode?: 'sequential' | 'parallel';
  /** Not supported: there is no optimized model file. */
  optimizedModelFilePath?: string;
  /** No effect. */
  enableProfiling?: boolean;
  /** No effect. */
  profileFilePrefix?: string;
  /** No effect. */
  logId?: string;
  /** From 3 on, warnings about options are suppressed. */
  logSeverityLevel?: 0 | 1 | 2 | 3 | 4;
  /** No effect. */
  logVerbosityLevel?: number;
  /** 'cpu' or, on webgpu, 'gpu-buffer'. */
  preferredOutputLocation?: TensorLocation | { readonly [name: string]: TensorLocation };
  /** No effect. */
  enableGraphCapture?: boolean;
  /** No effect. */
  extra?: Record<string, unknown>;
  /** Files with external data of the model. */
  externalData?: readonly ExternalDataFileType[];
  /** Extension of this package, as in `tl.loadModel`: called with the loaded fraction of a file and its name. */
  onProgress?: (fraction: number | undefined, file: string) => void;
}

/** Options of `run`. */
export interface RunOptions {
  /** No effect. */
  logSeverityLevel?: 0 | 1 | 2 | 3 | 4;
  /** No effect. */
  logVerbosityLevel?: number;
  /** True is not supported: use `signal` or `timeLimit`. */
  terminate?: boolean;
  /** Extension of this package: aborts the run, which rejects with its reason. */
  signal?: AbortSignal;
  /** Extension of this package: time limit in milliseconds. */
  timeLimit?: number;
  /** No effect. */
  tag?: string;
  /** No effect. */
  extra?: Record<string, unknown>;
}

type Check = (name: string, value: unknown) => void;
type Checks<Options> = { readonly [Name in keyof Options]-?: Check };

const typed =
  (type: 'string' | 'boolean' | 'function'): Check =>
  (name, value) => {
    if (typeof value !== type)
      throw new TypeError(`'${name}' must be a ${type}, got ${formatValue(value)}`);
  };

const oneOf =
  (...values: string[]): Check =>
  (name, value) => {
    if (values.includes(value as string)) return;
    throw new TypeError(`'${name}' must be one of ${values.join(', ')}, got ${formatValue(value)}`);
  };

const integer =
  (min: number, max = Infinity): Check =>
  (name, value) => {
    if (typeof value !== 'number') {
      throw new TypeError(`'${name}' must be a number, got ${formatValue(value)}`);
    }
    if (Number.isSafeInteger(value) && value >= min && value <= max) return;
    const range = max === Infinity ? `≥ ${min}` : `from ${min} to ${max}`;
    throw new RangeError(`'${name}' must be an integer ${range}, got ${value}`);
  };

const object: Check = (name, value) => {
  if (typeof value !== 'object' || value === null) {
    throw new TypeError(`'${name}' must be an object, got ${formatValue(value)}`);
  }
};

const unsupported =
  (unsupportedValue: unknown, why: string): Check =>
  (name, value) => {
    if (unsupportedValue === undefined || value === unsupportedValue)
      throw new Error(`'${name}': ${why}`);
  };

const sizes: Check = (name, value) => {
  object(name, value);
  for (const [axis, size] of Object.entries(value as object)) integer(0)(`${name}.${axis}`, size);
};

const location: Check = (name, value) => {
  const all = typeof value === 'object' && value !== null ? Object.values(value) : [value];
  const other = all.find((each) => !['cpu', 'cpu-pinned', 'gpu-buffer'].includes(each as string));
  if (all.length === 0 || other === undefined) return;
  throw new Error(
    `'${name}': outputs are 'cpu' or 'gpu-buffer'; there is no ${formatValue(other)}`,
  );
};

const files: Check = (name, value) => {
  const isFile = (each: any) =>
    typeof each === 'string' || (typeof each?.path === 'string' && isFileType(each.data));
  if (Array.isArray(value) && value.every(isFile)) return;
  throw new TypeError(`'${name}' must be an array of paths or of { path, data }`);
};

const sessionChecks: Checks<SessionOptions> = {
  executionProviders: (_, value) => void providers(value),
  intraOpNumThreads: integer(0),
  interOpNumThreads: integer(0),
  freeDimensionOverrides: sizes,
  graphOptimizationLevel: oneOf('disabled', 'basic', 'extended', 'layout', 'all'),
  enableCpuMemArena: typed('boolean'),
  enableMemPattern: typed('boolean'),
  executionMode: oneOf('sequential', 'parallel'),
  optimizedModelFilePath: unsupported(undefined, 'there is no optimized file; leave it out'),
  enableProfiling: typed('boolean'),
  profileFilePrefix: typed('string'),
  logId: typed('string'),
  logSeverityLevel: integer(0, 4),
  logVerbosityLevel: integer(0),
  preferredOutputLocation: location,
  enableGraphCapture: typed('boolean'),
  extra: object,
  externalData: files,
  onProgress: typed('function'),
};

const runChecks: Checks<RunOptions> = {
  logSeverityLevel: integer(0, 4),
  logVerbosityLevel: integer(0),
  terminate: unsupported(true, 'a run is stopped by the options signal and timeLimit'),
  signal: object,
  timeLimit: () => {},
  tag: typed('string'),
  extra: object,
};

const formatValue = (value: unknown) =>
  typeof value === 'string'
    ? `'${value}'`
    : typeof value === 'object'
      ? 'an object'
      : String(value);

function isFileType(value: unknown): value is FileType {
  return (
    typeof value === 'string' || isArrayOf(value, Uint8Array) || isBuffer(value) || isBlob(value)
  );
}

/** The names of providers. Errors: an invalid provider; none is this package. */
function providers(value: unknown): string[] {
  const invalid = "'executionProviders' must be an array of names or of { name }";
  if (!Array.isArray(value)) throw new TypeError(invalid);
  const names: unknown[] = value.map((each) => (typeof each === 'string' ? each : each?.name));
  if (names.some((name) => typeof name !== 'string')) throw new TypeError(invalid);
  if (names.length === 0 || names.some((name) => isOurs(name as string))) return names as string[];
  throw noBackend(names.map((name) => [name as string, 'backend not found.']));
}

const isOurs = (provider: string) => ['webgpu', 'wasm', 'cpu'].includes(provider);

function noBackend(missing: readonly [name: string, reason: string][]): Error {
  const reasons = missing.map(([name, reason]) => `[${name}] ${reason}`).join(', ');
  return new Error(
    `no available backend found. ERR: ${reasons} The executionProviders here are webgpu, wasm and cpu`,
  );
}

/**
 * What `openGpu` opens if that is the first provider that is available; undefined on the processor. Each that is not is warned
 * about. Error: none is.
 */
export async function providerOf<Gpu>(
  { executionProviders = [], logSeverityLevel = 2 }: SessionOptions,
  openGpu: () => Promise<Gpu>,
): Promise<Gpu | undefined> {
  const missing: [name: string, reason: string][] = [];
  let found: { gpu: Gpu | undefined } | undefined;
  for (const name of providers(executionProviders)) {
    if (name === 'wasm' || name === 'cpu') found ??= { gpu: undefined };
    else if (name !== 'webgpu') missing.push([name, 'backend not found.']);
    else if (found === undefined) {
      const opened = await openGpu().catch(reasonOf);
      if (typeof opened === 'string') missing.push([name, opened]);
      else found = { gpu: opened };
    }
  }
  if (found === undefined && missing.length > 0) throw noBackend(missing);
  for (const [name, reason] of logSeverityLevel > 2 ? [] : missing)
    warn(`removing execution provider ${name}, which is not available: ${reason}`);
  return found?.gpu;
}

/** The argument as options. Error: no object. */
export function optionsOf<Options extends object>(argument: unknown): Options {
  if (argument === undefined) return {} as Options;
  if (typeof argument === 'object' && argument !== null) return argument as Options;
  throw new TypeError("'options' must be an object.");
}

/** Checks options. Errors: an invalid value. Unknown options are warned about. */
function check(what: string, optionValues: object, checks: Record<string, Check>): void {
  const isQuiet = ((optionValues as SessionOptions).logSeverityLevel ?? 2) > 2;
  for (const [name, value] of Object.entries(optionValues)) {
    if (value === undefined) continue;
    if (Object.hasOwn(checks, name)) {
      checks[name]!(name, value);
    } else if (!isQuiet) {
      const near = nearest(name, Object.keys(checks));
      const hint = near === undefined ? '' : `; did you mean ${near}?`;
      warn(`${what}: there is no option ${name}${hint}`);
    }
  }
}

/** Checks session options. Errors: an invalid value. */
export function checkSessionOptions(options: SessionOptions): void {
  check('InferenceSession.create', options, sessionChecks);
}

/** Checks run options. Errors: an invalid value. */
export function checkRunOptions(options: RunOptions): void {
  check('run', options, runChecks);
}
