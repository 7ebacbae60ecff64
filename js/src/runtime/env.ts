/** Features of the engine, probed once, and overrides. */
import { LatheError } from '../base/errors.js';
import { nodeModule, nodeProcess } from '../base/node.js';

/** Names of the features, in the notation of TensorFlow.js flags. */
export type FeatureName =
  | 'SIMD'
  | 'RELAXED_SIMD'
  | 'THREADS'
  | 'CROSS_ORIGIN_ISOLATED'
  | 'NODE_REVECTORIZE'
  | 'AUTO_TUNE'
  | 'EXECUTABLE_CACHE'
  | 'WEBGPU'
  | 'WINOGRAD';

/** A feature that models are compiled for: its value, its source, and the reason. */
export interface FeatureReport {
  value: boolean;
  by: 'probe' | 'set';
  why: string;
}

type Found = Omit<FeatureReport, 'by'>;

const simdProbe = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15,
  253, 98, 11,
];
const relaxedSimdProbe = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 15, 1, 13, 0, 65, 1, 253, 15,
  65, 2, 253, 15, 253, 128, 2, 11,
];

function accepts(probe: readonly number[], what: string): Found {
  const value = WebAssembly.validate(new Uint8Array(probe));
  return { value, why: `the engine ${value ? 'accepts' : 'rejects'} ${what}` };
}

function threads(): Found {
  const isolation = isolated();
  if (isBrowser() && !isolation.value) return isolation;
  if (typeof SharedArrayBuffer === 'undefined') {
    return { value: false, why: 'there is no SharedArrayBuffer here' };
  }
  return { value: true, why: 'memory can be shared' };
}

function isolated(): Found {
  const value = (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated === true;
  if (!isBrowser()) return { value, why: 'only pages are isolated' };
  if (value) return { value, why: 'the page is cross-origin isolated' };
  const headers = 'Cross-Origin-Opener-Policy and Cross-Origin-Embedder-Policy';
  return { value, why: `the page is not cross-origin isolated: it came without ${headers}` };
}

function isBrowser(): boolean {
  return typeof document !== 'undefined' || 'crossOriginIsolated' in globalThis;
}

/** What the last attempt to acquire a GPU found. */
let gpuFound: Found | undefined;

/** @internal Stores that: without a reason it was successful. */
export function noteGpu(why?: string): void {
  gpuFound = { value: why === undefined, why: why ?? 'a GPU is in use' };
}

function webGpu(): Found {
  const why = missingWebGpu();
  return { value: why === undefined, why: why ?? 'it is there; no GPU has been requested yet' };
}

/** @internal Why there is no WebGPU; undefined if there may be a GPU. */
export function missingWebGpu(): string | undefined {
  const { navigator, isSecureContext } = globalThis as {
    navigator?: { gpu?: unknown };
    isSecureContext?: boolean;
  };
  if (navigator?.gpu !== undefined) return undefined;
  if (nodeProcess === undefined) {
    return isSecureContext === false
      ? 'only pages from https or localhost may use it'
      : 'the browser does not have it, or it is turned off';
  }
  try {
    nodeModule('module')
      .createRequire(import.meta.url)
      .resolve('webgpu');
    return undefined;
  } catch {
    return 'Node needs the npm package webgpu, which is not installed: npm install webgpu';
  }
}

/** Off in tests, whose results must not depend on background work. */
function noTest(): Found {
  const variables = nodeProcess?.env ?? {};
  const runners = ['NODE_TEST_CONTEXT', 'VITEST', 'JEST_WORKER_ID'];
  const runner = runners.find((name) => variables[name] !== undefined);
  const off = (why: string) => ({ value: false, why });
  if (runner !== undefined) return off(`${runner} indicates that a test runs`);
  if (variables.NODE_ENV === 'test') return off('NODE_ENV is test');
  if (variables.TENSORLATHE_CACHE === 'off') return off('TENSORLATHE_CACHE is off');
  const driven = (globalThis as { navigator?: { webdriver?: boolean } }).navigator?.webdriver;
  if (driven === true) return off('the browser is driven by a program');
  return { value: true, why: 'no test runs' };
}

type Revectorize = typeof import('./revectorize.js').revectorize;
let revectorize: Revectorize | undefined;

/** Installs the implementation of `NODE_REVECTORIZE`. */
export function useRevectorize(how: Revectorize): void {
  revectorize = how;
}

const probes: Record<FeatureName, () => Found> = {
  SIMD: () => accepts(simdProbe, 'SIMD instructions'),
  RELAXED_SIMD: () => accepts(relaxedSimdProbe, 'relaxed SIMD instructions'),
  THREADS: threads,
  CROSS_ORIGIN_ISOLATED: isolated,
  NODE_REVECTORIZE: () => ({ value: false, why: 'an experiment of V8 that is off by default' }),
  AUTO_TUNE: noTest,
  EXECUTABLE_CACHE: noTest,
  WEBGPU: webGpu,
  WINOGRAD: () => ({ value: true, why: 'it is faster with bounded rounding errors' }),
};

const names = Object.keys(probes) as FeatureName[];

const byName = <Value>(valueOf: (name: FeatureName) => Value) =>
  Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<FeatureName, Value>;

/** Numeric settings. */
export type SettingName = 'THREADS_COUNT' | 'THREADS_MIN_WORK' | 'MEMORY_BUDGET';

interface Setting {
  min: number;
  /** The default. */
  defaultValue: () => number;
  expected: string;
}

const settings: Record<SettingName, Setting> = {
  // A run waits for the slowest thread, so more threads seldom help.
  THREADS_COUNT: { min: 1, defaultValue: () => Math.min(cores(), 8), expected: 'an integer ≥ 1' },
  THREADS_MIN_WORK: {
    min: 0,
    defaultValue: () => 4000,
    expected: 'an integer ≥ 0, in nanoseconds',
  },
  MEMORY_BUDGET: {
    min: 0,
    defaultValue: () => Infinity,
    expected: 'an integer ≥ 0, in bytes, or Infinity',
  },
};

/** The setting MEMORY_BUDGET. */
export let memoryBudget = Infinity;

function cores(): number {
  const { navigator } = globalThis as { navigator?: { hardwareConcurrency?: number } };
  if (navigator?.hardwareConcurrency !== undefined) return navigator.hardwareConcurrency;
  type Os = { availableParallelism: () => number };
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => Os } };
  return process?.getBuiltinModule?.('node:os').availableParallelism() ?? 1;
}

/** The features of the engine that models are compiled for. */
export class Environment {
  /** @internal Grows whenever `set` or `reset` is called. */
  revision = 0;
  #settings: Partial<Record<SettingName, number>> = {};
  #noThreads: string | undefined;

  #found: Partial<Record<FeatureName, Found>> = {};
  #forced: Partial<Record<FeatureName, boolean>> = {};

  /** The value of every feature, probed or set. */
  get features(): Record<FeatureName, boolean> {
    return byName((name) => this.#report(name).value);
  }

  /** Every feature with the reason for its value. */
  report(): Record<FeatureName, FeatureReport> {
    return byName((name) => this.#report(name));
  }

  /**
   * The number of threads that large models run on: THREADS_COUNT, or 1 with the reason if threads are
   * not available.
   */
  get threads(): { count: number; why?: string } {
    const { value, why } = this.#report('THREADS');
    const reason = value ? this.#noThreads : why;
    return reason === undefined ? { count: this.get('THREADS_COUNT') } : { count: 1, why: reason };
  }

  /** Disables threads for a reason, until `set('THREADS_COUNT', …)`. */
  giveUpThreads(reason: string): void {
    this.#noThreads = `the threads could not be used: ${reason}`;
  }

  /** One feature or setting. */
  get(name: FeatureName): boolean;
  get(name: SettingName): number;
  get(name: FeatureName | SettingName): boolean | number {
    if (isSetting(name)) return this.#settings[name] ?? settings[name].defaultValue();
    this.#check(name);
    return this.#report(name).value;
  }

  /**
   * Forces a feature for models compiled from now on; modules compiled for a feature that the engine does not have are
   * invalid. Or changes a setting: THREADS_COUNT, the number of threads that run large models, and THREADS_MIN_WORK,
   * the nanoseconds of one thread from which a kernel compiled later is split among them. `MEMORY_BUDGET` is the maximum of bytes that
   * tensors, constants and temporaries may have on each device; what needs more is an OutOfMemoryError.
   *
   * `AUTO_TUNE` measures schedules in idle moments after a model is created, for models compiled
   * later; off in tests.
   *
   * `EXECUTABLE_CACHE`, set before `ready`, stores what models of layers and functions are compiled to on the device, so that later visits need not
   * compile; off in tests.
   *
   * `WEBGPU` says whether there is a GPU: until one is requested, whether there is WebGPU. If it is set to false, none is acquired.
   *
   * `WINOGRAD` computes convolutions by 3×3 windows on transformed tiles where that is faster.
   * Direct ones are off by about 1e-6 of their largest result; these by 3e-6, and by 3e-5 where the
   * filter is constant, as then larger tiles pay.
   *
   * `NODE_REVECTORIZE` (Node 22.3 or later on x86-64, after `await tl.ready()`) lets V8 combine adjacent vectors of
   * four lanes into vectors of eight, in every WebAssembly module of the process that it optimizes from then on. An
   * experiment of the engine: enabling it first compares a module with and without, and throws LatheError where they
   * differ.
   */
  set(name: FeatureName, value: boolean): void;
  set(name: SettingName, value: number): void;
  set(name: FeatureName | SettingName, value: boolean | number): void {
    if (name !== 'MEMORY_BUDGET') this.revision += 1;
    if (isSetting(name)) {
      const { min, defaultValue, expected } = settings[name];
      const isNumber = Number.isInteger(value) || value === defaultValue();
      if (!isNumber || (value as number) < min) {
        throw new LatheError(`${name} must be ${expected}, got ${String(value)}`);
      }
      this.#settings[name] = value as number;
      if (name === 'THREADS_COUNT') this.#noThreads = undefined;
      memoryBudget = this.get('MEMORY_BUDGET');
      return;
    }
    this.#check(name);
    if (typeof value !== 'boolean') throw new LatheError(`${name} must be true or false`);
    if (name === 'NODE_REVECTORIZE' && value !== this.get(name)) {
      if (revectorize === undefined) {
        throw new LatheError('NODE_REVECTORIZE: only in Node, after `await tl.ready()`');
      }
      revectorize(value, this.get('RELAXED_SIMD'));
    }
    this.#forced[name] = value;
  }

  /** Undoes every `set`. */
  reset(): void {
    if (this.get('NODE_REVECTORIZE')) revectorize!(false, false);
    this.revision += 1;
    this.#forced = {};
    this.#settings = {};
    this.#noThreads = undefined;
    memoryBudget = Infinity;
  }

  #report(name: FeatureName): FeatureReport {
    const found = (name === 'WEBGPU' && gpuFound) || (this.#found[name] ??= probes[name]());
    const forced = this.#forced[name];
    if (forced === undefined) return { ...found, by: 'probe' };
    const value = forced ? 'on' : 'off';
    return { value: forced, by: 'set', why: `turned ${value} by env().set; ${found.why}` };
  }

  #check(name: string): void {
    if (!(names as string[]).includes(name)) {
      const known = [...names, ...Object.keys(settings)].join(', ');
      throw new LatheError(`unknown feature "${name}"; known: ${known}`);
    }
  }
}

/** @internal Whether a feature or a setting has this name. */
export function isFeatureOrSetting(name: string): boolean {
  return (names as string[]).includes(name) || isSetting(name);
}

function isSetting(name: string): name is SettingName {
  return Object.hasOwn(settings, name);
}

const environment = new Environment();

/** The one Environment of the page. */
export function env(): Environment {
  return environment;
}
