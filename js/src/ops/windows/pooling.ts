/** Pooling with the semantics of TensorFlow.js, and morphological dilation; inputs without a batch axis are accepted. */
import { LatheError } from '../../base/errors.js';
import { elementCount } from '../../base/shape.js';
import { applyOperation } from '../../eager/apply.js';
import { elementwise, toTensor } from '../../eager/operands.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import { constant, integers } from '../common/constants.js';
import { clone } from '../common/shapes.js';
import {
  batched,
  checkRank,
  emptyResult,
  elementwiseMax,
  type Pad,
  padUnlessSame,
  patches,
  type PerAxis,
  type RoundingMode,
  type WindowAxis,
  type Windows,
  windowsOf,
} from './windows.js';

interface Steps {
  window: PerAxis;
  strides: PerAxis;
  pad: Pad;
  rounding?: RoundingMode | undefined;
}

type Kind = 'maxPool' | 'avgPool';

/** The identity of max for a dtype. */
const least = (x: Tensor): number => (x.dtype === 'int32' ? -(2 ** 31) : -Infinity);

function pooled(op: string, kind: Kind, x: Tensor, rank: number, steps: Steps): Tensor {
  return batched(op, x, rank, (input) => {
    const windows = windowsOf(op, { sizes: input.shape.slice(1, -1), ...steps });
    const { axes, pad, strides } = windows;
    if (rank === 4 && isIdentity(input, axes)) return clone(input);
    const empty = emptyResult([input], axes, input.shape[rank - 1]!);
    if (empty !== undefined) return empty;
    const size = axes.map((each) => each.size);
    const outside = kind === 'maxPool' ? least(x) : 0;
    const result = applyOperation(
      kind,
      [padUnlessSame(input, windows, outside)],
      [size, strides, pad],
    );
    return kind === 'avgPool' ? rescaleMeans(result, input, windows) : result;
  });
}

/** TensorFlow.js returns the input for windows of size 1 with as many outputs as inputs, whatever the strides. */
const isIdentity = (x: Tensor, axes: readonly WindowAxis[]): boolean =>
  axes.every(({ size, out }, at) => size === 1 && out === x.shape[at + 1]);

/** Rescales means of windows that overlap the padding to the number of elements inside. */
function rescaleMeans(means: Tensor, x: Tensor, { axes, pad }: Windows): Tensor {
  const isUnpadded = axes.every(({ before, after }) => before === 0 && after === 0);
  if (isUnpadded || pad === 'same') return means;
  const sizes = axes.map(({ size }) => size);
  // TensorFlow.js: the mean of an empty window is NaN in 2-D and 0 in 3-D pooling.
  const least = axes.length > 2 ? 1 : 0;
  let factors = [elementCount(sizes)];
  axes.forEach((axis, at) => {
    const counts = insideOf(axis, x.shape[at + 1]!);
    factors = factors.flatMap((each) => counts.map((count) => each / Math.max(count, least)));
  });
  const shape = [1, ...axes.map(({ out }) => out), 1];
  return applyOperation('mul', [means, constant(Float32Array.from(factors), shape)]);
}

/** How many elements of each window are inside the input. */
function insideOf({ size, stride, before, out }: WindowAxis, length: number): number[] {
  return Array.from({ length: out }, (_, at) => {
    const begin = at * stride - before;
    return Math.max(0, Math.min(length, begin + size) - Math.max(0, begin));
  });
}

/**
 * The maximum of each window of x [batch, height, width, channels] or [height, width, channels].
 *
 * @param pad padding is ignored by the maximum
 *
 * Errors: another rank; `dimRoundingMode` with 'valid' or 'same' padding.
 */
export function maxPool(
  x: TensorLike,
  filterSize: PerAxis,
  strides: PerAxis,
  pad: Pad,
  dimRoundingMode?: RoundingMode,
): Tensor {
  const steps = { window: filterSize, strides, pad, rounding: dimRoundingMode };
  return tidy(() => pooled('maxPool', 'maxPool', toTensor(x, 'x', 'maxPool'), 4, steps));
}

/** The mean of each window over the elements inside x, as `maxPool`. */
export function avgPool(
  x: TensorLike,
  filterSize: PerAxis,
  strides: PerAxis,
  pad: Pad,
  dimRoundingMode?: RoundingMode,
): Tensor {
  const steps = { window: filterSize, strides, pad, rounding: dimRoundingMode };
  return tidy(() => pooled('avgPool', 'avgPool', toTensor(x, 'x', 'avgPool', 'float32'), 4, steps));
}

type Format3d = 'NDHWC' | 'NCDHW';

function checkFormat3d(op: string, format: Format3d): void {
  if (format === 'NDHWC') return;
  throw new LatheError(
    `Error in ${op}: Only NDHWC is currently supported, but got dataFormat of ${format}`,
  );
}

/** As `maxPool`, of x [batch, depth, height, width, channels] or without batch. */
export function maxPool3d(
  x: TensorLike,
  filterSize: PerAxis = [1, 1, 1],
  strides: PerAxis = 1,
  pad: Pad = 'valid',
  dimRoundingMode?: RoundingMode,
  dataFormat: Format3d = 'NDHWC',
): Tensor {
  checkFormat3d('maxPool3d', dataFormat);
  const steps = { window: filterSize, strides, pad, rounding: dimRoundingMode };
  return tidy(() => pooled('maxPool3d', 'maxPool', toTensor(x, 'x', 'maxPool3d'), 5, steps));
}

/** As `avgPool`, of x [batch, depth, height, width, channels] or without batch. */
export function avgPool3d(
  x: TensorLike,
  filterSize: PerAxis,
  strides: PerAxis,
  pad: Pad,
  dimRoundingMode?: RoundingMode,
  dataFormat: Format3d = 'NDHWC',
): Tensor {
  checkFormat3d('avgPool3d', dataFormat);
  const steps = { window: filterSize, strides, pad, rounding: dimRoundingMode };
  return tidy(() =>
    pooled('avgPool3d', 'avgPool', toTensor(x, 'x', 'avgPool3d', 'float32'), 5, steps),
  );
}

/** `maxPool` or `avgPool` with dilations: then padding is 0 and counts, as in TensorFlow. */
export function pool(
  input: TensorLike,
  windowShape: PerAxis,
  poolingType: 'avg' | 'max',
  pad: Pad,
  dilations: PerAxis = 1,
  strides: PerAxis = 1,
  dimRoundingMode?: RoundingMode,
): Tensor {
  return tidy(() => {
    const x = toTensor(input, 'x', 'maxPool');
    const steps = { window: windowShape, strides, pad, dilations, rounding: dimRoundingMode };
    const isDilated = [dilations].flat().some((each) => each > 1);
    if (!isDilated) return poolOf(poolingType)(x, windowShape, strides, pad, dimRoundingMode);
    return batched('pool', x, 4, (input) => {
      const { axes } = windowsOf('pool', { sizes: input.shape.slice(1, -1), ...steps });
      const all = patches(input, axes, 0);
      if (poolingType === 'max') return elementwiseMax(all, least(input)).values;
      return applyOperation('mean', [applyOperation('stack', all, [0])], [0]);
    });
  });
}

const poolOf = (type: 'avg' | 'max') => (type === 'avg' ? avgPool : maxPool);

/**
 * As `maxPool` of x [batch, height, width, channels], with the flat indices of the maxima within each image,
 * or within the batch. NaN is ignored.
 */
export function maxPoolWithArgmax(
  x: TensorLike,
  filterSize: PerAxis,
  strides: PerAxis,
  pad: Pad,
  includeBatchInIndex = false,
): { result: Tensor; indexes: Tensor } {
  const op = 'maxPoolWithArgmax';
  return tidy(() => {
    const input = toTensor(x, 'x', op);
    checkRank(op, 'x', input, 4);
    const sizes = input.shape.slice(1, -1);
    const { axes } = windowsOf(op, { sizes, window: filterSize, strides, pad });
    const { values, which } = elementwiseMax(patches(input, axes, least(input)), least(input));
    return { result: values, indexes: flatIndicesOf(input, axes, which, includeBatchInIndex) };
  });
}

/** The flat indices of element `which` of each window. */
function flatIndicesOf(
  x: Tensor,
  axes: readonly WindowAxis[],
  which: Tensor,
  hasBatch: boolean,
): Tensor {
  const [batch, , width, channels] = x.shape as [number, number, number, number];
  const [rows, columns] = axes as [WindowAxis, WindowAxis];
  const iota = (count: number, shape: number[], by: number, from = 0) =>
    integers(
      Array.from({ length: count }, (_, at) => at * by - from),
      shape,
    );
  const sum = (...all: Tensor[]) =>
    all.reduce((one, other) => elementwise('add', [], [one, other]));
  const row = applyOperation('floorDiv', [which, columns.size], [], 'int32');
  const column = applyOperation('sub', [
    which,
    applyOperation('mul', [row, columns.size], [], 'int32'),
  ]);
  const y = sum(row, iota(rows.out, [rows.out, 1, 1], rows.stride, rows.before));
  const along = sum(column, iota(columns.out, [columns.out, 1], columns.stride, columns.before));
  const pixel = sum(applyOperation('mul', [y, width], [], 'int32'), along);
  const inImage = sum(
    applyOperation('mul', [pixel, channels], [], 'int32'),
    iota(channels, [channels], 1),
  );
  if (!hasBatch) return inImage;
  return sum(inImage, iota(batch, [batch, 1, 1, 1], elementCount(x.shape) / batch));
}

/**
 * The maximum sum of an element and the filter [height, width, channels] in each window of x
 * [batch, height, width, channels] or without batch. Errors: ranks; another format than NHWC.
 */
export function dilation2d(
  x: TensorLike,
  filter: TensorLike,
  strides: PerAxis,
  pad: 'valid' | 'same',
  dilations: PerAxis = [1, 1],
  dataFormat: 'NHWC' = 'NHWC',
): Tensor {
  const op = 'dilation2d';
  return tidy(() => {
    const input = toTensor(x, 'x', op);
    const by = toTensor(filter, 'filter', op);
    checkRank(op, 'filter', by, 3);
    if (dataFormat !== 'NHWC') {
      throw new LatheError(
        `Error in ${op}: Only NHWC is currently supported, but got dataFormat of ${String(dataFormat)}`,
      );
    }
    return batched(op, input, 4, (input) => {
      const [height, width, depth] = by.shape as [number, number, number];
      if (input.shape[3] !== depth) {
        throw new LatheError(
          `Error in ${op}: input and filter must have the same depth: ${input.shape[3]} vs ${depth}`,
        );
      }
      const sizes = input.shape.slice(1, -1);
      const window = [height, width];
      const { axes } = windowsOf(op, { sizes, window, strides, pad, dilations, free: true });
      const sums = patches(input, axes, least(input)).map((each, at) => {
        const begin = [Math.floor(at / width), at % width, 0];
        const weight = applyOperation('slice', [by], [begin, [1, 1, depth]]);
        return elementwise('add', ['x', 'filter'], [each, weight]);
      });
      return elementwiseMax(sums, least(input)).values;
    });
  });
}
