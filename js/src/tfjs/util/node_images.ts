/**
 * Image files as tensors and back, in Node: as `node` of @tensorflow/tfjs-node. JPEG needs the npm package
 * jpeg-js, PNG pngjs; each is loaded on first use.
 */
import { isEngineError, LatheError } from '../../base/errors.js';
import { isArrayOf } from '../../base/kinds.js';
import { nodeModule, nodeProcess } from '../../base/node.js';
import { tensor } from '../../tensor/create.js';
import type { Tensor3D } from '../../tensor/ranked_tensors.js';
import type { Tensor } from '../../tensor/tensor.js';

/** RGBA pixels. */
interface Pixels {
  width: number;
  height: number;
  data: Uint8Array;
}

interface JpegPackage {
  decode(file: Uint8Array, options: object): Pixels;
  encode(pixels: Pixels, quality: number): { data: Uint8Array };
}

interface PngPackage {
  PNG: {
    sync: {
      read(file: Uint8Array): Pixels & { colorType: number };
      write(pixels: Pixels, options: object): Uint8Array;
    };
  };
}

const loaded = new Map<string, unknown>();

/** Imports a package resolved from this one, as the working directory is not trusted. Errors: not in Node; not installed. */
function load<Package>(what: string, name: string): Package {
  if (nodeProcess === undefined) {
    throw new LatheError(`${what}: only in Node; in pages use browser.fromPixels`);
  }
  if (!loaded.has(name)) loaded.set(name, required(what, name));
  return loaded.get(name) as Package;
}

function required(what: string, name: string): unknown {
  try {
    return nodeModule('module').createRequire(import.meta.url)(name);
  } catch (cause) {
    throw new LatheError(
      `${what}: needs the npm package ${name}, which is not installed: npm install ${name}`,
      { cause },
    );
  }
}

/** Luma weights of red, green and blue: BT.601 for JPEG, whose files store luma, BT.709 for PNG. */
const lumaOfJpeg = [0.299, 0.587, 0.114] as const;
const lumaOfPng = [0.2126, 0.7152, 0.0722] as const;

/** The requested channels of each pixel: gray, gray and alpha, RGB or RGBA. */
function selectChannels(
  { width, height, data }: Pixels,
  channels: number,
  [red, green, blue]: readonly [number, number, number],
): Tensor3D {
  const values = new Int32Array(width * height * channels);
  let to = 0;
  for (let at = 0; at < data.length; at += 4) {
    const [r, g, b] = [data[at]!, data[at + 1]!, data[at + 2]!];
    if (channels < 3) values[to++] = Math.round(red * r + green * g + blue * b);
    else [values[to], values[to + 1], values[to + 2]] = [r, g, b];
    if (channels >= 3) to += 3;
    if (channels % 2 === 0) values[to++] = data[at + 3]!;
  }
  return tensor(values, [height, width, channels], 'int32') as Tensor3D;
}

function checkFile(
  what: string,
  file: unknown,
  channels: number,
  possible: readonly number[],
): void {
  if (!isArrayOf(file, Uint8Array)) {
    throw new LatheError(
      `${what}: a Uint8Array is needed, the bytes of a file; got ${typeof file}`,
    );
  }
  if (possible.includes(channels)) return;
  throw new LatheError(`${what}: channels must be one of ${possible.join(', ')}, got ${channels}`);
}

/** Default limit of pixels per file: 400 MB as bytes. */
const defaultMaxPixels = 1e8;

function decoded<Result>(what: string, decode: () => Result): Result {
  try {
    return decode();
  } catch (cause) {
    const message = isEngineError(cause) ? 'it is damaged' : (cause as Error).message;
    throw new LatheError(`${what}: the file cannot be read: ${message}`, { cause });
  }
}

/** 1 or 3, from the frame header of the file (ITU-T T.81, B.2.2). */
function channelsOfJpeg(file: Uint8Array): number {
  for (let at = 2; at + 9 < file.length && file[at] === 0xff;) {
    const marker = file[at + 1]!;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return file[at + 9] === 1 ? 1 : 3;
    at += 2 + 256 * file[at + 2]! + file[at + 3]!;
  }
  return 3;
}

/**
 * [height, width, channels] of a JPEG file, int32 from 0 to 255.
 *
 * @param channels 1: gray, 3: colors; 0: as in the file
 *
 * @param maxPixels maximum number of pixels; default: 100 million
 *
 * Errors: other bytes; more pixels; jpeg-js is not installed.
 */
export function decodeJpeg(
  contents: Uint8Array,
  channels: 0 | 1 | 3 = 0,
  maxPixels = defaultMaxPixels,
): Tensor3D {
  checkFile('decodeJpeg', contents, channels, [0, 1, 3]);
  const { decode } = load<JpegPackage>('decodeJpeg', 'jpeg-js');
  const options = { useTArray: true, maxResolutionInMP: maxPixels / 1e6, maxMemoryUsageInMB: 4096 };
  const pixels = decoded('decodeJpeg', () => decode(contents, options));
  return selectChannels(pixels, channels || channelsOfJpeg(contents), lumaOfJpeg);
}

/** Channels of a PNG file by its color type (PNG, 11.2.2); a palette has colors. */
const channelsOfPng: Record<number, number> = { 0: 1, 2: 3, 3: 3, 4: 2, 6: 4 };

/**
 * [height, width, channels] of a PNG file, int32 from 0 to 255.
 *
 * @param channels 1: gray, 2: gray and alpha, 3: colors, 4: colors and alpha; 0: as in the file
 *
 * @param maxPixels maximum number of pixels, as a small file may declare any; default: 100 million
 *
 * Errors: other bytes; more pixels; another dtype than int32; pngjs is not installed.
 */
export function decodePng(
  contents: Uint8Array,
  channels: 0 | 1 | 2 | 3 | 4 = 0,
  dtype = 'int32',
  maxPixels = defaultMaxPixels,
): Tensor3D {
  checkFile('decodePng', contents, channels, [0, 1, 2, 3, 4]);
  checkType('decodePng', dtype);
  const { PNG } = load<PngPackage>('decodePng', 'pngjs');
  const { buffer, byteOffset, length } = contents;
  const file = nodeModule('buffer').Buffer.from(buffer, byteOffset, length);
  const pixels = decoded('decodePng', () => {
    const [width, height] =
      file.length < 24 ? [0, 0] : [file.readUInt32BE(16), file.readUInt32BE(20)];
    if (width * height > maxPixels) {
      throw new Error(`${width} by ${height} pixels are more than maxPixels, ${maxPixels}`);
    }
    return PNG.sync.read(file);
  });
  return selectChannels(pixels, channels || channelsOfPng[pixels.colorType]!, lumaOfPng);
}

function checkType(what: string, dtype: string): void {
  if (dtype === 'int32') return;
  throw new LatheError(`${what} could only return Tensor of type \`int32\` for now.`);
}

/** File signatures. */
const beginnings = { decodeJpeg: [0xff, 0xd8, 0xff], decodePng: [137, 80, 78, 71, 13, 10, 26, 10] };

/** `decodeJpeg` or `decodePng`, by the file signature. Errors: those of both; another kind of file. */
export function decodeImage(
  content: Uint8Array,
  channels: 0 | 1 | 3 | 4 = 0,
  dtype = 'int32',
  _expandAnimations = true,
  maxPixels = defaultMaxPixels,
): Tensor3D {
  checkType('decodeImage', dtype);
  checkFile('decodeImage', content, channels, [0, 1, 3, 4]);
  const begins = (bytes: readonly number[]) => bytes.every((each, at) => content[at] === each);
  if (begins(beginnings.decodeJpeg)) return decodeJpeg(content, channels as 0, maxPixels);
  if (begins(beginnings.decodePng)) return decodePng(content, channels, dtype, maxPixels);
  throw new LatheError(
    'decodeImage: expected a JPEG or a PNG file, but got another type of image; BMP and GIF are not read',
  );
}

/** Converts an image to RGBA. Errors: not [height, width, channels]; another number of channels. */
async function pixelsOf(what: string, image: Tensor, possible: readonly number[]): Promise<Pixels> {
  const { shape } = image;
  const [height, width, channels] = shape as readonly number[];
  if (shape.length !== 3 || !possible.includes(channels!)) {
    throw new LatheError(
      `${what}: expected [height, width, channels] with ${possible.join(', ')} channels, got [${shape.join(',')}]`,
    );
  }
  const values = await image.data();
  const data = new Uint8Array(4 * height! * width!);
  for (let pixel = 0; pixel < height! * width!; ++pixel) {
    const from = pixel * channels!;
    const isGray = channels! < 3;
    for (let at = 0; at < 3; ++at) data[4 * pixel + at] = Number(values[isGray ? from : from + at]);
    data[4 * pixel + 3] = channels! % 2 === 0 ? Number(values[from + channels! - 1]) : 255;
  }
  return { width: width!, height: height!, data };
}

/**
 * Encodes [height, width, 1 or 3], values from 0 to 255, as JPEG.
 *
 * @param _format ignored; the number of channels decides
 * @param quality from 0 to 100
 *
 * Errors: another shape; jpeg-js is not installed.
 */
export async function encodeJpeg(
  image: Tensor3D,
  _format: '' | 'grayscale' | 'rgb' = '',
  quality = 95,
): Promise<Uint8Array> {
  const pixels = await pixelsOf('encodeJpeg', image as Tensor, [1, 3]);
  const { encode } = load<JpegPackage>('encodeJpeg', 'jpeg-js');
  return new Uint8Array(encode(pixels, quality).data);
}

/** Color types of PNG by the channels. */
const colorTypes: Record<number, number> = { 1: 0, 2: 4, 3: 2, 4: 6 };

/**
 * Encodes [height, width, 1 to 4], values from 0 to 255, as PNG.
 *
 * @param compression from 0 to 9
 *
 * Errors: another shape; pngjs is not installed.
 */
export async function encodePng(image: Tensor3D, compression = 1): Promise<Uint8Array> {
  const pixels = await pixelsOf('encodePng', image as Tensor, [1, 2, 3, 4]);
  const { PNG } = load<PngPackage>('encodePng', 'pngjs');
  const colorType = colorTypes[image.shape[2]]!;
  return new Uint8Array(PNG.sync.write(pixels, { colorType, deflateLevel: compression }));
}
