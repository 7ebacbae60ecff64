/**
 * Conversion of images to tensors and back, as in onnxruntime-common 1.30: planes of R, G, B and A in a certain order, each
 * element (value + bias) / mean.
 */
import { isInstanceOf } from '../base/kinds.js';

/** Orders of the channels. */
export type ImageFormat = 'RGB' | 'RGBA' | 'BGR' | 'RBG';
/** Order of the axes of the tensor. */
export type ImageTensorLayout = 'NHWC' | 'NCHW';
type PerChannel = number | [number, number, number] | [number, number, number, number];

/** Normalization of values from 0 to 255; a single number applies to all channels. */
export interface Normalization {
  /** Default: 0. */
  bias?: PerChannel;
  /** Default: 255. */
  mean?: PerChannel;
}

/** Options of `Tensor.fromImage`. */
export interface FromImageOptions {
  height?: number;
  width?: number;
  /** With resizedWidth: size of the crop from the upper left corner. */
  resizedHeight?: number;
  resizedWidth?: number;
  /** Order of the channels in the tensor. Default: RGB; RGBA for image elements. */
  tensorFormat?: ImageFormat;
  /** NHWC is not supported. */
  tensorLayout?: ImageTensorLayout;
  dataType?: 'float32' | 'uint8';
  norm?: Normalization;
}

/** Options of `toDataURL` and `toImageData`. */
export interface ToImageOptions {
  /** Order of the channels in the tensor. Default: RGB. */
  format?: ImageFormat;
  /** Order of the axes of the tensor. Default: NCHW. */
  tensorLayout?: ImageTensorLayout;
  norm?: Normalization;
}

/** Numbers [1, channels, height, width]. */
export interface Planes {
  data: Float32Array;
  dims: number[];
}

/** The members of a tensor that `toImageData` reads. */
export interface ImageTensor {
  readonly dims: readonly number[];
  readonly data: ArrayLike<unknown>;
}

type Canvas = HTMLCanvasElement | OffscreenCanvas;
type Pixels = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

const channelsOf = (format: ImageFormat) => [...format].map((letter) => 'RGBA'.indexOf(letter));

function fourOf(value: PerChannel | undefined, missing: number): number[] {
  if (value === undefined) return Array(4).fill(missing);
  if (typeof value === 'number') return Array(4).fill(value);
  return [value[0], value[1], value[2], value[3] ?? missing];
}

function newCanvas(width: number, height: number): Canvas {
  if (typeof document !== 'undefined') {
    return Object.assign(document.createElement('canvas'), { width, height });
  }
  if (typeof OffscreenCanvas !== 'undefined') return new OffscreenCanvas(width, height);
  throw new Error('Canvas is not supported here: images are converted in pages and workers');
}

function pixelsOf(canvas: Canvas): Pixels {
  const pixels = canvas.getContext('2d') as Pixels | null;
  if (pixels === null) throw new Error('Can not access image data: the canvas has no 2D context');
  return pixels;
}

/** The pixels of an image drawn into a canvas of `size` from the upper left corner. */
function drawn(
  size: { width: number; height: number },
  seen: { width: number; height: number },
  draw: (pixels: Pixels) => void,
): ImageData {
  const pixels = pixelsOf(newCanvas(size.width, size.height));
  draw(pixels);
  return pixels.getImageData(0, 0, seen.width, seen.height);
}

/** RGBA values as planes. Errors: another layout. */
export function planesOf(image: ImageData, options: FromImageOptions): Planes {
  if (options.tensorLayout === 'NHWC') {
    throw new Error('NHWC Tensor layout is not supported yet: use NCHW and transpose');
  }
  const { width, height, data: values } = image;
  const channels = channelsOf(options.tensorFormat ?? 'RGB');
  const mean = fourOf(options.norm?.mean, 255);
  const bias = fourOf(options.norm?.bias, 0);
  const area = width * height;
  const data = new Float32Array(area * channels.length);
  channels.forEach((channel, plane) => {
    for (let at = 0; at < area; at++) {
      data[plane * area + at] = (values[4 * at + channel]! + bias[channel]!) / mean[channel]!;
    }
  });
  return { data, dims: [1, channels.length, height, width] };
}

/** The size in the options, or that of the image. */
function seenSize(
  imageSize: { width: number; height: number },
  options: FromImageOptions | undefined,
) {
  const { resizedHeight: height, resizedWidth: width } = options ?? {};
  return height !== undefined && width !== undefined ? { width, height } : imageSize;
}

/** The planes of an image. Errors: no image, unsupported options, no canvas. */
export async function readImage(image: unknown, options?: FromImageOptions): Promise<Planes> {
  if (isInstanceOf(image, 'HTMLImageElement')) {
    if (options?.tensorFormat !== undefined) {
      throw new Error('Image input config format must be RGBA for HTMLImageElement');
    }
    const element = image as HTMLImageElement;
    const seen = seenSize(element, options);
    const values = drawn(element, seen, (pixels) => pixels.drawImage(element, 0, 0));
    return planesOf(values, { ...options, tensorFormat: 'RGBA' });
  }
  if (isInstanceOf(image, 'ImageData')) {
    const imageData = image as ImageData;
    if (options === undefined) return planesOf(imageData, {});
    const seen = seenSize(imageData, options);
    const values = drawn(seen, seen, (pixels) => pixels.putImageData(imageData, 0, 0));
    return planesOf(values, options);
  }
  if (isInstanceOf(image, 'ImageBitmap')) {
    if (options === undefined) {
      throw new Error('Please provide image config with format for Imagebitmap');
    }
    const bitmap = image as ImageBitmap;
    const values = drawn(bitmap, bitmap, (pixels) => pixels.drawImage(bitmap, 0, 0));
    return planesOf(values, options);
  }
  if (typeof image === 'string') {
    const element = await loaded(image);
    const values = drawn(element, element, (pixels) => pixels.drawImage(element, 0, 0));
    return planesOf(values, options ?? {});
  }
  throw new Error('Input data provided is not supported - aborted tensor creation');
}

function loaded(address: string): Promise<HTMLImageElement> {
  return new Promise((resolve, reject) => {
    newCanvas(1, 1);
    if (typeof Image === 'undefined') throw new Error('images are loaded by URL in pages only');
    const element = new Image();
    element.crossOrigin = 'Anonymous';
    element.onload = () => resolve(element);
    element.onerror = () => reject(new Error(`cannot load the image ${address.slice(0, 100)}`));
    element.src = address;
  });
}

/** Converts a tensor [1, channels, height, width] to an image: (value - bias) · mean. Error: another number of channels. */
export function toImageData(tensor: ImageTensor, options: ToImageOptions = {}): ImageData {
  const isLast = options.tensorLayout === 'NHWC';
  const [, a = 0, b = 0, c = 0] = tensor.dims;
  const [count, height, width] = isLast ? [c, a, b] : [a, b, c];
  const format = options.format ?? (count === 4 ? 'RGBA' : 'RGB');
  const channels = channelsOf(format);
  if (tensor.dims.length !== 4 || channels.length !== count) {
    const shape = `[${tensor.dims.join(', ')}]`;
    throw new Error(`Tensor format ${format} doesn't match input tensor dims ${shape}`);
  }
  const mean = fourOf(options.norm?.mean, 255);
  const bias = fourOf(options.norm?.bias, 0);
  const image = pixelsOf(newCanvas(1, 1)).createImageData(width, height);
  const area = width * height;
  image.data.fill(255);
  channels.forEach((channel, plane) => {
    for (let at = 0; at < area; at++) {
      const value = Number(tensor.data[isLast ? at * count + plane : plane * area + at]);
      image.data[4 * at + channel] = (value - bias[channel]!) * mean[channel]!;
    }
  });
  return image;
}

/** Converts a tensor to the data: URL of a PNG. Error: not in a page. */
export function toDataURL(tensor: ImageTensor, options?: ToImageOptions): string {
  const image = toImageData(tensor, options);
  const canvas = newCanvas(image.width, image.height);
  pixelsOf(canvas).putImageData(image, 0, 0);
  if (!('toDataURL' in canvas)) throw new Error('toDataURL is not supported in workers');
  return canvas.toDataURL();
}
