/** What writing an ONNX model takes. */
import type { OptionNames } from '../base/options.js';
import type { CompiledFunction } from '../trace/compiled_function.js';
import type { SizedFunction } from '../trace/sized_function.js';
import type { Storable } from '../train/storable.js';

/** A model of layers, or what `tl.compile` gave. */
export type OnnxSource = Storable | CompiledFunction | SizedFunction;

/** Options of `toOnnx`. */
export interface ToOnnxOptions {
  /** Rows of a call of a model. Default: any number, which the file calls batch. */
  batchSize?: number;
  /**
   * Of the axes of a model's inputs that are null, in their order, or of the names of a function's
   * sizes. Default: any, by name.
   */
  sizes?: readonly number[] | Readonly<Record<string, number>>;
}

export const toOnnxOptions: OptionNames<ToOnnxOptions> = { batchSize: true, sizes: true };
