// Recipes of operations that take places, and of those whose result's size is in the data.
const all = ['float32', 'int32', 'bool'];
const rows = {};

rows.gather = {
  draw: (c) => {
    const x = c.any({
      dtypes: c.d.chance(0.75) ? ['float32'] : all,
      least: 1,
      where: (s) => !s.includes(0),
    });
    if (x === undefined) return undefined;
    const shape = c.shapeOf(x);
    const axis = c.d.size(0, shape.length - 1);
    const indices = (front) => {
      const rest = c.shape(c.d.size(0, Math.max(0, 4 - shape.length)), 12);
      return c.whole([...front, ...rest], 0, shape[axis] - 1);
    };
    if (axis > 0 && c.d.chance(0.25)) return [x, indices(shape.slice(0, 1)), axis, 1];
    return c.d.chance(0.2) ? [x, indices([]), axis - shape.length] : [x, indices([]), axis];
  },
  exact: true,
};
/** Places in the first axes of a shape: [count, depth]. */
function spots(c, shape, isUnique) {
  const depth = c.d.size(1, shape.length);
  const count = c.d.size(1, 6);
  const rows = Array.from({ length: count }, () =>
    shape.slice(0, depth).map((size) => c.d.size(0, size - 1)),
  );
  const kept = isUnique ? [...new Map(rows.map((row) => [row.join(), row])).values()] : rows;
  return { depth, count: kept.length, tensor: c.given([kept.length, depth], kept.flat(), 'int32') };
}
rows.gatherND = {
  draw: (c) => {
    const x = c.any({ dtypes: ['float32', 'int32'], least: 1, where: (s) => !s.includes(0) });
    return x && [x, spots(c, c.shapeOf(x)).tensor];
  },
  exact: true,
};
rows.scatterND = {
  draw: (c) => {
    const shape = c.shape(c.d.size(1, 3), 200).map((size) => Math.max(1, size));
    const { depth, count, tensor } = spots(c, shape);
    return [tensor, c.of([count, ...shape.slice(depth)]), shape];
  },
};
rows.tensorScatterUpdate = {
  draw: (c) => {
    const x = c.any({ least: 1, where: (s) => !s.includes(0) });
    if (x === undefined) return undefined;
    const shape = c.shapeOf(x);
    const { depth, count, tensor } = spots(c, shape, true);
    return [x, tensor, c.of([count, ...shape.slice(depth)])];
  },
  // TensorFlow.js writes into its operand.
  run: (lib, x, places, values) =>
    lib.tidy(() => lib.tensorScatterUpdate(lib.mul(x, 1), places, values)),
  exact: true,
  reads: 'reads places',
};
rows.sparseToDense = {
  draw: (c) => {
    const rank = c.d.size(1, 3);
    const shape = c.shape(rank, 200).map((size) => Math.max(1, size));
    const all = Array.from({ length: c.d.size(1, 5) }, () =>
      shape.map((size) => c.d.size(0, size - 1)),
    );
    const kept = [...new Map(all.map((row) => [row.join(), row])).values()];
    const indices = c.given([kept.length, rank], kept.flat(), 'int32');
    return [indices, c.of([kept.length]), shape, ...(c.d.chance(0.5) ? [c.given([], [0.5])] : [])];
  },
  exact: true,
  reads: 'reads places',
};
rows.unsortedSegmentSum = {
  draw: (c) => {
    // Sums of integers are floats in TensorFlow.js on the CPU, and what is infinite is multiplied by 0.
    c.finiteOnly = true;
    const x = c.any({ least: 1, where: (s) => !s.includes(0) });
    if (x === undefined) return undefined;
    const count = c.d.size(1, 5);
    return [x, c.whole([c.shapeOf(x)[0]], 0, count - 1), count];
  },
};
const sorted = (c, least) => {
  const shape = [c.d.size(1, 3), c.d.size(1, 9)];
  const values = Array.from({ length: shape[0] }, () =>
    Array.from({ length: shape[1] }, () => c.d.size(-9, 9)).sort((a, b) => a - b),
  ).flat();
  return [c.given(shape, values), c.leaf([shape[0], c.d.size(1, 5)]), ...least];
};
const bound = {
  cuts: true,
  exact: true,
  reads: 'searches in JavaScript',
  refused: 'values of fewer axes are taken here',
};
rows.lowerBound = { draw: (c) => sorted(c, []), ...bound };
rows.upperBound = { draw: (c) => sorted(c, []), ...bound };
rows.searchSorted = {
  draw: (c) => sorted(c, [c.maybe('left', 'right')]),
  ...bound,
};

const data = { isAsync: true, reads: 'data gives the size', exact: true };
rows.whereAsync = {
  draw: (c) => {
    const x = c.any({ dtypes: ['bool'], least: 1 });
    return x && [x];
  },
  ...data,
};
rows.booleanMaskAsync = {
  draw: (c) => {
    const x = c.any({ least: 1, where: (s) => !s.includes(0) });
    if (x === undefined) return undefined;
    const shape = c.shapeOf(x);
    const axis = c.d.size(0, shape.length - 1);
    const count = c.d.size(1, shape.length - axis);
    const mask = c.of(shape.slice(axis, axis + count), 'bool');
    return [x, mask, axis];
  },
  ...data,
};
rows.setdiff1dAsync = {
  draw: (c) => [c.whole([c.dim()], 0, 9), c.whole([c.dim()], 0, 9)],
  ...data,
  isRare: true,
};
rows.inTopKAsync = {
  draw: (c) => {
    c.finiteOnly = true;
    const x = c.any({ least: 2, most: 3, where: (s) => s.at(-1) > 0 });
    if (x === undefined) return undefined;
    const shape = c.shapeOf(x);
    const classes = shape.at(-1);
    return [x, c.whole(shape.slice(0, -1), 0, classes - 1), c.d.size(1, classes)];
  },
  ...data,
  cuts: true,
};

rows['sparse.sparseFillEmptyRows'] = {
  draw: (c) => {
    const size = c.d.size(2, 6);
    const taken = Array.from({ length: size }, (_, at) => at).filter(() => c.d.chance(0.6));
    if (taken.length === 0) return undefined;
    const indices = c.given(
      [taken.length, 2],
      taken.flatMap((at) => [at, c.d.size(0, 3)]),
      'int32',
    );
    return [indices, c.of([taken.length]), c.given([2], [size, 4], 'int32'), c.given([], [-1])];
  },
  exact: true,
  isRare: true,
  reads: 'data gives the size',
};
rows['sparse.sparseReshape'] = {
  draw: (c) => {
    const indices = [0, 1, 2].map((at) => [at, c.d.size(0, 1), c.d.size(0, 2)]);
    const shape = c.d.pick([[6, 3], [2, -1], [-1], [9, 2]]);
    return [
      c.given([3, 3], indices.flat(), 'int32'),
      c.given([3], [3, 2, 3], 'int32'),
      c.given([shape.length], shape, 'int32'),
    ];
  },
  exact: true,
  isRare: true,
  reads: 'reads shapes',
};
for (const name of ['sparseSegmentSum', 'sparseSegmentMean'])
  rows[`sparse.${name}`] = {
    draw: (c) => {
      const x = c.any({ least: 1, most: 2, where: (s) => !s.includes(0) });
      if (x === undefined) return undefined;
      const count = c.d.size(1, 6);
      const segments = Array.from({ length: count }, () => c.d.size(0, 3)).sort((a, b) => a - b);
      const indices = c.whole([count], 0, c.shapeOf(x)[0] - 1);
      return [x, indices, c.given([count], segments, 'int32')];
    },
    isRare: true,
    reads: 'data gives the size',
  };
rows.raggedRange = {
  draw: (c) => {
    const starts = [0, 1, 2].map(() => c.d.size(-5, 5));
    const limits = starts.map((start) => start + c.d.size(0, 6));
    return [
      c.given([3], starts, 'int32'),
      c.given([3], limits, 'int32'),
      c.given([3], [1, 2, 1], 'int32'),
    ];
  },
  exact: true,
  isRare: true,
  reads: 'data gives the size',
};
rows.raggedGather = {
  draw: (c) => {
    const rowsOf = c.d.size(1, 4);
    const splits = [0];
    for (let at = 0; at < rowsOf; ++at) splits.push(splits.at(-1) + c.d.size(1, 3));
    const indices = c.whole([c.d.size(1, 5)], 0, rowsOf - 1);
    return [[c.given([splits.length], splits, 'int32')], c.of([splits.at(-1)]), indices, 1];
  },
  exact: true,
  isRare: true,
  reads: 'data gives the size',
};
rows.raggedTensorToTensor = {
  refused: 'a number is a shape of one axis here',
  draw: (c) => {
    const splits = [0];
    for (let at = 0; at < 3; ++at) splits.push(splits.at(-1) + c.d.size(0, 3));
    if (splits.at(-1) === 0) return undefined;
    const shape = c.d.pick([
      [3, 4],
      [4, 2],
      [3, 3],
    ]);
    return [
      c.given([2], shape, 'int32'),
      c.of([splits.at(-1)]),
      c.given([], [-1.5]),
      [c.given([4], splits, 'int32')],
      ['ROW_SPLITS'],
    ];
  },
  exact: true,
  isRare: true,
  reads: 'reads shapes',
};

export const places = rows;
