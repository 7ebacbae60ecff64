/** Products and convolutions with bias and activation: `fused` of TensorFlow.js. The compiler fuses any such sequence. */
import { LatheError } from '../../base/errors.js';
import { applyOperation } from '../../eager/apply.js';
import { elementwise, toTensor } from '../../eager/operands.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import * as convolution from '../windows/convolution.js';
import * as products from '../linalg/products.js';
import type { Pad, PerAxis, RoundingMode } from '../windows/windows.js';

export type FusedActivation =
  'linear' | 'relu' | 'prelu' | 'elu' | 'relu6' | 'leakyrelu' | 'sigmoid';

/** Bias and activation that follow a product or convolution. */
export interface FusedArgs {
  bias?: TensorLike | null;
  /** Default: linear. */
  activation?: FusedActivation | null;
  /** Slopes of 'prelu'. */
  preluActivationWeights?: TensorLike | null;
  /** Slope of 'leakyrelu'; default 0.2. */
  leakyreluAlpha?: number;
}

export interface FusedMatMulArgs extends FusedArgs {
  a: TensorLike;
  b: TensorLike;
  transposeA?: boolean;
  transposeB?: boolean;
}

/** `matMul`, then bias and activation. Errors: as of `matMul`; a bias of another shape. */
export function matMul(args: FusedMatMulArgs): Tensor {
  const { a, b, transposeA, transposeB } = args;
  return tidy(() => activated('fused matMul', products.matMul(a, b, transposeA, transposeB), args));
}

export interface FusedConv2dArgs extends FusedArgs {
  x: TensorLike;
  filter: TensorLike;
  strides: PerAxis;
  pad: Pad;
  /** Default: NHWC. */
  dataFormat?: 'NHWC' | 'NCHW';
  dilations?: PerAxis;
  dimRoundingMode?: RoundingMode;
}

const activations: Record<string, (x: Tensor, args: FusedArgs) => Tensor> = {
  linear: (x) => x,
  relu: (x) => applyOperation('relu', [x]),
  relu6: (x) => applyOperation('relu6', [x]),
  elu: (x) => applyOperation('elu', [x]),
  sigmoid: (x) => applyOperation('sigmoid', [x]),
  leakyrelu: (x, { leakyreluAlpha = 0.2 }) => applyOperation('leakyRelu', [x], [leakyreluAlpha]),
  prelu: (x, { preluActivationWeights }) => {
    const slopes = elementwise('mul', ['x', 'alpha'], [x, preluActivationWeights!]);
    return applyOperation('where', [applyOperation('greater', [x, 0]), x, slopes]);
  },
};

/** Applies bias and activation. Error: an unknown activation; 'prelu' without its weights. */
export function activated(op: string, x: Tensor, args: FusedArgs): Tensor {
  const { bias } = args;
  const sum = bias == null ? x : elementwise('add', ['x', 'bias'], [x, toTensor(bias, 'bias', op)]);
  const name = args.activation ?? 'linear';
  const activation = activations[name];
  if (activation === undefined || (name === 'prelu' && args.preluActivationWeights == null)) {
    throw new LatheError(
      `Error in ${op}: Unknown fused activation ${name}, or its weights are missing.`,
    );
  }
  return activation(sum, args);
}

/** Reshapes per-channel values for NCHW: broadcasting aligns trailing axes. */
function alongChannels(op: string, what: string, x: TensorLike, channels: number): Tensor {
  const input = toTensor(x, what, op);
  if (input.rank === 1 && (input.size === 1 || input.size === channels)) {
    return applyOperation('reshape', [input], [[input.size, 1, 1]]);
  }
  if (input.rank === 0 || input.rank === 3) return input;
  throw new LatheError(
    `Error in ${op}: ${what} of shape [${input.shape.join()}] does not fit ${channels} output channels.`,
  );
}

function biasAndActivation(op: string, x: Tensor, args: FusedConv2dArgs): Tensor {
  if (args.dataFormat !== 'NCHW') return activated(op, x, args);
  const channels = x.shape.at(-3)!;
  const { bias, preluActivationWeights: slopes } = args;
  return activated(op, x, {
    ...args,
    bias: bias == null ? null : alongChannels(op, 'bias', bias, channels),
    preluActivationWeights:
      slopes == null ? null : alongChannels(op, 'PReLU activation weights', slopes, channels),
  });
}

/** `conv2d`, then bias and activation. Errors: as of `conv2d`; a bias or slopes of another shape. */
export function conv2d(args: FusedConv2dArgs): Tensor {
  const { x, filter, strides, pad, dataFormat, dilations, dimRoundingMode } = args;
  return tidy(() =>
    biasAndActivation(
      'fused conv2d',
      convolution.conv2d(x, filter, strides, pad, dataFormat, dilations, dimRoundingMode),
      args,
    ),
  );
}

/** `depthwiseConv2d`, then bias and activation. Errors: as of `depthwiseConv2d`; a bias or slopes of another shape. */
export function depthwiseConv2d(args: FusedConv2dArgs): Tensor {
  const { x, filter, strides, pad, dataFormat, dilations, dimRoundingMode } = args;
  return tidy(() =>
    biasAndActivation(
      'fused depthwiseConv2d',
      convolution.depthwiseConv2d(x, filter, strides, pad, dataFormat, dilations, dimRoundingMode),
      args,
    ),
  );
}
