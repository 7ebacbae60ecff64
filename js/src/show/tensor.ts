/** A tensor as an image where its shape is that of one, else its numbers. */
import { Figure } from './figure.js';
import { brief, statistics } from './numbers.js';
import { pngUrl } from './png.js';
import { element, escapeXml, svgImage, textAt } from './svg.js';

/** A tensor of this package or of TensorFlow.js. */
export interface TensorLike {
  shape: readonly number[];
  dtype: string;
  dataSync(): ArrayLike<unknown>;
  toString(): string;
}

/** [images, height, width, channels] */
type ImageShape = readonly [number, number, number, number];

interface Pixels {
  width: number;
  height: number;
  /** RGBA. */
  data: Uint8Array;
}

const largest = 512; // pixels of a side
const mostImages = 16;
const columnsOfText = 64;
const linesOfText = 40;
const ramp = ' .:-=+*#%@';
const wrong = [255, 0, 255, 255];

/** The shape as images, or undefined: at least 8 × 8, with 1, 3 or 4 channels or none, and a batch or none. */
function imageShape({ shape, dtype }: TensorLike): ImageShape | undefined {
  if (dtype === 'string' || dtype === 'complex64' || shape.includes(0)) return undefined;
  const isImage = ([height = 0, width = 0, channels = 1]: readonly number[]) =>
    height >= 8 && width >= 8 && [1, 3, 4].includes(channels);
  const [a = 0, b = 0, c = 0, d = 0] = shape;
  if (shape.length === 2 && isImage([a, b])) return [1, a, b, 1];
  if (shape.length === 3 && isImage(shape)) return [1, a, b, c];
  if (shape.length === 4 && isImage([b, c, d])) return [a, b, c, d];
  return undefined;
}

/** What is black and what is white. */
function rangeOf(values: readonly number[], dtype: string): [number, number] {
  const { low, high } = statistics(values);
  if (dtype === 'bool' || low > high) return [0, 1];
  if (/int/.test(dtype) && low >= 0 && high <= 255 && high > 1) return [0, 255];
  if (low >= 0 && high <= 1 && high > low) return [0, 1];
  return high > low ? [low, high] : [Math.min(low, 0), Math.max(low, 1)];
}

/** Images in rows, a pixel apart. */
function drawPixels(values: readonly number[], shape: ImageShape, range: [number, number]): Pixels {
  const [images, fullHeight, fullWidth, channels] = shape;
  const count = Math.min(images, mostImages);
  const columns = Math.ceil(Math.sqrt(count));
  const limit = Math.floor(largest / columns);
  const [h, w] = [Math.min(fullHeight, limit), Math.min(fullWidth, limit)];
  const shrunk = Math.max(fullHeight / h, fullWidth / w);
  const [height, width] = [fullHeight, fullWidth].map((size) => Math.max(1, Math.round(size / shrunk))) as [number, number]; // prettier-ignore
  const whole = { width: columns * (width + 1) - 1, height: Math.ceil(count / columns) * (height + 1) - 1 }; // prettier-ignore
  const data = new Uint8Array(4 * whole.width * whole.height);
  const [black, white] = range;
  const level = (value: number) => Math.max(0, Math.min(255, Math.round((255 * (value - black)) / (white - black)))); // prettier-ignore
  for (let image = 0; image < count; ++image) {
    const [left, top] = [(image % columns) * (width + 1), Math.floor(image / columns) * (height + 1)]; // prettier-ignore
    for (let y = 0; y < height; ++y) {
      for (let x = 0; x < width; ++x) {
        const row = Math.min(fullHeight - 1, Math.floor(((y + 0.5) * fullHeight) / height));
        const column = Math.min(fullWidth - 1, Math.floor(((x + 0.5) * fullWidth) / width));
        const at = ((image * fullHeight + row) * fullWidth + column) * channels;
        const pixel = values.slice(at, at + channels);
        const levels = channels === 1 ? [0, 0, 0].map(() => level(pixel[0]!)) : pixel.map(level);
        const color = pixel.some((value) => !Number.isFinite(value)) ? wrong : [...levels, 255];
        data.set(color.slice(0, 4), 4 * ((top + y) * whole.width + left + x));
      }
    }
  }
  return { ...whole, data };
}

/** Each color of a terminal line: two pixels above each other in a character. */
function printColors({ width, height, data }: Pixels, step: number): string[] {
  const color = (x: number, y: number, ground: number) => {
    const at = 4 * (y * width + x);
    return `\x1b[${ground};2;${data[at]};${data[at + 1]};${data[at + 2]}m`;
  };
  const lines: string[] = [];
  for (let y = 0; y < height; y += 2 * step) {
    let line = '';
    for (let x = 0; x < width; x += step) {
      line += `${color(x, y, 38)}${y + step < height ? color(x, y + step, 48) : '\x1b[49m'}▀`;
    }
    lines.push(`${line}\x1b[0m`);
  }
  return lines;
}

/** The same in letters: a character is about twice as high as wide. */
function printLetters({ width, height, data }: Pixels, step: number): string[] {
  const lines: string[] = [];
  for (let y = 0; y < height; y += 2 * step) {
    let line = '';
    for (let x = 0; x < width; x += step) {
      const at = 4 * (y * width + x);
      const light = (data[at]! + data[at + 1]! + data[at + 2]!) / 3;
      line += data[at + 3] === 0 ? ' ' : ramp[Math.floor((light / 256) * ramp.length)]!;
    }
    lines.push(line.trimEnd());
  }
  return lines;
}

/** The figure of a tensor; `title` is above it. */
export function showTensor(tensor: TensorLike, title: string): Figure {
  const { shape, dtype } = tensor;
  const kind = `${title}: ${dtype} [${shape.join(', ')}]`;
  const images = imageShape(tensor);
  if (images === undefined) return showNumbers(tensor, kind);
  const values = Array.from(tensor.dataSync(), Number);
  const range = rangeOf(values, dtype);
  const { others } = statistics(values);
  const heading =
    `${kind}, black ${brief(range[0])}, white ${brief(range[1])}` +
    (others > 0 ? `, ${others} not finite` : '') +
    (images[0] > mostImages ? `, the first ${mostImages} of ${images[0]}` : '');
  const pixels = drawPixels(values, images, range);
  const { width, height } = pixels;
  const scale = Math.max(1, Math.floor(280 / Math.max(width, height)));
  const whole = Math.max(28 + width * scale, 28 + 6.8 * heading.length);
  const svg = svgImage(whole, height * scale + 54, heading, [
    textAt(14, 26, heading, 'title'),
    element('image', {
      href: pngUrl(pixels.data, width, height),
      x: 14,
      y: 40,
      width: width * scale,
      height: height * scale,
      style: 'image-rendering:pixelated',
    }),
  ]);
  const step = Math.ceil(width / columnsOfText);
  const [plain, colored] = [printLetters, printColors].map((print) =>
    [heading, ...print(pixels, step)].join('\n'),
  );
  return new Figure(plain!, svg, svg, colored);
}

function showNumbers(tensor: TensorLike, kind: string): Figure {
  const isNumeric = tensor.dtype !== 'string' && tensor.dtype !== 'complex64';
  const values = isNumeric ? Array.from(tensor.dataSync(), Number) : [];
  const { low, high, mean, others } = statistics(values);
  const about = low <= high && values.length > 1 ? `, from ${brief(low)} to ${brief(high)}, mean ${brief(mean)}` : ''; // prettier-ignore
  const heading = `${kind}${about}${others > 0 ? `, ${others} not finite` : ''}`;
  const printed = String(tensor)
    .replace(/^Tensor\n/, '')
    .split('\n');
  const indent = Math.min(...printed.slice(0, linesOfText).map((line) => line.search(/\S|$/)));
  const lines = [
    heading,
    ...printed.slice(0, linesOfText).map((line) => line.slice(indent)),
    ...(printed.length > linesOfText ? [`… ${printed.length - linesOfText} more lines`] : []),
  ];
  const longest = Math.max(...lines.map((line) => line.length));
  const svg = svgImage(28 + 7.4 * longest, 20 + 16 * lines.length, heading, lines.map((line, at) =>
    textAt(14, 26 + 16 * at, line, at === 0 ? 'title' : 'mono'),
  )); // prettier-ignore
  const text = lines.join('\n');
  return new Figure(text, svg, `<pre>${escapeXml(text)}</pre>`);
}
