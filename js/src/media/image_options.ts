/** Sources and options of images. */
import type { FileSource } from '../base/source.js';

/** RGBA bytes, row by row. */
export interface RgbaImage {
  width: number;
  height: number;
  data: ArrayLike<number>;
}

/**
 * An image file: its address, in Node also its path, its bytes, a response or a file. Or pixels: RGBA bytes, in pages an image,
 * canvas, video or bitmap.
 */
export type ImageSource =
  | FileSource
  | ArrayBuffer
  | ArrayBufferView
  | RgbaImage
  | HTMLImageElement
  | HTMLCanvasElement
  | OffscreenCanvas
  | HTMLVideoElement
  | ImageBitmap;

/** What a model expects of an image. */
export interface ImageOptions {
  /** [height, width], or a number for both. Default: those of the image. */
  size?: number | readonly [height: number, width: number];
  /** fill: the image is stretched to the size; cover: it is scaled until it covers the size, and its center is cut. Default: fill. */
  fit?: 'fill' | 'cover';
  /** Of each channel, or of all: (value / 255 - mean) / std. Default: 0 and 1. */
  mean?: number | readonly number[];
  std?: number | readonly number[];
  /** nhwc: [1, height, width, channels]; nchw: [1, channels, height, width], as of most ONNX models. Default: nhwc. */
  layout?: 'nhwc' | 'nchw';
  /** 1: brightness (ITU-R BT.601); 3: red, green, blue; 4: and alpha. Default: 3. */
  channels?: 1 | 3 | 4;
}
