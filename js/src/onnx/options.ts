/** Options of loading an ONNX model. */
import { type FileSource } from '../base/source.js';
import type { OptionNames } from '../base/options.js';

/** URL, path or bytes of a model or of external data. */
export type ModelSource = FileSource | ArrayBuffer | Uint8Array;

/** Where a model runs. */
export interface Placement {
  /** The device for which programs are compiled. */
  device: string;
  /** Why it is not the requested one. */
  reason?: string;
}

/** Options of `loadModel`. */
export interface LoadModelOptions {
  /** Values of named dimensions, as `{ batch: 1 }`. */
  sizes?: Readonly<Record<string, number>>;
  /**
   * Called with the loaded fraction of a file between 0 and 1, or undefined if the server does not send a length, and the name of
   * the file: of the model first, then of each file of external data.
   */
  onProgress?: (fraction: number | undefined, file: string) => void;
  /**
   * Bytes, URL or path of external data, by its name in the model. Default: the file with that name in the folder of the model,
   * if it was loaded from a URL or path.
   */
  externalData?:
    Readonly<Record<string, ModelSource>> | ((name: string) => Promise<ModelSource | undefined>);
  /**
   * Maximum number of threads of a call. Default: `THREADS_COUNT`, which is also the limit. Models with data-dependent sizes,
   * which are compiled in parts, run on one.
   */
  threads?: number;
  /**
   * The device that runs the model: 'wasm' or 'webgpu'. Default: that of `setDevice` when the model is loaded. Models or calls
   * that it cannot run move the model to 'wasm', with a warning; `placement` says why.
   */
  device?: string;
  /** Whether that is an error. */
  strict?: boolean;
  /** Passed to `fetch`; headers are sent to the origin of the model only. */
  requestInit?: RequestInit;
  /** Aborts loading: immediately while files download, otherwise before the next file is read. */
  signal?: AbortSignal;
}

export const loadModelOptions: OptionNames<LoadModelOptions> = {
  sizes: true,
  onProgress: true,
  externalData: true,
  threads: true,
  device: true,
  strict: true,
  requestInit: true,
  signal: true,
};
