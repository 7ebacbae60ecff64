/** `InputSpec` of TensorFlow.js, which layers in JavaScript put into `inputSpec`. */
import type { InputRule } from '../../layers/input_spec.js';

/** Constraints of a layer input; null or undefined: unconstrained. */
export class InputSpec implements InputRule {
  readonly dtype: InputRule['dtype'];
  readonly shape: InputRule['shape'];
  readonly ndim: InputRule['ndim'];
  readonly maxNDim: InputRule['maxNDim'];
  readonly minNDim: InputRule['minNDim'];
  readonly axes: NonNullable<InputRule['axes']>;

  constructor({ dtype, shape, ndim, maxNDim, minNDim, axes }: InputRule) {
    this.dtype = dtype;
    this.shape = shape;
    this.ndim = shape == null ? ndim : shape.length;
    this.maxNDim = maxNDim;
    this.minNDim = minNDim;
    this.axes = axes ?? {};
  }
}
