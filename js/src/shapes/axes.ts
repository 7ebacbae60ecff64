/** Axes of reductions: innermost axes and the permutations to them (`tf.backend_util`). */
import { assert, nearestDivisor } from './shapes.js';

type Ints = readonly number[];

/** Reductions of up to this many elements are not parallelized. */
export const PARALLELIZE_THRESHOLD = 30;

/** The last `count` of the axes. */
export const getInnerMostAxes = (count: number, rank: number): number[] =>
  Array.from({ length: count }, (_, at) => rank - count + at);

/** Whether the axes are the innermost ones, in order. */
export const axesAreInnerMostDims = (axes: Ints, rank: number): boolean =>
  axes.every((axis, at) => axis === rank - axes.length + at);

/** Error, prefixed by the message: the axes are not the innermost ones. */
export function assertAxesAreInnerMostDims(message: string, axes: Ints, rank: number): void {
  assert(
    axesAreInnerMostDims(axes, rank),
    () =>
      `${message} supports only inner-most axes for now. Got axes ${axes} and rank-${rank} input.`,
  );
}

/** The input coordinates from output coordinates and those along the reduced axes. */
export function combineLocations(outputLoc: Ints, reduceLoc: Ints, axes: Ints): number[] {
  let [out, reduced] = [0, 0];
  const next = (axis: number) => (axes.includes(axis) ? reduceLoc[reduced++]! : outputLoc[out++]!);
  return Array.from({ length: outputLoc.length + reduceLoc.length }, (_, axis) => next(axis));
}

/** The shape of the result, and that of the elements reduced to each of its elements. */
export const computeOutAndReduceShapes = (shape: Ints, axes: Ints): [number[], number[]] => [
  shape.filter((_, axis) => !axes.includes(axis)),
  axes.map((axis) => shape[axis]!),
];

/** The shape of a reduction with ones where its axes were. */
export const expandShapeToKeepDim = (shape: Ints, axes: Ints): number[] =>
  combineLocations(
    shape,
    axes.map(() => 1),
    axes,
  );

/** The permutation that makes these axes innermost, or null if they are. */
export function getAxesPermutation(axes: Ints, rank: number): number[] | null {
  if (axesAreInnerMostDims(axes, rank)) return null;
  const others = Array.from({ length: rank }, (_, axis) => axis).filter(
    (axis) => !axes.includes(axis),
  );
  return [...others, ...axes];
}

/** The inverse of a permutation. */
export const getUndoAxesPermutation = (axes: Ints): number[] =>
  axes.map((_, axis) => axes.indexOf(axis));

/** The number of elements per step of a parallel reduction. */
export function computeOptimalWindowSize(size: number): number {
  if (size <= PARALLELIZE_THRESHOLD) return size;
  return nearestDivisor(size, Math.floor(Math.sqrt(size)));
}

/** Errors: shapes of other ranks; an axis outside of them; sizes that differ along another axis. */
export function assertParamsConsistent(shapes: readonly Ints[], axis: number): void {
  const [first] = shapes;
  const rank = first!.length;
  for (const [at, shape] of shapes.entries()) {
    assert(
      shape.length === rank,
      () =>
        `Error in concat${rank}D: rank of tensors[${at}] must be the same as the rank of the rest (${rank})`,
    );
  }
  assert(
    axis >= 0 && axis < rank,
    () => `Error in concat${rank}D: axis must be between 0 and ${rank - 1}.`,
  );
  for (const [at, shape] of shapes.entries()) {
    assert(
      shape.every((size, each) => each === axis || size === first![each]),
      () =>
        `Error in concat${rank}D: Shape of tensors[${at}] (${shape}) does not match the shape of the rest ` +
        `(${first}) along the non-concatenated axis ${at}.`,
    );
  }
}

/** The shape of a concatenation along an axis. */
export const computeOutShape = (shapes: readonly Ints[], axis: number): number[] =>
  shapes[0]!.map((size, at) =>
    at === axis ? shapes.reduce((sum, shape) => sum + shape[axis]!, 0) : size,
  );

/** The sizes of a split: a number of equal parts, or a list with up to one -1. Errors: they do not fill the axis. */
export function prepareSplitSize(x: { shape: Ints }, split: number | Ints, axis = 0): number[] {
  const size = x.shape[axis]!;
  if (typeof split === 'number') {
    assert(size % split === 0, () => 'Number of splits must evenly divide the axis.');
    return new Array<number>(split).fill(size / split);
  }
  const open = split.filter((each) => each === -1).length;
  assert(open <= 1, () => 'There should be only one negative value in split array.');
  const total = split.reduce((sum, each) => sum + Math.max(each, 0), 0);
  const sizes = split.map((each) => (each === -1 ? size - total : each));
  assert(
    sizes.reduce((sum, each) => sum + each, 0) === size,
    () => 'The sum of sizes must match the size of the axis dimension.',
  );
  return sizes;
}

/** The center of an image in pixels, as [x, y], from fractions of the sizes. */
export function getImageCenter(
  center: number | readonly [number, number],
  height: number,
  width: number,
): [number, number] {
  const [x, y] = typeof center === 'number' ? [center, center] : center;
  return [width * x, height * y];
}

/** The shape with separate axes for blocks: for `batchToSpaceND`, else for `spaceToBatchND`. */
export function getReshaped(
  input: Ints,
  block: Ints,
  product: number,
  batchToSpace = true,
): number[] {
  const rest = input.slice(1);
  if (batchToSpace) return [...block, input[0]! / product, ...rest];
  const split = rest.flatMap((size, at) =>
    at < block.length ? [size / block[at]!, block[at]!] : [size],
  );
  return [input[0]!, ...split];
}

/** The permutation of that shape that moves each block axis next to its spatial axis. */
export function getPermuted(rank: number, blocks: number, batchToSpace = true): number[] {
  if (!batchToSpace) {
    const spatial = Array.from({ length: rank - 1 }, (_, at) => at + 1);
    const inBlock = spatial.filter((at) => at <= 2 * blocks && at % 2 === 0);
    const others = spatial.filter((at) => !inBlock.includes(at));
    return [...inBlock, 0, ...others];
  }
  const pairs = Array.from({ length: blocks }, (_, at) => [blocks + 1 + at, at]).flat();
  const rest = Array.from({ length: rank - 1 - 2 * blocks }, (_, at) => 2 * blocks + 1 + at);
  return [blocks, ...pairs, ...rest];
}

/** The shape after blocks are merged into their spatial axes, or split from them. */
export function getReshapedPermuted(
  input: Ints,
  block: Ints,
  product: number,
  batchToSpace = true,
): number[] {
  const batch = batchToSpace ? input[0]! / product : input[0]! * product;
  const resize = (size: number, at: number) => {
    if (at >= block.length) return size;
    return batchToSpace ? size * block[at]! : size / block[at]!;
  };
  return [batch, ...input.slice(1).map(resize)];
}

/** The begin of the slice that crops. */
export const getSliceBeginCoords = (crops: readonly Ints[], blocks: number): number[] => [
  0,
  ...crops.slice(0, blocks).map(([before]) => before!),
];

/** The size of the slice that crops. */
export const getSliceSize = (uncropped: Ints, crops: readonly Ints[], blocks: number): number[] =>
  uncropped.slice(0, blocks + 1).map((size, at) => {
    const crop = crops[at - 1];
    return crop ? size - crop[0]! - crop[1]! : size;
  });
