/** `env`: the settings of ONNX Runtime Web. Others than those documented here are stored without effect. */

import type { WebGpuType } from './tensor_types.js';

/** The version of ONNX Runtime whose API this is. */
export const apiVersion = '1.30.0';

export type LogLevel = 'verbose' | 'info' | 'warning' | 'error' | 'fatal';
const logLevels: readonly LogLevel[] = ['verbose', 'info', 'warning', 'error', 'fatal'];

export declare namespace Env {
  type WasmPathPrefix = string;
  interface WasmFilePaths {
    wasm?: URL | string;
    mjs?: URL | string;
  }
  type WasmPrefixOrFilePaths = WasmPathPrefix | WasmFilePaths;
  type WebGLFlags = Record<string, unknown>;
  /** Settings of the GPU, which have to be set before the first session on it. */
  interface WebGpuFlags {
    /** The GPUDevice of sessions or, unless it was set, a promise; reading it before the first session opens one. */
    get device(): Promise<WebGpuType<'GPUDevice'>>;
    set device(value: WebGpuType<'GPUDevice'>);
    /** The adapter that makes it. */
    adapter?: WebGpuType<'GPUAdapter'>;
    powerPreference?: 'low-power' | 'high-performance';
    [name: string]: unknown;
  }
  /** Settings of the processor. */
  interface WebAssemblyFlags {
    /** Number of threads of sessions created from now on. Default: 0, the maximum. */
    numThreads?: number;
    /** No effect: detected from the engine. */
    simd?: boolean | 'fixed' | 'relaxed';
    /** No effect. */
    trace?: boolean;
    /** No effect. */
    initTimeout?: number;
    /** No effect, and not stored: there are no files to locate. */
    wasmPaths?: WasmPrefixOrFilePaths;
    /** No effect. */
    wasmBinary?: ArrayBufferLike | Uint8Array;
    /** No effect. */
    proxy?: boolean;
    [name: string]: unknown;
  }
}

/** Type of `env`. */
export interface Env {
  /** Minimum level of messages that are printed. Default: 'warning'. */
  logLevel?: LogLevel;
  /** No effect. */
  debug?: boolean;
  /** No effect. */
  trace?: boolean;
  /** The version of ONNX Runtime that the API is of. */
  readonly versions: { readonly common: string; readonly web?: string };
  readonly wasm: Env.WebAssemblyFlags;
  /** No effect: there is no WebGL. */
  readonly webgl: Record<string, unknown>;
  readonly webgpu: Env.WebGpuFlags;
  [name: string]: unknown;
}

let logLevel: LogLevel = 'warning';

/** Settings for all sessions. */
export const env: Env = {
  wasm: {
    // Programs that find it empty would set it, and fetch those files.
    get wasmPaths() {
      return './';
    },
    set wasmPaths(_: unknown) {},
  } as Env.WebAssemblyFlags,
  webgl: {},
  // session.ts adds the property device.
  webgpu: {} as Env.WebGpuFlags,
  versions: { common: apiVersion, web: apiVersion },
  get logLevel(): LogLevel {
    return logLevel;
  },
  set logLevel(value: LogLevel | undefined) {
    if (value === undefined) return;
    if (!logLevels.includes(value)) throw new Error(`Unsupported logging level: ${String(value)}`);
    logLevel = value;
  },
};

/** Prints a warning, unless the level is above warnings. */
export function warn(message: string): void {
  if (logLevels.indexOf(logLevel) <= logLevels.indexOf('warning')) console.warn(message);
}
