/** Reshape, transpose, reverse, tile, broadcast. */
import { LatheError } from '../../base/errors.js';
import { elementCount } from '../../base/shape.js';
import { alias } from '../../eager/apply.js';
import { toTensor } from '../../eager/operands.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import { inferFromImplicitShape } from '../../shapes/shapes.js';
import { axesOf } from './axes.js';
import { assertAndGetBroadcastShape } from '../../shapes/broadcast_util.js';
import { conjugated } from './complex.js';
import { integers } from './constants.js';
import { moveElements, withAnyTensor } from './data_movement.js';

type Sizes = readonly number[];

/** A new tensor with the same elements. */
export const clone = (x: TensorLike): Tensor => withAnyTensor(x, 'clone', alias);

/** The elements in another shape; one size may be -1 to infer it. Error: another number of elements. */
export const reshape = (x: TensorLike, shape: Sizes): Tensor =>
  withAnyTensor(x, 'reshape', (tensor) => {
    if (typeof shape !== 'object' || shape === null) {
      throw new LatheError(`reshape: the shape must be an array, got ${String(shape)}`);
    }
    const target = inferFromImplicitShape([...shape], tensor.size);
    if (elementCount(target) !== tensor.size) {
      throw new LatheError(
        `reshape: ${tensor.size} elements of shape [${tensor.shape.join(',')}] do not fill [${target.join(',')}]: ` +
          'the new shape and old shape must have the same number of elements.',
      );
    }
    return moveElements('reshape', [tensor], [target]);
  });

/** The elements of x in the shape of another tensor. */
export const reshapeAs = (x: TensorLike, as: Tensor): Tensor => reshape(x, as.shape);

/** The elements as a 1-D tensor. */
export const flatten = (x: TensorLike): Tensor => reshape(x, [-1]);

/** The tensor itself, if it has the shape; null sizes fit any. Error: another shape. */
export const ensureShape = (x: TensorLike, shape: readonly (number | null)[]): Tensor =>
  withAnyTensor(x, 'ensureShape', (tensor) => {
    const fits =
      tensor.rank === shape.length &&
      tensor.shape.every((size: number, axis: number) => (shape[axis] ?? size) === size);
    if (fits) return tensor;
    throw new LatheError(
      `EnsureShape: the shape of tensor x [${tensor.shape.join(',')}] should match [${shape.join(',')}]`,
    );
  });

/** Inserts an axis of size 1. Error: an axis out of range. */
export const expandDims = (x: TensorLike, axis = 0): Tensor =>
  withAnyTensor(x, 'expandDims', (tensor) => {
    if (axis > tensor.rank) throw new LatheError('Axis must be <= rank of the tensor');
    if (axis < -(tensor.rank + 1)) {
      throw new LatheError(`Axis must be in the interval [${-(tensor.rank + 1)}, ${tensor.rank}]`);
    }
    const shape = [...tensor.shape];
    shape.splice(axis < 0 ? tensor.rank + axis + 1 : axis, 0, 1);
    return moveElements('reshape', [tensor], [shape]);
  });

/** Removes all axes of size 1, or the listed ones. Errors: a listed axis of another size or out of range. */
export const squeeze = (x: TensorLike, axis?: readonly number[]): Tensor =>
  withAnyTensor(x, 'squeeze', (tensor) => {
    const isAny = axis == null || (Array.isArray(axis) && axis.length === 0);
    const axes = isAny ? undefined : axesOf(axis, tensor.rank);
    for (const each of axes ?? []) {
      if (tensor.shape[each] === 1) continue;
      throw new LatheError(
        `Can't squeeze axis ${each} since its dim '${tensor.shape[each]}' is not 1`,
      );
    }
    const isLeft = (size: number, at: number) =>
      axes === undefined ? size !== 1 : !axes.includes(at);
    return moveElements('reshape', [tensor], [tensor.shape.filter(isLeft)]);
  });

/** Permutes the axes, by default reversed. Errors: not a permutation. */
export const transpose = (x: TensorLike, perm?: readonly number[], conjugate = false): Tensor =>
  withAnyTensor(x, 'transpose', (tensor) => {
    const order = perm ?? tensor.shape.map((_: number, axis: number) => tensor.rank - 1 - axis);
    if (order.length !== tensor.rank) {
      throw new LatheError(
        `Error in transpose: rank of input ${tensor.rank} must match length of perm ${order.join(',')}.`,
      );
    }
    for (const axis of order) {
      if (axis >= 0 && axis < tensor.rank) continue;
      throw new LatheError(
        `All entries in 'perm' must be between 0 and ${tensor.rank - 1} but got ${order.join(',')}`,
      );
    }
    if (tensor.rank <= 1) return alias(tensor);
    const moved = moveElements('transpose', [tensor], [[...order]]);
    return conjugate ? conjugated(moved) : moved;
  });

/** Reverses along axes, by default all. */
export const reverse = (x: TensorLike, axis?: number | readonly number[]): Tensor =>
  withAnyTensor(x, 'reverse', (tensor) => {
    const axes = axesOf(axis, tensor.rank);
    return tensor.rank === 0 || axes.length === 0
      ? alias(tensor)
      : moveElements('reverse', [tensor], [axes]);
  });

const reversed =
  (rank: number) =>
  (x: TensorLike, axis?: number | readonly number[]): Tensor =>
    withAnyTensor(x, 'reverse', (tensor) => {
      if (tensor.rank === rank) return reverse(tensor, rank === 1 ? [0] : axis);
      throw new LatheError(
        `Error in reverse${rank}D: x must be rank ${rank} but got rank ${tensor.rank}.`,
      );
    });
/** As `reverse`, of tensors of one axis. */
export const reverse1d = (x: TensorLike): Tensor => reversed(1)(x);
/** As `reverse`, of tensors of two axes. */
export const reverse2d = /* @__PURE__ */ reversed(2);
/** As `reverse`, of tensors of three axes. */
export const reverse3d = /* @__PURE__ */ reversed(3);
/** As `reverse`, of tensors of four axes. */
export const reverse4d = /* @__PURE__ */ reversed(4);

/** Repeats the tensor along each axis. Error: not one repetition count per axis. */
export const tile = (x: TensorLike, reps: readonly number[]): Tensor =>
  withAnyTensor(x, 'tile', (tensor) => {
    if (tensor.rank !== reps.length) {
      throw new LatheError(
        `Error in transpose: rank of input ${tensor.rank} must match length of reps ${reps.join(',')}.`,
      );
    }
    if (tensor.rank === 0) return alias(tensor);
    if (!reps.includes(0)) return moveElements('tile', [tensor], [[...reps]]);
    const sizes = tensor.shape.map((size, axis) => (reps[axis] === 0 ? 0 : size));
    const none = moveElements('slice', [tensor], [tensor.shape.map(() => 0), sizes]);
    return moveElements('tile', [none], [reps.map((each) => (each === 0 ? 1 : each))]);
  });

/** Broadcasts x to the shape: new leading axes, and axes of size 1 repeated. */
export const broadcastTo = (x: TensorLike, shape: Sizes): Tensor =>
  withAnyTensor(x, 'broadcastTo', (tensor) => {
    if (shape.some((size) => !(size >= 0) || size % 1 !== 0)) {
      throw new LatheError(`broadcastTo(): Invalid broadcast shape [${shape.join(',')}].`);
    }
    if (shape.length < tensor.rank) {
      throw new LatheError(
        `broadcastTo(): shape.length=${shape.length} < input.rank=${tensor.rank}.`,
      );
    }
    const sizes = [...new Array<number>(shape.length - tensor.rank).fill(1), ...tensor.shape];
    sizes.forEach((size, axis) => {
      if (size === shape[axis] || size === 1) return;
      throw new LatheError(
        `broadcastTo(): [${tensor.shape.join(',')}] cannot be broadcast to [${shape.join(',')}].`,
      );
    });
    return moveElements('broadcastTo', [tensor], [[...shape]]);
  });

/** The shape that both shapes are broadcast to, int32. */
export function broadcastArgs(s0: TensorLike, s1: TensorLike): Tensor {
  return tidy(() => {
    const [a, b] = [
      toTensor(s0, 's0', 'broadcastArgs', 'int32'),
      toTensor(s1, 's1', 'broadcastArgs', 'int32'),
    ];
    if (a.rank !== 1 || b.rank !== 1) {
      const [name, rank] = a.rank === 1 ? ['second', b.rank] : ['first', a.rank];
      throw new LatheError(
        `broadcastArgs(): ${name} input must be a vector (rank=1). Has rank ${rank}`,
      );
    }
    return integers(assertAndGetBroadcastShape(Array.from(a.dataSync()), Array.from(b.dataSync())));
  });
}

/** The coordinates x and y of each point of a grid; 'ij': rows are x. */
export function meshgrid(
  x?: TensorLike,
  y?: TensorLike,
  { indexing = 'xy' }: { indexing?: 'xy' | 'ij' } = {},
): Tensor[] {
  if (indexing !== 'xy' && indexing !== 'ij') {
    throw new TypeError(`${String(indexing)} is not a valid third argument to meshgrid`);
  }
  if (x === undefined) return [];
  return tidy(() => {
    const a = toTensor(x, 'x', 'meshgrid');
    if (y === undefined) return [alias(a)];
    const b = toTensor(y, 'y', 'meshgrid');
    const [w, h] = [a.size, b.size];
    const shape = indexing === 'xy' ? [h, w] : [w, h];
    const [row, column] = [
      [1, -1],
      [-1, 1],
    ];
    const spread = (each: Tensor, as: number[]) =>
      moveElements('broadcastTo', [reshape(each, as)], [shape]);
    return indexing === 'xy'
      ? [spread(a, row!), spread(b, column!)]
      : [spread(a, column!), spread(b, row!)];
  });
}
