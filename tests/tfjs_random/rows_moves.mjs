// Recipes of operations that move elements.
const all = ['float32', 'int32', 'bool'];

/** Operations of a tensor of any dtype, with the arguments of `more` after it. */
const of = (more, options = {}) => ({
  draw: (c) => {
    const x = c.any({ dtypes: c.draw.chance(0.75) ? ['float32'] : all, ...options });
    if (x === undefined) return undefined;
    const rest = more(c, c.shapeOf(x), x);
    return rest && [x, ...rest];
  },
  exact: true,
});

/** Another shape of so many elements. */
function reshaped(c, shape) {
  let left = shape.reduce((product, each) => product * each, 1);
  if (left === 0) return shape;
  const sizes = [];
  for (let axes = c.draw.size(0, 3); axes > 0; --axes) {
    const divisors = [1, 2, 3, 4, 5, 6, 7, 8].filter((each) => left % each === 0);
    sizes.push(c.draw.pick(divisors));
    left /= sizes.at(-1);
  }
  sizes.splice(c.draw.size(0, sizes.length), 0, left);
  return sizes;
}

const rows = {};
rows.reshape = of((c, shape) => {
  const sizes = reshaped(c, shape);
  if (c.draw.chance(0.3) && !shape.includes(0)) sizes[c.draw.size(0, sizes.length - 1)] = -1;
  return [sizes];
});
rows.ensureShape = of((_, shape) => [shape]);
rows.expandDims = of((c, shape) => [c.axis(shape.length + 1)], { maxRank: 3 });
rows.squeeze = of((c, shape) => {
  const ones = shape.flatMap((size, axis) => (size === 1 && c.draw.chance(0.7) ? [axis] : []));
  return ones.length === 0 || c.draw.chance(0.3) ? [] : [ones];
});
rows.transpose = of((c, shape) => (c.draw.chance(0.2) ? [] : [c.permutation(shape.length)]));
rows.tile = of((c, shape) => [shape.map(() => c.draw.pick([1, 1, 2, 3]))], { minRank: 1 });
const paddings = (c, shape) => [
  shape.map(() => [c.draw.size(0, 2), c.draw.size(0, 2)]),
  ...(c.draw.chance(0.5) ? [c.draw.pick([1, 0, -2])] : []),
];
const numbers = ['float32', 'int32'];
rows.pad = of(paddings, { dtypes: numbers, minRank: 1 });
rows.pad1d = of((c) => [[c.draw.size(0, 3), c.draw.size(0, 3)]], {
  dtypes: numbers,
  minRank: 1,
  maxRank: 1,
});
for (const rank of [2, 3, 4])
  rows[`pad${rank}d`] = of(paddings, { dtypes: numbers, minRank: rank, maxRank: rank });
rows.mirrorPad = of(
  (c, shape) => {
    const mode = c.draw.pick(['reflect', 'symmetric']);
    const maxPad = (size) => Math.min(2, mode === 'reflect' ? size - 1 : size);
    return [
      shape.map((size) => [c.draw.size(0, maxPad(size)), c.draw.size(0, maxPad(size))]),
      mode,
    ];
  },
  { dtypes: numbers, minRank: 1, where: (s) => !s.includes(0) },
);

function part(c, shape) {
  const begin = shape.map((size) => c.draw.size(0, Math.max(0, size - 1)));
  const size = shape.map((each, axis) =>
    c.draw.chance(0.2) ? -1 : c.draw.size(0.9 < c.draw.next() ? 0 : 1, each - begin[axis]),
  );
  return [begin, size.map((each, axis) => Math.min(each, shape[axis] - begin[axis]))];
}
rows.slice = of(
  (c, shape) => {
    const [begin, size] = part(c, shape);
    if (c.draw.chance(0.2)) return [begin[0], size[0]];
    return c.draw.chance(0.3) ? [begin] : [begin, size];
  },
  { minRank: 1 },
);
rows.slice1d = of((c, shape) => part(c, shape).flat(), { minRank: 1, maxRank: 1 });
for (const rank of [2, 3, 4]) rows[`slice${rank}d`] = of(part, { minRank: rank, maxRank: rank });
for (const name of ['slice', 'slice1d', 'slice2d', 'slice3d', 'slice4d'])
  rows[name].rejected = 'a beginning that is left out is 0 here';
rows.stridedSlice = of(
  (c, shape) => {
    const { draw } = c;
    const count = draw.chance(0.8) ? shape.length : draw.size(1, shape.length);
    const strides = shape.slice(0, count).map(() => draw.pick([1, 1, 2, 3, -1, -2]));
    const bound = (size) => draw.size(-size, size);
    const begin = shape.slice(0, count).map(bound);
    const end = shape.slice(0, count).map(bound);
    if (draw.chance(0.2)) return [begin, end];
    // TensorFlow.js loses elements where an axis is removed and others have steps.
    const isForward = strides.every((each) => each === 1);
    const mask = () => draw.pick([0, 0, 1, 2, 3]) & (2 ** count - 1);
    return draw.chance(0.4)
      ? [begin, end, strides]
      : [begin, end, strides, mask(), mask(), 0, 0, isForward ? draw.pick([0, 1]) : 0];
  },
  { minRank: 1, where: (s) => !s.includes(0) },
);
rows.stridedSlice.rejected = 'TensorFlow.js fails where the result is empty';
rows.reverse = of((c, shape) => [c.axes(shape.length)]);
rows.reverse1d = of(() => [], { minRank: 1, maxRank: 1 });
for (const rank of [2, 3, 4])
  rows[`reverse${rank}d`] = of((c) => [c.axes(rank)], { minRank: rank, maxRank: rank });

const concatenated = (rank) => ({
  draw: (c) => {
    const dtype = c.draw.chance(0.7) ? 'float32' : c.draw.pick(all);
    const x = c.any({ dtypes: [dtype], minRank: rank ?? 1, maxRank: rank ?? 4 });
    if (x === undefined) return undefined;
    const shape = c.shapeOf(x);
    const axis = c.draw.size(0, shape.length - 1);
    const more = Array.from({ length: c.draw.size(0, 3) }, () => {
      const sizes = shape.map((size, at) => (at === axis ? c.dim(6) : size));
      return c.tensorOfShape(sizes, dtype);
    });
    const list = [...more, x];
    if (rank === 1) return [list];
    return [list, rank === undefined && c.draw.chance(0.2) ? axis - shape.length : axis];
  },
  exact: true,
});
rows.concat = concatenated();
for (const rank of [1, 2, 3, 4]) rows[`concat${rank}d`] = concatenated(rank);
rows.stack = {
  draw: (c) => {
    const x = c.any({ dtypes: c.draw.chance(0.7) ? ['float32'] : all, maxRank: 3 });
    if (x === undefined) return undefined;
    const { shape, dtype } = c.slotOf(x);
    const more = Array.from({ length: c.draw.size(0, 3) }, () => c.tensorOfShape(shape, dtype));
    return [[x, ...more], c.draw.size(0, shape.length)];
  },
  exact: true,
};
rows.unstack = of(
  (c, shape) => {
    const axis = c.axis(shape.length);
    return shape.at(axis) <= 6 && shape.at(axis) > 0 ? [axis] : undefined;
  },
  { minRank: 1 },
);
rows.split = of(
  (c, shape) => {
    const axis = c.axis(shape.length);
    const size = shape.at(axis);
    if (size === 0) return undefined;
    if (c.draw.chance(0.5)) {
      const divisors = [1, 2, 3, 4, 5, 7].filter((each) => size % each === 0);
      return [c.draw.pick(divisors), axis];
    }
    const first = c.draw.size(0, size);
    return [c.draw.chance(0.3) ? [first, -1] : [first, size - first], axis];
  },
  { minRank: 1 },
);
rows.broadcastTo = of((c, shape) => {
  if (shape.includes(0)) return undefined;
  const front = [2, 3].slice(0, c.draw.size(0, Math.min(2, 4 - shape.length)));
  return [[...front, ...shape.map((size) => (size === 1 ? c.draw.size(1, 5) : size))]];
});
rows.broadcastArgs = {
  draw: (c) => {
    const shape = c.shape(c.draw.size(1, 4), 50);
    const other = c.broadcastable(shape);
    return [c.literal([shape.length], shape, 'int32'), c.literal([other.length], other, 'int32')];
  },
  isRare: true,
  exact: true,
  reads: 'reads shapes',
};
rows.spaceToBatchND = {
  draw: (c) => {
    const x = c.any({ minRank: 3, maxRank: 4, where: (s) => !s.includes(0) });
    if (x === undefined) return undefined;
    const shape = c.shapeOf(x);
    const blocks = shape.slice(1, -1).map(() => c.draw.pick([1, 2, 3]));
    const pads = blocks.map((block, at) => {
      const before = c.draw.size(0, 2);
      return [before, (block - ((shape[at + 1] + before) % block)) % block];
    });
    return [x, blocks, pads];
  },
  exact: true,
};
rows.batchToSpaceND = {
  draw: (c) => {
    const blocks = [c.draw.pick([1, 2]), c.draw.pick([1, 2, 3])];
    const [h, w] = [c.draw.size(1, 6), c.draw.size(1, 6)];
    const x = c.tensorOfShape([blocks[0] * blocks[1] * c.draw.size(1, 2), h, w, c.draw.size(1, 3)]);
    return [
      x,
      blocks,
      blocks.map((block, at) => [c.draw.size(0, block - 1), at && c.draw.size(0, 1)]),
    ];
  },
  exact: true,
};
rows.depthToSpace = {
  draw: (c) => {
    const block = c.draw.pick([2, 3]);
    const x = c.tensorOfShape([
      c.draw.size(1, 2),
      c.draw.size(1, 5),
      c.draw.size(1, 5),
      block * block * c.draw.size(1, 2),
    ]);
    return c.draw.chance(0.5) ? [x, block] : [x, block, 'NHWC'];
  },
  exact: true,
};
rows.diag = of(() => [], {
  minRank: 1,
  maxRank: 3,
  where: (s) => s.reduce((a, b) => a * b, 1) <= 30,
});
rows.eye = {
  draw: (c) => [
    c.draw.size(1, 6),
    c.maybe(c.draw.size(1, 6)),
    c.maybe([c.draw.size(1, 3)]),
    c.maybe('int32'),
  ],
  exact: true,
};
for (const name of ['ones', 'zeros'])
  rows[name] = { draw: (c) => [c.shape(c.draw.size(0, 4)), c.maybe(...all)], exact: true };
rows.fill = {
  draw: (c) => [c.shape(c.draw.size(0, 4)), c.draw.pick([0, 1.5, -3]), c.maybe('float32')],
  exact: true,
};
rows.range = {
  draw: (c) => {
    const [start, step] = [c.draw.size(-9, 9), c.draw.pick([1, 2, 3, -1, -2])];
    return [start, start + step * c.draw.size(0, 20), step, c.maybe('int32')];
  },
  exact: true,
};
rows.linspace = { draw: (c) => [c.draw.size(-9, 0), c.draw.size(1, 9), c.draw.size(1, 20)] };
rows.meshgrid = {
  draw: (c) => {
    const options = c.maybe({ indexing: 'ij' }, { indexing: 'xy' });
    return [
      c.tensorOfShape([c.dim(9)]),
      c.tensorOfShape([c.dim(9)]),
      ...(options ? [options] : []),
    ];
  },
  exact: true,
};
rows.oneHot = {
  draw: (c) => {
    const shape = c.shape(c.draw.size(0, 3), 100);
    const [depth, indices] = [c.draw.size(1, 7), c.integers(shape, -1, 8)];
    return c.draw.chance(0.5)
      ? [indices, depth]
      : [indices, depth, 2, -1, c.maybe('int32', 'float32')];
  },
  exact: true,
  // The method of TensorFlow.js drops the type.
  isMethod: false,
};
rows['image.flipLeftRight'] = of(() => [], { dtypes: ['float32'], minRank: 4, maxRank: 4 });
rows.mirrorPad.slope = () => 'TensorFlow.js leaves out what was mirrored';
rows.expandDims.rejected = 'what is no number is 0 here';
rows['linalg.bandPart'] = of(
  (c, shape) => {
    const [h, w] = shape.slice(-2);
    return [c.draw.size(-1, h), c.draw.size(-1, w)];
  },
  { dtypes: ['float32'], minRank: 2, where: (s) => !s.includes(0) },
);

rows['linalg.bandPart'].rejected = 'tensors of several numbers are accepted too';

export const moves = rows;
