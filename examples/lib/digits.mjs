// Draws any number of handwritten-looking digits, 28×28 bytes each: the way of writing, an affine and an elastic distortion, the
// pen and the noise are random, and only the seed and the number of the digit decide them.
import { glyphs } from './glyphs.mjs';
import { Random } from './random.mjs';
import { drawStrokes, normaliseStrokes, pixels, side, smooth } from './raster.mjs';

/** Digits number `first` … of the endless row that `seed` decides: bytes [count, 28, 28] and their classes. */
export function drawDigits(count, seed = 1, first = 0) {
  const images = new Uint8Array(count * pixels);
  const labels = new Uint8Array(count);
  for (let i = 0; i < count; ++i)
    labels[i] = drawDigit(images.subarray(i * pixels, (i + 1) * pixels), seed, first + i);
  return { images, labels, count };
}

/** Pixels as a network wants them, 0 … 1. */
export function toFloats(images) {
  const result = new Float32Array(images.length);
  for (let at = 0; at < images.length; ++at) result[at] = images[at] / 255;
  return result;
}

function drawDigit(out, seed, number) {
  const random = new Random(seed, number);
  const label = Math.floor(random.unit() * 10);
  const width = random.between(1.1, 3.4);
  const bend = elastic(random);
  const place = affine(random);
  const strokes = random.pick(glyphs[label]).map(({ smooth: isSmooth, points }) => {
    const shaky = points.map(([x, y]) => [x + 0.018 * random.bell(), y + 0.018 * random.bell()]);
    return (isSmooth ? smooth(shaky) : corners(shaky)).map(bend).map(place);
  });
  const image = new Float32Array(pixels);
  const shift = [0.8 * random.bell(), 0.8 * random.bell()];
  const zoom = random.between(0.84, 1.06);
  const middle = (side - 1) / 2;
  const placed = normaliseStrokes(strokes, width).map((stroke) =>
    stroke.map(([x, y]) => [
      (x - middle) * zoom + middle + shift[0],
      (y - middle) * zoom + middle + shift[1],
    ]),
  );
  drawStrokes(image, placed, width, random.between(0.65, 1));
  if (random.unit() < 0.3)
    drawStrokes(image, [scratch(random)], random.between(0.6, 1.2), random.between(0.3, 0.8));
  const noise = random.between(0, 0.2);
  for (let i = 0; i < pixels; ++i) {
    out[i] = Math.round(255 * Math.max(0, Math.min(1, image[i] + noise * (random.unit() - 0.5))));
  }
  return label;
}

/** Polyline points close enough together to be bent. */
function corners(points) {
  const result = [points[0]];
  for (let i = 1; i < points.length; ++i) {
    for (let step = 1; step <= 6; ++step) {
      const t = step / 6;
      result.push([0, 1].map((axis) => points[i - 1][axis] * (1 - t) + points[i][axis] * t));
    }
  }
  return result;
}

/** A smooth displacement: three bumps that push what is near them. */
function elastic(random) {
  const bumps = Array.from({ length: 3 }, () => ({
    x: random.unit(),
    y: random.unit(),
    dx: 0.1 * random.bell(),
    dy: 0.1 * random.bell(),
  }));
  return ([x, y]) => {
    let [bentX, bentY] = [x, y];
    for (const bump of bumps) {
      const [ex, ey] = [x - bump.x, y - bump.y];
      const near = 1 / (1 + 12 * (ex * ex + ey * ey));
      bentX += bump.dx * near;
      bentY += bump.dy * near;
    }
    return [bentX, bentY];
  };
}

/** Rotation (as two shears), slant and stretch. */
function affine(random) {
  const turn = 0.16 * random.bell();
  const slant = 0.18 * random.bell();
  const stretch = random.between(0.62, 1.1);
  return ([x, y]) => {
    const turnedX = (x - 0.5) * stretch - (turn + slant) * (y - 0.5);
    return [turnedX + 0.5, y + turn * (x - 0.5)];
  };
}

/** A short stray line. */
function scratch(random) {
  const from = [random.between(2, side - 2), random.between(2, side - 2)];
  return [from, [from[0] + 5 * random.bell(), from[1] + 5 * random.bell()]];
}
