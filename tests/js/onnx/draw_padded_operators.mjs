// Random nodes that compute with values with a named length, for draw_padded.mjs.
import { Builder } from '../../transformers/builder.mjs';
import { float, graph, node, value } from './write.mjs';

const isFixed = (size) => typeof size === 'number';

const unary = [
  'Neg',
  'Abs',
  'Exp',
  'Sigmoid',
  'Tanh',
  'Relu',
  'Reciprocal',
  'Log',
  'Sqrt',
  'Erf',
  'Softplus',
  'Cos',
  'Floor',
  'Identity',
];

export const operators = {
  unary(s) {
    const x = s.float();
    return s.op(s.draw.pick(unary), [x], x.dtype, x.shape);
  },
  withConstant(s) {
    const x = s.float();
    const kind = s.draw.pick(['Add', 'Mul', 'Sub', 'Max', 'Min', 'Div']);
    const fixed = x.shape.map((size) => (isFixed(size) && s.draw.chance(0.5) ? size : 1));
    const at = x.shape.indexOf('length');
    if (at >= 0 && s.draw.chance(0.1)) fixed[at] = 16;
    const values = s.weight(fixed.slice(s.draw.below(fixed.length + 1)));
    if (s.draw.chance(0.08))
      return s.op(kind, [x, s.scalar(s.draw.pick([Infinity, -Infinity]))], x.dtype, x.shape);
    return s.op(kind, s.draw.chance(0.5) ? [x, values] : [values, x], x.dtype, x.shape);
  },
  binary(s) {
    const x = s.float();
    const fits = (a, b) => a === b || a === 1 || b === 1;
    const y = s.find(({ dtype, shape }) => {
      const [long, short] = shape.length > x.shape.length ? [shape, x.shape] : [x.shape, shape];
      return (
        dtype === 'float32' &&
        short.every((size, k) => fits(size, long[long.length - short.length + k]))
      );
    });
    const rank = Math.max(x.shape.length, y.shape.length);
    const shape = Array.from({ length: rank }, (_, k) => {
      const [a = 1, b = 1] = [
        x.shape[k - rank + x.shape.length],
        y.shape[k - rank + y.shape.length],
      ];
      return a === 1 ? b : a;
    });
    return s.op(s.draw.pick(['Add', 'Mul', 'Sub', 'Max', 'Div']), [x, y], 'float32', shape);
  },
  masked(s) {
    const x = s.float();
    const c = s.op('Greater', [x, s.scalar(0.2)], 'bool', x.shape);
    const other = s.scalar(s.draw.pick([0, -1e9, -Infinity, 1]));
    return s.op('Where', s.draw.chance(0.5) ? [c, x, other] : [c, other, x], 'float32', x.shape);
  },
  lookUp(s) {
    const ids = s.find(({ dtype }) => dtype === 'int64');
    if (!ids) return undefined;
    const bounded = s.op(
      'Mod',
      [s.op('Abs', [ids], 'int64', ids.shape), s.ints(16)],
      'int64',
      ids.shape,
    );
    const width = s.size();
    return s.op('Gather', [s.weight([16, width]), bounded], 'float32', [...ids.shape, width]);
  },
  reduce(s) {
    const x = s.float(1);
    if (!x) return undefined;
    const kind = s.draw.pick([
      'Sum',
      'Mean',
      'Max',
      'Min',
      'Prod',
      'L1',
      'L2',
      'SumSquare',
      'LogSum',
      'LogSumExp',
    ]);
    const keepdims = s.draw.below(2);
    const axes = x.shape.map((_, k) => k).filter(() => s.draw.chance(0.5));
    const folds = (k) => axes.length === 0 || axes.includes(k);
    const shape = x.shape.flatMap((size, k) => (folds(k) ? (keepdims ? [1] : []) : [size]));
    const signedAxes = axes.map((k) => s.signed(k, x));
    return s.op(
      `Reduce${kind}`,
      signedAxes.length ? [x, s.ints(...signedAxes)] : [x],
      x.dtype,
      shape,
      {
        keepdims,
      },
    );
  },
  softmax(s) {
    const x = s.float(1);
    if (!x) return undefined;
    const kind = s.draw.pick(['Softmax', 'Softmax', 'Softmax', 'LogSoftmax', 'Hardmax']);
    return s.op(kind, [x], x.dtype, x.shape, { axis: s.signed(s.axis(x), x) });
  },
  cumsum(s) {
    const x = s.float(1);
    if (!x) return undefined;
    const axis = { name: s.g.constant('int64', [s.signed(s.axis(x), x)], []) };
    return s.op('CumSum', [x, axis], x.dtype, x.shape, {
      exclusive: s.draw.below(2),
      reverse: s.draw.chance(0.3) ? 1 : 0,
    });
  },
  dense(s) {
    const x = s.find(
      ({ dtype, shape }) => dtype === 'float32' && shape.length > 1 && isFixed(shape.at(-1)),
    );
    if (!x) return undefined;
    const units = s.size();
    return s.op('MatMul', [x, s.weight([x.shape.at(-1), units])], x.dtype, [
      ...x.shape.slice(0, -1),
      units,
    ]);
  },
  product(s) {
    const x = s.float(2);
    if (!x) return undefined;
    const y = s.find(
      ({ dtype, shape }) =>
        dtype === 'float32' &&
        shape.length === x.shape.length &&
        shape.at(-2) === x.shape.at(-1) &&
        shape.slice(0, -2).every((size, k) => size === x.shape[k]),
    );
    if (y) return s.op('MatMul', [x, y], x.dtype, [...x.shape.slice(0, -1), y.shape.at(-1)]);
    const perm = x.shape.map((_, k) => k);
    perm.push(...perm.splice(-2).reverse());
    const transposed = s.op(
      'Transpose',
      [x],
      x.dtype,
      perm.map((k) => x.shape[k]),
      { perm },
    );
    const [a, b] = s.draw.shuffled([x, transposed]);
    return s.op('MatMul', [a, b], x.dtype, [...a.shape.slice(0, -1), b.shape.at(-1)]);
  },
  einsum(s) {
    const x = s.float(3);
    if (!x || x.shape.length !== 3) return undefined;
    const [equation, shape] = s.draw.pick([
      ['abc,abd->acd', [x.shape[0], x.shape[2], x.shape[2]]],
      ['abc,adc->abd', [x.shape[0], x.shape[1], x.shape[1]]],
      ['abc,abc->abc', x.shape],
    ]);
    return s.op('Einsum', [x, x], x.dtype, shape, { equation });
  },
  gemm(s) {
    const x = s.find(({ dtype, shape }) => dtype === 'float32' && shape.length === 2);
    if (!x) return undefined;
    const transA = s.draw.below(2);
    const [rows, inner] = transA ? x.shape.toReversed() : x.shape;
    const y = s.find(
      ({ dtype, shape }) => dtype === 'float32' && shape.length === 2 && shape[0] === inner,
    );
    if (y) return s.op('Gemm', [x, y], x.dtype, [rows, y.shape[1]], { transA });
    if (!isFixed(inner)) return undefined;
    return s.op('Gemm', [x, s.weight([inner, 3]), s.weight([3])], x.dtype, [rows, 3], {
      transA,
      alpha: float(0.5),
    });
  },
  extreme(s) {
    const x = s.float(1);
    if (!x) return undefined;
    const at = s.axis(x);
    const attributes = { axis: at, keepdims: 1, select_last_index: s.draw.below(2) };
    return s.op(s.draw.pick(['ArgMax', 'ArgMin']), [x], 'int64', x.shape.with(at, 1), attributes);
  },
  best(s) {
    const x = s.float(1);
    if (!x) return undefined;
    const at = s.axis(x);
    return s.op('TopK', [x, s.ints(1)], x.dtype, x.shape.with(at, 1), { axis: at });
  },
  norm(s) {
    const x = s.find(
      ({ dtype, shape }) => dtype === 'float32' && shape.length > 1 && isFixed(shape.at(-1)),
    );
    if (!x) return undefined;
    if (s.draw.chance(0.3))
      return s.op('LpNormalization', [x], x.dtype, x.shape, { axis: s.axis(x), p: 2 });
    return s.op('LayerNormalization', [x, s.weight([x.shape.at(-1)])], x.dtype, x.shape, {
      axis: -1,
    });
  },
  attention(s) {
    const x = s.find(
      ({ dtype, shape }) => dtype === 'float32' && shape.length === 3 && isFixed(shape[2]),
    );
    if (!x) return undefined;
    const like = (y) =>
      y.dtype === 'float32' &&
      y.shape.length === 3 &&
      y.shape[2] === x.shape[2] &&
      y.shape[0] === x.shape[0];
    const [q, k] = [s.find(like), s.find(like)];
    const heads = x.shape[2] % 2 === 0 ? 2 : 1;
    return s.op(
      'MultiHeadAttention',
      [q, k, k],
      x.dtype,
      q.shape,
      { num_heads: heads, unidirectional: s.draw.below(2) },
      'com.microsoft',
    );
  },
  bytes(s) {
    const x = s.find(
      ({ dtype, shape }) => dtype === 'float32' && shape.length > 1 && isFixed(shape.at(-1)),
    );
    if (!x) return undefined;
    s.used.add(x.name);
    const [q, scale, zero] = s.g.ops('DynamicQuantizeLinear', [x.name], 3);
    const name = s.g.constant(
      'int8',
      Array.from({ length: 3 * x.shape.at(-1) }, () => s.draw.between(-9, 9)),
      [x.shape.at(-1), 3],
    );
    const sums = s.g.op('Cast', [s.g.op('MatMulInteger', [q, name, zero])], { to: 1 });
    return s.add(s.g.op('Mul', [sums, scale]), 'float32', [...x.shape.slice(0, -1), 3]);
  },
  cast(s) {
    const x = s.find(({ dtype }) => dtype === 'int64' || dtype === 'bool');
    return x && s.op('Cast', [x], 'float32', x.shape, { to: 1 });
  },
  integers(s) {
    const x = s.float();
    const large = s.op('Mul', [x, s.scalar(7)], x.dtype, x.shape);
    return s.op(
      'Cast',
      [s.op('Clip', [large, s.scalar(-99), s.scalar(99)], x.dtype, x.shape)],
      'int64',
      x.shape,
      { to: 7 },
    );
  },
  quotient(s) {
    const x = s.find(({ dtype }) => dtype === 'int64');
    if (!x) return undefined;
    return s.op(s.draw.pick(['Div', 'Mod']), [x, s.ints(s.draw.between(1, 5))], 'int64', x.shape);
  },
  dropout(s) {
    const x = s.float();
    s.used.add(x.name);
    const [y, mask] = s.g.ops('Dropout', [x.name], 2);
    s.add(y, x.dtype, x.shape);
    return s.add(mask, 'bool', x.shape);
  },
  quotients(s) {
    const x = s.find(({ dtype }) => dtype === 'int64');
    const kind = s.draw.pick(['Div', 'Mod', 'BitShift']);
    if (!x || kind === 'BitShift') return undefined;
    // The padding may contain zeros.
    const one = s.op('Equal', [x, s.ints(0)], 'bool', x.shape);
    const mask = s.find(({ name }) => name === 'mask');
    if (!mask || x.shape.length !== 2) return one;
    const by = s.op('Add', [mask, s.ints(s.draw.between(1, 3))], 'int64', mask.shape);
    return s.op(kind, [x, by], 'int64', x.shape);
  },
  byItself(s) {
    const ids = s.find(({ name }) => name === 'ids' || name === 'mask');
    if (!ids) return undefined;
    const more = s.op('Max', [ids, s.ints(1)], 'int64', ids.shape);
    const part = s.op('Sub', [more, s.ints(s.draw.below(2))], 'int64', ids.shape);
    return s.op(s.draw.pick(['Div', 'Mod']), [more, part], 'int64', ids.shape);
  },
  beyond(s) {
    // A table in which indices of padding may be out of range.
    const ids = s.find(({ dtype, shape }) => dtype === 'int64' && shape.length > 1);
    if (!ids) return undefined;
    const positive = s.op('Abs', [ids], 'int64', ids.shape);
    const bounded = s.op('Mod', [positive, s.ints(4)], 'int64', ids.shape);
    const far = s.op('Sub', [bounded, s.ints(s.draw.pick([0, 2, 4]))], 'int64', ids.shape);
    return s.op('Gather', [s.weight([4, 3]), far], 'float32', [...ids.shape, 3]);
  },
  float16(s) {
    const x = s.float();
    const half = s.op('Cast', [x], 'float16', x.shape, { to: 10 });
    const twice = s.op('Mul', [half, half], 'float16', x.shape);
    return s.op('Cast', [twice], 'float32', x.shape, { to: 1 });
  },
  repeated(s) {
    const x = s.float();
    const [inner, end] = [new Builder(1), s.g.constant('int64', [3], [])];
    inner.nodes.push(
      node('Add', ['before', s.draw.chance(0.5) ? x.name : 'before'], ['after']),
      node('Identity', ['condition'], ['goes_on']),
    );
    const body = graph({
      nodes: inner.nodes,
      inputs: [
        value('step', 'int64', []),
        value('condition', 'bool', []),
        value('before', 'float32'),
      ],
      outputs: [value('goes_on', 'bool', []), value('after', 'float32')],
      name: 'body',
    });
    const start = s.float();
    if (String(start.shape) !== String(x.shape)) return undefined;
    return s.op('Loop', [{ name: end }, { name: '' }, start], x.dtype, x.shape, { body });
  },
  standardAttention(s) {
    const x = s.find(
      ({ dtype, shape }) => dtype === 'float32' && shape.length === 3 && isFixed(shape[2]),
    );
    if (!x) return undefined;
    const attributes = { q_num_heads: 1, kv_num_heads: 1, is_causal: s.draw.below(2) };
    const mask = s.find(({ name, shape }) => name === 'mask' && shape[1] === x.shape[1]);
    if (!mask || s.draw.chance(0.5))
      return s.op('Attention', [x, x, x], x.dtype, x.shape, attributes);
    const seen = s.op('Cast', [mask], 'bool', mask.shape, { to: 9 });
    const wide = s.op('Unsqueeze', [seen, s.ints(1, 2)], 'bool', [
      mask.shape[0],
      1,
      1,
      mask.shape[1],
    ]);
    return s.op('Attention', [x, x, x, wide], x.dtype, x.shape, attributes);
  },
  maskedAttention(s) {
    const x = s.find(
      ({ dtype, shape }) => dtype === 'float32' && shape.length === 3 && isFixed(shape[2]),
    );
    const mask = s.find(({ name }) => name === 'mask');
    if (!x || !mask) return undefined;
    const seen = s.op('Cast', [mask], 'int32', mask.shape, { to: 6 });
    const operands = [x, x, x, { name: '' }, seen];
    const attributes = { num_heads: 1, unidirectional: s.draw.below(2) };
    return s.op('MultiHeadAttention', operands, x.dtype, x.shape, attributes, 'com.microsoft');
  },
};
