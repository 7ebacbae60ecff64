/** Tensors with more around them, and blocks of places that become batches or channels. */
import { LatheError } from '../base/errors.js';
import { apply } from '../eager/apply.js';
import { toTensor } from '../eager/operands.js';
import { tidy } from '../tensor/scopes.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';
import {
  getPermuted,
  getReshaped,
  getReshapedPermuted,
  getSliceBeginCoords,
  getSliceSize,
} from '../shapes/axes.js';
import { isFloat } from './floats.js';
import { concat } from './joins.js';
import { move } from './moving.js';
import { clone } from './shapes.js';
import { padWith } from './windows.js';

export type Paddings = readonly (readonly [number, number])[];

/** So many places of a value before and behind each axis. Errors: not as many pairs as axes; no axes. */
export function pad(x: TensorLike, paddings: Paddings, constantValue = 0): Tensor {
  return tidy(() => {
    const given = toTensor(x, 'x', 'pad');
    if (given.rank === 0) {
      throw new LatheError('pad(scalar) is not defined. Pass non-scalar to pad');
    }
    checkPaddings('pad', given, paddings);
    const around = paddings.map((each) => [...each]);
    if (isFloat(given)) return padWith(given, around, constantValue);
    return move('pad', [given], [around, Number.isFinite(constantValue) ? constantValue : 0]);
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

/** What is before and behind is the tensor in a mirror; 'reflect': without its edge. Errors: more than there is. */
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
      const most = part.shape[axis]! - edge;
      if (pair.length === 2 && pair.every((each) => each >= 0 && each <= most)) return;
      throw new LatheError(
        `Padding in dimension ${axis} cannot be greater than or equal to ${most} or less than 0 for input of shape ${part.shape.join(',')}`,
      );
    });
    for (const [axis, [before, behind]] of paddings.entries()) {
      const cut = (from: number, size: number) => {
        const begin = part.shape.map((_: number, at: number) => (at === axis ? from : 0));
        const sizes = part.shape.map((all: number, at: number) => (at === axis ? size : all));
        return move('reverse', [move('slice', [part], [begin, sizes])], [[axis]]);
      };
      const size = part.shape[axis]!;
      const all = [part];
      if (before > 0) all.unshift(cut(edge, before));
      if (behind > 0) all.push(cut(size - edge - behind, behind));
      if (all.length > 1) part = concat(all, axis);
    }
    return part === x ? clone(part) : part;
  });
}

type Sizes = readonly number[];

/** Blocks of places become batches, behind paddings. Errors: sizes that blocks do not divide. */
export function spaceToBatchND(
  x: TensorLike,
  blockShape: Sizes,
  paddings: readonly Sizes[],
): Tensor {
  return tidy(() => {
    const given = toTensor(x, 'x', 'spaceToBatchND');
    if (given.rank < 1 + blockShape.length) {
      throw new LatheError(
        `input rank ${given.rank} should be > than [blockShape] ${blockShape.length}`,
      );
    }
    if (paddings.length !== blockShape.length) {
      throw new LatheError(
        `paddings.shape[0] ${paddings.length} must be equal to [blockShape] ${blockShape.length}`,
      );
    }
    const rest = new Array<Sizes>(given.rank - 1 - blockShape.length).fill([0, 0]);
    const around = [[0, 0], ...paddings, ...rest] as unknown as Paddings;
    const padded = pad(given, around);
    const isDivided = blockShape.every((block, at) => padded.shape[at + 1]! % block === 0);
    if (!isDivided) {
      throw new LatheError(
        `input spatial dimensions ${given.shape.slice(1).join(',')} with paddings ${paddings.join(',')} must be divisible by blockShapes ${blockShape.join(',')}`,
      );
    }
    const count = blockShape.reduce((a, b) => a * b, 1);
    const split = getReshaped(padded.shape, [...blockShape], count, false);
    const order = getPermuted(split.length, blockShape.length, false);
    const joined = getReshapedPermuted(padded.shape, [...blockShape], count, false);
    const blocks = apply('transpose', [apply('reshape', [padded], [split])], [order]);
    return apply('reshape', [blocks], [joined]);
  });
}

/** Batches become blocks of places, the edges of which are cropped. Errors: batches that blocks do not divide. */
export function batchToSpaceND(x: TensorLike, blockShape: Sizes, crops: readonly Sizes[]): Tensor {
  return tidy(() => {
    const given = toTensor(x, 'x', 'batchToSpaceND');
    const count = blockShape.reduce((a, b) => a * b, 1);
    if (given.rank < 1 + blockShape.length) {
      throw new LatheError(
        `input rank is ${given.rank} but should be > than blockShape.length ${blockShape.length}`,
      );
    }
    if (crops.length !== blockShape.length) {
      throw new LatheError(
        `crops.length is ${crops.length} but should be equal to blockShape.length  ${blockShape.length}`,
      );
    }
    if (given.shape[0]! % count !== 0) {
      throw new LatheError(
        `input tensor batch is ${given.shape[0]} but is not divisible by the product of the elements of blockShape ${blockShape.join(' * ')} === ${count}`,
      );
    }
    const split = getReshaped(given.shape, [...blockShape], count);
    const order = getPermuted(split.length, blockShape.length);
    const joined = getReshapedPermuted(given.shape, [...blockShape], count);
    const cropped = crops as number[][];
    const places = apply('transpose', [apply('reshape', [given], [split])], [order]);
    const begin = getSliceBeginCoords(cropped, blockShape.length);
    const size = getSliceSize(joined, cropped, blockShape.length);
    return apply('slice', [apply('reshape', [places], [joined])], [begin, size]);
  });
}

/** Blocks of channels become blocks of places. Errors: channels that blocks do not divide. */
export function depthToSpace(
  x: TensorLike,
  blockSize: number,
  dataFormat: 'NHWC' | 'NCHW' = 'NHWC',
): Tensor {
  return tidy(() => {
    const given = toTensor(x, 'x', 'depthToSpace', 'float32');
    if (!/^N(CHW|HWC)$/.test(dataFormat))
      throw new LatheError(`depthToSpace: no format ${dataFormat}`);
    const isLast = dataFormat === 'NHWC';
    const [n, ...sizes] = given.shape as unknown as [number, number, number, number];
    const [h, w, c] = isLast ? sizes : [sizes[1]!, sizes[2]!, sizes[0]!];
    if (!(blockSize > 1)) {
      throw new LatheError(`blockSize should be > 1 for depthToSpace, but was: ${blockSize}`);
    }
    if (c! % (blockSize * blockSize) !== 0) {
      throw new LatheError(
        `Dimension size must be evenly divisible by ${blockSize * blockSize} but is ${c} for depthToSpace with input shape ${given.shape.join(',')}`,
      );
    }
    const [b, d] = [blockSize, c! / (blockSize * blockSize)];
    const split = isLast ? [n, h!, w!, b, b, d] : [n, b, b, d, h!, w!];
    const order = isLast ? [0, 1, 3, 2, 4, 5] : [0, 3, 4, 1, 5, 2];
    const joined = isLast ? [n, h! * b, w! * b, d] : [n, d, h! * b, w! * b];
    const moved = apply('transpose', [apply('reshape', [given], [split])], [order]);
    return apply('reshape', [moved], [joined]);
  });
}
