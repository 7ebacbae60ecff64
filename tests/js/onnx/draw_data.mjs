// Random nodes with data-dependent shapes, and of sequences; and predicates of values for all recipes.
import { count, isSigned } from './draw.mjs';
import { node } from './write.mjs';

export const isStatic = ({ shape }) => shape.every(Number.isInteger);
export const isExact = (x) => !x.rounds;
export const hasAxes = ({ shape }) => shape.length > 0;
export const of =
  (...tests) =>
  (x) =>
    tests.every((each) => each(x));
export const same = (x) => ({ bits: x.bits, rounds: x.rounds });
/** A shape with another size along an axis. */
export const along = (shape, axis, size) => shape.map((each, at) => (at === axis ? size : each));
/** An axis, and as a positive or negative attribute. */
export const axisOf = (s, x) => {
  const axis = s.draw.below(x.shape.length);
  return [axis, s.draw.chance(0.3) ? axis - x.shape.length : axis];
};

/** Data-dependent shapes. */
function found(s) {
  const x = s.find(of(hasAxes, isStatic, isExact, ({ dtype }) => dtype !== 'uint8'));
  if (!x) return false;
  const open = s.fresh('n');
  if (s.draw.chance(0.4)) return s.apply('NonZero', [x], {}, 'int64', [x.shape.length, open]);
  const [axis] = axisOf(s, x);
  if (isSigned(x) && x.dtype !== 'int32' && s.draw.chance(0.4)) {
    const [values, counts] = [
      s.add(x.dtype, [open], same(x)),
      s.add('int64', [open], { bits: 13 }),
    ];
    s.nodes.push(node('Unique', [x.name], [values.name, '', '', counts.name], { sorted: 1 }));
    return true;
  }
  const rows = s.fitted(s.find(), 'bool', [x.shape[axis]]);
  return s.apply('Compress', [x, rows], { axis }, x.dtype, along(x.shape, axis, open), same(x));
}

function measured(s) {
  const x = s.find();
  const shape = s.apply('Shape', [x], {}, 'int64', [x.shape.length], { bits: 9 });
  if (s.draw.chance(0.5) || x.shape.length === 0) return shape;
  const op = s.draw.pick(['Size', 'Range', 'ConstantOfShape']);
  if (op === 'Size') return s.apply('Size', [x], {}, 'int64', [], { bits: 16 });
  if (op === 'ConstantOfShape') return s.apply(op, [shape], {}, 'float32', x.shape, { bits: 2 });
  const at = s.constant('int64', [s.draw.below(x.shape.length)], []);
  const size = s.apply('Gather', [shape, at], {}, 'int64', [], { bits: 9 });
  const [from, by] = [s.constant('int64', [0], []), s.constant('int64', [1], [])];
  const length = Number.isInteger(x.shape[Number(at.at)]) ? x.shape[at.at] : s.fresh('n');
  return s.apply('Range', [from, size, by], {}, 'int64', [length], { bits: 9 });
}

function hot(s) {
  const x = s.find(
    of(
      hasAxes,
      isStatic,
      (x) => x.dtype === 'int64',
      ({ shape }) => count(shape) < 60 && shape.length < 4,
    ),
  );
  if (!x) return false;
  const depth = s.draw.between(2, 9);
  const axis = s.draw.between(-1, x.shape.length);
  const at = axis < 0 ? x.shape.length : axis;
  const shape = [...x.shape.slice(0, at), depth, ...x.shape.slice(at)];
  const indices = s.apply('Mod', [x, s.constant(x.dtype, [depth], [])], {}, x.dtype, x.shape);
  const operands = [indices, s.constant('int64', [depth], []), s.constant('float32', [0.5, 2])];
  return s.apply('OneHot', operands, { axis }, 'float32', shape);
}

function sequenced(s) {
  const sequence =
    s.sequences.length > 0 && s.draw.chance(0.7) ? s.draw.pick(s.sequences) : undefined;
  if (!sequence) {
    const x = s.find(of(isStatic, ({ dtype }) => dtype !== 'uint8'));
    if (!x) return false;
    const all = s.all().filter((y) => y.dtype === x.dtype && String(y.shape) === String(x.shape));
    const parts = Array.from({ length: s.draw.between(1, 3) }, () => s.draw.pick(all));
    const name = s.fresh('s');
    s.nodes.push(
      node(
        'SequenceConstruct',
        parts.map((each) => each.name),
        [name],
      ),
    );
    s.sequences.push({ name, of: parts });
    return true;
  }
  const at = s.draw.below(sequence.of.length);
  const position = s.constant('int64', [s.draw.chance(0.4) ? at - sequence.of.length : at], []);
  const { dtype, shape } = sequence.of[at];
  const kinds = [
    'SequenceAt',
    'SequenceLength',
    'SequenceInsert',
    'SequenceErase',
    'ConcatFromSequence',
  ];
  const op = s.draw.pick(kinds);
  const more = {
    bits: Math.max(...sequence.of.map(({ bits }) => bits)),
    rounds: sequence.of.some(({ rounds }) => rounds),
  };
  if (op === 'SequenceAt') return s.apply(op, [sequence, position], {}, dtype, shape, more);
  if (op === 'SequenceLength') return s.apply(op, [sequence], {}, 'int64', []);
  if (op === 'ConcatFromSequence') {
    const axis = s.draw.below(shape.length + 1);
    const stackedShape = [...shape.slice(0, axis), sequence.of.length, ...shape.slice(axis)];
    return s.apply(op, [sequence], { axis, new_axis: 1 }, dtype, stackedShape, more);
  }
  if (op === 'SequenceErase' && sequence.of.length < 2) return false;
  const name = s.fresh('s');
  const isErased = op === 'SequenceErase';
  const x = s.draw.pick(sequence.of);
  const operands = isErased
    ? [sequence.name, position.name]
    : [sequence.name, x.name, position.name];
  s.nodes.push(node(op, operands, [name]));
  const rest = sequence.of.toSpliced(at, isErased ? 1 : 0, ...(isErased ? [] : [x]));
  s.sequences.push({ name, of: rest });
  return true;
}

/** [how often, recipe]. */
export const dataRecipes = [
  [2, found],
  [2, measured],
  [1, hot],
  [3, sequenced],
];
