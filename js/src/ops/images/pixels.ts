/** Pixels of images as tensors, and back: `browser` of TensorFlow.js. */
import { LatheError } from '../../base/errors.js';
import { isInstanceOf } from '../../base/kinds.js';
import { engine } from '../../eager/engine.js';
import { castTo, toTensor } from '../../eager/operands.js';
import { DeviceValue } from '../../runtime/device_value.js';
import { tracked } from '../../tensor/live_tensors.js';
import { Tensor, tensor, type TensorLike } from '../../tensor/tensor.js';
import type { Tensor3D } from '../../tensor/ranked_tensors.js';

/** RGBA values, row by row. */
export interface PixelData {
  width: number;
  height: number;
  data: ArrayLike<number>;
}

/** The image sources of `fromPixels`. */
export type PixelSource =
  | PixelData
  | ImageData
  | HTMLImageElement
  | HTMLCanvasElement
  | OffscreenCanvas
  | HTMLVideoElement
  | ImageBitmap;

/** Options of `draw`. */
export interface DrawOptions {
  imageOptions?: {
    /** From 0 to 1, of images without an alpha channel; default 1. */
    alpha?: number;
  };
  contextOptions?: {
    /** Only '2d' is supported. */
    contextType?: string;
    contextAttributes?: CanvasRenderingContext2DSettings;
  };
}

/** An image of the page. */
interface Picture {
  image: CanvasImageSource;
  width: number;
  height: number;
}

/** What a source is: RGBA values on the host, or an image. */
function pictureOf(source: PixelSource): PixelData | Picture {
  if (source === null || source === undefined) {
    throw new LatheError('pixels passed to tf.browser.fromPixels() can not be null');
  }
  const { data } = source as PixelData;
  if (ArrayBuffer.isView(data) || Array.isArray(data)) return source as PixelData;
  const image = source as HTMLCanvasElement;
  const { width, height } = image;
  if (typeof image.getContext === 'function') return { image, width, height };
  if (isInstanceOf(source, 'HTMLVideoElement')) {
    const video = source as HTMLVideoElement;
    if (video.readyState < 2) {
      throw new LatheError(
        'The video element has not loaded data yet. Please wait for `loadeddata` event on the <video> element.',
      );
    }
    return { image: video, width: video.videoWidth, height: video.videoHeight };
  }
  if (isInstanceOf(source, 'HTMLImageElement') || isInstanceOf(source, 'ImageBitmap'))
    return { image, width, height };
  const kind = (source as object).constructor.name;
  throw new LatheError(
    'pixels passed to tf.browser.fromPixels() must be either an HTMLVideoElement, HTMLImageElement, ' +
      'HTMLCanvasElement, ImageBitmap, ImageData in browser, or OffscreenCanvas, ImageData in webworker or ' +
      `{data: Uint8Array, width: number, height: number}, but was ${kind}`,
  );
}

type Context = Pick<CanvasRenderingContext2D, 'getImageData' | 'drawImage'>;

function read(context: Context | null, width: number, height: number): PixelData {
  if (context === null) throw new LatheError('fromPixels: the canvas has no 2d context');
  return { width, height, data: context.getImageData(0, 0, width, height).data };
}

/** The RGBA values of an image. */
function drawn({ image, width, height }: Picture): PixelData {
  const own = image as HTMLCanvasElement;
  if (typeof own.getContext === 'function') return read(own.getContext('2d'), width, height);
  const canvas =
    typeof document === 'undefined'
      ? new OffscreenCanvas(width, height)
      : Object.assign(document.createElement('canvas'), { width, height });
  const context = canvas.getContext('2d', { willReadFrequently: true }) as Context | null;
  context?.drawImage(image, 0, 0, width, height);
  return read(context, width, height);
}

/**
 * [height, width, numChannels] of an image, int32 from 0 to 255.
 *
 * @param pixels ImageData, ImageBitmap, canvas, image, video, or { data, width, height } with four values for each pixel
 *
 * Errors: another source; a video without a current frame; more than four channels.
 */
export function fromPixels(pixels: PixelSource, numChannels = 3): Tensor3D {
  if (numChannels > 4) {
    throw new LatheError('Cannot construct Tensor with more than 4 channels from pixels.');
  }
  const source = pictureOf(pixels);
  const { device } = engine;
  if ('image' in source && device.fromImage !== undefined) {
    const value = new DeviceValue('int32', [source.height, source.width, numChannels], device);
    if (device.fromImage(source.image, value))
      return new Tensor<'R3'>(value, value.shape, 'int32')[tracked]();
  }
  const { data, width, height } = 'image' in source ? drawn(source) : source;
  const values = new Int32Array(width * height * numChannels);
  for (let at = 0, to = 0; to < values.length; at += 4) {
    for (let channel = 0; channel < numChannels; channel++) values[to++] = data[at + channel]!;
  }
  return new Tensor<'R3'>(values, [height, width, numChannels], 'int32')[tracked]();
}

/** `fromPixels` that decodes images asynchronously. */
export async function fromPixelsAsync(pixels: PixelSource, numChannels = 3): Promise<Tensor3D> {
  const isImage =
    isInstanceOf(pixels, 'HTMLImageElement') || isInstanceOf(pixels, 'HTMLVideoElement');
  if (!isImage || typeof createImageBitmap !== 'function') return fromPixels(pixels, numChannels);
  const source = pixels as HTMLImageElement & HTMLVideoElement;
  if (source.videoWidth === undefined ? !source.width : source.readyState < 2) {
    return fromPixels(pixels, numChannels);
  }
  const bitmap = await createImageBitmap(source, { premultiplyAlpha: 'none' });
  try {
    const hasSize = source.videoWidth !== undefined || bitmap.width === source.width;
    return fromPixels(hasSize ? bitmap : pixels, numChannels);
  } finally {
    bitmap.close();
  }
}

function checkImage(op: string, x: Tensor): void {
  if (x.rank !== 2 && x.rank !== 3) {
    throw new LatheError(`${op} only supports rank 2 or 3 tensors, got rank ${x.rank}.`);
  }
  const depth = x.rank === 2 ? 1 : x.shape[2]!;
  if (depth > 4 || depth === 2) {
    throw new LatheError(`${op} only supports depth of size 1, 3 or 4 but got ${depth}`);
  }
  if (x.dtype !== 'float32' && x.dtype !== 'int32') {
    throw new LatheError(
      `Unsupported type for ${op}: ${x.dtype}. Please use float32 or int32 tensors.`,
    );
  }
}

/** RGBA bytes of [height, width] or [height, width, 1, 3 or 4]. Errors: values out of range. */
function bytesOf(x: Tensor, values: ArrayLike<number>, alpha = 1): Uint8ClampedArray<ArrayBuffer> {
  const [isFloat, maximum] = x.dtype === 'float32' ? [true, 1] : [false, 255];
  const depth = x.rank === 2 ? 1 : x.shape[2]!;
  const bytes = new Uint8ClampedArray(x.shape[0]! * x.shape[1]! * 4);
  const level = (at: number): number => {
    const value = values[at]!;
    if (value < 0 || value > maximum) {
      throw new LatheError(
        `Tensor values for a ${x.dtype} Tensor must be in the range [0 - ${maximum}] but encountered ${value}.`,
      );
    }
    return Math.round(isFloat ? value * 255 : value);
  };
  for (let from = 0, to = 0; to < bytes.length; from += depth, to += 4) {
    for (let channel = 0; channel < 3; channel++) {
      bytes[to + channel] = level(depth === 1 ? from : from + channel);
    }
    bytes[to + 3] = depth === 4 ? level(from + 3) : Math.round(255 * alpha);
  }
  return bytes;
}

function put(
  canvas: HTMLCanvasElement | OffscreenCanvas,
  bytes: Uint8ClampedArray<ArrayBuffer>,
  { shape }: Tensor,
  attributes?: CanvasRenderingContext2DSettings,
): void {
  const [height, width] = shape as [number, number];
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext('2d', attributes) as CanvasRenderingContext2D | null;
  if (context === null) throw new LatheError('draw: the canvas has no 2d context');
  context.putImageData(new ImageData(bytes, width, height), 0, 0);
}

/**
 * RGBA bytes of a tensor, also drawn if a canvas is passed.
 *
 * @param img [height, width] or [height, width, 1, 3 or 4]: float32 from 0 to 1, or int32 from 0 to 255
 *
 * Errors: shape, dtype, values out of range.
 */
export async function toPixels(
  img: TensorLike,
  canvas?: HTMLCanvasElement | OffscreenCanvas,
): Promise<Uint8ClampedArray> {
  const input = toTensor(img, 'img', 'toPixels');
  const x = img instanceof Tensor ? input : castTo(input, 'int32');
  try {
    checkImage('toPixels', x);
    const bytes = bytesOf(x, await x.data());
    if (canvas !== undefined && canvas !== null) put(canvas, bytes, x);
    return bytes;
  } finally {
    if (x !== img) x.dispose();
    if (input !== img) input.dispose();
  }
}

/** Draws a tensor of the form that `toPixels` accepts, synchronously. Errors: as of `toPixels`; another context than '2d'. */
export function draw(
  image: TensorLike,
  canvas: HTMLCanvasElement | OffscreenCanvas,
  options: DrawOptions = {},
): void {
  const input = toTensor(image, 'img', 'draw');
  try {
    const x = image instanceof Tensor ? input : tensor(input, undefined, 'int32');
    checkImage('draw', x);
    const bytes = bytesOf(x, x.dataSync(), options.imageOptions?.alpha);
    put(canvas, bytes, x, options.contextOptions?.contextAttributes);
  } finally {
    if (input !== image) input.dispose();
  }
}
