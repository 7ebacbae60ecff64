/** Options of every layer. */
import type { DynamicShape } from '../core/abi.js';
import type { RegularizerConfig, RegularizerName } from '../core/names.js';
import type { TensorLike } from '../tensor/tensor.js';

/** Options of every layer. */
export interface LayerArgs {
  /** Shape of one example, null for any size; required only of the first layer of a sequential model. */
  inputShape?: DynamicShape;
  /** The same with the batch size first, which stateful layers require; null: any. */
  batchInputShape?: DynamicShape;
  /** Default: derived from the class, with a number. */
  name?: string;
  /** Whether training changes the weights. Default: true. */
  trainable?: boolean;
  /** Regularization of the layer's outputs, added to the loss. */
  activityRegularizer?: RegularizerName | RegularizerConfig;
  /** Batch size, together with inputShape. */
  batchSize?: number;
  /** Instead of inputShape: [inputDim], or of sequences [inputLength, inputDim]. */
  inputDim?: number;
  inputLength?: number | readonly (number | null)[];
  /** Initial weights, as for `setWeights`. */
  weights?: readonly TensorLike[];
  /** For compatibility with TensorFlow.js: float32; of inputs also int32 and bool. */
  dtype?: string;
  inputDType?: string;
  /** Of recurrent layers; no effect, for compatibility with TensorFlow.js. */
  implementation?: number;
}
