/** Options of sessions and of runs: what each must be, and what of it the importer is told. */
import { isArrayOf, isBlob, isBuffer } from '../base/kinds.js';
import { nearest } from '../base/options.js';
import { warn } from './env.js';
import type { TensorLocation } from './tensor_types.js';

/** A file: its address or path, or what is in it. */
export type FileType = string | Blob | Uint8Array | ArrayBufferLike;
/** A file of weights beside the model: where it is, or under which path the model knows it. */
export type ExternalDataFileType = string | { data: FileType; path: string };
/** 'wasm' and 'cpu' are this package; others are not there. */
export type ExecutionProviderConfig = string | { readonly name: string };

/** Options of `InferenceSession.create`. */
export interface SessionOptions {
  /** What runs the model, the first that there is. Error: neither wasm nor cpu is among them. */
  executionProviders?: readonly ExecutionProviderConfig[];
  /** Threads; 0 for as many as there are. Default: `env.wasm.numThreads`. */
  intraOpNumThreads?: number;
  /** No effect. */
  interOpNumThreads?: number;
  /** Sizes of axes that the model has names for. */
  freeDimensionOverrides?: { readonly [name: string]: number };
  /** No effect: models are always compiled. */
  graphOptimizationLevel?: 'disabled' | 'basic' | 'extended' | 'layout' | 'all';
  /** No effect. */
  enableCpuMemArena?: boolean;
  /** No effect. */
  enableMemPattern?: boolean;
  /** No effect. */
  executionMode?: 'sequential' | 'parallel';
  /** Refused: there is no optimised file. */
  optimizedModelFilePath?: string;
  /** No effect. */
  enableProfiling?: boolean;
  /** No effect. */
  profileFilePrefix?: string;
  /** No effect. */
  logId?: string;
  /** From 3 on there are no warnings about options. */
  logSeverityLevel?: 0 | 1 | 2 | 3 | 4;
  /** No effect. */
  logVerbosityLevel?: number;
  /** 'cpu' for all. */
  preferredOutputLocation?: TensorLocation | { readonly [name: string]: TensorLocation };
  /** Refused if true: for GPUs. */
  enableGraphCapture?: boolean;
  /** No effect. */
  extra?: Record<string, unknown>;
  /** Files that hold weights of the model. */
  externalData?: readonly ExternalDataFileType[];
}

/** Options of `run`. */
export interface RunOptions {
  /** No effect. */
  logSeverityLevel?: 0 | 1 | 2 | 3 | 4;
  /** No effect. */
  logVerbosityLevel?: number;
  /** Refused if true: `signal` and `timeLimit` stop a run. */
  terminate?: boolean;
  /** Of this package: rejects with its reason, as `run` of the models of `tl.loadModel`. */
  signal?: AbortSignal;
  /** Of this package: milliseconds. */
  timeLimit?: number;
  /** No effect. */
  tag?: string;
  /** No effect. */
  extra?: Record<string, unknown>;
}

type Check = (name: string, value: unknown) => void;
type Checks<Options> = { readonly [Name in keyof Options]-?: Check };

const typed =
  (type: 'string' | 'boolean'): Check =>
  (name, value) => {
    if (typeof value !== type)
      throw new TypeError(`'${name}' must be a ${type}, got ${shown(value)}`);
  };

const oneOf =
  (...values: string[]): Check =>
  (name, value) => {
    if (values.includes(value as string)) return;
    throw new TypeError(`'${name}' must be one of ${values.join(', ')}, got ${shown(value)}`);
  };

const integer =
  (least: number, most = Infinity): Check =>
  (name, value) => {
    if (typeof value !== 'number') {
      throw new TypeError(`'${name}' must be a number, got ${shown(value)}`);
    }
    if (Number.isSafeInteger(value) && value >= least && value <= most) return;
    const range = most === Infinity ? `≥ ${least}` : `from ${least} to ${most}`;
    throw new RangeError(`'${name}' must be an integer ${range}, got ${value}`);
  };

const object: Check = (name, value) => {
  if (typeof value !== 'object' || value === null) {
    throw new TypeError(`'${name}' must be an object, got ${shown(value)}`);
  }
};

const refused =
  (given: unknown, why: string): Check =>
  (name, value) => {
    if (given === undefined || value === given) throw new Error(`'${name}': ${why}`);
  };

const sizes: Check = (name, value) => {
  object(name, value);
  for (const [axis, size] of Object.entries(value as object)) integer(0)(`${name}.${axis}`, size);
};

const inMemory: Check = (name, value) => {
  const places = typeof value === 'object' && value !== null ? Object.values(value) : [value];
  const other = places.find((place) => place !== 'cpu' && place !== 'cpu-pinned');
  if (places.length === 0 || other === undefined) return;
  throw new Error(`'${name}': outputs are in memory, 'cpu'; there is no ${shown(other)}`);
};

const files: Check = (name, value) => {
  const isFile = (each: any) =>
    typeof each === 'string' || (typeof each?.path === 'string' && isFileType(each.data));
  if (Array.isArray(value) && value.every(isFile)) return;
  throw new TypeError(`'${name}' must be an array of paths or of { path, data }`);
};

const sessionChecks: Checks<SessionOptions> = {
  executionProviders: (_, value) => void provider(value),
  intraOpNumThreads: integer(0),
  interOpNumThreads: integer(0),
  freeDimensionOverrides: sizes,
  graphOptimizationLevel: oneOf('disabled', 'basic', 'extended', 'layout', 'all'),
  enableCpuMemArena: typed('boolean'),
  enableMemPattern: typed('boolean'),
  executionMode: oneOf('sequential', 'parallel'),
  optimizedModelFilePath: refused(undefined, 'there is no optimised file; leave it out'),
  enableProfiling: typed('boolean'),
  profileFilePrefix: typed('string'),
  logId: typed('string'),
  logSeverityLevel: integer(0, 4),
  logVerbosityLevel: integer(0),
  preferredOutputLocation: inMemory,
  enableGraphCapture: refused(true, 'that is for GPUs; leave it out'),
  extra: object,
  externalData: files,
};

const runChecks: Checks<RunOptions> = {
  logSeverityLevel: integer(0, 4),
  logVerbosityLevel: integer(0),
  terminate: refused(true, 'a run is stopped by the options signal and timeLimit'),
  signal: object,
  timeLimit: () => {},
  tag: typed('string'),
  extra: object,
};

const shown = (value: unknown) =>
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

/** The first provider that is this package. Errors: none is; what is no provider. */
function provider(value: unknown): string {
  if (!Array.isArray(value)) {
    throw new TypeError("'executionProviders' must be an array of names or of { name }");
  }
  const names = value.map((each) => (typeof each === 'string' ? each : each?.name));
  const unknown = names.find((name) => typeof name !== 'string');
  if (names.includes(undefined) || unknown !== undefined) {
    throw new TypeError("'executionProviders' must be an array of names or of { name }");
  }
  const found = names.find((name) => name === 'wasm' || name === 'cpu');
  if (names.length === 0 || found !== undefined) return found ?? 'wasm';
  const missing = names.map((name) => `[${name}] backend not found.`).join(', ');
  throw new Error(
    `no available backend found. ERR: ${missing} The executionProviders here are wasm and cpu`,
  );
}

/** Errors: an option that is not what it must be. A name that nobody knows gives a warning, as does what is left out. */
function check(what: string, given: object, checks: Record<string, Check>): void {
  const isQuiet = ((given as SessionOptions).logSeverityLevel ?? 2) > 2;
  for (const [name, value] of Object.entries(given)) {
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

/** Errors: an option of a session that is not what it must be. */
export function checkSessionOptions(options: SessionOptions): void {
  check('InferenceSession.create', options, sessionChecks);
  for (const each of options.executionProviders ?? []) {
    const name = typeof each === 'string' ? each : each.name;
    if (name === 'wasm' || name === 'cpu' || (options.logSeverityLevel ?? 2) > 2) continue;
    warn(`executionProviders: there is no ${name} here; the model runs on the processor`);
  }
}

/** Errors: an option of a run that is not what it must be. */
export function checkRunOptions(options: RunOptions): void {
  check('run', options, runChecks);
}
