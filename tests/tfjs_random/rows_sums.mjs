// Recipes of reductions, running sums, products, normalization and losses.
const all = ['float32', 'int32', 'bool'];

const reduction =
  (dtypes = ['float32'], where = () => true) =>
  (c) => {
    const x = c.any({ dtypes: c.draw.chance(0.8) ? [dtypes[0]] : dtypes, where });
    if (x === undefined) return undefined;
    const axes = c.axes(c.shapeOf(x).length);
    return c.draw.chance(0.5) ? [x, axes] : [x, axes, c.draw.chance(0.5)];
  };
const rows = {};
for (const name of ['sum', 'prod']) rows[name] = { draw: reduction(all) };
// Of no elements TensorFlow.js returns NaN for the maximum, 0 for the mean.
for (const name of ['mean', 'max', 'min'])
  rows[name] = { draw: reduction(all, (shape) => !shape.includes(0)) };
for (const name of ['logSumExp', 'euclideanNorm'])
  rows[name] = { draw: reduction(['float32'], (shape) => !shape.includes(0)) };
rows.max.exact = rows.min.exact = true;
rows.euclideanNorm.rejected = 'axes that are tensors are left out';
for (const name of ['all', 'any'])
  rows[name] = { draw: reduction(['bool'], (shape) => !shape.includes(0)), exact: true };
for (const name of ['argMax', 'argMin'])
  rows[name] = {
    draw: (c) => {
      // NaN is the maximum and the minimum here.
      c.finiteOnly = true;
      const x = c.any({ dtypes: ['float32', 'int32'], minRank: 1, where: (s) => !s.includes(0) });
      return x && [x, c.draw.chance(0.2) ? undefined : c.axis(c.shapeOf(x).length)];
    },
    exact: true,
    isDiscontinuous: true,
  };
rows.moments = { draw: reduction(['float32'], (shape) => !shape.includes(0)) };
// TensorFlow.js requires sorted axes.
rows.norm = {
  rejected: 'axes that are tensors are left out',
  slope: () => 'TensorFlow.js has -1 for the absolute value at 0',
  draw: (c) => {
    // Of nothing it is that of its reduction here.
    const x = c.any({ where: (s) => !s.includes(0) });
    if (x === undefined) return undefined;
    const rank = c.shapeOf(x).length;
    const [ord, axis] =
      rank >= 2 && c.draw.chance(0.4)
        ? [
            c.draw.pick([1, 'fro', 'euclidean', Infinity, -Infinity]),
            c.permutation(rank).slice(0, 2).sort(),
          ]
        : rank >= 1
          ? [c.draw.pick([1, 2, 'euclidean', Infinity, -Infinity]), c.axis(rank)]
          : ['euclidean', undefined];
    return [x, ord, axis, c.draw.chance(0.4)];
  },
};
for (const name of ['cumsum', 'cumprod'])
  rows[name] = {
    draw: (c) => {
      const x = c.any({ dtypes: c.draw.chance(0.8) ? ['float32'] : ['int32'], minRank: 1 });
      return x && [x, c.axis(c.shapeOf(x).length), c.draw.chance(0.4), c.draw.chance(0.4)];
    },
  };
for (const name of ['softmax', 'logSoftmax'])
  rows[name] = {
    draw: (c) => {
      const x = c.any({ minRank: 1 });
      return x && (c.draw.chance(0.5) ? [x] : [x, c.draw.pick([-1, c.shapeOf(x).length - 1])]);
    },
  };
rows.topk = {
  draw: (c) => {
    // NaN comes last here.
    c.finiteOnly = true;
    const x = c.any({
      dtypes: c.draw.chance(0.8) ? ['float32'] : ['int32'],
      minRank: 1,
      where: (s) => s.at(-1) > 0,
    });
    return x && [x, c.draw.size(1, c.shapeOf(x).at(-1)), c.draw.pick([true, undefined])];
  },
  exact: true,
  isDiscontinuous: true,
};
rows.unique = {
  draw: (c) => {
    const x = c.any({ dtypes: ['float32', 'int32'], minRank: 1, where: (s) => !s.includes(0) });
    if (x === undefined) return undefined;
    const rank = c.shapeOf(x).length;
    return [x, rank === 1 && c.draw.chance(0.5) ? undefined : c.draw.size(0, rank - 1)];
  },
  exact: true,
  isDiscontinuous: true,
  reads: 'data-dependent size',
};
rows.bincount = {
  draw: (c) => {
    const size = c.dim();
    const x = c.integers([size], 0, 9);
    return [
      x,
      c.draw.chance(0.5) ? c.tensorOfShape([size]) : c.literal([0], []),
      c.draw.size(1, 12),
    ];
  },
  isRare: true,
};
rows.denseBincount = {
  draw: (c) => {
    const shape = c.shape(c.draw.size(1, 2));
    // Of one axis TensorFlow.js counts on.
    const isBinary = shape.length === 2 && c.draw.chance(0.3);
    const weights = c.draw.chance(0.5) && !isBinary ? c.tensorOfShape(shape) : c.literal([0], []);
    return [c.integers(shape, 0, 9), weights, c.draw.size(1, 12), isBinary];
  },
  isRare: true,
};
rows['math.confusionMatrix'] = {
  draw: (c) => {
    const [size, classes] = [c.dim(), c.draw.size(2, 6)];
    return [c.integers([size], 0, classes - 1), c.integers([size], 0, classes - 1), classes];
  },
  isRare: true,
  exact: true,
};

/** Shapes of two factors with the axes in front, one of them broadcast at times. */
function factors(c) {
  const { draw } = c;
  const [m, k, n] = [c.dim(), c.dim(), c.dim()];
  const front = c.shape(draw.pick([0, 0, 0, 1, 2]), 6);
  // TensorFlow.js uses wrong matrices where only some axes are broadcast.
  const other = draw.chance(0.3) ? front.map(() => 1) : front;
  const [a, b] = draw.chance(0.5) ? [front, other] : [other, front];
  const [transposeA, transposeB] = [draw.chance(0.3), draw.chance(0.3)];
  return {
    a: [...a, ...(transposeA ? [k, m] : [m, k])],
    b: [...b, ...(transposeB ? [n, k] : [k, n])],
    transposeA,
    transposeB,
    m,
    n,
  };
}
/** The second factor for a tensor that is there, or both. */
function product(c) {
  const { draw } = c;
  const x = draw.chance(0.6) ? c.any({ minRank: 2, maxRank: 4 }) : undefined;
  if (x === undefined) {
    const found = factors(c);
    return { ...found, a: c.tensorOfShape(found.a), b: c.tensorOfShape(found.b) };
  }
  const shape = c.shapeOf(x);
  const [transposeA, transposeB] = [draw.chance(0.3), draw.chance(0.3)];
  const [m, k] = transposeA ? [shape.at(-1), shape.at(-2)] : shape.slice(-2);
  const n = c.dim(20);
  // TensorFlow.js multiplies one matrix by no matrices.
  const isSame = draw.chance(0.7) || shape.includes(0);
  const front = isSame ? shape.slice(0, -2) : shape.slice(0, -2).map(() => 1);
  const b = c.tensorOfShape([...front, ...(transposeB ? [n, k] : [k, n])]);
  return { a: x, b, transposeA, transposeB, m, n };
}
rows.matMul = {
  draw: (c) => {
    const { a, b, transposeA, transposeB } = product(c);
    return transposeA || transposeB || c.draw.chance(0.3) ? [a, b, transposeA, transposeB] : [a, b];
  },
};
const activations = ['linear', 'relu', 'relu6', 'elu', 'sigmoid', 'prelu', 'leakyrelu'];
rows['fused.matMul'] = {
  draw: (c) => {
    const { n, m, ...operands } = product(c);
    const activation = c.maybe(...activations);
    return [
      {
        ...operands,
        ...(c.draw.chance(0.6) ? { bias: c.tensorOfShape(c.draw.chance(0.7) ? [n] : [1, n]) } : {}),
        activation,
        ...(activation === 'prelu' ? { preluActivationWeights: c.tensorOfShape([n]) } : {}),
        ...(activation === 'leakyrelu' ? { leakyreluAlpha: 0.3 } : {}),
      },
    ];
  },
  isMethod: false,
  rejected: 'TensorFlow.js broadcasts no batches with a bias',
};
rows.dot = {
  draw: (c) => {
    const x = c.any({ minRank: 1, maxRank: 2 });
    if (x === undefined) return undefined;
    const inner = c.shapeOf(x).at(-1);
    return [x, c.tensorOfShape(c.draw.chance(0.5) ? [inner] : [inner, c.dim(20)])];
  },
};
rows.outerProduct = {
  draw: (c) => [c.tensorOfShape([c.dim()]), c.tensorOfShape([c.dim()])],
};
rows.einsum = {
  draw: (c) => {
    const { draw } = c;
    const equation = draw.pick([
      'ij,jk->ik',
      'ij->ji',
      'ij->i',
      'ij->',
      'bij,bjk->bik',
      'bij,bkj->bik',
      'i,j->ij',
      'ij,ij->ij',
      'ij,j->i',
      'abc,acd->abd',
      'ijk->kji',
      'bhwc,hkc->bhwk',
      'abc,cd->abd',
      'i,i->',
    ]);
    const sizes = {};
    const ins = equation.split('->')[0].split(',');
    return [
      equation,
      ...ins.map((ax) => c.tensorOfShape([...ax].map((a) => (sizes[a] ??= c.dim(7))))),
    ];
  },
};
rows.localResponseNormalization = {
  draw: (c) => {
    // Its sums are products with bands of ones.
    c.finiteOnly = true;
    const x = c.any({ minRank: 3, maxRank: 4 });
    return (
      x && [x, c.draw.pick([undefined, 1, 2]), 1, c.draw.pick([1, 0.5]), c.draw.pick([0.5, 0.75])]
    );
  },
};
const normalization = (rank, name) => ({
  draw: (c) => {
    const x = c.any({ minRank: rank ?? 2, maxRank: rank ?? 4 });
    if (x === undefined) return undefined;
    const shape = c.shapeOf(x);
    // Numbers for each channel, or for each element.
    const sizes = c.draw.chance(0.8) ? [shape.at(-1)] : shape;
    const [mean, variance] = [c.tensorOfShape(sizes), c.between(sizes, 0.3, 3)];
    const more = [
      c.maybe(c.tensorOfShape(sizes)),
      c.maybe(c.tensorOfShape(sizes)),
      c.draw.pick([undefined, 0.01]),
    ];
    return [x, mean, variance, ...more];
  },
  isMethod: name === 'batchNorm',
});
rows.batchNorm = normalization(undefined, 'batchNorm');
rows.batchNorm2d = normalization(2);
rows.batchNorm3d = normalization(3);
rows.batchNorm4d = normalization(4);
rows.movingAverage = {
  draw: (c) => {
    const x = c.any();
    if (x === undefined) return undefined;
    const v = c.tensorOfShape(c.shapeOf(x));
    return c.draw.chance(0.5) ? [v, x, 0.9, undefined, false] : [v, x, 0.9, c.draw.size(1, 5)];
  },
  isRare: true,
};

const loss = (more = () => [], labels) => ({
  draw: (c) => {
    const x = c.any({ minRank: 1, where: (shape) => !shape.includes(0) });
    if (x === undefined) return undefined;
    const shape = c.shapeOf(x);
    const weights = c.draw.pick([undefined, undefined, c.between(c.broadcastable(shape), 0, 2)]);
    const truth = labels === undefined ? c.tensorOfShape(shape) : labels(c, shape);
    return [truth, x, weights, ...more(c), c.maybe(0, 1, 2, 3)];
  },
});
const share = (c, shape) => c.between(shape, 0, 1);
rows['losses.absoluteDifference'] = { ...loss(), slope: rows.norm.slope };
rows['losses.meanSquaredError'] = loss();
rows['losses.hingeLoss'] = loss(undefined, share);
rows['losses.huberLoss'] = loss((c) => [c.maybe(0.5)]);
rows['losses.huberLoss'].rejected = 'the bend may be a tensor here';
rows['losses.logLoss'] = {
  rejected: 'the addend may be a tensor here',
  draw: (c) => {
    const shape = c.shape(c.draw.size(1, 3));
    const weights = c.maybe(c.between(c.broadcastable(shape), 0, 2));
    return [share(c, shape), c.between(shape, 0.05, 0.95), weights, undefined, c.maybe(0, 1, 2, 3)];
  },
};
rows['losses.sigmoidCrossEntropy'] = loss((c) => [c.maybe(0.1)], share);
rows['losses.softmaxCrossEntropy'] = {
  draw: (c) => {
    const x = c.any({ minRank: 2, maxRank: 3 });
    if (x === undefined) return undefined;
    const shape = c.shapeOf(x);
    const weights = c.maybe(c.between(shape.slice(0, -1), 0, 2));
    // TensorFlow.js uses the second axis as that of the classes.
    const smoothing = shape.length === 2 ? c.maybe(0.1) : undefined;
    return [c.between(shape, 0, 1), x, weights, smoothing, c.maybe(0, 1, 2, 3)];
  },
  slope: () => 'TensorFlow.js assumes labels whose sum is 1, and has the wrong sign for theirs',
};
rows['losses.cosineDistance'] = {
  draw: (c) => {
    const x = c.any({ minRank: 1 });
    if (x === undefined) return undefined;
    const shape = c.shapeOf(x);
    const axis = c.draw.size(0, shape.length - 1);
    return [c.tensorOfShape(shape), x, axis, c.maybe(0.5), c.maybe(0, 1, 2, 3)];
  },
};
rows['losses.computeWeightedLoss'] = {
  draw: (c) => {
    const x = c.any({ where: (shape) => !shape.includes(0) });
    return x && [x, c.maybe(c.between(c.broadcastable(c.shapeOf(x)), 0, 2)), c.maybe(0, 1, 2, 3)];
  },
};

export const sums = rows;
