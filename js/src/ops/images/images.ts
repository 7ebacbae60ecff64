/** Image operations, `image` of TensorFlow.js: resizing, colors, thresholds. */
import { LatheError } from '../../base/errors.js';
import { applyOperation } from '../../eager/apply.js';
import { castTo, toTensor } from '../../eager/operands.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import { constant } from '../common/constants.js';
import { checkSizes } from '../windows/resampling.js';
import { batched, checkRank, emptyTensor } from '../windows/windows.js';

export { cropAndResize, rotateWithOffset, transform } from '../windows/resampling.js';
export * from './non_max_suppression.js';

type Size = readonly [number, number];

function resized(
  op: 'resizeBilinear' | 'resizeNearestNeighbor',
  images: Tensor,
  size: Size,
  alignCorners: boolean,
  halfPixelCenters: boolean,
): Tensor {
  if (images.rank !== 3 && images.rank !== 4) {
    throw new LatheError(`Error in ${op}: x must be rank 3 or 4, but got rank ${images.rank}.`);
  }
  if (size.length !== 2) {
    throw new LatheError(`Error in ${op}: new shape must be 2D, but got shape ${size.join()}.`);
  }
  if (halfPixelCenters && alignCorners) {
    throw new LatheError(
      `Error in ${op}: If halfPixelCenters is true, alignCorners must be false.`,
    );
  }
  return batched(op, images, 4, (x) => {
    const shape = [x.shape[0]!, ...size, x.shape[3]!];
    checkSizes(op, shape);
    if (shape.includes(0)) return emptyTensor([x], shape);
    return applyOperation(op, [x], [size, alignCorners, halfPixelCenters]);
  });
}

/** Bilinear resize of [batch, height, width, channels] or without batch, float32. Errors: rank; both alignCorners and halfPixelCenters. */
export const resizeBilinear = (
  images: TensorLike,
  size: Size,
  alignCorners = false,
  halfPixelCenters = false,
): Tensor =>
  tidy(() => {
    const input = toTensor(images, 'images', 'resizeBilinear');
    const x = castTo(input, 'float32');
    return resized('resizeBilinear', x, size, alignCorners, halfPixelCenters);
  });

/** Nearest-neighbor resize, in the dtype of the images. */
export const resizeNearestNeighbor = (
  images: TensorLike,
  size: Size,
  alignCorners = false,
  halfPixelCenters = false,
): Tensor =>
  tidy(() => {
    const x = toTensor(images, 'images', 'resizeNearestNeighbor');
    if (x.dtype !== 'float32' && x.dtype !== 'int32') {
      throw new LatheError('`images` must have `int32` or `float32` as dtype');
    }
    const floats = castTo(x, 'float32');
    const found = resized('resizeNearestNeighbor', floats, size, alignCorners, halfPixelCenters);
    return castTo(found, x.dtype);
  });

/** Flips [batch, height, width, channels] horizontally. */
export const flipLeftRight = (image: TensorLike): Tensor =>
  tidy(() => {
    const x = toTensor(image, 'image', 'flipLeftRight', 'float32');
    checkRank('flipLeftRight', 'image', x, 4);
    return applyOperation('reverse', [x], [[2]]);
  });

function checkColors(op: string, kind: string, image: Tensor, channels: number): void {
  if (image.rank < 2) {
    throw new LatheError(
      `Error in ${op}: images must be at least rank 2, but got rank ${image.rank}.`,
    );
  }
  if (image.shape.at(-1) === channels) return;
  throw new LatheError(
    `Error in ${op}: last dimension of ${kind} image should be size ${channels}, but got size ${image.shape.at(-1)}.`,
  );
}

/** Repeats the channel: [..., 1] -> [..., 3]. Error: another last axis. */
export const grayscaleToRGB = (image: TensorLike): Tensor =>
  tidy(() => {
    const x = toTensor(image, 'image', 'grayscaleToRGB');
    checkColors('grayscaleToRGB', 'a grayscale', x, 1);
    return applyOperation('broadcastTo', [x], [[...x.shape.slice(0, -1), 3]]);
  });

/** Luma (ITU-R BT.601): [..., 3] -> [..., 1], in the dtype of the image. Error: another last axis. */
export const rgbToGrayscale = (image: TensorLike): Tensor =>
  tidy(() => {
    const x = toTensor(image, 'image', 'rgbToGrayscale');
    checkColors('rgbToGrayscale', 'an RGB', x, 3);
    return castTo(gray(castTo(x, 'float32'), [0.2989, 0.587, 0.114]), x.dtype);
  });

function gray(x: Tensor, weights: readonly number[]): Tensor {
  const factors = constant(Float32Array.from(weights), [weights.length]);
  return applyOperation('sum', [applyOperation('mul', [x, factors])], [[-1], true]);
}

/**
 * 255 where the gray value of [height, width, channels], channels 1 or 3, is above a threshold, else 0, int32.
 *
 * @param method binary: the threshold is `threshValue` of 255; otsu: Otsu's threshold
 * @param inverted whether 0 and 255 are exchanged
 *
 * Errors: rank, channels or method.
 */
export function threshold(
  image: TensorLike,
  method: 'binary' | 'otsu' | (string & {}) = 'binary',
  inverted = false,
  threshValue = 0.5,
): Tensor {
  const op = 'threshold';
  return tidy(() => {
    const x = toTensor(image, 'image', op);
    checkRank(op, 'image', x, 3);
    const channels = x.shape[2]!;
    if (channels !== 1 && channels !== 3) {
      throw new LatheError(
        `Error in ${op}: image color channel must be equal to 3 or 1 but got ${channels}.`,
      );
    }
    if (method !== 'binary' && method !== 'otsu') {
      throw new LatheError(`Error in ${op}: method must be binary or otsu, but was ${method}`);
    }
    const pixels = castTo(x, 'float32');
    const values = channels === 3 ? gray(pixels, [0.2989, 0.587, 0.114]) : pixels;
    const limit = method === 'otsu' ? separating(values) : threshValue * 255;
    const chosen = applyOperation(inverted ? 'lessEqual' : 'greater', [values, limit]);
    return applyOperation('mul', [castTo(chosen, 'int32'), 255], [], 'int32');
  });
}

/** The gray threshold that maximizes the variance between the two classes (Otsu, 1979). */
function separating(x: Tensor): number {
  const counts = new Array<number>(256).fill(0);
  for (const each of x.dataSync()) counts[Math.round(each)]! += 1;
  const all = counts.reduce((sum, each) => sum + each, 0);
  const weighed = counts.reduce((sum, each, at) => sum + each * at, 0);
  let [dark, sum, best, found] = [0, 0, 0, -1];
  for (const [at, count] of counts.entries()) {
    dark += count;
    sum += count * at;
    const distance = sum / dark - (weighed - sum) / (all - dark);
    const variance = (dark / all) * ((all - dark) / all) * distance * distance;
    if (variance > best) [best, found] = [variance, at];
  }
  return found;
}
