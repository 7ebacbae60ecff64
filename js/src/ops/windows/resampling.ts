/** Resampling of images: crops, rotations and projections. */
import { LatheError } from '../../base/errors.js';
import { checkCount, maxElements } from '../../base/limits.js';
import { elementCount } from '../../base/shape.js';
import { applyOperation, type Operand } from '../../eager/apply.js';
import { castTo, toTensor } from '../../eager/operands.js';
import type { Tensor4D } from '../../tensor/ranked_tensors.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import { constant, integers } from '../common/constants.js';
import { checkRank } from './windows.js';

type Box = [number, number, number, number];

const add = (a: Operand, b: Operand) => applyOperation('add', [a, b]);
const sub = (a: Operand, b: Operand) => applyOperation('sub', [a, b]);
const mul = (a: Operand, b: Operand) => applyOperation('mul', [a, b]);
const div = (a: Operand, b: Operand) => applyOperation('div', [a, b]);
const both = (a: Tensor, b: Tensor) => applyOperation('logicalAnd', [a, b]);
const choose = (which: Tensor, a: Operand, b: Operand) => applyOperation('where', [which, a, b]);
const inRange = (x: Tensor, last: number) =>
  both(applyOperation('greaterEqual', [x, 0]), applyOperation('lessEqual', [x, last]));

/** Error: an image of these sizes exceeds the element limit. */
export function checkSizes(op: string, sizes: readonly number[]): void {
  const count = elementCount(sizes.map((size) => Math.max(1, size)));
  checkCount(op, `elements [${sizes.join()}]`, count, maxElements);
}

/** 0, 1, 2 … of a shape with one axis above 1. */
const iota = (count: number, shape: number[]) =>
  constant(
    Float32Array.from({ length: count }, (_, at) => at),
    shape,
  );

/** One column of a matrix, with that many axes after the rows. */
function column(x: Tensor, at: number, axes: number): Tensor {
  const rows = x.shape[0]!;
  const part = applyOperation(
    'slice',
    [x],
    [
      [0, at],
      [rows, 1],
    ],
  );
  return applyOperation('reshape', [part], [[rows, ...new Array<number>(axes).fill(1)]]);
}

/** Pixels at integer coordinates y, x inside the images; `first`: the index of each image's first pixel. */
function pixels(image: Tensor, first: Tensor, y: Tensor, x: Tensor): Tensor {
  const [batch, height, width, channels] = image.shape as Box;
  const rows = applyOperation('mul', [castTo(y, 'int32'), width], [], 'int32');
  const indices = add(add(first, rows), castTo(x, 'int32'));
  const flat = applyOperation('reshape', [image], [[batch * height * width, channels]]);
  return applyOperation('gather', [flat, indices], [0]);
}

const withChannels = (x: Tensor) => applyOperation('expandDims', [x], [-1]);

/**
 * Crops of images [batch, height, width, channels], each resized to the same size -> [boxes, ...cropSize, channels].
 *
 * @param boxes [boxes, 4]: y1, x1, y2, x2 from 0 to 1; exchanged corners mirror the crop
 * @param boxInd the image index of each box
 * @param extrapolationValue the value outside the image
 *
 * Errors: ranks and sizes; another method than 'bilinear' or 'nearest'.
 */
export function cropAndResize(
  image: TensorLike,
  boxes: TensorLike,
  boxInd: TensorLike,
  cropSize: readonly [number, number],
  method: 'bilinear' | 'nearest' = 'bilinear',
  extrapolationValue = 0,
): Tensor4D {
  const op = 'cropAndResize';
  return tidy(() => {
    const from = castTo(toTensor(image, 'image', op), 'float32');
    const corners = toTensor(boxes, 'boxes', op, 'float32');
    const which = toTensor(boxInd, 'boxInd', op, 'int32');
    checkCrop(from, corners, which, cropSize, method);
    const count = corners.shape[0]!;
    const [batch, height, width, channels] = from.shape as Box;
    checkSizes(op, [count, ...cropSize, channels]);
    if (count === 0) return constant(new Float32Array(0), [0, ...cropSize, channels]);
    const y = coordinatesIn(corners, 0, height, cropSize[0], [1, cropSize[0], 1]);
    const x = coordinatesIn(corners, 1, width, cropSize[1], [1, 1, cropSize[1]]);
    const imageIndex = castTo(applyOperation('reshape', [which], [[count, 1, 1]]), 'float32');
    const inside = both(
      both(inRange(y, height - 1), inRange(x, width - 1)),
      inRange(imageIndex, batch - 1),
    );
    const safe = choose(inRange(imageIndex, batch - 1), imageIndex, 0);
    const first = applyOperation('mul', [castTo(safe, 'int32'), height * width], [], 'int32');
    const [row, left] = [choose(inRange(y, height - 1), y, 0), choose(inRange(x, width - 1), x, 0)];
    const read = (dy: 'floor' | 'ceil', dx: 'floor' | 'ceil') =>
      pixels(from, first, applyOperation(dy, [row]), applyOperation(dx, [left]));
    const values =
      method === 'nearest'
        ? pixels(from, first, nearest(row), nearest(left))
        : blended(read, row, left);
    return choose(withChannels(inside), values, extrapolationValue);
  });
}

/** Rounds to nearest, halfway up. */
const nearest = (x: Tensor) => applyOperation('floor', [add(x, 0.5)]);

function blended(
  read: (dy: 'floor' | 'ceil', dx: 'floor' | 'ceil') => Tensor,
  y: Tensor,
  x: Tensor,
): Tensor {
  const [down, right] = [y, x].map((each) =>
    withChannels(sub(each, applyOperation('floor', [each]))),
  );
  const between = (a: Tensor, b: Tensor, by: Tensor) => add(a, mul(sub(b, a), by));
  const top = between(read('floor', 'floor'), read('floor', 'ceil'), right!);
  const bottom = between(read('ceil', 'floor'), read('ceil', 'ceil'), right!);
  return between(top, bottom, down!);
}

/** The coordinates of `count` samples between the corners `at` and `at + 2` of each box. */
function coordinatesIn(
  boxes: Tensor,
  at: number,
  size: number,
  count: number,
  shape: number[],
): Tensor {
  const [begin, end] = [column(boxes, at, 2), column(boxes, at + 2, 2)];
  if (count === 1) return mul(mul(add(begin, end), 0.5), size - 1);
  const step = div(mul(sub(end, begin), size - 1), count - 1);
  return add(mul(begin, size - 1), mul(iota(count, shape), step));
}

function checkCrop(
  image: Tensor,
  boxes: Tensor,
  which: Tensor,
  size: readonly number[],
  method: string,
): void {
  const op = 'cropAndResize';
  checkRank(op, 'image', image, 4);
  if (boxes.rank !== 2 || boxes.shape[1] !== 4) {
    throw new LatheError(
      `Error in ${op}: boxes must be have size [${boxes.shape[0]},4] but had shape [${boxes.shape.join()}].`,
    );
  }
  if (which.rank !== 1 || which.shape[0] !== boxes.shape[0]) {
    throw new LatheError(
      `Error in ${op}: boxInd must be have size [${boxes.shape[0]}] but had shape [${which.shape.join()}].`,
    );
  }
  if (size.length !== 2 || size.some((each) => each < 1)) {
    throw new LatheError(
      `Error in ${op}: cropSize must be two sizes of at least 1, but was [${size.join()}]`,
    );
  }
  if (method !== 'bilinear' && method !== 'nearest') {
    throw new LatheError(`Error in ${op}: method must be bilinear or nearest, but was ${method}`);
  }
}

/**
 * [batch, height, width, channels] rotated counter-clockwise.
 *
 * @param fillValue outside the image: one for all channels, or RGB; a fourth channel is then 255
 * @param center 0 to 1, of both axes or [x, y]
 */
export function rotateWithOffset(
  image: TensorLike,
  radians: number,
  fillValue: number | readonly [number, number, number] = 0,
  center: number | readonly [number, number] = 0.5,
): Tensor {
  const op = 'rotateWithOffset';
  return tidy(() => {
    const x = toTensor(image, 'image', op, 'float32');
    checkRank(op, 'image', x, 4);
    const [batch, height, width, channels] = x.shape as Box;
    const [middleX, middleY] = typeof center === 'number' ? [center, center] : center;
    const at = constant(
      rotatedIndices(height, width, radians, width * middleX, height * middleY),
      [height * width],
      'int32',
    );
    const flat = applyOperation('reshape', [x], [[batch, height * width, channels]]);
    const read = applyOperation(
      'gather',
      [flat, applyOperation('maximum', [at, 0], [], 'int32')],
      [1],
    );
    const inside = withChannels(applyOperation('greaterEqual', [at, 0], [], 'int32'));
    const fill = Array.from({ length: channels }, (_, at) => {
      if (typeof fillValue === 'number') return fillValue;
      return at === 3 ? 255 : fillValue[at]!;
    });
    const values = choose(inside, read, constant(Float32Array.from(fill), [channels]));
    return applyOperation('reshape', [values], [x.shape]);
  });
}

/** The source index of each pixel, -1 outside. */
function rotatedIndices(
  height: number,
  width: number,
  radians: number,
  middleX: number,
  middleY: number,
): Int32Array {
  const [sin, cos] = [Math.sin(radians), Math.cos(radians)];
  const indices = new Int32Array(height * width);
  for (let row = 0, at = 0; row < height; ++row) {
    for (let column = 0; column < width; ++column, ++at) {
      const [right, down] = [column - middleX, row - middleY];
      const x = Math.round(right * cos - down * sin + middleX);
      const y = Math.round(right * sin + down * cos + middleY);
      indices[at] = x >= 0 && x < width && y >= 0 && y < height ? y * width + x : -1;
    }
  }
  return indices;
}

type FillMode = 'constant' | 'reflect' | 'wrap' | 'nearest';

/**
 * Projections of [batch, height, width, channels] -> [batch, ...outputShape, channels].
 *
 * @param transforms [batch or 1, 8]: with a row [a, b, c, d, e, f, g, h], x and y of the result are read at
 *   (ax + by + c) / k and (dx + ey + f) / k, k = gx + hy + 1
 * @param fillMode values outside: `fillValue`, the image mirrored or repeated, or its border
 * @param outputShape default: the size of the image
 */
export function transform(
  image: TensorLike,
  transforms: TensorLike,
  interpolation: 'nearest' | 'bilinear' = 'nearest',
  fillMode: FillMode = 'constant',
  fillValue = 0,
  outputShape?: readonly [number, number],
): Tensor {
  const op = 'transform';
  return tidy(() => {
    const from = toTensor(image, 'image', op, 'float32');
    const matrices = toTensor(transforms, 'transforms', op, 'float32');
    checkRank(op, 'image', from, 4);
    if (!/^(nearest|bilinear)$/.test(interpolation)) {
      throw new LatheError(
        `Error in ${op}: Expect 'nearest' or 'bilinear', but got ${interpolation}`,
      );
    }
    const [batch, height, width, channels] = from.shape as Box;
    const isFit = matrices.rank === 2 && matrices.shape[1] === 8;
    if (!isFit || (matrices.shape[0] !== batch && matrices.shape[0] !== 1)) {
      throw new LatheError(
        `Error in ${op}: Input transform should be batch x 8 or 1 x 8, got [${matrices.shape.join()}].`,
      );
    }
    const [rows, columns] = outputShape ?? [height, width];
    checkSizes(op, [batch, rows, columns, channels]);
    const [x, y] = [iota(columns, [1, 1, columns]), iota(rows, [1, rows, 1])];
    const row = (at: number) =>
      add(mul(column(matrices, at, 2), x), mul(column(matrices, at + 1, 2), y));
    const scale = add(row(6), 1);
    const readX = outsideTo(fillMode, div(add(row(0), column(matrices, 2, 2)), scale), width);
    const readY = outsideTo(fillMode, div(add(row(3), column(matrices, 5, 2)), scale), height);
    const first = integers(
      Array.from({ length: batch }, (_, at) => at * height * width),
      [batch, 1, 1],
    );
    const read = (atY: Tensor, atX: Tensor) => {
      const [isRow, isColumn] = [inRange(atY, height - 1), inRange(atX, width - 1)];
      const found = pixels(from, first, choose(isRow, atY, 0), choose(isColumn, atX, 0));
      return choose(withChannels(both(isRow, isColumn)), found, fillValue);
    };
    const values =
      interpolation === 'nearest'
        ? read(nearest(readY), nearest(readX))
        : mixed(read, readY, readX);
    return choose(withChannels(applyOperation('notEqual', [scale, 0])), values, fillValue);
  });
}

/** Bilinear interpolation of the four neighboring pixels. */
function mixed(read: (y: Tensor, x: Tensor) => Tensor, y: Tensor, x: Tensor): Tensor {
  const [top, left] = [applyOperation('floor', [y]), applyOperation('floor', [x])];
  const [bottom, right] = [add(top, 1), add(left, 1)];
  const along = (row: Tensor) =>
    add(
      mul(withChannels(sub(right, x)), read(row, left)),
      mul(withChannels(sub(x, left)), read(row, right)),
    );
  return add(
    mul(withChannels(sub(bottom, y)), along(top)),
    mul(withChannels(sub(y, top)), along(bottom)),
  );
}

/** Maps a coordinate outside the image to one inside. */
function outsideTo(mode: FillMode, x: Tensor, size: number): Tensor {
  if (mode === 'constant') return x;
  const clipped = (position: Tensor) => applyOperation('clipByValue', [position, 0, size - 1]);
  if (mode === 'nearest') return clipped(x);
  if (size <= 1) return mul(x, 0);
  const [isBefore, isAfter] = [
    applyOperation('less', [x, 0]),
    applyOperation('greater', [x, size - 1]),
  ];
  const turns = (position: Tensor, length: number) =>
    applyOperation('trunc', [div(position, length)]);
  if (mode === 'wrap') {
    const before = add(x, mul(add(turns(mul(x, -1), size - 1), 1), size));
    const after = sub(x, mul(turns(x, size - 1), size));
    return clipped(choose(isBefore, before, choose(isAfter, after, x)));
  }
  const period = 2 * size;
  const near = add(x, mul(turns(mul(x, -1), period), period));
  const before = choose(
    applyOperation('less', [near, -size]),
    add(near, period),
    sub(mul(near, -1), 1),
  );
  const rest = sub(x, mul(turns(x, period), period));
  const after = choose(
    applyOperation('greaterEqual', [rest, size]),
    sub(mul(rest, -1), 1 - period),
    rest,
  );
  return clipped(choose(isBefore, before, choose(isAfter, after, x)));
}
