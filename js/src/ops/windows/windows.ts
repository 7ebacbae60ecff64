/** Sliding windows over spatial axes: sizes, paddings, and the argument checks of convolutions and pooling. */
import { LatheError } from '../../base/errors.js';
import { applyOperation } from '../../eager/apply.js';
import type { Tensor } from '../../tensor/tensor.js';
import {
  type ExplicitPadding,
  type Pad,
  type RoundingMode,
  roundings,
  samePadding,
} from '../../shapes/windows.js';
import { constant } from '../common/constants.js';

export type { ExplicitPadding, Pad, RoundingMode };
/** One number for each spatial axis, or one for all. */
export type PerAxis = number | readonly number[];

/** Windows along one axis: window o reads the indices o * stride + k * dilation - before, k < size. */
export interface WindowAxis {
  readonly size: number;
  readonly stride: number;
  readonly dilation: number;
  readonly before: number;
  readonly after: number;
  readonly out: number;
}

export interface Windows {
  readonly axes: readonly WindowAxis[];
  /** The padding passed to the core: the mode, or 'valid' once the zeros are in the input. */
  readonly pad: 'valid' | 'same';
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
}

export interface WindowArgs {
  /** Spatial sizes of the input. */
  readonly sizes: readonly number[];
  readonly window: PerAxis;
  readonly strides: PerAxis;
  readonly pad: Pad;
  readonly dilations?: PerAxis | null | undefined;
  readonly rounding?: RoundingMode | undefined;
  /** Whether explicit paddings are in NCHW order. */
  readonly channelsFirst?: boolean;
  /** Whether strides and dilations may both be above 1. */
  readonly free?: boolean;
}

/** Expands a number to one per axis. Error: an array of another length. */
export function perAxis(op: string, what: string, value: PerAxis, count: number): number[] {
  if (typeof value === 'number') return new Array<number>(count).fill(value);
  if (value.length === 1) return new Array<number>(count).fill(value[0]!);
  if (value.length === count) return [...value];
  // TensorFlow.js also accepts 4-element windows that include batch and channels.
  if (value.length === count + 2) return value.slice(1, -1);
  throw new LatheError(
    `Error in ${op}: ${what} must be a number or ${count} of them, got [${value.join()}]`,
  );
}

/** Throws TensorFlow.js's errors: both strides and dilations above 1, any below 1, rounding with a named padding. */
export function windowsOf(op: string, args: WindowArgs): Windows {
  const { sizes, rounding } = args;
  const count = sizes.length;
  const window = perAxis(op, 'the window', args.window, count);
  const strides = perAxis(op, 'strides', args.strides, count);
  const rates = perAxis(op, 'dilations', args.dilations ?? 1, count);
  checkSteps(op, strides, rates, args.free ?? false);
  checkPad(op, args.pad, rounding);
  const explicit = paddingsOf(op, args.pad, count, args.channelsFirst ?? false);
  const axes = sizes.map((size, at) => {
    const steps = { size: window[at]!, stride: strides[at]!, dilation: rates[at]! };
    const zeros = explicit?.[at] ?? (args.pad as 'valid' | 'same');
    return windowAxis(size, steps, zeros, rounding);
  });
  const pad = explicit === undefined ? (args.pad as 'valid' | 'same') : 'valid';
  return { axes, pad, strides, dilations: rates };
}

function checkSteps(
  op: string,
  strides: readonly number[],
  dilations: readonly number[],
  free: boolean,
): void {
  if (!free && strides.some((each) => each > 1) && dilations.some((each) => each > 1)) {
    throw new LatheError(
      `Error in ${op}: Either strides or dilations must be 1. Got strides ${strides.join()} and dilations '${dilations.join()}'`,
    );
  }
  if ([...strides, ...dilations].every((each) => each > 0)) return;
  throw new LatheError(`Error in ${op}: Strides and dilations should be larger than 0.`);
}

function checkPad(op: string, pad: Pad, rounding: RoundingMode | undefined): void {
  const numbers = typeof pad === 'object' ? pad.flat() : [pad];
  const isWord = pad === 'valid' || pad === 'same';
  if (!isWord && numbers.some((each) => typeof each !== 'number')) {
    throw new LatheError(`Error in ${op}: Unknown padding parameter: ${String(pad)}`);
  }
  if (rounding == null || numbers.every((each) => Number.isInteger(each))) return;
  throw new LatheError(
    `Error in ${op}: pad must be an integer when using dimRoundingMode ${rounding} but got pad ${numbers.join()}.`,
  );
}

function paddingsOf(
  op: string,
  pad: Pad,
  count: number,
  channelsFirst: boolean,
): (readonly [number, number])[] | undefined {
  if (typeof pad === 'string') return undefined;
  if (typeof pad === 'number') return Array.from({ length: count }, () => [pad, pad] as const);
  if (pad.length === count) return [...pad];
  if (pad.length !== count + 2) {
    throw new LatheError(`Error in ${op}: pad needs ${count + 2} pairs, got ${pad.length}`);
  }
  return channelsFirst ? pad.slice(2) : pad.slice(1, -1);
}

function windowAxis(
  length: number,
  steps: { size: number; stride: number; dilation: number },
  zeros: 'valid' | 'same' | readonly [number, number],
  rounding: RoundingMode | undefined,
): WindowAxis {
  const { stride } = steps;
  const reach = (steps.size - 1) * steps.dilation + 1;
  if (zeros === 'same') return { ...steps, ...samePadding(length, reach, stride) };
  const [before, after] = zeros === 'valid' ? [0, 0] : zeros;
  const exact = (length + before + after - reach) / stride + 1;
  const out = Math.max(0, roundings[rounding ?? 'floor'](exact));
  return {
    ...steps,
    before,
    after: Math.max(after, (out - 1) * stride + reach - length - before),
    out,
  };
}

/** Pads x [batch, spatial…, channels] explicitly, unless the core does it ('same'). */
export function padUnlessSame(x: Tensor, { axes, pad }: Windows, value = 0): Tensor {
  return pad === 'same' ? x : padWindows(x, axes, value);
}

/** Pads x for its windows in any mode. */
export function padWindows(x: Tensor, axes: readonly WindowAxis[], value: number): Tensor {
  if (axes.every(({ before, after }) => before === 0 && after === 0)) return x;
  const paddings = [[0, 0], ...axes.map(({ before, after }) => [before, after]), [0, 0]];
  return padWith(x, paddings, value);
}

/** Pads with any value; attributes of the core cannot be infinite or NaN. */
export function padWith(
  x: Tensor,
  paddings: readonly (readonly number[])[],
  value: number,
): Tensor {
  if (Number.isFinite(value)) return applyOperation('pad', [x], [paddings, value]);
  const all = applyOperation('broadcastTo', [constant(Uint8Array.of(1), [], 'bool')], [x.shape]);
  const isInside = applyOperation('pad', [all], [paddings, 0]);
  return applyOperation(
    'where',
    [isInside, applyOperation('pad', [x], [paddings, 0]), value],
    [],
    x.dtype,
  );
}

/** An empty tensor that depends on the operands in the graph; their gradients are zeros. */
export function emptyTensor(operands: readonly Tensor[], shape: readonly number[]): Tensor {
  const none = operands.map((each) =>
    applyOperation('slice', [applyOperation('reshape', [each], [[each.size]])], [[0], [0]]),
  );
  return applyOperation('reshape', [applyOperation('concat', none, [0])], [[...shape]]);
}

/** The empty result if the first operand has no windows, else undefined. */
export function emptyResult(
  operands: readonly [Tensor, ...Tensor[]],
  axes: readonly WindowAxis[],
  channels: number,
): Tensor | undefined {
  const shape = [operands[0].shape[0]!, ...axes.map(({ out }) => out), channels];
  return shape.includes(0) ? emptyTensor(operands, shape) : undefined;
}

/**
 * What each window reads: per offset within the window, the last axis fastest, a tensor [batch, out…, channels] of the elements
 * there. x: [batch, spatial…, channels]; outside of it is `value`.
 */
export function patches(x: Tensor, axes: readonly WindowAxis[], value: number): Tensor[] {
  const extended = axes.map((each) => ({ ...each, after: each.after + each.stride - 1 }));
  let all = [padWindows(x, extended, value)];
  axes.forEach(({ size, stride, dilation, out }, at) => {
    const offsets = Array.from({ length: size }, (_, k) => k * dilation);
    all = all.flatMap((each) => offsets.map((offset) => every(each, at + 1, offset, out, stride)));
  });
  return all;
}

/** `count` elements along an axis from `begin`, `step` between them. */
function every(x: Tensor, axis: number, begin: number, count: number, step: number): Tensor {
  const sliceAlong = (from: Tensor, along: number, first: number, length: number): Tensor => {
    if (first === 0 && from.shape[along] === length) return from;
    const size = from.shape.map((each, at) => (at === along ? length : each));
    return applyOperation('slice', [from], [size.map((_, at) => (at === along ? first : 0)), size]);
  };
  const part = sliceAlong(x, axis, begin, count * step);
  if (step === 1) return part;
  const [head, tail] = [part.shape.slice(0, axis), part.shape.slice(axis + 1)];
  const split = applyOperation('reshape', [part], [[...head, count, step, ...tail]]);
  return applyOperation(
    'reshape',
    [sliceAlong(split, axis + 1, 0, 1)],
    [[...head, count, ...tail]],
  );
}

/** The elementwise maximum of tensors of one shape, and the index of the first that has it; `lowest` where none is above it. */
export function elementwiseMax(
  all: readonly Tensor[],
  lowest: number,
): { values: Tensor; which: Tensor } {
  const input = applyOperation('stack', all, [-1]);
  const isMore = applyOperation('greater', [input, lowest], [], input.dtype);
  const stacked = applyOperation('where', [isMore, input, lowest], [], input.dtype);
  const which = applyOperation('argMax', [stacked], [-1]);
  const at = applyOperation('expandDims', [which], [-1]);
  const values = applyOperation(
    'squeeze',
    [applyOperation('takeAlongAxis', [stacked, at], [-1])],
    [[-1]],
  );
  return { values, which };
}

/** Runs `act` on x, with a batch axis added and removed for rank - 1. Error: another rank. */
export function batched(op: string, x: Tensor, rank: number, act: (x: Tensor) => Tensor): Tensor {
  if (x.rank === rank - 1) return unbatched(act(applyOperation('expandDims', [x], [0])));
  checkRank(op, 'x', x, rank);
  return act(x);
}

export const unbatched = (x: Tensor): Tensor => applyOperation('reshape', [x], [x.shape.slice(1)]);

export function checkRank(op: string, what: string, x: Tensor, rank: number): void {
  if (x.rank === rank) return;
  throw new LatheError(`Error in ${op}: ${what} must be rank ${rank}, but got rank ${x.rank}.`);
}

/** NCHW to NHWC, and back. */
export const channelsLast = (x: Tensor): Tensor => {
  const spatial = Array.from({ length: x.rank - 2 }, (_, at) => at + 2);
  return applyOperation('transpose', [x], [[0, ...spatial, 1]]);
};
export const channelsFirst = (x: Tensor): Tensor => {
  const spatial = Array.from({ length: x.rank - 2 }, (_, at) => at + 1);
  return applyOperation('transpose', [x], [[0, x.rank - 1, ...spatial]]);
};

/** Whether the layout is NCHW. Error: neither NHWC nor NCHW. */
export function isChannelsFirst(op: string, format: string): boolean {
  if (format !== 'NHWC' && format !== 'NCHW') {
    throw new LatheError(
      `Error in ${op}: got dataFormat of ${format} but only NHWC and NCHW are supported.`,
    );
  }
  return format === 'NCHW';
}
