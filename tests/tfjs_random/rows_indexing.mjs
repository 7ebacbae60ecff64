// Recipes of operations with indices, and of those with data-dependent sizes.
const all = ['float32', 'int32', 'bool'];
const rows = {};

rows.gather = {
  draw: (c) => {
    const x = c.any({
      dtypes: c.draw.chance(0.75) ? ['float32'] : all,
      minRank: 1,
      where: (s) => !s.includes(0),
    });
    if (x === undefined) return undefined;
    const shape = c.shapeOf(x);
    const axis = c.draw.size(0, shape.length - 1);
    const indices = (front) => {
      const rest = c.shape(c.draw.size(0, Math.max(0, 4 - shape.length)), 12);
      return c.integers([...front, ...rest], 0, shape[axis] - 1);
    };
    if (axis > 0 && c.draw.chance(0.25)) return [x, indices(shape.slice(0, 1)), axis, 1];
    return c.draw.chance(0.2) ? [x, indices([]), axis - shape.length] : [x, indices([]), axis];
  },
  exact: true,
};
/** Indices in the first axes of a shape: [count, depth]. */
function spots(c, shape, isUnique) {
  const depth = c.draw.size(1, shape.length);
  const count = c.draw.size(1, 6);
  const rows = Array.from({ length: count }, () =>
    shape.slice(0, depth).map((size) => c.draw.size(0, size - 1)),
  );
  const distinct = isUnique ? [...new Map(rows.map((row) => [row.join(), row])).values()] : rows;
  return {
    depth,
    count: distinct.length,
    tensor: c.literal([distinct.length, depth], distinct.flat(), 'int32'),
  };
}
rows.gatherND = {
  draw: (c) => {
    const x = c.any({ dtypes: ['float32', 'int32'], minRank: 1, where: (s) => !s.includes(0) });
    return x && [x, spots(c, c.shapeOf(x)).tensor];
  },
  exact: true,
};
rows.scatterND = {
  draw: (c) => {
    const shape = c.shape(c.draw.size(1, 3), 200).map((size) => Math.max(1, size));
    const { depth, count, tensor } = spots(c, shape);
    return [tensor, c.tensorOfShape([count, ...shape.slice(depth)]), shape];
  },
};
rows.tensorScatterUpdate = {
  draw: (c) => {
    const x = c.any({ minRank: 1, where: (s) => !s.includes(0) });
    if (x === undefined) return undefined;
    const shape = c.shapeOf(x);
    const { depth, count, tensor } = spots(c, shape, true);
    return [x, tensor, c.tensorOfShape([count, ...shape.slice(depth)])];
  },
  // TensorFlow.js writes into its operand.
  run: (lib, x, indices, values) =>
    lib.tidy(() => lib.tensorScatterUpdate(lib.mul(x, 1), indices, values)),
  exact: true,
  reads: 'reads indices',
};
rows.sparseToDense = {
  draw: (c) => {
    const rank = c.draw.size(1, 3);
    const shape = c.shape(rank, 200).map((size) => Math.max(1, size));
    const all = Array.from({ length: c.draw.size(1, 5) }, () =>
      shape.map((size) => c.draw.size(0, size - 1)),
    );
    const distinct = [...new Map(all.map((row) => [row.join(), row])).values()];
    const indices = c.literal([distinct.length, rank], distinct.flat(), 'int32');
    return [
      indices,
      c.tensorOfShape([distinct.length]),
      shape,
      ...(c.draw.chance(0.5) ? [c.literal([], [0.5])] : []),
    ];
  },
  exact: true,
  reads: 'reads indices',
};
rows.unsortedSegmentSum = {
  draw: (c) => {
    // Sums of integers are floats in TensorFlow.js on the CPU, and what is infinite is multiplied by 0.
    c.finiteOnly = true;
    const x = c.any({ minRank: 1, where: (s) => !s.includes(0) });
    if (x === undefined) return undefined;
    const count = c.draw.size(1, 5);
    return [x, c.integers([c.shapeOf(x)[0]], 0, count - 1), count];
  },
};
const sorted = (c, min) => {
  const shape = [c.draw.size(1, 3), c.draw.size(1, 9)];
  const values = Array.from({ length: shape[0] }, () =>
    Array.from({ length: shape[1] }, () => c.draw.size(-9, 9)).sort((a, b) => a - b),
  ).flat();
  return [c.literal(shape, values), c.leaf([shape[0], c.draw.size(1, 5)]), ...min];
};
const bound = {
  isDiscontinuous: true,
  exact: true,
  reads: 'searches in JavaScript',
  rejected: 'values of fewer axes are accepted here',
};
rows.lowerBound = { draw: (c) => sorted(c, []), ...bound };
rows.upperBound = { draw: (c) => sorted(c, []), ...bound };
rows.searchSorted = {
  draw: (c) => sorted(c, [c.maybe('left', 'right')]),
  ...bound,
};

const data = { isAsync: true, reads: 'data-dependent size', exact: true };
rows.whereAsync = {
  draw: (c) => {
    const x = c.any({ dtypes: ['bool'], minRank: 1 });
    return x && [x];
  },
  ...data,
};
rows.booleanMaskAsync = {
  draw: (c) => {
    const x = c.any({ minRank: 1, where: (s) => !s.includes(0) });
    if (x === undefined) return undefined;
    const shape = c.shapeOf(x);
    const axis = c.draw.size(0, shape.length - 1);
    const count = c.draw.size(1, shape.length - axis);
    const mask = c.tensorOfShape(shape.slice(axis, axis + count), 'bool');
    return [x, mask, axis];
  },
  ...data,
};
rows.setdiff1dAsync = {
  draw: (c) => [c.integers([c.dim()], 0, 9), c.integers([c.dim()], 0, 9)],
  ...data,
  isRare: true,
};
rows.inTopKAsync = {
  draw: (c) => {
    c.finiteOnly = true;
    const x = c.any({ minRank: 2, maxRank: 3, where: (s) => s.at(-1) > 0 });
    if (x === undefined) return undefined;
    const shape = c.shapeOf(x);
    const classes = shape.at(-1);
    return [x, c.integers(shape.slice(0, -1), 0, classes - 1), c.draw.size(1, classes)];
  },
  ...data,
  isDiscontinuous: true,
};

rows['sparse.sparseFillEmptyRows'] = {
  draw: (c) => {
    const size = c.draw.size(2, 6);
    const present = Array.from({ length: size }, (_, at) => at).filter(() => c.draw.chance(0.6));
    if (present.length === 0) return undefined;
    const indices = c.literal(
      [present.length, 2],
      present.flatMap((at) => [at, c.draw.size(0, 3)]),
      'int32',
    );
    return [
      indices,
      c.tensorOfShape([present.length]),
      c.literal([2], [size, 4], 'int32'),
      c.literal([], [-1]),
    ];
  },
  exact: true,
  isRare: true,
  reads: 'data-dependent size',
};
rows['sparse.sparseReshape'] = {
  draw: (c) => {
    const indices = [0, 1, 2].map((at) => [at, c.draw.size(0, 1), c.draw.size(0, 2)]);
    const shape = c.draw.pick([[6, 3], [2, -1], [-1], [9, 2]]);
    return [
      c.literal([3, 3], indices.flat(), 'int32'),
      c.literal([3], [3, 2, 3], 'int32'),
      c.literal([shape.length], shape, 'int32'),
    ];
  },
  exact: true,
  isRare: true,
  reads: 'reads shapes',
};
for (const name of ['sparseSegmentSum', 'sparseSegmentMean'])
  rows[`sparse.${name}`] = {
    draw: (c) => {
      const x = c.any({ minRank: 1, maxRank: 2, where: (s) => !s.includes(0) });
      if (x === undefined) return undefined;
      const count = c.draw.size(1, 6);
      const segments = Array.from({ length: count }, () => c.draw.size(0, 3)).sort((a, b) => a - b);
      const indices = c.integers([count], 0, c.shapeOf(x)[0] - 1);
      return [x, indices, c.literal([count], segments, 'int32')];
    },
    isRare: true,
    reads: 'data-dependent size',
  };
rows.raggedRange = {
  draw: (c) => {
    const starts = [0, 1, 2].map(() => c.draw.size(-5, 5));
    const limits = starts.map((start) => start + c.draw.size(0, 6));
    return [
      c.literal([3], starts, 'int32'),
      c.literal([3], limits, 'int32'),
      c.literal([3], [1, 2, 1], 'int32'),
    ];
  },
  exact: true,
  isRare: true,
  reads: 'data-dependent size',
};
rows.raggedGather = {
  draw: (c) => {
    const rowsOf = c.draw.size(1, 4);
    const splits = [0];
    for (let at = 0; at < rowsOf; ++at) splits.push(splits.at(-1) + c.draw.size(1, 3));
    const indices = c.integers([c.draw.size(1, 5)], 0, rowsOf - 1);
    return [
      [c.literal([splits.length], splits, 'int32')],
      c.tensorOfShape([splits.at(-1)]),
      indices,
      1,
    ];
  },
  exact: true,
  isRare: true,
  reads: 'data-dependent size',
};
rows.raggedTensorToTensor = {
  rejected: 'a number is a shape of one axis here',
  draw: (c) => {
    const splits = [0];
    for (let at = 0; at < 3; ++at) splits.push(splits.at(-1) + c.draw.size(0, 3));
    if (splits.at(-1) === 0) return undefined;
    const shape = c.draw.pick([
      [3, 4],
      [4, 2],
      [3, 3],
    ]);
    return [
      c.literal([2], shape, 'int32'),
      c.tensorOfShape([splits.at(-1)]),
      c.literal([], [-1.5]),
      [c.literal([4], splits, 'int32')],
      ['ROW_SPLITS'],
    ];
  },
  exact: true,
  isRare: true,
  reads: 'reads shapes',
};

export const indexing = rows;
