/** Padding, and space/batch/depth rearrangements. */
import { LatheError } from '../../base/errors.js';
import { applyOperation } from '../../eager/apply.js';
import { toTensor } from '../../eager/operands.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import {
  getPermuted,
  getReshaped,
  getReshapedPermuted,
  getSliceBeginCoords,
  getSliceSize,
} from '../../shapes/axes.js';
import { isFloat } from '../common/floats.js';
import { concat } from '../arrays/concat_and_slice.js';
import { moveElements } from '../common/data_movement.js';
import { clone } from '../common/shapes.js';
import { padWith } from './windows.js';

export type Paddings = readonly (readonly [number, number])[];

/** Pads each axis with a constant, [before, after] per axis. Errors: not one pair per axis; a scalar. */
export function pad(x: TensorLike, paddings: Paddings, constantValue = 0): Tensor {
  return tidy(() => {
    const source = toTensor(x, 'x', 'pad');
    if (source.rank === 0) {
      throw new LatheError('pad(scalar) is not defined. Pass non-scalar to pad');
    }
    checkPaddings('pad', source, paddings);
    const around = paddings.map((each) => [...each]);
    if (isFloat(source)) return padWith(source, around, constantValue);
    return moveElements(
      'pad',
      [source],
      [around, Number.isFinite(constantValue) ? constantValue : 0],
    );
  });
}

function checkPaddings(op: string, { rank }: Tensor, paddings: Paddings): void {
  if (paddings.length === rank && paddings.every((each) => each.length === 2)) return;
  throw new LatheError(
    `${op}: Invalid number of paddings. Must be length of 2 each, ${rank} pairs`,
  );
}

const checked = (rank: number, x: TensorLike, paddings: Paddings, value: number): Tensor => {
  if (paddings.length === rank && paddings.every((each) => each.length === 2)) {
    return pad(x, paddings, value);
  }
  throw new LatheError('Invalid number of paddings. Must be length of 2 each.');
};
/** As `pad`, of tensors of one axis, with one pair. */
export const pad1d = (
  x: TensorLike,
  paddings: readonly [number, number],
  constantValue = 0,
): Tensor => {
  if (paddings.length !== 2)
    throw new LatheError('Invalid number of paddings. Must be length of 2.');
  return pad(x, [paddings], constantValue);
};
/** As `pad`, of tensors of two axes. */
export const pad2d = (x: TensorLike, paddings: Paddings, constantValue = 0): Tensor =>
  checked(2, x, paddings, constantValue);
/** As `pad`, of tensors of three axes. */
export const pad3d = (x: TensorLike, paddings: Paddings, constantValue = 0): Tensor =>
  checked(3, x, paddings, constantValue);
/** As `pad`, of tensors of four axes. */
export const pad4d = (x: TensorLike, paddings: Paddings, constantValue = 0): Tensor =>
  checked(4, x, paddings, constantValue);

/** Mirror padding; 'reflect' does not repeat the edge, 'symmetric' does. Errors: padding larger than the tensor. */
export function mirrorPad(
  x: TensorLike,
  paddings: Paddings,
  mode: 'reflect' | 'symmetric',
): Tensor {
  if (mode !== 'reflect' && mode !== 'symmetric') {
    throw new LatheError(
      `Invalid mode. Mode must be either reflect or symmetric. Got ${String(mode)}.`,
    );
  }
  return tidy(() => {
    let part = toTensor(x, 'x', 'mirrorPad');
    if (part.rank === 0) {
      throw new LatheError('mirrorPad(scalar) is not defined. Pass non-scalar to mirrorPad');
    }
    if (paddings.length !== part.rank) {
      throw new LatheError(
        `Padding doesn't match input. Must be ${part.rank}. Got ${paddings.length}.`,
      );
    }
    const edge = mode === 'reflect' ? 1 : 0;
    paddings.forEach((pair, axis) => {
      const limit = part.shape[axis]! - edge;
      if (pair.length === 2 && pair.every((each) => each >= 0 && each <= limit)) return;
      throw new LatheError(
        `Padding in dimension ${axis} cannot be greater than or equal to ${limit} or less than 0 for input of shape ${part.shape.join(',')}`,
      );
    });
    for (const [axis, [before, after]] of paddings.entries()) {
      const sliceOf = (from: number, size: number) => {
        const begin = part.shape.map((_: number, at: number) => (at === axis ? from : 0));
        const sizes = part.shape.map((all: number, at: number) => (at === axis ? size : all));
        return moveElements('reverse', [moveElements('slice', [part], [begin, sizes])], [[axis]]);
      };
      const size = part.shape[axis]!;
      const all = [part];
      if (before > 0) all.unshift(sliceOf(edge, before));
      if (after > 0) all.push(sliceOf(size - edge - after, after));
      if (all.length > 1) part = concat(all, axis);
    }
    return part === x ? clone(part) : part;
  });
}

type Sizes = readonly number[];

/** Pads, then moves spatial blocks to the batch axis. Errors: sizes that the block shape does not divide. */
export function spaceToBatchND(
  x: TensorLike,
  blockShape: Sizes,
  paddings: readonly Sizes[],
): Tensor {
  return tidy(() => {
    const source = toTensor(x, 'x', 'spaceToBatchND');
    if (source.rank < 1 + blockShape.length) {
      throw new LatheError(
        `input rank ${source.rank} should be > than [blockShape] ${blockShape.length}`,
      );
    }
    if (paddings.length !== blockShape.length) {
      throw new LatheError(
        `paddings.shape[0] ${paddings.length} must be equal to [blockShape] ${blockShape.length}`,
      );
    }
    const rest = new Array<Sizes>(source.rank - 1 - blockShape.length).fill([0, 0]);
    const around = [[0, 0], ...paddings, ...rest] as unknown as Paddings;
    const padded = pad(source, around);
    const isDivided = blockShape.every((block, at) => padded.shape[at + 1]! % block === 0);
    if (!isDivided) {
      throw new LatheError(
        `input spatial dimensions ${source.shape.slice(1).join(',')} with paddings ${paddings.join(',')} must be divisible by blockShapes ${blockShape.join(',')}`,
      );
    }
    const count = blockShape.reduce((a, b) => a * b, 1);
    const split = getReshaped(padded.shape, [...blockShape], count, false);
    const order = getPermuted(split.length, blockShape.length, false);
    const merged = getReshapedPermuted(padded.shape, [...blockShape], count, false);
    const blocks = applyOperation(
      'transpose',
      [applyOperation('reshape', [padded], [split])],
      [order],
    );
    return applyOperation('reshape', [blocks], [merged]);
  });
}

/** Moves batches to spatial blocks, then crops. Errors: a batch size that the block size does not divide. */
export function batchToSpaceND(x: TensorLike, blockShape: Sizes, crops: readonly Sizes[]): Tensor {
  return tidy(() => {
    const source = toTensor(x, 'x', 'batchToSpaceND');
    const count = blockShape.reduce((a, b) => a * b, 1);
    if (source.rank < 1 + blockShape.length) {
      throw new LatheError(
        `input rank is ${source.rank} but should be > than blockShape.length ${blockShape.length}`,
      );
    }
    if (crops.length !== blockShape.length) {
      throw new LatheError(
        `crops.length is ${crops.length} but should be equal to blockShape.length  ${blockShape.length}`,
      );
    }
    if (source.shape[0]! % count !== 0) {
      throw new LatheError(
        `input tensor batch is ${source.shape[0]} but is not divisible by the product of the elements of blockShape ${blockShape.join(' * ')} === ${count}`,
      );
    }
    const split = getReshaped(source.shape, [...blockShape], count);
    const order = getPermuted(split.length, blockShape.length);
    const merged = getReshapedPermuted(source.shape, [...blockShape], count);
    const cropped = crops as number[][];
    const regrouped = applyOperation(
      'transpose',
      [applyOperation('reshape', [source], [split])],
      [order],
    );
    const begin = getSliceBeginCoords(cropped, blockShape.length);
    const size = getSliceSize(merged, cropped, blockShape.length);
    return applyOperation(
      'slice',
      [applyOperation('reshape', [regrouped], [merged])],
      [begin, size],
    );
  });
}

/** Moves channels to spatial blocks. Errors: channels that the squared block size does not divide. */
export function depthToSpace(
  x: TensorLike,
  blockSize: number,
  dataFormat: 'NHWC' | 'NCHW' = 'NHWC',
): Tensor {
  return tidy(() => {
    const source = toTensor(x, 'x', 'depthToSpace', 'float32');
    if (!/^N(CHW|HWC)$/.test(dataFormat))
      throw new LatheError(`depthToSpace: no format ${dataFormat}`);
    const isLast = dataFormat === 'NHWC';
    const [n, ...sizes] = source.shape as unknown as [number, number, number, number];
    const [h, w, c] = isLast ? sizes : [sizes[1]!, sizes[2]!, sizes[0]!];
    if (!(blockSize > 1)) {
      throw new LatheError(`blockSize should be > 1 for depthToSpace, but was: ${blockSize}`);
    }
    if (c! % (blockSize * blockSize) !== 0) {
      throw new LatheError(
        `Dimension size must be evenly divisible by ${blockSize * blockSize} but is ${c} for depthToSpace with input shape ${source.shape.join(',')}`,
      );
    }
    const [b, d] = [blockSize, c! / (blockSize * blockSize)];
    const split = isLast ? [n, h!, w!, b, b, d] : [n, b, b, d, h!, w!];
    const order = isLast ? [0, 1, 3, 2, 4, 5] : [0, 3, 4, 1, 5, 2];
    const merged = isLast ? [n, h! * b, w! * b, d] : [n, d, h! * b, w! * b];
    const moved = applyOperation(
      'transpose',
      [applyOperation('reshape', [source], [split])],
      [order],
    );
    return applyOperation('reshape', [moved], [merged]);
  });
}
