// Photos as inputs of networks: cropped to the middle, scaled, and their channels where the network expects them.
import type { Port } from './model_graph';
import { fixedShape } from './model_graph';

/** What numbers the channels of a pixel, 0 to 255, become. */
export const ranges: Record<string, (value: number, channel: number) => number> = {
  '0 to 1': (value) => value / 255,
  '−1 to 1': (value) => value / 127.5 - 1,
  'ImageNet: mean 0, deviation 1': (value, channel) =>
    (value / 255 - [0.485, 0.456, 0.406][channel]!) / [0.229, 0.224, 0.225][channel]!,
  '0 to 255': (value) => value,
};

export interface ImageShape {
  height: number;
  width: number;
  channels: number;
  isChannelsFirst: boolean;
  shape: number[];
}

/** How a network takes an image, if it takes one. */
export function imageShape(port: Port | undefined): ImageShape | undefined {
  if (port === undefined || port.shape.length !== 4) return undefined;
  const shape = fixedShape(port);
  const isChannelsFirst = port.shape[1] === 3 || port.shape[1] === 1;
  const [height, width, channels] = isChannelsFirst
    ? [shape[2]!, shape[3]!, shape[1]!]
    : [shape[1]!, shape[2]!, shape[3]!];
  if (channels !== 1 && channels !== 3) return undefined;
  return { height, width, channels, isChannelsFirst, shape };
}

/** The middle of a photo, in this size. */
export async function cropTo(file: Blob, width: number, height: number): Promise<OffscreenCanvas> {
  const photo = await createImageBitmap(file).catch(() => {
    throw new Error('the file is no image that this browser can read');
  });
  const scale = Math.max(width / photo.width, height / photo.height);
  const [across, down] = [photo.width * scale, photo.height * scale];
  const target = new OffscreenCanvas(width, height);
  const context = target.getContext('2d')!;
  context.fillStyle = '#fff';
  context.fillRect(0, 0, width, height);
  context.imageSmoothingQuality = 'high';
  context.drawImage(photo, (width - across) / 2, (height - down) / 2, across, down);
  photo.close();
  return target;
}

export const grayOf = (data: Uint8ClampedArray, pixel: number) =>
  0.299 * data[4 * pixel]! + 0.587 * data[4 * pixel + 1]! + 0.114 * data[4 * pixel + 2]!;

/** The numbers of an image for a network. */
export function numbersFor(
  image: OffscreenCanvas,
  { height, width, channels, isChannelsFirst }: ImageShape,
  range: string,
): Float32Array {
  const { data } = image.getContext('2d')!.getImageData(0, 0, width, height);
  const count = width * height;
  const values = new Float32Array(count * channels);
  for (let pixel = 0; pixel < count; ++pixel) {
    for (let channel = 0; channel < channels; ++channel) {
      const value = channels === 1 ? grayOf(data, pixel) : data[4 * pixel + channel]!;
      values[isChannelsFirst ? channel * count + pixel : pixel * channels + channel] = ranges[
        range
      ]!(value, channel);
    }
  }
  return values;
}
