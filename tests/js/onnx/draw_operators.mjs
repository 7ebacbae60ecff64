// Random nodes of single operators: each recipe adds one to a scope, or returns false where no value fits.
import { count, drawnBits, isInteger, isSigned } from './draw.mjs';
import { along, axisOf, dataRecipes, hasAxes, isExact, isStatic, of, same } from './draw_data.mjs';
import { node } from './write.mjs';

/** Of no elements ONNX Runtime reduces none, where the specification has one. */
const isSome = ({ shape }) => !shape.includes(0);
const isFloat = ({ dtype }) => dtype === 'float32';
const isNumber = ({ dtype }) => dtype !== 'bool';
const rounded = { bits: 4, rounds: true };
const without = (shape, axis) => shape.filter((_, at) => at !== axis);

function unary(s) {
  const x = s.find(isNumber);
  if (!x) return false;
  const exact = isFloat(x)
    ? ['Relu', 'Abs', 'Neg', ...(x.rounds ? [] : ['Floor', 'Ceil', 'Round', 'Sign'])]
    : ['Identity', ...(isSigned(x) ? ['Abs', 'Neg', 'Sign'] : [])];
  if (!isFloat(x) || s.draw.chance(0.4)) return s.like(s.draw.pick(exact), x);
  const op = s.draw.pick([
    ...['Tanh', 'Sigmoid', 'Softsign', 'HardSigmoid', 'Erf', 'LeakyRelu', 'Elu', 'Selu'],
    ...['Sin', 'Cos', 'Gelu', 'HardSwish', 'Mish', 'Softplus', 'Atan', 'ThresholdedRelu', 'Celu'],
  ]);
  // It has a step where numbers are dense.
  const from = op === 'ThresholdedRelu' || x.bits > 12 ? s.like('Tanh', x, {}, rounded) : x;
  return s.like(op, from, {}, { bits: from.bits, rounds: true });
}

function roots(s) {
  const x = s.find(isFloat);
  if (!x) return false;
  // Far from 0 sigmoids of ONNX Runtime are not exact enough for logarithms.
  const positive = s.like('Sigmoid', s.like('Tanh', x, {}, rounded), {}, rounded);
  return s.like(
    s.draw.pick(['Sqrt', 'Exp', 'Log', 'Reciprocal']),
    positive,
    {},
    {
      bits: 9,
      rounds: true,
    },
  );
}

/** The shape that two broadcast to; nothing where they do not. */
function broadcast(a, b) {
  const rank = Math.max(a.length, b.length);
  const [x, y] = [a, b].map((shape) => [...Array(rank - shape.length).fill(1), ...shape]);
  const fits = x.every((size, at) => size === y[at] || size === 1 || y[at] === 1);
  return fits ? x.map((size, at) => (size === 1 ? y[at] : size)) : undefined;
}

/** Another value, or a constant, that broadcasts with this one. */
function partner(s, x, predicate) {
  const fits = (y) => {
    const shape = predicate(y) && broadcast(x.shape, y.shape);
    return shape && count(shape.map((size) => (Number.isInteger(size) ? size : 1))) < 4000;
  };
  const y = s.find(fits);
  if (y && s.draw.chance(0.7)) return y;
  const shape = x.shape.map((size) => (Number.isInteger(size) && s.draw.chance(0.6) ? size : 1));
  const suffix = shape.slice(s.draw.below(shape.length + 1));
  return s.weights(x.dtype, suffix);
}

const pair = (s, predicate) => {
  const x = s.find(predicate);
  const y = x && partner(s, x, (y) => y.dtype === x.dtype && predicate(y));
  return y && (s.draw.chance(0.5) ? [x, y] : [y, x]);
};

function binary(s) {
  const found = pair(s, isNumber);
  if (!found) return false;
  const [x, y] = found.map((each) => s.tame(each));
  const shape = broadcast(x.shape, y.shape);
  const small = x.dtype === 'uint8';
  const op = s.draw.pick(small ? ['Min', 'Max'] : ['Add', 'Sub', 'Mul', 'Mul', 'Min', 'Max']);
  const sum = op === 'Mul' ? x.bits + y.bits : Math.max(x.bits, y.bits) + 1;
  const more = {
    bits: op.startsWith('M') && op !== 'Mul' ? sum - 1 : sum,
    rounds: x.rounds || y.rounds,
  };
  return s.apply(op, [x, y], {}, x.dtype, shape, more);
}

function divided(s) {
  const x = s.find(isNumber);
  if (!x) return false;
  if (isFloat(x)) {
    const y = s.like('Exp', s.like('Sin', s.tame(x), {}, rounded), {}, rounded);
    return s.apply('Div', [x, y], {}, 'float32', x.shape, { bits: x.bits + 3, rounds: true });
  }
  const by = s.constant(x.dtype, [s.draw.between(1, 6)], []);
  return s.apply(s.draw.pick(['Div', 'Mod']), [x, by], {}, x.dtype, x.shape, same(x));
}

function compared(s) {
  const found = pair(s, of(isNumber, isExact));
  if (!found) return false;
  const ops = ['Less', 'Greater', 'Equal', 'LessOrEqual', 'GreaterOrEqual'];
  return s.apply(s.draw.pick(ops), found, {}, 'bool', broadcast(found[0].shape, found[1].shape));
}

function logical(s) {
  if (s.draw.chance(0.3)) {
    const x = s.find(({ dtype }) => dtype === 'bool');
    return x ? s.like('Not', x) : false;
  }
  const found = pair(s, ({ dtype }) => dtype === 'bool');
  if (!found) return false;
  const shape = broadcast(found[0].shape, found[1].shape);
  return s.apply(s.draw.pick(['And', 'Or', 'Xor']), found, {}, 'bool', shape);
}

function bitwise(s) {
  const found = pair(
    s,
    of(isNumber, (x) => isInteger(x.dtype)),
  );
  if (!found) return false;
  const [x, y] = found;
  const op = s.draw.pick(['BitwiseAnd', 'BitwiseOr', 'BitwiseXor']);
  const more = { bits: Math.max(x.bits, y.bits) + 1 };
  return s.apply(op, found, {}, x.dtype, broadcast(x.shape, y.shape), more);
}

function where(s) {
  const condition = s.find(({ dtype }) => dtype === 'bool');
  const x = condition && s.find((x) => isNumber(x) && broadcast(condition.shape, x.shape));
  if (!x) return false;
  const y = partner(s, x, (y) => y.dtype === x.dtype);
  const shape = broadcast(broadcast(x.shape, y.shape) ?? [], condition.shape);
  if (!shape || !broadcast(x.shape, y.shape) || count(shape) > 4000) return false;
  const more = { bits: Math.max(x.bits, y.bits), rounds: x.rounds || y.rounds };
  return s.apply('Where', [condition, x, y], {}, x.dtype, shape, more);
}

function cast(s) {
  const x = s.find(isExact);
  if (!x) return false;
  const others = {
    float32: ['int32', 'int64', 'bool'],
    bool: ['float32', 'int32', 'int64', 'uint8'],
  };
  const to = s.draw.pick(others[x.dtype] ?? ['float32', 'int32', 'int64', 'bool']);
  return s.cast(x, to);
}

function transposed(s) {
  const x = s.find(hasAxes);
  if (!x) return false;
  const perm = s.draw.shuffled(x.shape.map((_, at) => at));
  return s.apply(
    'Transpose',
    [x],
    { perm },
    x.dtype,
    perm.map((at) => x.shape[at]),
    same(x),
  );
}

function reshaped(s) {
  const x = s.find(isStatic);
  if (!x) return false;
  const shape = [];
  let left = count(x.shape);
  while (left > 1 && shape.length < 3) {
    const factors = Array.from({ length: left }, (_, at) => at + 1).filter((at) => left % at === 0);
    shape.push(s.draw.pick(factors));
    left /= shape.at(-1);
  }
  shape.splice(s.draw.below(shape.length + 1), 0, left);
  const open = count(shape) > 0 && s.draw.chance(0.5) ? s.draw.below(shape.length) : -1;
  const to = s.constant('int64', along(shape, open, -1));
  return s.apply('Reshape', [x, to], {}, x.dtype, shape, same(x));
}

function squeezed(s) {
  const x = s.find(({ shape }) => shape.includes(1) || shape.length < 4);
  if (!x) return false;
  const ones = x.shape.flatMap((size, at) => (size === 1 ? [at] : []));
  if (ones.length > 0 && s.draw.chance(0.5)) {
    const axis = s.draw.pick(ones);
    const axes = s.constant('int64', [axis - (s.draw.chance(0.3) ? x.shape.length : 0)]);
    return s.apply('Squeeze', [x, axes], {}, x.dtype, without(x.shape, axis), same(x));
  }
  if (x.shape.length > 3) return false;
  const axis = s.draw.below(x.shape.length + 1);
  const shape = [...x.shape.slice(0, axis), 1, ...x.shape.slice(axis)];
  const axes = s.constant('int64', [axis]);
  return s.apply('Unsqueeze', [x, axes], {}, x.dtype, shape, same(x));
}

function sliced(s) {
  const x = s.find(of(hasAxes, isStatic));
  if (!x) return false;
  const [axis, axisAttribute] = axisOf(s, x);
  const size = x.shape[axis];
  const step = s.draw.pick([1, 1, 2, 3, -1, -2]);
  const [from, to] = [s.draw.between(-size - 2, size + 2), s.draw.between(-size - 2, size + 2)];
  const inside = (at, low, high) => Math.min(Math.max(at < 0 ? at + size : at, low), high);
  const [begin, end] =
    step > 0
      ? [inside(from, 0, size), inside(to, 0, size)]
      : [inside(from, 0, size - 1), inside(to, -1, size - 1)];
  const length = Math.max(0, Math.ceil((end - begin) / step));
  // Empty values are of no use to other nodes.
  if (length === 0) return false;
  const operands = [[from], [to], [axisAttribute], [step]].map((each) => s.constant('int64', each));
  return s.apply('Slice', [x, ...operands], {}, x.dtype, along(x.shape, axis, length), same(x));
}

function concatenated(s) {
  const x = s.find(hasAxes);
  if (!x) return false;
  const [axis, axisAttribute] = axisOf(s, x);
  const fits = (y) =>
    y.dtype === x.dtype &&
    y.shape.length === x.shape.length &&
    Number.isInteger(y.shape[axis]) &&
    String(along(y.shape, axis, 0)) === String(along(x.shape, axis, 0));
  if (!fits(x)) return false;
  const parts = [x, ...Array.from({ length: s.draw.between(1, 2) }, () => s.find(fits))];
  const size = parts.reduce((sum, { shape }) => sum + shape[axis], 0);
  if (size > 80) return false;
  const more = {
    bits: Math.max(...parts.map(({ bits }) => bits)),
    rounds: parts.some(({ rounds }) => rounds),
  };
  return s.apply(
    'Concat',
    parts,
    { axis: axisAttribute },
    x.dtype,
    along(x.shape, axis, size),
    more,
  );
}

function split(s) {
  const x = s.find((x) => isStatic(x) && x.shape.some((size) => size > 1));
  if (!x) return false;
  const axis = s.draw.pick(x.shape.flatMap((size, at) => (size > 1 ? [at] : [])));
  const first = s.draw.between(1, x.shape[axis] - 1);
  const sizes = [first, x.shape[axis] - first];
  const by = s.constant('int64', sizes);
  const parts = sizes.map((size) => s.add(x.dtype, along(x.shape, axis, size), same(x)));
  s.nodes.push(
    node(
      'Split',
      [x.name, by.name],
      parts.map(({ name }) => name),
      { axis },
    ),
  );
  return true;
}

function padded(s) {
  const x = s.find(of(hasAxes, isStatic, isSome, isNumber, ({ shape }) => count(shape) < 500));
  if (!x) return false;
  const mode = s.draw.pick(['constant', 'reflect', 'edge']);
  const maxPad = (size) => (mode === 'reflect' ? Math.min(3, size - 1) : 3);
  const ends = [0, 1].map(() => x.shape.map((size) => s.draw.between(0, maxPad(size))));
  const pads = s.constant('int64', ends.flat());
  const shape = x.shape.map((size, at) => size + ends[0][at] + ends[1][at]);
  const value = mode === 'constant' && s.draw.chance(0.5) ? [s.constant(x.dtype, [3], [])] : [];
  return s.apply('Pad', [x, pads, ...value], { mode }, x.dtype, shape, {
    ...same(x),
    bits: Math.max(x.bits, 4),
  });
}

function repeated(s) {
  const x = s.find(of(hasAxes, isStatic, ({ shape }) => count(shape) < 400));
  if (!x) return false;
  if (s.draw.chance(0.5)) {
    const times = x.shape.map(() => s.draw.between(1, 2));
    const shape = x.shape.map((size, at) => size * times[at]);
    return s.apply('Tile', [x, s.constant('int64', times)], {}, x.dtype, shape, same(x));
  }
  const to = x.shape.map((size) => (size === 1 ? s.draw.between(1, 5) : size));
  const longer = s.draw.chance(0.5) ? [s.draw.between(1, 3), ...to] : to;
  return s.apply('Expand', [x, s.constant('int64', longer)], {}, x.dtype, longer, same(x));
}

/** Indices on an axis: constants, or computed ones. */
function indices(s, size, shape) {
  const fits = (y) => /^int/.test(y.dtype) && (!shape || String(y.shape) === String(shape));
  const found = s.draw.chance(0.5) && s.find(of(fits, isStatic, ({ shape }) => count(shape) < 60));
  if (found) {
    const by = s.constant(found.dtype, [size], []);
    return s.apply('Mod', [found, by], {}, found.dtype, found.shape, { bits: 9 });
  }
  const like = shape ?? s.draw.shape(s.draw.below(3), 40);
  const dtype = s.draw.pick(['int32', 'int64']);
  const low = s.draw.chance(0.3) ? -size : 0;
  const data = Array.from({ length: count(like) }, () => s.draw.between(low, size - 1));
  return s.constant(dtype, data, like);
}

function gathered(s) {
  const x = s.find(of(hasAxes, isStatic));
  if (!x || count(x.shape) === 0) return false;
  const [axis, axisAttribute] = axisOf(s, x);
  if (s.draw.chance(0.4)) {
    const shape = along(x.shape, axis, s.draw.between(1, 9));
    if (count(shape) > 1500) return false;
    const index = indices(s, x.shape[axis], shape);
    return s.apply('GatherElements', [x, index], { axis: axisAttribute }, x.dtype, shape, same(x));
  }
  const index = indices(s, x.shape[axis]);
  const shape = [...x.shape.slice(0, axis), ...index.shape, ...x.shape.slice(axis + 1)];
  if (count(shape) > 3000 || shape.length > 5) return false;
  return s.apply('Gather', [x, index], { axis: axisAttribute }, x.dtype, shape, same(x));
}

function scattered(s) {
  const x = s.find(of(hasAxes, isStatic, isNumber));
  if (!x || count(x.shape) === 0) return false;
  const [axis] = axisOf(s, x);
  const size = x.shape[axis];
  const length = s.draw.between(1, size);
  const isSum = isFloat(x) && s.draw.chance(0.4);
  const order = isSum
    ? s.draw.shuffled(Array.from({ length: size }, (_, at) => at)).slice(0, length)
    : Array.from({ length }, () => s.draw.between(0, size - 1));
  const shape = along(x.shape, axis, length);
  const inner = count(shape.slice(axis + 1));
  const data = Array.from(
    { length: count(shape) },
    (_, at) => order[Math.floor(at / inner) % length],
  );
  const index = s.constant('int64', data, shape);
  const updates = s.weights(x.dtype, shape);
  const more = { bits: Math.max(x.bits, drawnBits) + 1, rounds: x.rounds };
  const reduction = isSum ? { reduction: 'add' } : {};
  return s.apply(
    'ScatterElements',
    [x, index, updates],
    { axis, ...reduction },
    x.dtype,
    x.shape,
    more,
  );
}

function reduced(s) {
  const x = s.find(of(hasAxes, isSome, isSigned));
  if (!x) return false;
  const keepdims = s.draw.below(2);
  const chosen = x.shape.map((_, at) => at).filter(() => s.draw.chance(0.5));
  if (chosen.length === 0) chosen.push(s.draw.below(x.shape.length));
  const isOpen = chosen.some((at) => !Number.isInteger(x.shape[at]));
  const ops = isOpen ? ['ReduceSum'] : ['ReduceSum', 'ReduceMax', 'ReduceMin'];
  if (isFloat(x) && !isOpen)
    ops.push('ReduceMean', 'ReduceL1', 'ReduceL2', 'ReduceSumSquare', 'ReduceLogSumExp');
  const op = s.draw.pick(ops);
  const from = s.tame(x);
  const shape = x.shape.flatMap((size, at) =>
    !chosen.includes(at) ? [size] : keepdims ? [1] : [],
  );
  const grows =
    op === 'ReduceMax' || op === 'ReduceMin' ? 0 : op.endsWith('Square') ? from.bits + 11 : 11;
  const isExactOp = ['ReduceSum', 'ReduceMax', 'ReduceMin'].includes(op);
  const more = { bits: from.bits + grows, rounds: from.rounds || !isExactOp };
  const axes = s.constant(
    'int64',
    chosen.map((at) => (s.draw.chance(0.3) ? at - x.shape.length : at)),
  );
  return s.apply(op, [from, axes], { keepdims }, x.dtype, shape, more);
}

function argued(s) {
  const x = s.find(of(hasAxes, isStatic, isSome, isNumber, isExact));
  if (!x) return false;
  const [axis, axisAttribute] = axisOf(s, x);
  const keepdims = s.draw.below(2);
  const shape = keepdims ? along(x.shape, axis, 1) : without(x.shape, axis);
  const attributes = { axis: axisAttribute, keepdims };
  return s.apply(s.draw.pick(['ArgMax', 'ArgMin']), [x], attributes, 'int64', shape);
}

function summed(s) {
  const x = s.find(of(hasAxes, isStatic, isSigned));
  if (!x) return false;
  const from = s.tame(x);
  const [, axis] = axisOf(s, x);
  const attributes = { exclusive: s.draw.below(2), reverse: s.draw.below(2) };
  const more = { bits: from.bits + 6, rounds: from.rounds };
  return s.apply(
    'CumSum',
    [from, s.constant('int64', [axis], [])],
    attributes,
    x.dtype,
    x.shape,
    more,
  );
}

function sorted(s) {
  const x = s.find(of(hasAxes, isStatic, isSome, isSigned, isExact));
  if (!x) return false;
  const [axis, axisAttribute] = axisOf(s, x);
  const k = s.draw.between(1, x.shape[axis]);
  const shape = along(x.shape, axis, k);
  const [values, at] = [s.add(x.dtype, shape, same(x)), s.add('int64', shape)];
  const by = s.constant('int64', [k]);
  const attributes = { axis: axisAttribute, largest: s.draw.below(2) };
  s.nodes.push(node('TopK', [x.name, by.name], [values.name, at.name], attributes));
  return true;
}

function normalized(s) {
  const x = s.find(of(hasAxes, isStatic, isSome, isFloat));
  if (!x) return false;
  const from = s.tame(x);
  const [axis, axisAttribute] = axisOf(s, x);
  // Of equal numbers a norm shows nothing but how they round.
  if (from.rounds || s.draw.chance(0.6)) {
    return s.like(
      s.draw.pick(['Softmax', 'LogSoftmax']),
      from,
      { axis: axisAttribute },
      { bits: 8, rounds: true },
    );
  }
  const shape = x.shape.slice(axis);
  const operands = [from, s.weights('float32', shape), s.weights('float32', shape)];
  return s.apply('LayerNormalization', operands, { axis: axisAttribute }, 'float32', x.shape, {
    bits: 10,
    rounds: true,
  });
}

function multiplied(s) {
  const x = s.find(of(isFloat, isStatic, ({ shape }) => shape.length > 1 && shape.length < 5));
  if (!x) return false;
  const from = s.tame(x);
  const inner = x.shape.at(-1);
  const fits = (y) => isFloat(y) && isStatic(y) && y.shape.length === 2 && y.shape[0] === inner;
  const y = s.tame(
    (s.draw.chance(0.5) && s.find(fits)) || s.weights('float32', [inner, s.draw.size()]),
  );
  const shape = [...x.shape.slice(0, -1), y.shape[1]];
  if (count(shape) > 4000) return false;
  const more = { bits: from.bits + y.bits + 6, rounds: from.rounds || y.rounds };
  if (x.shape.length > 2 || s.draw.chance(0.6))
    return s.apply('MatMul', [from, y], {}, 'float32', shape, more);
  const bias = s.weights('float32', s.draw.pick([[shape[1]], [1], shape]));
  return s.apply('Gemm', [from, y, bias], {}, 'float32', shape, { ...more, bits: more.bits + 1 });
}

function convolved(s) {
  const x = s.find(of(isFloat, isStatic, ({ shape }) => shape.length === 3 || shape.length === 4));
  if (!x) return false;
  const from = s.tame(x);
  const [channels, sizes] = [x.shape[1], x.shape.slice(2)];
  const out = s.draw.between(1, 6);
  if (channels > 20 || sizes.some((size) => size < 3)) return false;
  const kernel = sizes.map(() => s.draw.between(1, 3));
  const strides = sizes.map(() => s.draw.between(1, 2));
  const pads = [...sizes, ...sizes].map((_, at) =>
    s.draw.between(0, kernel[at % sizes.length] - 1),
  );
  const end = (size, at) =>
    Math.floor((size + pads[at] + pads[at + sizes.length] - kernel[at]) / strides[at]) + 1;
  const spatial = sizes.map(end);
  const attributes = { kernel_shape: kernel, strides, pads };
  if (s.draw.chance(0.4)) {
    const op = s.draw.pick(['MaxPool', 'AveragePool']);
    const shape = [...x.shape.slice(0, 2), ...spatial];
    return s.apply(op, [from], attributes, 'float32', shape, {
      bits: from.bits,
      rounds: from.rounds || op === 'AveragePool',
    });
  }
  const group = channels > 1 && s.draw.chance(0.3) ? channels : 1;
  const maps = group > 1 ? channels : out;
  const weights = s.weights('float32', [maps, channels / group, ...kernel]);
  const bias = s.draw.chance(0.5) ? [s.weights('float32', [maps])] : [];
  const shape = [x.shape[0], maps, ...spatial];
  if (count(shape) > 4000) return false;
  const more = { bits: from.bits + drawnBits + 8, rounds: from.rounds };
  return s.apply(
    'Conv',
    [from, weights, ...bias],
    { ...attributes, group },
    'float32',
    shape,
    more,
  );
}

/** [how often, recipe]. */
export const operatorRecipes = [
  ...dataRecipes,
  [4, unary],
  [1, roots],
  [5, binary],
  [2, divided],
  [2, compared],
  [2, logical],
  [1, bitwise],
  [2, where],
  [2, cast],
  [2, transposed],
  [2, reshaped],
  [2, squeezed],
  [2, sliced],
  [2, concatenated],
  [2, split],
  [1, padded],
  [2, repeated],
  [2, gathered],
  [1, scattered],
  [3, reduced],
  [1, argued],
  [1, summed],
  [1, sorted],
  [2, normalized],
  [3, multiplied],
  [2, convolved],
];
