/** Options of exporting an ONNX model. */
import type { OptionNames } from '../base/options.js';
import type { CompiledFunction } from '../trace/compiled_function.js';
import type { Storable } from '../train/storable.js';

/** A model of layers, or a function of `tl.compile`. */
export type OnnxSource = Storable | CompiledFunction;

/** Options of `toOnnx`. */
export interface ToOnnxOptions {
  /** Batch size of a model. Default: dynamic, the dimension `batch`. */
  batchSize?: number;
  /**
   * Sizes of the null axes of a model's inputs, in order, or of a function's sizes, by name. Default: dynamic, named
   * dimensions.
   */
  sizes?: readonly number[] | Readonly<Record<string, number>>;
}

export const toOnnxOptions: OptionNames<ToOnnxOptions> = { batchSize: true, sizes: true };
