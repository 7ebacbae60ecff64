// Recipes of operations on each element.
const all = ['float32', 'int32', 'bool'];
const comparable = [...all];

/** Functions of any dtype; the others require floats. */
const any = (c) => {
  const x = c.any({ dtypes: c.draw.chance(0.7) ? ['float32'] : ['float32', 'int32'] });
  return x && [x];
};
const float = (c) => {
  const x = c.any();
  return x && [x];
};
/** Operands usually within a domain. */
const within = (min, max) => (c) => {
  if (c.draw.chance(0.3)) return float(c);
  return [c.between(c.shape(c.draw.size(0, 4)), min, max)];
};

/** Two operands that can be broadcast, at times a number. */
const pair =
  (dtypes = all) =>
  (c) => {
    const { draw } = c;
    const a = c.any({ dtypes: draw.chance(0.7) ? [dtypes[0]] : dtypes });
    if (a === undefined) return undefined;
    const other = () => {
      const dtype = draw.chance(0.75) ? c.slotOf(a).dtype : draw.pick(dtypes);
      return c.tensorOfShape(c.broadcastable(c.shapeOf(a)), dtype);
    };
    const b = draw.chance(0.2) ? c.number() : other();
    // Sums and the like of two bools are bools in TensorFlow.js, of 2 and 255.
    const isBool = [a, b].every((each) => c.slotOf(each)?.dtype === 'bool');
    if (isBool && dtypes !== comparable) return undefined;
    return 'ref' in b && draw.chance(0.4) ? [b, a] : [a, b];
  };

/** Angles beyond 2^20 are NaN; non-integers are rounded to the nearest one. */
const bounded = (draw) => (c) => {
  c.finiteOnly = true;
  return draw(c);
};

const rows = {};
const smooth =
  'abs atan cos cosh elu erf exp expm1 leakyRelu logSigmoid neg relu relu6 selu sigmoid sin sinh softplus square tanh';
for (const name of smooth.split(' ')) rows[name] = { draw: float };
for (const name of 'asinh reciprocal rsqrt tan log sqrt log1p acosh acos asin atanh'.split(' '))
  rows[name] = { draw: float };
for (const [name, bounds] of Object.entries({
  log: [0.1, 4],
  sqrt: [0.1, 4],
  rsqrt: [0.1, 4],
  log1p: [-0.9, 3],
  acosh: [1.1, 5],
  acos: [-0.95, 0.95],
  asin: [-0.95, 0.95],
  atanh: [-0.95, 0.95],
  tan: [-1.4, 1.4],
}))
  rows[name] = { draw: within(...bounds) };
for (const name of ['sin', 'cos', 'tan']) rows[name].draw = bounded(rows[name].draw);
rows.reciprocal.draw = (c) => {
  const [x] = float(c) ?? [];
  // TensorFlow.js rounds -0.5 to 0.
  if (x === undefined || c.leaves.some(({ id }) => id === x.ref)) return x && [x];
  return [c.between(c.shapeOf(x), 0.1, 4)];
};
for (const name of ['abs', 'neg', 'relu', 'relu6']) rows[name].exact = true;
rows.abs.slope = () => 'TensorFlow.js has -1 at 0';
for (const name of 'abs neg relu relu6 square sqrt exp'.split(' ')) rows[name].draw = any;
for (const name of 'ceil floor round sign step isFinite isInf isNaN'.split(' '))
  rows[name] = { draw: float, exact: true, isDiscontinuous: true };
rows.step.draw = (c) => {
  const x = c.any();
  return x && (c.draw.chance(0.5) ? [x] : [x, c.draw.pick([0.5, -2])]);
};
rows.leakyRelu.draw = (c) => {
  const x = c.any();
  return x && (c.draw.chance(0.5) ? [x] : [x, c.draw.pick([0.5, 0.01, 0])]);
};
for (const name of 'onesLike zerosLike clone'.split(' '))
  rows[name] = {
    draw: (c) => {
      const x = c.any({ dtypes: all });
      return x && [x];
    },
    exact: true,
  };
rows.zerosLike.slope = () => 'TensorFlow.js multiplies by 0';

for (const name of 'add sub mul div divNoNan maximum minimum squaredDifference atan2'.split(' '))
  rows[name] = { draw: pair(), exact: /imum/.test(name), acceptsNumbers: true };
// What nearly 0 is, rounding decides.
rows.divNoNan.draw = (c) => {
  c.exactOnly = true;
  return pair()(c);
};
rows.atan2.slope = () => 'TensorFlow.js has NaN where both are 0';
rows.atan2.draw = pair(['float32', 'int32']);
// Remainders and integer quotients are discontinuous.
for (const name of ['mod', 'floorDiv'])
  rows[name] = { draw: pair(), isDiscontinuous: true, exact: false };
// What remains of negative numbers divided by Infinity is NaN in TensorFlow.js.
rows.mod.draw = (c) => {
  c.finiteOnly = true;
  return pair()(c);
};
// Integer division by 0 overflows: the nearest integer here, 0 in TensorFlow.js.
rows.floorDiv.draw = (c) => {
  const found = pair(['int32'])(c);
  return found?.every((each) => 'ref' in each) ? found : undefined;
};
for (const name of 'equal notEqual greater greaterEqual less lessEqual'.split(' '))
  rows[name] = { draw: pair(comparable), isDiscontinuous: true, exact: true };
for (const name of ['logicalAnd', 'logicalOr', 'logicalXor'])
  rows[name] = {
    draw: (c) => {
      const a = c.any({ dtypes: ['bool'] });
      return a && [a, c.tensorOfShape(c.broadcastable(c.shapeOf(a)), 'bool')];
    },
    exact: true,
  };
rows.logicalNot = {
  draw: (c) => {
    const x = c.any({ dtypes: ['bool'] });
    return x && [x];
  },
  exact: true,
};
rows.bitwiseAnd = {
  draw: (c) => {
    const a = c.any({ dtypes: ['int32'] });
    return a && [a, c.tensorOfShape(c.shapeOf(a), 'int32')];
  },
  exact: true,
};
rows.pow = {
  acceptsNumbers: true,
  draw: (c) => {
    const { draw } = c;
    if (draw.chance(0.3)) {
      const x = c.any({ dtypes: ['int32'] });
      return x && [x, c.integers(c.broadcastable(c.shapeOf(x)), 0, 2)];
    }
    const x = draw.chance(0.5) ? c.any() : c.between(c.shape(draw.size(0, 3)), 0.2, 3);
    if (x === undefined) return undefined;
    return [
      x,
      draw.chance(0.5)
        ? draw.pick([2, 3, 0.5, -1, 0, 1, -2])
        : c.tensorOfShape(c.broadcastable(c.shapeOf(x))),
    ];
  },
  slope: ({ args }) =>
    args[1] === 0 ? 'TensorFlow.js multiplies 0 by the power of -1, infinite at 0' : undefined,
};
rows.prelu = {
  draw: (c) => {
    // 0 times an infinite slope is NaN here.
    c.finiteOnly = true;
    const x = c.any({ minRank: 1 });
    if (x === undefined) return undefined;
    const shape = c
      .shapeOf(x)
      .slice(1)
      .map((size) => (c.draw.chance(0.3) ? 1 : size));
    return [x, c.tensorOfShape(c.draw.chance(0.7) ? shape : [])];
  },
};
rows.addN = {
  draw: (c) => {
    const x = c.any({ dtypes: ['float32', 'int32'] });
    if (x === undefined) return undefined;
    const { shape, dtype } = c.slotOf(x);
    const more = Array.from({ length: c.draw.size(0, 3) }, () => c.tensorOfShape(shape, dtype));
    return [[x, ...more]];
  },
  isMethod: false,
};
rows.clipByValue = {
  draw: (c) => {
    const x = c.any({ dtypes: c.draw.chance(0.8) ? ['float32'] : ['float32', 'int32'] });
    return x && [x, c.draw.pick([-1, 0, -5, 0.25]), c.draw.pick([0.5, 1, 3, 6])];
  },
  exact: true,
};
rows.where = {
  draw: (c) => {
    const a = c.any({ dtypes: all });
    if (a === undefined) return undefined;
    const { shape, dtype } = c.slotOf(a);
    const other = c.draw.chance(0.8) ? dtype : c.draw.pick(all);
    const sizes = c.draw.chance(0.6) ? shape : c.broadcastable(shape);
    return [
      c.tensorOfShape(c.draw.chance(0.6) ? shape : c.broadcastable(shape), 'bool'),
      a,
      c.tensorOfShape(sizes, other),
    ];
  },
  exact: true,
  isMethod: false,
};
rows.cast = {
  draw: (c) => {
    c.finiteOnly = true;
    const x = c.any({ dtypes: all });
    return x && [x, c.draw.pick(all)];
  },
  exact: true,
  isDiscontinuous: true,
};
rows.assign = {
  draw: (c) => {
    const variables = [...c.slots.values()].filter((each) => each.isVariable);
    if (variables.length === 0) return undefined;
    const { id, shape, dtype } = c.draw.pick(variables);
    const value = c.tensorOfShape(shape, dtype);
    return value.ref === id ? undefined : [{ ref: id }, value];
  },
  run: (_, variable, value) => variable.assign(value),
  exact: true,
  reads: 'changes a variable',
};
/** A custom gradient, scaled by a factor. */
rows.customGrad = {
  draw: (c) => {
    const x = c.any();
    return x && [x, c.draw.pick([2, 0.5])];
  },
  run: (lib, x, factor) =>
    lib.customGrad((y, save) => {
      save([y]);
      return {
        value: y.square().mul(0.25),
        gradFunc: (dy, [saved]) => dy.mul(saved).mul(factor),
      };
    })(x),
  reads: 'customGrad has custom functions',
  isCustom: true,
};

export const elementwise = rows;
