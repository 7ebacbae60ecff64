/** Images as inputs of models: decoded, resized, normalized. The same pixels give the same tensor in pages and in Node. */
import { LatheError } from '../base/errors.js';
import { bytesOf } from '../base/kinds.js';
import { nodeProcess } from '../base/node.js';
import { checkCount, checkOptions, type OptionNames } from '../base/options.js';
import { type FileSource, isSource, nameOf, openSource, readSource } from '../base/source.js';
import type { ImageOptions, ImageSource, RgbaImage } from './image_options.js';
import { Tensor } from '../tensor/tensor.js';
import { tracked } from '../tensor/live_tensors.js';

const names: OptionNames<ImageOptions> = {
  size: true,
  fit: true,
  mean: true,
  std: true,
  layout: true,
  channels: true,
};

/** As `tl.image.toTensor`. */
export async function toTensor(source: ImageSource, options: ImageOptions = {}): Promise<Tensor> {
  checkOptions('image.toTensor', options, names);
  const { size, fit = 'fill', layout = 'nhwc', channels = 3 } = options;
  checkWord('fit', fit, ['fill', 'cover']);
  checkWord('layout', layout, ['nhwc', 'nchw']);
  checkWord('channels', channels, [1, 3, 4]);
  const [mean, std] = [perChannel('mean', options.mean ?? 0), perChannel('std', options.std ?? 1)];
  const image = await pixelsOf(source);
  const [height, width] =
    typeof size === 'number' ? [size, size] : (size ?? [image.height, image.width]);
  checkCount('image.toTensor: size', height);
  checkCount('image.toTensor: size', width);
  const pixels = resized(image, height, width, fit === 'cover');
  const area = height * width;
  const data = new Float32Array(area * channels);
  for (let at = 0; at < area; at++) {
    for (let c = 0; c < channels; c++) {
      const value = channels === 1 ? brightness(pixels, 4 * at) : pixels[4 * at + c]!;
      data[layout === 'nhwc' ? at * channels + c : c * area + at] =
        (value / 255 - mean[c]!) / std[c]!;
    }
  }
  const shape = layout === 'nhwc' ? [1, height, width, channels] : [1, channels, height, width];
  return new Tensor(data, shape, 'float32')[tracked]();

  function perChannel(name: string, value: number | readonly number[]): readonly number[] {
    const list = typeof value === 'number' ? Array<number>(channels).fill(value) : value;
    if (list.length === channels && list.every(Number.isFinite)) return list;
    throw new LatheError(
      `image.toTensor: ${name} must be a number or ${channels} numbers, one for each channel, got ${JSON.stringify(value)}`,
    );
  }
}

function checkWord(name: string, value: unknown, words: readonly unknown[]): void {
  if (words.includes(value)) return;
  throw new LatheError(
    `image.toTensor: ${name} must be ${words.join(' or ')}, got ${String(value)}`,
  );
}

const brightness = (pixels: Float32Array, at: number) =>
  0.299 * pixels[at]! + 0.587 * pixels[at + 1]! + 0.114 * pixels[at + 2]!;

/** The RGBA bytes of a source. Errors: it cannot be read; no image. */
async function pixelsOf(source: ImageSource): Promise<RgbaImage> {
  const { data, width, height } = (source ?? {}) as RgbaImage;
  if (data !== undefined && width * height * 4 === data.length) return source as RgbaImage;
  const bytes = bytesOf(source);
  const isFile = bytes !== undefined || isSource(source);
  const where = nameOf(source, 'the image');
  if (nodeProcess !== undefined && isFile) {
    const { decodeFile } = await import('./image_files.js');
    return decodeFile(bytes ?? (await readSource(source as FileSource, where)), where);
  }
  if (typeof createImageBitmap !== 'function' || source === null || typeof source === 'undefined') {
    throw new LatheError(
      'image.toTensor: expects an image file or pixels, { width, height, data } with 4 values for each pixel',
    );
  }
  try {
    const blob =
      bytes !== undefined
        ? new Blob([bytes])
        : isFile
          ? await blobOf(source as FileSource)
          : source;
    const bitmap = await createImageBitmap(blob as ImageBitmapSource, { premultiplyAlpha: 'none' });
    try {
      return drawn(bitmap);
    } finally {
      bitmap.close();
    }
  } catch (cause) {
    const reason = (cause as Error).message;
    throw new LatheError(`image.toTensor: ${where} is no readable image: ${reason}`, { cause });
  }
}

async function blobOf(source: FileSource): Promise<Blob> {
  const opened = await openSource(source);
  return opened instanceof Blob ? opened : opened.blob();
}

function drawn(bitmap: ImageBitmap): RgbaImage {
  const { width, height } = bitmap;
  const canvas =
    typeof document === 'undefined'
      ? new OffscreenCanvas(width, height)
      : Object.assign(document.createElement('canvas'), { width, height });
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  context.drawImage(bitmap, 0, 0);
  return context.getImageData(0, 0, width, height);
}

/** The weights of pixels from `start` to `start + length` for each of `to` pixels: a triangle filter as wide as the larger of both. */
function tents(from: number, start: number, length: number, to: number) {
  const scale = length / to;
  const width = Math.max(1, scale);
  return Array.from({ length: to }, (_, index) => {
    const middle = start + (index + 0.5) * scale;
    const first = Math.max(0, Math.ceil(middle - width - 0.5));
    const last = Math.min(from - 1, Math.floor(middle + width - 0.5));
    const shares: number[] = [];
    for (let k = first; k <= last; k++) shares.push(1 - Math.abs(k + 0.5 - middle) / width);
    const sum = shares.reduce((a, b) => a + b, 0);
    return { first, shares: shares.map((each) => each / sum) };
  });
}

/** The resized image, values 0 to 255: [height, width, 4]. */
function resized(
  image: RgbaImage,
  newHeight: number,
  newWidth: number,
  isCut: boolean,
): Float32Array {
  const { width, height, data } = image;
  const scale = Math.max(newHeight / height, newWidth / width);
  const [seenHeight, seenWidth] = isCut ? [newHeight / scale, newWidth / scale] : [height, width];
  const across = tents(width, (width - seenWidth) / 2, seenWidth, newWidth);
  const down = tents(height, (height - seenHeight) / 2, seenHeight, newHeight);
  const rows = new Float32Array(height * newWidth * 4);
  for (let y = 0; y < height; y++) {
    across.forEach(({ first, shares }, x) => {
      for (const [k, share] of shares.entries()) {
        for (let c = 0; c < 4; c++) {
          rows[(y * newWidth + x) * 4 + c]! += share * data[(y * width + first + k) * 4 + c]!;
        }
      }
    });
  }
  const result = new Float32Array(newHeight * newWidth * 4);
  down.forEach(({ first, shares }, y) => {
    for (const [k, share] of shares.entries()) {
      const from = (first + k) * newWidth * 4;
      for (let at = 0; at < newWidth * 4; at++) {
        result[y * newWidth * 4 + at]! += share * rows[from + at]!;
      }
    }
  });
  return result;
}
