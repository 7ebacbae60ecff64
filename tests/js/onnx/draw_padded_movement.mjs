// Random nodes that move elements of values with a named length, or measure it, for draw_padded.mjs.
import { ints, tensor } from './write.mjs';

const isFixed = (size) => typeof size === 'number';
const without = (list, at) => list.filter((_, k) => k !== at);

export const movement = {
  transpose(s) {
    const x = s.float(2);
    if (!x) return undefined;
    const perm = s.draw.shuffled(x.shape.map((_, k) => k));
    return s.op(
      'Transpose',
      [x],
      x.dtype,
      perm.map((k) => x.shape[k]),
      { perm },
    );
  },
  unsqueeze(s) {
    const x = s.find(({ shape }) => shape.length < 4);
    const at = s.draw.below(x.shape.length + 1);
    return s.op('Unsqueeze', [x, s.ints(at)], x.dtype, x.shape.toSpliced(at, 0, 1));
  },
  squeeze(s) {
    const x = s.find(({ shape }) => shape.includes(1));
    if (!x) return undefined;
    if (s.draw.chance(0.2))
      return s.op(
        'Squeeze',
        [x],
        x.dtype,
        x.shape.filter((size) => size !== 1),
      );
    const at = x.shape.indexOf(1);
    return s.op('Squeeze', [x, s.ints(s.signed(at, x))], x.dtype, without(x.shape, at));
  },
  reshape(s) {
    const x = s.float(1);
    if (!x || x.shape.includes(null) || x.shape.includes('other')) return undefined;
    const at = s.axis(x);
    const kind = s.draw.below(6);
    if (kind === 0) {
      // An axis in two.
      const size = x.shape[at];
      const part = s.draw.pick([1, 2, 4, 16]);
      if (!isFixed(size) || size % part !== 0) return undefined;
      const shape = x.shape.toSpliced(at, 1, part, size / part);
      const newShape = shape.map((each, k) => (each === 'length' ? (k < at ? 0 : -1) : each));
      if (newShape.filter((each) => each === -1).length > 1) return undefined;
      return s.op('Reshape', [x, s.ints(...newShape)], x.dtype, shape);
    }
    if (kind === 1) {
      // Two axes in one.
      if (x.shape.length < 2) return undefined;
      const first = s.draw.below(x.shape.length - 1);
      const [a, b] = x.shape.slice(first, first + 2);
      const both = a === 1 ? b : b === 1 ? a : isFixed(a) && isFixed(b) ? a * b : null;
      const shape = x.shape.toSpliced(first, 2, both);
      const open = shape.findIndex((each) => !isFixed(each));
      if (shape.some((each, k) => !isFixed(each) && k !== open)) return undefined;
      return s.op(
        'Reshape',
        [x, s.ints(...shape.map((each, k) => (k === open ? -1 : each)))],
        x.dtype,
        shape,
      );
    }
    if (kind === 2) {
      // Sizes that it measures, in any order.
      const shape = s.draw.shuffled(x.shape);
      if (!shape.includes('length')) return undefined;
      const parts = shape.map((each) => (each === 'length' ? s.length(x) : s.ints(each)));
      if (s.draw.chance(0.4)) parts[s.draw.below(parts.length)] = s.ints(-1);
      const sizes = s.op('Concat', parts, 'int64', [shape.length], { axis: 0 });
      return s.op('Reshape', [x, sizes], x.dtype, shape);
    }
    if (kind === 3) {
      const shape = [s.draw.pick([1, 2, 4, 16]), -1, s.draw.pick([1, 2, 4, 16])];
      if (s.draw.chance(0.5)) shape.pop();
      const newShape = s.draw.shuffled(shape);
      if (s.draw.chance(0.3)) newShape[0] = 0;
      return s.op(
        'Reshape',
        [x, s.ints(...newShape)],
        x.dtype,
        newShape.map((each) => (each > 0 ? each : null)),
      );
    }
    if (kind === 4) {
      const axis = s.draw.below(x.shape.length + 1);
      return s.op('Flatten', [x], x.dtype, [null, null], { axis });
    }
    return s.op('Reshape', [x, s.ints(-1)], x.dtype, [null]);
  },
  slice(s) {
    const x = s.float(1);
    if (!x) return undefined;
    const at = s.axis(x);
    const starts = s.draw.pick([0, 0, 1, -1, -2, 2, 3, -(2n ** 63n), 2n ** 63n - 1n]);
    const ends = s.draw.pick([
      1,
      2,
      3,
      -1,
      16,
      8,
      2n ** 31n - 1n,
      2n ** 63n - 1n,
      -(2n ** 63n) + 1n,
    ]);
    const steps = s.draw.pick([1, 1, 1, 1, 2, -1, -1]);
    const isFull = starts === 0 && typeof ends === 'bigint' && ends > 0 && steps === 1;
    const bounds = [s.ints(starts), s.ints(ends), s.ints(s.signed(at, x)), s.ints(steps)];
    if (s.draw.chance(0.25) && s.find(({ shape }) => shape.includes('length'))) {
      bounds[s.draw.below(2)] = s.draw.chance(0.5)
        ? s.length()
        : s.op('Add', [s.length(), s.ints(s.draw.pick([-1, 1, 3]))], 'int64', [1]);
    }
    return s.op('Slice', [x, ...bounds], x.dtype, x.shape.with(at, isFull ? x.shape[at] : null));
  },
  tableSlice(s) {
    const table = s.weight([s.draw.pick([40, 48, 64]), s.size()]);
    const columns = null;
    const end = s.length();
    const start = s.draw.chance(0.7) ? s.ints(0) : s.op('Sub', [end, s.ints(1)], 'int64', [1]);
    return s.op('Slice', [table, start, end, s.ints(0)], 'float32', [
      start.shape ? 1 : 'length',
      columns,
    ]);
  },
  concat(s) {
    const x = s.float(1);
    if (!x) return undefined;
    const at = s.axis(x);
    const y = s.find(
      ({ dtype, shape }) =>
        dtype === 'float32' &&
        shape.length === x.shape.length &&
        shape.every((size, k) => k === at || size === x.shape[k]),
    );
    const concatenated =
      isFixed(x.shape[at]) && isFixed(y.shape[at]) ? x.shape[at] + y.shape[at] : null;
    return s.op('Concat', [x, y], x.dtype, x.shape.with(at, concatenated), {
      axis: s.signed(at, x),
    });
  },
  split(s) {
    const x = s.float(1);
    if (!x) return undefined;
    const at = s.axis(x);
    const size = x.shape[at];
    const count = s.draw.pick([1, 2]);
    if (isFixed(size) && size % count !== 0) return undefined;
    s.used.add(x.name);
    const names = s.g.ops('Split', [x.name], count, { axis: s.signed(at, x), num_outputs: count });
    for (const name of names)
      s.add(
        name,
        x.dtype,
        x.shape.with(at, count === 1 ? size : isFixed(size) ? size / count : null),
      );
    return true;
  },
  gather(s) {
    const x = s.float(1);
    if (!x) return undefined;
    const at = s.axis(x);
    const index = s.draw.pick([[0], [-1], [0, 1], [-1, 0], [2], 0, -1]);
    const indices = Array.isArray(index)
      ? s.ints(...index)
      : { name: s.g.constant('int64', [index], []) };
    const shape = x.shape.toSpliced(at, 1, ...(Array.isArray(index) ? [index.length] : []));
    return s.op('Gather', [x, indices], x.dtype, shape, { axis: s.signed(at, x) });
  },
  positions(s) {
    const by = s.draw.pick([1, 1, 1, 2]);
    const end = { name: s.g.op('Squeeze', [s.length().name]) };
    const [zero, step] = [0, by].map((each) => ({ name: s.g.constant('int64', [each], []) }));
    return s.op('Range', [zero, end, step], 'int64', [by === 1 ? 'length' : null]);
  },
  half(s) {
    const wide = s.op('Cast', [s.length()], 'float32', [1], { to: 1 });
    const part = s.op('Mul', [wide, s.scalar(s.draw.pick([0.5, 2, 0.25]))], 'float32', [1]);
    const rounded = s.op('Cast', [part], 'int64', [1], { to: 7 });
    const end = { name: s.g.op('Squeeze', [rounded.name]) };
    const [zero, step] = [0, 1].map((each) => ({ name: s.g.constant('int64', [each], []) }));
    return s.op('Range', [zero, end, step], 'int64', [null]);
  },
  filled(s) {
    const sizes = s.draw.shuffled([s.length(), s.ints(s.size())]);
    const shape = s.op('Concat', sizes, 'int64', [2], { axis: 0 });
    return s.op('ConstantOfShape', [shape], 'float32', [null, null], {
      value: tensor('float32', [2], [1]),
    });
  },
  shaped(s) {
    const x = s.find();
    const shape = s.op('Shape', [x], 'int64', [x.shape.length]);
    return s.draw.chance(0.5) ? s.op('Cast', [shape], 'float32', shape.shape, { to: 1 }) : shape;
  },
  equalSizes(s) {
    const x = s.find();
    const shape = s.op('Shape', [x], 'int64', [x.shape.length]);
    const equal = s.op('Equal', [shape, s.ints(s.draw.pick([-1, 16, 1, 4]))], 'bool', shape.shape);
    return s.op('Cast', [equal], 'float32', shape.shape, { to: 1 });
  },
  expand(s) {
    const x = s.float(1);
    if (!x) return undefined;
    if (s.draw.chance(0.5)) {
      const y = s.find(({ shape }) => shape.length === x.shape.length);
      const fits = x.shape.every(
        (size, k) => size === 1 || size === y.shape[k] || y.shape[k] === 1,
      );
      if (!fits) return undefined;
      const sizes = s.op('Shape', [y], 'int64', [y.shape.length]);
      return s.op(
        'Expand',
        [x, sizes],
        x.dtype,
        x.shape.map((size, k) => (size === 1 ? y.shape[k] : size)),
      );
    }
    const shape = x.shape.map((size) =>
      size === 1 && s.draw.chance(0.5) ? s.size() : isFixed(size) ? size : 1,
    );
    const at = x.shape.indexOf('length');
    if (at >= 0 && s.draw.chance(0.2)) shape[at] = 16;
    return s.op(
      'Expand',
      [x, s.ints(...shape)],
      x.dtype,
      x.shape.map((size, k) => (isFixed(size) ? shape[k] : size)),
    );
  },
  tile(s) {
    const x = s.float(1);
    if (!x) return undefined;
    const at = s.axis(x);
    const by = s.draw.pick([1, 2]);
    const size = isFixed(x.shape[at]) ? by * x.shape[at] : by === 1 ? x.shape[at] : null;
    return s.op(
      'Tile',
      [x, s.ints(...x.shape.map((_, k) => (k === at ? by : 1)))],
      x.dtype,
      x.shape.with(at, size),
    );
  },
  pad(s) {
    const x = s.float(1);
    if (!x) return undefined;
    const at = s.axis(x);
    const [before, after] = s.draw.pick([
      [0, 0],
      [1, 0],
      [0, 1],
      [1, -1],
      [-1, 1],
      [2, 2],
    ]);
    const pads = [before, after].flatMap((each) => x.shape.map((_, k) => (k === at ? each : 0)));
    const size = isFixed(x.shape[at])
      ? x.shape[at] + before + after
      : before + after === 0
        ? x.shape[at]
        : null;
    return s.op('Pad', [x, s.ints(...pads)], x.dtype, x.shape.with(at, size));
  },
  resize(s) {
    const x = s.float(3);
    if (!x || !x.shape.includes('length')) return undefined;
    const at = x.shape.indexOf('length');
    return s.op(
      'Resize',
      [x, '', '', s.ints(16)].map((each) => each || { name: '' }),
      x.dtype,
      x.shape.with(at, 16),
      { axes: ints([at]), mode: 'nearest' },
    );
  },
  crop(s) {
    const x = s.float(1);
    const at = x?.shape.indexOf('length') ?? -1;
    if (at < 0) return undefined;
    return s.op('CenterCropPad', [x, s.ints(16)], x.dtype, x.shape.with(at, 16), {
      axes: ints([at]),
    });
  },
  trilu(s) {
    const x = s.float(2);
    return x && s.op('Trilu', [x], x.dtype, x.shape, { upper: s.draw.below(2) });
  },
  sequence(s) {
    const x = s.float(1);
    if (!x) return undefined;
    const axis = s.axis(x);
    s.used.add(x.name);
    const all = s.g.op('SplitToSequence', [x.name, s.g.constant('int64', [16], [])], { axis });
    const name = s.g.op('ConcatFromSequence', [all], { axis });
    return s.add(name, x.dtype, x.shape);
  },
  gatherElements(s) {
    const x = s.float(1);
    if (!x) return undefined;
    const axis = s.axis(x);
    const zeros = s.op('Mul', [x, s.scalar(0)], x.dtype, x.shape);
    const index = s.op('Cast', [zeros], 'int64', x.shape, { to: 7 });
    return s.op('GatherElements', [x, index], x.dtype, x.shape, { axis });
  },
};
