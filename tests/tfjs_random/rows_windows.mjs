// Recipes of convolutions and pools.
const rows = {};

const areEqual = (list) => list.every((each) => each === list[0]);

/**
 * Sizes of space, and a window that fits them. For numeric padding TensorFlow.js uses the sizes of the first axis
 * for all; in three dimensions it begins after the first element where a stride leaves out the last ones; what is
 * infinite times the zeros around is NaN here.
 */
function space(c, rank, mayNumber = true) {
  const { draw } = c;
  c.finiteOnly = true;
  const sizes = Array.from({ length: rank }, () =>
    draw.size(1, rank === 1 ? 30 : rank === 2 ? 12 : 6),
  );
  const window = sizes.map((size) => draw.size(1, Math.min(size, 4)));
  const isStrided = draw.chance(0.5);
  const strides = sizes.map(() => (isStrided ? draw.size(1, 3) : 1));
  const fits = sizes.every((size, axis) => size >= 2 * (window[axis] - 1) + 1);
  const dilations = sizes.map(() => (!isStrided && fits && draw.chance(0.4) ? 2 : 1));
  let pad = draw.pick(['valid', 'same', ...(mayNumber ? [draw.size(0, 2)] : [])]);
  if (typeof pad === 'number' && ![window, strides, dilations].every(areEqual)) pad = 'valid';
  const isSkipped = (size, axis) =>
    (Math.ceil(size / strides[axis]) - 1) * strides[axis] + window[axis] < size;
  if (rank === 3 && sizes.some(isSkipped)) pad = 'valid';
  return { sizes, window, strides, dilations, pad };
}
const one = (c, list) => (areEqual(list) && c.draw.chance(0.5) ? list[0] : list);
const isPlain = (list) => list.every((each) => each === 1);
const dilated = (c, { dilations }, format) =>
  isPlain(dilations) ? (c.draw.chance(0.5) ? [] : [format]) : [format, one(c, dilations)];
const image = (c, sizes, channels) => {
  const shape = [c.draw.size(1, 3), ...sizes, channels];
  return c.tensorOfShape(c.draw.chance(0.2) ? shape.slice(1) : shape);
};
/** A number for padding comes with a way of rounding, where sizes do not divide. */
const rounded = (c, { pad }) => (typeof pad === 'number' ? 'floor' : undefined);

/** The reason for windows that are larger than their input. */
const reason = 'an empty result here, a negative size there';

rows.conv1d = {
  draw: (c) => {
    // A number pads the height of one that TensorFlow.js adds, too.
    const s = space(c, 1, false);
    const [channels, filters] = [c.draw.size(1, 9), c.draw.size(1, 9)];
    const filter = c.tensorOfShape([s.window[0], channels, filters]);
    const more = s.dilations[0] > 1 ? ['NWC', s.dilations[0]] : [];
    return [image(c, s.sizes, channels), filter, s.strides[0], s.pad, ...more];
  },
};
rows.conv2d = {
  draw: (c) => {
    const s = space(c, 2);
    const [channels, filters] = [c.draw.size(1, 9), c.draw.size(1, 17)];
    const filter = c.tensorOfShape([...s.window, channels, filters]);
    const dilations = one(c, s.dilations);
    if (c.draw.chance(0.1))
      return [
        c.tensorOfShape([2, channels, ...s.sizes]),
        filter,
        one(c, s.strides),
        s.pad,
        'NCHW',
        dilations,
        rounded(c, s),
      ];
    const more = typeof s.pad === 'number' ? ['NHWC', dilations, 'floor'] : dilated(c, s, 'NHWC');
    return [image(c, s.sizes, channels), filter, one(c, s.strides), s.pad, ...more];
  },
};
rows.conv3d = {
  draw: (c) => {
    const s = space(c, 3, false);
    const [channels, filters] = [c.draw.size(1, 4), c.draw.size(1, 5)];
    const filter = c.tensorOfShape([...s.window, channels, filters]);
    return [
      image(c, s.sizes, channels),
      filter,
      one(c, s.strides),
      s.pad,
      ...dilated(c, s, 'NDHWC'),
    ];
  },
};
const transposed = (rank) => ({
  draw: (c) => {
    const s = space(c, rank, false);
    if (rank === 3 && s.window.some((size, axis) => size < s.strides[axis])) s.pad = 'valid';
    const [channels, filters] = [c.draw.size(1, 5), c.draw.size(1, 5)];
    const out = s.sizes.map((size, axis) =>
      s.pad === 'same' ? size * s.strides[axis] : (size - 1) * s.strides[axis] + s.window[axis],
    );
    const x = c.tensorOfShape([2, ...s.sizes, channels]);
    return [
      x,
      c.tensorOfShape([...s.window, filters, channels]),
      [2, ...out, filters],
      one(c, s.strides),
      s.pad,
    ];
  },
});
rows.conv2dTranspose = transposed(2);
rows.conv3dTranspose = transposed(3);
rows.depthwiseConv2d = {
  draw: (c) => {
    const s = space(c, 2);
    const channels = c.draw.size(1, 9);
    const filter = c.tensorOfShape([...s.window, channels, c.draw.size(1, 3)]);
    const strides = s.strides.map(() => s.strides[0]);
    const dilations = one(c, s.dilations);
    const more = typeof s.pad === 'number' ? ['NHWC', dilations, 'floor'] : dilated(c, s, 'NHWC');
    return [image(c, s.sizes, channels), filter, one(c, strides), s.pad, ...more];
  },
};
rows.separableConv2d = {
  draw: (c) => {
    const s = space(c, 2, false);
    const [channels, times] = [c.draw.size(1, 5), c.draw.size(1, 2)];
    const depthwise = c.tensorOfShape([...s.window, channels, times]);
    const pointwise = c.tensorOfShape([1, 1, channels * times, c.draw.size(1, 7)]);
    const strides = one(
      c,
      s.strides.map(() => s.strides[0]),
    );
    return [image(c, s.sizes, channels), depthwise, pointwise, strides, s.pad];
  },
};
rows.dilation2d = {
  draw: (c) => {
    const s = space(c, 2, false);
    const channels = c.draw.size(1, 4);
    const x = image(c, s.sizes, channels);
    return [x, c.tensorOfShape([...s.window, channels]), s.strides, s.pad, s.dilations];
  },
};

const pooled = (rank, isMean) => ({
  draw: (c) => {
    const s = space(c, rank);
    const x = image(c, s.sizes, c.draw.size(1, 9));
    // A window entirely in the padding has no maximum.
    if (typeof s.pad === 'number') s.pad = Math.min(s.pad, ...s.window.map((size) => size - 1));
    const more = typeof s.pad === 'number' ? ['floor'] : [];
    return [x, one(c, s.window), one(c, s.strides), s.pad, ...more];
  },
  exact: !isMean,
  slope: ({ args }) =>
    isMean
      ? 'at the border TensorFlow.js divides by the full window'
      : rank === 3 && !areEqual([args[1]].flat()) && 'TensorFlow.js mixes up the axes of windows',
});
rows.maxPool = pooled(2);
rows.avgPool = pooled(2, true);
rows.maxPool3d = pooled(3);
rows.avgPool3d = pooled(3, true);
rows.maxPoolWithArgmax = {
  draw: (c) => {
    const s = space(c, 2, false);
    const x = c.tensorOfShape([c.draw.size(1, 3), ...s.sizes, c.draw.size(1, 4)]);
    return [x, one(c, s.window), one(c, s.strides), s.pad, c.draw.chance(0.5)];
  },
  exact: true,
  isDiscontinuous: true,
};
rows.pool = {
  draw: (c) => {
    const s = space(c, 2, false);
    const x = image(c, s.sizes, c.draw.size(1, 5));
    return [x, s.window, c.draw.pick(['max', 'avg']), s.pad, s.dilations, one(c, s.strides)];
  },
  slope: ({ args }) =>
    args[2] === 'avg' && 'at the border TensorFlow.js divides by the full window',
};

const activations = ['linear', 'relu', 'relu6', 'elu', 'sigmoid', 'prelu', 'leakyrelu'];
const fused = (isDepthwise) => ({
  draw: (c) => {
    const s = space(c, 2, false);
    const [channels, times] = [c.draw.size(1, 7), isDepthwise ? 1 : c.draw.size(1, 9)];
    const filters = isDepthwise ? channels * times : times;
    const activation = c.maybe(...activations);
    const strides = one(c, isDepthwise ? s.strides.map(() => s.strides[0]) : s.strides);
    return [
      {
        x: image(c, s.sizes, channels),
        filter: c.tensorOfShape([...s.window, channels, times]),
        strides,
        pad: s.pad,
        ...(isPlain(s.dilations) ? {} : { dataFormat: 'NHWC', dilations: one(c, s.dilations) }),
        ...(c.draw.chance(0.6) ? { bias: c.tensorOfShape([filters]) } : {}),
        activation,
        ...(activation === 'prelu'
          ? { preluActivationWeights: c.tensorOfShape([1, 1, filters]) }
          : {}),
        ...(activation === 'leakyrelu' ? { leakyreluAlpha: 0.3 } : {}),
      },
    ];
  },
});
rows['fused.conv2d'] = fused(false);
rows['fused.depthwiseConv2d'] = fused(true);

for (const row of Object.values(rows)) row.rejected = reason;

export const windows = rows;
