/** Axes of reductions: which are innermost, what order makes them so (`tf.backend_util`). */
import { assert, nearestDivisor } from './shapes.js';

type Ints = readonly number[];

/** Up to so many elements, a reduction is done by one. */
export const PARALLELIZE_THRESHOLD = 30;

/** The last `count` of the axes. */
export const getInnerMostAxes = (count: number, rank: number): number[] =>
  Array.from({ length: count }, (_, at) => rank - count + at);

/** Whether the axes are the last ones, in order. */
export const axesAreInnerMostDims = (axes: Ints, rank: number): boolean =>
  axes.every((axis, at) => axis === rank - axes.length + at);

/** Error, which begins with the message: the axes are not the last ones. */
export function assertAxesAreInnerMostDims(message: string, axes: Ints, rank: number): void {
  assert(
    axesAreInnerMostDims(axes, rank),
    () =>
      `${message} supports only inner-most axes for now. Got axes ${axes} and rank-${rank} input.`,
  );
}

/** A place in the input from that in the output and that along the reduced axes. */
export function combineLocations(outputLoc: Ints, reduceLoc: Ints, axes: Ints): number[] {
  let [out, reduced] = [0, 0];
  const next = (axis: number) => (axes.includes(axis) ? reduceLoc[reduced++]! : outputLoc[out++]!);
  return Array.from({ length: outputLoc.length + reduceLoc.length }, (_, axis) => next(axis));
}

/** The shape that stays, and that of what each of its elements is reduced from. */
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

/** The order of axes that puts these last, or null if they are. */
export function getAxesPermutation(axes: Ints, rank: number): number[] | null {
  if (axesAreInnerMostDims(axes, rank)) return null;
  const others = Array.from({ length: rank }, (_, axis) => axis).filter(
    (axis) => !axes.includes(axis),
  );
  return [...others, ...axes];
}

/** The order that takes a permutation back. */
export const getUndoAxesPermutation = (axes: Ints): number[] =>
  axes.map((_, axis) => axes.indexOf(axis));

/** How many elements a step of a parallel reduction takes. */
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

/** The shape of arrays put one after the other along an axis. */
export const computeOutShape = (shapes: readonly Ints[], axis: number): number[] =>
  shapes[0]!.map((size, at) =>
    at === axis ? shapes.reduce((sum, shape) => sum + shape[axis]!, 0) : size,
  );

/** The sizes of the parts: so many equal ones, or these, one of which may be -1. Errors: they do not fill the axis. */
export function prepareSplitSize(x: { shape: Ints }, split: number | Ints, axis = 0): number[] {
  const size = x.shape[axis]!;
  if (typeof split === 'number') {
    assert(size % split === 0, () => 'Number of splits must evenly divide the axis.');
    return new Array<number>(split).fill(size / split);
  }
  const open = split.filter((each) => each === -1).length;
  assert(open <= 1, () => 'There should be only one negative value in split array.');
  const known = split.reduce((sum, each) => sum + Math.max(each, 0), 0);
  const sizes = split.map((each) => (each === -1 ? size - known : each));
  assert(
    sizes.reduce((sum, each) => sum + each, 0) === size,
    () => 'The sum of sizes must match the size of the axis dimension.',
  );
  return sizes;
}

/** The middle of an image in pixels, as [x, y], from its place in shares of the sizes. */
export function getImageCenter(
  center: number | readonly [number, number],
  height: number,
  width: number,
): [number, number] {
  const [x, y] = typeof center === 'number' ? [center, center] : center;
  return [width * x, height * y];
}

/** The shape in which blocks have axes of their own: for `batchToSpaceND`, else for `spaceToBatchND`. */
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

/** The order of axes of that shape which puts blocks beside what they belong to. */
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

/** The shape after blocks were joined with their axes, or taken from them. */
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

/** Where what is not cropped begins. */
export const getSliceBeginCoords = (crops: readonly Ints[], blocks: number): number[] => [
  0,
  ...crops.slice(0, blocks).map(([before]) => before!),
];

/** The sizes of what is not cropped. */
export const getSliceSize = (uncropped: Ints, crops: readonly Ints[], blocks: number): number[] =>
  uncropped.slice(0, blocks + 1).map((size, at) => {
    const crop = crops[at - 1];
    return crop ? size - crop[0]! - crop[1]! : size;
  });
