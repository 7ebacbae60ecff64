/** Convolutions as TensorFlow.js has them: filters are not flipped; pictures without batch are taken too. */
import { LatheError } from '../base/errors.js';
import { apply } from '../eager/apply.js';
import { toTensor } from '../eager/operands.js';
import { tidy } from '../tensor/scopes.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';
import {
  batched,
  channelsFirst,
  channelsLast,
  checkRank,
  emptyOf,
  isChannelsFirst,
  type Pad,
  padded,
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

/** Of x [batch, spatial…, channels], or with the channels first. */
function convolve(op: string, kind: Kind, x: Tensor, filter: Tensor, steps: Steps): Tensor {
  const rank = filter.rank;
  return batched(op, x, rank, (given) => {
    const picture = steps.channelsFirst ? channelsLast(given) : given;
    const depth = filter.shape[rank - 2]!;
    if (picture.shape[rank - 1] !== depth) {
      throw new LatheError(
        `Error in ${op}: depth of input (${picture.shape[rank - 1]}) must match input depth for filter ${depth}; ` +
          `x is [${x.shape.join()}], filter [${filter.shape.join()}].`,
      );
    }
    const sizes = picture.shape.slice(1, -1);
    const windows = windowsOf(op, { sizes, window: filter.shape.slice(0, -2), ...steps });
    const { pad, strides, dilations } = windows;
    const result =
      emptyOf([picture, filter], windows.axes, resultDepth(kind, filter)) ??
      apply(kind, [padded(picture, windows), filter], [strides, pad, dilations]);
    return steps.channelsFirst ? channelsFirst(result) : result;
  });
}

const resultDepth = (kind: Kind, { shape }: Tensor): number =>
  kind === 'depthwiseConv2d' ? shape[2]! * shape[3]! : shape.at(-1)!;

const checkFormat = (op: string, format: string, known: string): void => {
  if (format === known) return;
  throw new LatheError(
    `Error in ${op}: got dataFormat of ${format} but only ${known} is currently supported.`,
  );
};

const operands = (op: string, x: TensorLike, filter: TensorLike, rank: number): Tensor[] => {
  const both = [toTensor(x, 'x', op, 'float32'), toTensor(filter, 'filter', op, 'float32')];
  checkRank(op, 'filter', both[1]!, rank);
  return both;
};

/** x [batch, width, in] or [width, in], filter [size, in, out]. Errors: ranks, depths, strides beside dilations. */
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
    // TensorFlow.js takes the padding of a picture of one row.
    const zeros = typeof pad === 'object' && pad.length === 4 ? pad.slice(1) : pad;
    const steps = { strides: stride, pad: zeros, dilations: dilation, rounding: dimRoundingMode };
    return convolve('conv1d', 'conv1d', input!, by!, steps);
  });
}

/**
 * x [batch, height, width, in] or without batch, filter [height, width, in, out].
 *
 * @param dataFormat NCHW: the channels are the axis behind the batch; the filter stays
 *
 * Errors: ranks, depths, strides beside dilations, `dimRoundingMode` beside 'valid' and 'same'.
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

/** Every channel convolved alone: filter [height, width, in, multiplier] -> [batch, out…, in * multiplier]. Errors as of `conv2d`. */
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

/** `depthwiseConv2d` and then `conv2d` with the pointwise filter [1, 1, in * multiplier, out]. Errors: ranks and depths. */
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
    const alone = depthwiseConv2d(input, depthwise, strides, pad, dataFormat, dilation);
    return conv2d(alone, pointwise, 1, 'valid', dataFormat);
  });
}

/** What a convolution of something of the shape `out` gives as gradient of it for the gradient x of the result. */
function transposed(
  op: string,
  x: Tensor,
  filter: Tensor,
  out: readonly number[],
  { strides, pad, rounding }: Steps,
): Tensor {
  const rank = filter.rank;
  const hasBatch = x.rank === rank;
  const picture = hasBatch ? x : apply('expandDims', [x], [0]);
  const shape = hasBatch || out.length === rank ? out : [1, ...out];
  checkRank(op, 'x', picture, rank);
  if (shape.length !== rank) {
    throw new LatheError(
      `Error in ${op}: the output shape must have ${rank} sizes, got [${out.join()}]`,
    );
  }
  const [from, to] = [filter.shape[rank - 1]!, filter.shape[rank - 2]!];
  if (picture.shape[rank - 1] !== from || shape[rank - 1] !== to) {
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
  const result = unwound(fitted(op, picture, shape, windows), filter, shape, windows);
  return hasBatch ? result : unbatched(result);
}

/** Without what a convolution of the output shape does not give. Error: it gives more. */
function fitted(op: string, x: Tensor, out: readonly number[], { axes }: Windows): Tensor {
  const wanted = [out[0]!, ...axes.map((each) => each.out), x.shape.at(-1)!];
  if (wanted.every((size, at) => x.shape[at] === size)) return x;
  if (wanted.some((size, at) => x.shape[at]! < size)) {
    throw new LatheError(
      `Error in ${op}: a convolution of the output shape [${out.join()}] gives [${wanted.join()}], ` +
        `but the input is [${x.shape.join()}].`,
    );
  }
  return apply('slice', [x], [wanted.map(() => 0), wanted]);
}

function unwound(x: Tensor, filter: Tensor, shape: readonly number[], windows: Windows): Tensor {
  const { axes, strides, pad } = windows;
  if (pad === 'same') return apply('conv2dTranspose', [x, filter], [shape, strides, pad]);
  const zeros = [0, ...axes.map(({ before }) => before), 0];
  const reach = shape.map((size, at) => {
    const axis = axes[at - 1];
    return axis === undefined ? size : size + axis.before + axis.after;
  });
  const whole = apply('conv2dTranspose', [x, filter], [reach, strides, pad]);
  return reach.every((size, at) => size === shape[at])
    ? whole
    : apply('slice', [whole], [zeros, shape]);
}

/**
 * The transpose of `conv2d`: x [batch, height, width, in] or without batch, filter [height, width, out, in].
 *
 * @param outputShape of the result, with its batch if x has one
 *
 * Errors: shapes that no convolution connects.
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
