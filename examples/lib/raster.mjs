// Strokes to pixels: smooth curves through points, antialiased lines with round ends. Knows nothing of digits.

export const side = 28;
export const pixels = side * side;

/** Points on the Catmull-Rom curve through the given points. */
export function smooth(points, steps = 5) {
  const at = (index) => points[Math.max(0, Math.min(points.length - 1, index))];
  const result = [points[0]];
  for (let i = 0; i + 1 < points.length; ++i) {
    const [a, b, c, d] = [at(i - 1), at(i), at(i + 1), at(i + 2)];
    for (let step = 1; step <= steps; ++step) {
      const t = step / steps;
      const on = (axis) =>
        b[axis] +
        0.5 *
          t *
          (c[axis] -
            a[axis] +
            t *
              (2 * a[axis] -
                5 * b[axis] +
                4 * c[axis] -
                d[axis] +
                t * (3 * (b[axis] - c[axis]) + d[axis] - a[axis])));
      result.push([on(0), on(1)]);
    }
  }
  return result;
}

/**
 * Draws polylines into `out` (28×28 floats from 0 to 1, the darker pixel wins).
 * Points are in pixels, `width` is the pen's in pixels, `ink` its darkness.
 */
export function drawStrokes(out, strokes, width, ink = 1) {
  const reach = width / 2 + 0.5;
  for (const stroke of strokes) {
    for (let i = 0; i < Math.max(1, stroke.length - 1); ++i) {
      drawSegment(out, stroke[i], stroke[Math.min(i + 1, stroke.length - 1)], reach, ink);
    }
  }
}

function drawSegment(out, [x0, y0], [x1, y1], reach, ink) {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const length2 = dx * dx + dy * dy;
  const clip = (value) => Math.max(0, Math.min(side - 1, value));
  const right = clip(Math.ceil(Math.max(x0, x1) + reach));
  const bottom = clip(Math.ceil(Math.max(y0, y1) + reach));
  for (let y = clip(Math.floor(Math.min(y0, y1) - reach)); y <= bottom; ++y) {
    for (let x = clip(Math.floor(Math.min(x0, x1) - reach)); x <= right; ++x) {
      const along = length2 === 0 ? 0 : ((x - x0) * dx + (y - y0) * dy) / length2;
      const t = Math.max(0, Math.min(1, along));
      const [ex, ey] = [x - x0 - t * dx, y - y0 - t * dy];
      const value = ink * Math.max(0, Math.min(1, reach - Math.sqrt(ex * ex + ey * ey)));
      const at = y * side + x;
      if (value > out[at]) out[at] = value;
    }
  }
}

/** Scales and shifts strokes as MNIST does: the longer side is 20 pixels, the centre of the ink is in the middle. */
export function normaliseStrokes(strokes, width = 2.2) {
  const all = strokes.flat();
  if (all.length === 0) return strokes;
  const [xs, ys] = [all.map(([x]) => x), all.map(([, y]) => y)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const extent = Math.max(Math.max(...xs) - left, Math.max(...ys) - top, 1e-6);
  const scale = (20 - width) / extent;
  const scaled = strokes.map((stroke) =>
    stroke.map(([x, y]) => [(x - left) * scale + 4, (y - top) * scale + 4]),
  );
  const image = new Float32Array(pixels);
  drawStrokes(image, scaled, width);
  const [cx, cy] = centre(image);
  const middle = (side - 1) / 2;
  return scaled.map((stroke) => stroke.map(([x, y]) => [x + middle - cx, y + middle - cy]));
}

function centre(image) {
  let [total, x, y] = [0, 0, 0];
  image.forEach((value, at) => {
    total += value;
    x += value * (at % side);
    y += value * Math.floor(at / side);
  });
  return total === 0 ? [(side - 1) / 2, (side - 1) / 2] : [x / total, y / total];
}
