/** What loading an ONNX model takes. */
import { type FileSource } from '../base/source.js';
import type { OptionNames } from '../base/options.js';

/** Where a model or a file beside it is, or its bytes. */
export type ModelSource = FileSource | ArrayBuffer | Uint8Array;

/** Options of `loadModel`. */
export interface LoadModelOptions {
  /** Values of sizes that the model names, as `{ batch: 1 }`. */
  sizes?: Readonly<Record<string, number>>;
  /** Told of what has come: between 0 and 1, or nothing where the server does not say how much there is. */
  onProgress?: (fraction: number | undefined) => void;
  /**
   * The bytes of a file in which the model has weights, or its address, by the name that the model has for it. Default: the
   * file of that name in the folder of the model, where the model has an address.
   */
  externalData?:
    Readonly<Record<string, ModelSource>> | ((name: string) => Promise<ModelSource | undefined>);
  /**
   * Threads that a call keeps busy at most. Default: all of `THREADS_COUNT`, beyond which there are none. What is compiled in
   * parts, because data decides its sizes, runs on one.
   */
  threads?: number;
  /** Goes with `fetch` for addresses; headers go to the origin of the model alone. */
  requestInit?: RequestInit;
  /** Ends loading: at once while files arrive, else before the next file is read. */
  signal?: AbortSignal;
}

export const loadModelOptions: OptionNames<LoadModelOptions> = {
  sizes: true,
  onProgress: true,
  externalData: true,
  threads: true,
  requestInit: true,
  signal: true,
};
