// Recipes of operations on images and boxes.
const rows = {};

const image = (c, channels) => {
  const shape = [
    c.draw.size(1, 3),
    c.draw.size(1, 12),
    c.draw.size(1, 12),
    channels ?? c.draw.size(1, 4),
  ];
  return c.tensorOfShape(shape);
};
const resized = {
  draw: (c) => {
    // Infinity times a weight of 0 is NaN, at other elements than in TensorFlow.js.
    c.finiteOnly = true;
    const found = c.draw.chance(0.5)
      ? c.any({ minRank: 3, maxRank: 4, where: (s) => !s.includes(0) })
      : undefined;
    const x = found ?? image(c);
    const size = [c.draw.size(1, 20), c.draw.size(1, 20)];
    // TensorFlow.js never ends with the gradient of a single row whose corners are aligned.
    const isThin = c.shapeOf(x).slice(-3, -1).includes(1);
    const flags = c.draw.pick([[], [!isThin], [false, true], [false, false]]);
    return [x, size, ...flags];
  },
};
rows['image.resizeBilinear'] = { ...resized };
rows['image.resizeNearestNeighbor'] = {
  ...resized,
  exact: true,
  slope: () => 'TensorFlow.js sums within windows that are too small, and ignores halfPixelCenters',
};
rows['image.grayscaleToRGB'] = {
  draw: (c) => [
    c.draw.chance(0.5) ? image(c, 1) : c.tensorOfShape([...c.shape(c.draw.size(1, 2)), 1]),
  ],
  exact: true,
};
rows['image.rgbToGrayscale'] = {
  draw: (c) => [
    c.draw.chance(0.5) ? image(c, 3) : c.tensorOfShape([...c.shape(c.draw.size(1, 2), 200), 3]),
  ],
};
rows['image.cropAndResize'] = {
  draw: (c) => {
    const x = image(c);
    const [batch] = c.shapeOf(x);
    const count = c.draw.size(1, 4);
    const boxes = c.between([count, 4], -0.2, 1.2);
    // The gradient jumps where a box reaches another pixel.
    c.leaves.at(-1).fixed = true;
    const boxIndices = c.integers([count], 0, batch - 1);
    const more = c.draw.pick([[], ['bilinear'], ['bilinear', 0.5]]);
    return [x, boxes, boxIndices, [c.draw.size(1, 7), c.draw.size(1, 7)], ...more];
  },
};
rows['image.rotateWithOffset'] = {
  draw: (c) => {
    const more = c.draw.pick([[], [0.5], [[1, 2, 3], 0.5], [0, [0.3, 0.7]]]);
    return [image(c, 3), c.draw.pick([0.3, -1, 2.5]), ...more];
  },
  exact: true,
};
rows['image.transform'] = {
  draw: (c) => {
    // TensorFlow.js projects only the first image.
    const x = c.tensorOfShape([1, c.draw.size(1, 12), c.draw.size(1, 12), c.draw.size(1, 4)]);
    const one = () => [
      1 + 0.3 * c.draw.next(),
      0.1,
      c.draw.next(),
      -0.1,
      0.9,
      -c.draw.next(),
      0,
      0,
    ];
    const transforms = c.literal([1, 8], one().map(Math.fround));
    const fill = c.draw.pick(['constant', 'reflect', 'wrap', 'nearest']);
    const more = c.draw.pick([[], [0.5], [0, [5, 7]]]);
    return [x, transforms, 'bilinear', fill, ...more];
  },
};
rows['image.threshold'] = {
  draw: (c) => {
    const shape = [c.draw.size(1, 9), c.draw.size(1, 9), c.draw.pick([1, 3])];
    const x = c.integers(shape, 0, 255);
    return c.draw.chance(0.3)
      ? [x]
      : [x, c.draw.pick(['binary', 'otsu']), c.draw.chance(0.5), c.draw.next()];
  },
  exact: true,
  isRare: true,
  reads: 'counts in JavaScript',
};

function boxes(c) {
  const count = c.draw.size(1, 9);
  const values = Array.from({ length: count }, () => {
    const [y, x] = [c.draw.size(0, 8), c.draw.size(0, 8)];
    return [y, x, y + c.draw.size(1, 6), x + c.draw.size(1, 6)];
  });
  const scores = c.between([count], 0, 1);
  return [c.literal([count, 4], values.flat()), scores, c.draw.size(1, count)];
}
const suppression = { exact: true, isRare: true, reads: 'data-dependent size' };
const names = ['nonMaxSuppression', 'nonMaxSuppressionWithScore', 'nonMaxSuppressionPadded'];
for (const name of names) {
  const draw = (c) => {
    const more = /Score/.test(name)
      ? c.draw.pick([[], [0.5], [0.5, 0.2], [0.5, 0.2, 0.5]])
      : /Padded/.test(name)
        ? c.draw.pick([[], [0.5], [0.5, 0.2, true]])
        : c.draw.pick([[], [0.3], [0.5, 0.4]]);
    return [...boxes(c), ...more];
  };
  rows[`image.${name}`] = { draw, ...suppression, exact: false };
  rows[`image.${name}Async`] = { draw, ...suppression, exact: false, isAsync: true };
}

export const images = rows;
