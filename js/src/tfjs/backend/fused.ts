/** Fused activations and their gradients (`tf.backend_util`). */
import { LatheError } from '../../base/errors.js';
import { getReductionAxes } from '../../shapes/broadcast_util.js';

export type Activation = 'linear' | 'relu' | 'prelu' | 'elu' | 'relu6' | 'leakyrelu' | 'sigmoid';

/** The methods of a tensor that are used here. */
interface Operand {
  readonly shape: readonly number[];
  mul(other: Operand): Operand;
  step(): Operand;
  sum(axes: readonly number[]): Operand;
  reshape(shape: readonly number[]): Operand;
  relu(): Operand;
  elu(): Operand;
  relu6(): Operand;
  sigmoid(): Operand;
  prelu(alpha: Operand): Operand;
  leakyRelu(alpha?: number): Operand;
}

/** The gradient of the activation's input from that of its output. Error: another activation than linear and relu. */
export function getFusedDyActivation(
  dy: Operand,
  y: Operand,
  activation: Activation | null,
): Operand {
  if (activation == null || activation === 'linear') return dy;
  if (activation === 'relu') return dy.mul(y.step());
  throw new LatheError(`Cannot compute gradient for fused activation ${activation}.`);
}

/** The gradient of the bias, in its shape. */
export function getFusedBiasGradient(bias: Operand, dyActivation: Operand): Operand {
  const axes = getReductionAxes(bias.shape, dyActivation.shape);
  return (axes.length > 0 ? dyActivation.sum(axes) : dyActivation).reshape(bias.shape);
}

/** Error: an unknown activation. */
export function applyActivation(
  x: Operand,
  activation: Activation,
  preluActivationWeights?: Operand,
  leakyreluAlpha?: number,
): Operand {
  if (activation === 'linear') return x;
  if (activation === 'prelu') return x.prelu(preluActivationWeights!);
  if (activation === 'leakyrelu') return x.leakyRelu(leakyreluAlpha);
  if (['relu', 'elu', 'relu6', 'sigmoid'].includes(activation)) return x[activation]();
  throw new LatheError(`Unknown fused activation ${String(activation)}.`);
}

/** Whether fused kernels are used: not inside a gradient, unless the activation is linear. */
export const shouldFuse = (gradientDepth: number, activation: Activation): boolean =>
  gradientDepth <= 0 || activation === 'linear';
