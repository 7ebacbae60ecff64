/** Shapes of convolutions and pooling: input, output and padding (`tf.backend_util`). */
import { LatheError } from '../../base/errors.js';
import { assert, isInt } from '../../shapes/shapes.js';
import {
  type ExplicitPadding,
  type Pad,
  type PaddedAxis,
  type RoundingMode,
  roundings,
  samePadding,
} from '../../shapes/windows.js';

type Ints = readonly number[];
type PadType = 'SAME' | 'VALID' | 'NUMBER' | 'EXPLICIT';
export type { ExplicitPadding, Pad, RoundingMode };
type Channels = 'channelsFirst' | 'channelsLast';

export interface PadInfo {
  top: number;
  left: number;
  right: number;
  bottom: number;
  type: PadType;
}

export interface PadInfo3D extends PadInfo {
  front: number;
  back: number;
}

export interface Conv2DInfo {
  batchSize: number;
  dataFormat: Channels;
  inHeight: number;
  inWidth: number;
  inChannels: number;
  outHeight: number;
  outWidth: number;
  outChannels: number;
  padInfo: PadInfo;
  strideHeight: number;
  strideWidth: number;
  filterHeight: number;
  filterWidth: number;
  effectiveFilterHeight: number;
  effectiveFilterWidth: number;
  dilationHeight: number;
  dilationWidth: number;
  inShape: number[];
  outShape: number[];
  filterShape: number[];
}

export interface Conv3DInfo extends Omit<Conv2DInfo, 'padInfo'> {
  inDepth: number;
  outDepth: number;
  padInfo: PadInfo3D;
  strideDepth: number;
  filterDepth: number;
  effectiveFilterDepth: number;
  dilationDepth: number;
}

/** Expands a number to three axes. */
function three(value: number | Ints): [number, number, number] {
  if (typeof value === 'number') return [value, value, value];
  return [value[0]!, value[1]!, value.length === 2 ? 1 : value[2]!];
}

/** Expands a number to two axes. */
const two = (value: number | Ints): [number, number] =>
  three(value).slice(0, 2) as [number, number];

/** The extent of a dilated window. */
const effective = (size: number, dilation: number): number =>
  dilation <= 1 ? size : size + (size - 1) * (dilation - 1);

function rounded(value: number, mode?: RoundingMode | null): number {
  if (!mode) return Math.trunc(value);
  if (Object.hasOwn(roundings, mode)) return roundings[mode](value);
  throw new LatheError(`Unknown roundingMode ${String(mode)}`);
}

/** The padding per side that preserves the size of the first axis, rounded down. */
export function computeDefaultPad(shape: Ints, size: number, stride: number, dilation = 1): number {
  return Math.floor((shape[0]! * (stride - 1) - stride + effective(size, dilation)) / 2);
}

/** Output size and padding of one axis, from input size, dilated window size, stride, and explicit padding. */
function axisOf(
  pad: Pad,
  [size, window, stride]: [number, number, number],
  explicit: readonly [number, number] | undefined,
  mode?: RoundingMode | null,
): PaddedAxis {
  if (pad === 'same') return samePadding(size, window, stride);
  if (pad === 'valid') return { out: Math.ceil((size - window + 1) / stride), before: 0, after: 0 };
  const [before, after] = typeof pad === 'number' ? [pad, pad] : explicit!;
  return { out: rounded((size - window + before + after) / stride + 1, mode), before, after };
}

function padType(pad: Pad, axes: readonly PaddedAxis[]): PadType {
  if (pad === 'same') return 'SAME';
  if (pad === 'valid' || pad === 0) return 'VALID';
  if (typeof pad === 'number') return 'NUMBER';
  return axes.every(({ before, after }) => before === 0 && after === 0) ? 'VALID' : 'EXPLICIT';
}

function checkPad(pad: Pad): void {
  const isSupported =
    pad === 'same' || pad === 'valid' || typeof pad === 'number' || Array.isArray(pad);
  if (!isSupported) throw new LatheError(`Unknown padding parameter: ${String(pad)}`);
}

function unknownFormat(format: unknown): LatheError {
  return new LatheError(`Unknown dataFormat ${String(format)}`);
}

/** Shapes of a 2-D convolution; filter [height, width, …, channels]. Errors: an unknown padding or format. */
export function computeConv2DInfo(
  inShape: Ints,
  filterShape: Ints,
  strides: number | Ints,
  dilations: number | Ints,
  pad: Pad,
  roundingMode?: RoundingMode | null,
  depthwise = false,
  dataFormat: Channels = 'channelsLast',
): Conv2DInfo {
  checkPad(pad);
  const isLast = dataFormat === 'channelsLast';
  if (!isLast && dataFormat !== 'channelsFirst') throw unknownFormat(dataFormat);
  const first = isLast ? 1 : 2;
  const [batchSize] = inShape as [number];
  const [inHeight, inWidth] = inShape.slice(first) as [number, number];
  const inChannels = inShape[isLast ? 3 : 1]!;
  const [filterHeight, filterWidth, , filterChannels] = filterShape as [
    number,
    number,
    number,
    number,
  ];
  const [strideHeight, strideWidth] = two(strides);
  const [dilationHeight, dilationWidth] = two(dilations);
  const effectiveFilterHeight = effective(filterHeight, dilationHeight);
  const effectiveFilterWidth = effective(filterWidth, dilationWidth);
  const explicit = Array.isArray(pad) ? (pad as ExplicitPadding).slice(first) : [];
  const y = axisOf(pad, [inHeight, effectiveFilterHeight, strideHeight], explicit[0], roundingMode);
  const x = axisOf(pad, [inWidth, effectiveFilterWidth, strideWidth], explicit[1], roundingMode);
  const outChannels = depthwise ? filterChannels * inChannels : filterChannels;
  const outSizes = [y.out, x.out];
  const type = padType(pad, [y, x]);
  return {
    batchSize,
    dataFormat,
    inHeight,
    inWidth,
    inChannels,
    outHeight: y.out,
    outWidth: x.out,
    outChannels,
    padInfo: { top: y.before, bottom: y.after, left: x.before, right: x.after, type },
    strideHeight,
    strideWidth,
    filterHeight,
    filterWidth,
    effectiveFilterHeight,
    effectiveFilterWidth,
    dilationHeight,
    dilationWidth,
    inShape: [...inShape],
    outShape: isLast
      ? [batchSize, ...outSizes, outChannels]
      : [batchSize, outChannels, ...outSizes],
    filterShape: [...filterShape],
  };
}

/** As `computeConv2DInfo`, for 3-D. */
export function computeConv3DInfo(
  inShape: Ints,
  filterShape: Ints,
  strides: number | Ints,
  dilations: number | Ints,
  pad: Pad,
  depthwise = false,
  dataFormat: Channels = 'channelsLast',
  roundingMode?: RoundingMode | null,
): Conv3DInfo {
  checkPad(pad);
  const isLast = dataFormat === 'channelsLast';
  if (!isLast && dataFormat !== 'channelsFirst') throw unknownFormat(dataFormat);
  const [batchSize] = inShape as [number];
  const sizes = inShape.slice(isLast ? 1 : 2).slice(0, 3) as [number, number, number];
  const inChannels = inShape[isLast ? 4 : 1]!;
  const filter = filterShape.slice(0, 3) as [number, number, number];
  const steps = three(strides);
  const gaps = three(dilations);
  const windows = filter.map((size, at) => effective(size, gaps[at]!)) as [number, number, number];
  // In 3-D the rounding mode applies to 'valid' too.
  const even = pad === 'valid' ? 0 : pad;
  const axes = sizes.map((size, at) =>
    axisOf(even, [size, windows[at]!, steps[at]!], undefined, roundingMode),
  ) as [PaddedAxis, PaddedAxis, PaddedAxis];
  const [z, y, x] = axes;
  const outChannels = depthwise ? filterShape[4]! * inChannels : filterShape[4]!;
  const outSizes = axes.map(({ out }) => out);
  const padInfo = {
    front: z.before,
    back: z.after,
    top: y.before,
    bottom: y.after,
    left: x.before,
    right: x.after,
    type: padType(pad, axes),
  };
  return {
    batchSize,
    dataFormat,
    inDepth: sizes[0],
    inHeight: sizes[1],
    inWidth: sizes[2],
    inChannels,
    outDepth: z.out,
    outHeight: y.out,
    outWidth: x.out,
    outChannels,
    padInfo,
    strideDepth: steps[0],
    strideHeight: steps[1],
    strideWidth: steps[2],
    filterDepth: filter[0],
    filterHeight: filter[1],
    filterWidth: filter[2],
    effectiveFilterDepth: windows[0],
    effectiveFilterHeight: windows[1],
    effectiveFilterWidth: windows[2],
    dilationDepth: gaps[0],
    dilationHeight: gaps[1],
    dilationWidth: gaps[2],
    inShape: [...inShape],
    outShape: isLast
      ? [batchSize, ...outSizes, outChannels]
      : [batchSize, outChannels, ...outSizes],
    filterShape: [...filterShape],
  };
}

/** Shapes of a morphological dilation by a filter [height, width, channels]. */
export function computeDilation2DInfo(
  inShape: Ints,
  filterShape: Ints,
  strides: number | Ints,
  pad: Pad,
  dataFormat: 'NHWC',
  dilations: number | Ints,
): Conv2DInfo {
  const filter = [...filterShape, inShape[3]!];
  const format = convertConv2DDataFormat(dataFormat);
  return computeConv2DInfo(inShape, filter, strides, dilations, pad, null, false, format);
}

/** Shapes of 2-D pooling. */
export function computePool2DInfo(
  inShape: Ints,
  filterSize: number | Ints,
  strides: number | Ints,
  dilations: number | Ints,
  pad: Pad,
  roundingMode?: RoundingMode | null,
  dataFormat: Channels = 'channelsLast',
): Conv2DInfo {
  if (dataFormat !== 'channelsLast' && dataFormat !== 'channelsFirst')
    throw unknownFormat(dataFormat);
  const channels = inShape[dataFormat === 'channelsLast' ? 3 : 1]!;
  const filter = [...two(filterSize), channels, channels];
  return computeConv2DInfo(
    inShape,
    filter,
    strides,
    dilations,
    pad,
    roundingMode,
    false,
    dataFormat,
  );
}

/** Shapes of 3-D pooling. */
export function computePool3DInfo(
  inShape: Ints,
  filterSize: number | Ints,
  strides: number | Ints,
  dilations: number | Ints,
  pad: Pad,
  roundingMode?: RoundingMode | null,
  dataFormat: 'NDHWC' | 'NCDHW' = 'NDHWC',
): Conv3DInfo {
  const formats = { NDHWC: 'channelsLast', NCDHW: 'channelsFirst' } as const;
  const format = formats[dataFormat];
  if (!format) throw unknownFormat(dataFormat);
  const channels = inShape[format === 'channelsLast' ? 4 : 1]!;
  const filter = [...three(filterSize), channels, channels];
  return computeConv3DInfo(inShape, filter, strides, dilations, pad, false, format, roundingMode);
}

/** Whether the number is 1 for every axis. */
export const tupleValuesAreOne = (value: number | Ints): boolean =>
  three(value).every((each) => each === 1);

export const eitherStridesOrDilationsAreOne = (
  strides: number | Ints,
  dilations: number | Ints,
): boolean => tupleValuesAreOne(strides) || tupleValuesAreOne(dilations);

export const stridesOrDilationsArePositive = (values: number | Ints): boolean =>
  three(values).every((each) => each > 0);

/** Error: an unknown format. */
export function convertConv2DDataFormat(format: 'NHWC' | 'NCHW'): Channels {
  if (format === 'NHWC') return 'channelsLast';
  if (format === 'NCHW') return 'channelsFirst';
  throw unknownFormat(format);
}

/** Error, naming the operation: a rounding mode with a padding that is not numeric. */
export function checkPadOnDimRoundingMode(what: string, pad: Pad, mode?: RoundingMode): void {
  if (mode == null) return;
  const begin = `Error in ${what}: pad must be an integer when using dimRoundingMode ${mode} but got pad`;
  if (typeof pad === 'string') throw new LatheError(`${begin} ${pad}.`);
  if (typeof pad !== 'number' && typeof pad !== 'object') {
    throw new LatheError(`Error in ${what}: Unknown padding parameter: ${String(pad)}`);
  }
  for (const each of [pad].flat(2) as number[]) assert(isInt(each), () => `${begin} ${each}.`);
}
