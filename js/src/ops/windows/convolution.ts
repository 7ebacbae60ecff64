/** Convolutions with the semantics of TensorFlow.js: filters are not flipped; inputs without a batch axis are accepted. */
import { LatheError } from '../../base/errors.js';
import { applyOperation } from '../../eager/apply.js';
import { toTensor } from '../../eager/operands.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import {
  batched,
  channelsFirst,
  channelsLast,
  checkRank,
  emptyResult,
  isChannelsFirst,
  type Pad,
  padUnlessSame,
  type PerAxis,
  type RoundingMode,
  unbatched,
  type Windows,
  windowsOf,
} from './windows.js';

type Kind = 'conv1d' | 'conv2d' | 'conv3d' | 'depthwiseConv2d';

interface Steps {
  strides: PerAxis;
  pad: Pad;
  dilations?: PerAxis | null | undefined;
  rounding?: RoundingMode | undefined;
  channelsFirst?: boolean;
}

/** Convolves x [batch, spatial…, channels], or NCHW. */
function convolve(op: string, kind: Kind, x: Tensor, filter: Tensor, steps: Steps): Tensor {
  const rank = filter.rank;
  return batched(op, x, rank, (tensor) => {
    const input = steps.channelsFirst ? channelsLast(tensor) : tensor;
    const depth = filter.shape[rank - 2]!;
    if (input.shape[rank - 1] !== depth) {
      throw new LatheError(
        `Error in ${op}: depth of input (${input.shape[rank - 1]}) must match input depth for filter ${depth}; ` +
          `x is [${x.shape.join()}], filter [${filter.shape.join()}].`,
      );
    }
    const sizes = input.shape.slice(1, -1);
    const windows = windowsOf(op, { sizes, window: filter.shape.slice(0, -2), ...steps });
    const { pad, strides, dilations } = windows;
    const result =
      emptyResult([input, filter], windows.axes, resultDepth(kind, filter)) ??
      applyOperation(kind, [padUnlessSame(input, windows), filter], [strides, pad, dilations]);
    return steps.channelsFirst ? channelsFirst(result) : result;
  });
}

const resultDepth = (kind: Kind, { shape }: Tensor): number =>
  kind === 'depthwiseConv2d' ? shape[2]! * shape[3]! : shape.at(-1)!;

const checkFormat = (op: string, format: string, accepted: string): void => {
  if (format === accepted) return;
  throw new LatheError(
    `Error in ${op}: got dataFormat of ${format} but only ${accepted} is currently supported.`,
  );
};

const operands = (op: string, x: TensorLike, filter: TensorLike, rank: number): Tensor[] => {
  const both = [toTensor(x, 'x', op, 'float32'), toTensor(filter, 'filter', op, 'float32')];
  checkRank(op, 'filter', both[1]!, rank);
  return both;
};

/** x [batch, width, in] or [width, in], filter [size, in, out]. Errors: ranks, depths, both strides and dilations above 1. */
export function conv1d(
  x: TensorLike,
  filter: TensorLike,
  stride: PerAxis,
  pad: Pad,
  dataFormat: 'NWC' | 'NCW' = 'NWC',
  dilation: PerAxis = 1,
  dimRoundingMode?: RoundingMode,
): Tensor {
  return tidy(() => {
    const [input, by] = operands('conv1d', x, filter, 3);
    checkFormat('conv1d', dataFormat, 'NWC');
    // As in TensorFlow.js, the padding is that of an image of height 1.
    const zeros = typeof pad === 'object' && pad.length === 4 ? pad.slice(1) : pad;
    const steps = { strides: stride, pad: zeros, dilations: dilation, rounding: dimRoundingMode };
    return convolve('conv1d', 'conv1d', input!, by!, steps);
  });
}

/**
 * x [batch, height, width, in] or without batch, filter [height, width, in, out].
 *
 * @param dataFormat NCHW: channels are axis 1; the filter layout stays
 *
 * Errors: ranks, depths, both strides and dilations above 1, `dimRoundingMode` with 'valid' or 'same' padding.
 */
export function conv2d(
  x: TensorLike,
  filter: TensorLike,
  strides: PerAxis,
  pad: Pad,
  dataFormat: 'NHWC' | 'NCHW' = 'NHWC',
  dilations: PerAxis = [1, 1],
  dimRoundingMode?: RoundingMode,
): Tensor {
  return tidy(() => {
    const [input, by] = operands('conv2d', x, filter, 4);
    const first = isChannelsFirst('conv2d', dataFormat);
    const steps = { strides, pad, dilations, rounding: dimRoundingMode, channelsFirst: first };
    return convolve('conv2d', 'conv2d', input!, by!, steps);
  });
}

/** x [batch, depth, height, width, in] or without batch, filter [depth, height, width, in, out]. Errors as of `conv2d`. */
export function conv3d(
  x: TensorLike,
  filter: TensorLike,
  strides: PerAxis,
  pad: 'valid' | 'same',
  dataFormat: 'NDHWC' | 'NCDHW' = 'NDHWC',
  dilations: PerAxis = [1, 1, 1],
): Tensor {
  return tidy(() => {
    const [input, by] = operands('conv3d', x, filter, 5);
    checkFormat('conv3d', dataFormat, 'NDHWC');
    return convolve('conv3d', 'conv3d', input!, by!, { strides, pad, dilations });
  });
}

/** Convolves every channel separately: filter [height, width, in, multiplier] -> [batch, out…, in * multiplier]. Errors as of `conv2d`. */
export function depthwiseConv2d(
  x: TensorLike,
  filter: TensorLike,
  strides: PerAxis,
  pad: Pad,
  dataFormat: 'NHWC' | 'NCHW' = 'NHWC',
  dilations: PerAxis = [1, 1],
  dimRoundingMode?: RoundingMode,
): Tensor {
  return tidy(() => {
    const [input, by] = operands('depthwiseConv2d', x, filter, 4);
    const first = isChannelsFirst('depthwiseConv2d', dataFormat);
    const steps = { strides, pad, dilations, rounding: dimRoundingMode, channelsFirst: first };
    return convolve('depthwiseConv2d', 'depthwiseConv2d', input!, by!, steps);
  });
}

/** `depthwiseConv2d` followed by `conv2d` with the pointwise filter [1, 1, in * multiplier, out]. Errors: ranks and depths. */
export function separableConv2d(
  x: TensorLike,
  depthwiseFilter: TensorLike,
  pointwiseFilter: TensorLike,
  strides: PerAxis,
  pad: 'valid' | 'same',
  dilation: PerAxis = [1, 1],
  dataFormat: 'NHWC' | 'NCHW' = 'NHWC',
): Tensor {
  const op = 'separableConv2d';
  return tidy(() => {
    const input = toTensor(x, 'x', op);
    const depthwise = toTensor(depthwiseFilter, 'depthwiseFilter', op);
    const pointwise = toTensor(pointwiseFilter, 'pointwiseFilter', op);
    checkFormat(op, dataFormat, 'NHWC');
    if (input.rank !== 3) checkRank(op, 'x', input, 4);
    checkRank(op, 'depthwise filter', depthwise, 4);
    checkRank(op, 'pointwise filter', pointwise, 4);
    const [, , depth, multiplier] = depthwise.shape;
    for (const [at, size] of [1, 1, depth! * multiplier!].entries()) {
      if (pointwise.shape[at] === size) continue;
      throw new LatheError(
        `Error in ${op}: size ${at} of the pointwise filter must be ${size}, but got ${pointwise.shape[at]}.`,
      );
    }
    const depthwiseResult = depthwiseConv2d(input, depthwise, strides, pad, dataFormat, dilation);
    return conv2d(depthwiseResult, pointwise, 1, 'valid', dataFormat);
  });
}

/** The gradient with respect to a convolution's input of shape `out`, for the gradient x of its result. */
function transposed(
  op: string,
  x: Tensor,
  filter: Tensor,
  out: readonly number[],
  { strides, pad, rounding }: Steps,
): Tensor {
  const rank = filter.rank;
  const hasBatch = x.rank === rank;
  const input = hasBatch ? x : applyOperation('expandDims', [x], [0]);
  const shape = hasBatch || out.length === rank ? out : [1, ...out];
  checkRank(op, 'x', input, rank);
  if (shape.length !== rank) {
    throw new LatheError(
      `Error in ${op}: the output shape must have ${rank} sizes, got [${out.join()}]`,
    );
  }
  const [from, to] = [filter.shape[rank - 1]!, filter.shape[rank - 2]!];
  if (input.shape[rank - 1] !== from || shape[rank - 1] !== to) {
    throw new LatheError(
      `Error in ${op}: depths of input [${x.shape.join()}] and output [${out.join()}] must match the filter's ` +
        `${from} and ${to}.`,
    );
  }
  const sizes = shape.slice(1, -1);
  const windows = windowsOf(op, {
    sizes,
    window: filter.shape.slice(0, -2),
    strides,
    pad,
    rounding,
  });
  const result = convTranspose(
    cropToConvolution(op, input, shape, windows),
    filter,
    shape,
    windows,
  );
  return hasBatch ? result : unbatched(result);
}

/** Crops x to the result shape of a convolution over `out`. Error: x is smaller than that. */
function cropToConvolution(
  op: string,
  x: Tensor,
  out: readonly number[],
  { axes }: Windows,
): Tensor {
  const expected = [out[0]!, ...axes.map((each) => each.out), x.shape.at(-1)!];
  if (expected.every((size, at) => x.shape[at] === size)) return x;
  if (expected.some((size, at) => x.shape[at]! < size)) {
    throw new LatheError(
      `Error in ${op}: a convolution of the output shape [${out.join()}] results in [${expected.join()}], ` +
        `but the input is [${x.shape.join()}].`,
    );
  }
  return applyOperation('slice', [x], [expected.map(() => 0), expected]);
}

function convTranspose(
  x: Tensor,
  filter: Tensor,
  shape: readonly number[],
  windows: Windows,
): Tensor {
  const { axes, strides, pad } = windows;
  if (pad === 'same') return applyOperation('conv2dTranspose', [x, filter], [shape, strides, pad]);
  const zeros = [0, ...axes.map(({ before }) => before), 0];
  const reach = shape.map((size, at) => {
    const axis = axes[at - 1];
    return axis === undefined ? size : size + axis.before + axis.after;
  });
  const complete = applyOperation('conv2dTranspose', [x, filter], [reach, strides, pad]);
  return reach.every((size, at) => size === shape[at])
    ? complete
    : applyOperation('slice', [complete], [zeros, shape]);
}

/**
 * The transpose of `conv2d`: x [batch, height, width, in] or without batch, filter [height, width, out, in].
 *
 * @param outputShape of the result, with its batch if x has one
 *
 * Errors: shapes that are inconsistent with a convolution.
 */
export function conv2dTranspose(
  x: TensorLike,
  filter: TensorLike,
  outputShape: readonly number[],
  strides: PerAxis,
  pad: Pad,
  dimRoundingMode?: RoundingMode,
): Tensor {
  return tidy(() => {
    const op = 'conv2dTranspose';
    const all = [toTensor(x, 'x', op), toTensor(filter, 'filter', op)] as const;
    checkRank(op, 'filter', all[1], 4);
    return transposed(op, ...all, outputShape, { strides, pad, rounding: dimRoundingMode });
  });
}

/** The transpose of `conv3d`, as `conv2dTranspose`; filter [depth, height, width, out, in]. */
export function conv3dTranspose(
  x: TensorLike,
  filter: TensorLike,
  outputShape: readonly number[],
  strides: PerAxis,
  pad: 'valid' | 'same',
): Tensor {
  return tidy(() => {
    const op = 'conv3dTranspose';
    const all = [toTensor(x, 'x', op), toTensor(filter, 'filter', op)] as const;
    checkRank(op, 'filter', all[1], 5);
    return transposed(op, ...all, outputShape, { strides, pad });
  });
}
