/** Tensors of the same elements in another shape or order. */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import { alias } from '../eager/apply.js';
import { toTensor } from '../eager/operands.js';
import { tidy } from '../tensor/scopes.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';
import { inferFromImplicitShape } from '../shapes/shapes.js';
import { axesOf } from './axes.js';
import { assertAndGetBroadcastShape } from '../shapes/broadcast_util.js';
import { conjugated } from './complex.js';
import { integers } from './constants.js';
import { move, moving } from './moving.js';

type Sizes = readonly number[];

/** A tensor of its own that has the same elements. */
export const clone = (x: TensorLike): Tensor => moving(x, 'clone', alias);

/** The elements in another shape; one size may be -1, what is left. Error: another number of elements. */
export const reshape = (x: TensorLike, shape: Sizes): Tensor =>
  moving(x, 'reshape', (given) => {
    if (typeof shape !== 'object' || shape === null) {
      throw new LatheError(`reshape: the shape must be an array, got ${String(shape)}`);
    }
    const wanted = inferFromImplicitShape([...shape], given.size);
    if (elementCount(wanted) !== given.size) {
      throw new LatheError(
        `reshape: ${given.size} elements of shape [${given.shape.join(',')}] do not fill [${wanted.join(',')}]: ` +
          'the new shape and old shape must have the same number of elements.',
      );
    }
    return move('reshape', [given], [wanted]);
  });

/** The elements of x in the shape of another tensor. */
export const reshapeAs = (x: TensorLike, as: Tensor): Tensor => reshape(x, as.shape);

/** All elements along one axis. */
export const flatten = (x: TensorLike): Tensor => reshape(x, [-1]);

/** The tensor itself, if it has the shape; null sizes fit any. Error: another shape. */
export const ensureShape = (x: TensorLike, shape: readonly (number | null)[]): Tensor =>
  moving(x, 'ensureShape', (given) => {
    const fits =
      given.rank === shape.length &&
      given.shape.every((size: number, axis: number) => (shape[axis] ?? size) === size);
    if (fits) return given;
    throw new LatheError(
      `EnsureShape: the shape of tensor x [${given.shape.join(',')}] should match [${shape.join(',')}]`,
    );
  });

/** One axis of size 1 more. Error: an axis outside. */
export const expandDims = (x: TensorLike, axis = 0): Tensor =>
  moving(x, 'expandDims', (given) => {
    if (axis > given.rank) throw new LatheError('Axis must be <= rank of the tensor');
    if (axis < -(given.rank + 1)) {
      throw new LatheError(`Axis must be in the interval [${-(given.rank + 1)}, ${given.rank}]`);
    }
    const shape = [...given.shape];
    shape.splice(axis < 0 ? given.rank + axis + 1 : axis, 0, 1);
    return move('reshape', [given], [shape]);
  });

/** Without axes of size 1: all, or those that are said. Errors: another size there; an axis outside. */
export const squeeze = (x: TensorLike, axis?: readonly number[]): Tensor =>
  moving(x, 'squeeze', (given) => {
    const isAny = axis == null || (Array.isArray(axis) && axis.length === 0);
    const axes = isAny ? undefined : axesOf(axis, given.rank);
    for (const each of axes ?? []) {
      if (given.shape[each] === 1) continue;
      throw new LatheError(
        `Can't squeeze axis ${each} since its dim '${given.shape[each]}' is not 1`,
      );
    }
    const isLeft = (size: number, at: number) =>
      axes === undefined ? size !== 1 : !axes.includes(at);
    return move('reshape', [given], [given.shape.filter(isLeft)]);
  });

/** The axes in another order, by default the reverse one. Errors: not each axis once. */
export const transpose = (x: TensorLike, perm?: readonly number[], conjugate = false): Tensor =>
  moving(x, 'transpose', (given) => {
    const order = perm ?? given.shape.map((_: number, axis: number) => given.rank - 1 - axis);
    if (order.length !== given.rank) {
      throw new LatheError(
        `Error in transpose: rank of input ${given.rank} must match length of perm ${order.join(',')}.`,
      );
    }
    for (const axis of order) {
      if (axis >= 0 && axis < given.rank) continue;
      throw new LatheError(
        `All entries in 'perm' must be between 0 and ${given.rank - 1} but got ${order.join(',')}`,
      );
    }
    if (given.rank <= 1) return alias(given);
    const moved = move('transpose', [given], [[...order]]);
    return conjugate ? conjugated(moved) : moved;
  });

/** The elements in reverse order along axes, by default all. */
export const reverse = (x: TensorLike, axis?: number | readonly number[]): Tensor =>
  moving(x, 'reverse', (given) => {
    const axes = axesOf(axis, given.rank);
    return given.rank === 0 || axes.length === 0 ? alias(given) : move('reverse', [given], [axes]);
  });

const reversed =
  (rank: number) =>
  (x: TensorLike, axis?: number | readonly number[]): Tensor =>
    moving(x, 'reverse', (given) => {
      if (given.rank === rank) return reverse(given, rank === 1 ? [0] : axis);
      throw new LatheError(
        `Error in reverse${rank}D: x must be rank ${rank} but got rank ${given.rank}.`,
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

/** The tensor again and again along each axis. Error: not as many numbers as axes. */
export const tile = (x: TensorLike, reps: readonly number[]): Tensor =>
  moving(x, 'tile', (given) => {
    if (given.rank !== reps.length) {
      throw new LatheError(
        `Error in transpose: rank of input ${given.rank} must match length of reps ${reps.join(',')}.`,
      );
    }
    if (given.rank === 0) return alias(given);
    if (!reps.includes(0)) return move('tile', [given], [[...reps]]);
    const sizes = given.shape.map((size, axis) => (reps[axis] === 0 ? 0 : size));
    const none = move('slice', [given], [given.shape.map(() => 0), sizes]);
    return move('tile', [none], [reps.map((each) => (each === 0 ? 1 : each))]);
  });

/** The elements of x as often as the shape says: axes before, and along axes of size 1. */
export const broadcastTo = (x: TensorLike, shape: Sizes): Tensor =>
  moving(x, 'broadcastTo', (given) => {
    if (shape.some((size) => !(size >= 0) || size % 1 !== 0)) {
      throw new LatheError(`broadcastTo(): Invalid broadcast shape [${shape.join(',')}].`);
    }
    if (shape.length < given.rank) {
      throw new LatheError(
        `broadcastTo(): shape.length=${shape.length} < input.rank=${given.rank}.`,
      );
    }
    const sizes = [...new Array<number>(shape.length - given.rank).fill(1), ...given.shape];
    sizes.forEach((size, axis) => {
      if (size === shape[axis] || size === 1) return;
      throw new LatheError(
        `broadcastTo(): [${given.shape.join(',')}] cannot be broadcast to [${shape.join(',')}].`,
      );
    });
    return move('broadcastTo', [given], [[...shape]]);
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
      move('broadcastTo', [reshape(each, as)], [shape]);
    return indexing === 'xy'
      ? [spread(a, row!), spread(b, column!)]
      : [spread(a, column!), spread(b, row!)];
  });
}
