// Random models over inputs with a named length, of operators that move, reduce and measure axes. Sizes are numbers,
// 'length', or null where they follow from it in another way; some are drawn so that the model is wrong for some lengths.
import { Builder } from '../../transformers/builder.mjs';
import { Draw } from './draw.mjs';
import { movement } from './draw_padded_movement.mjs';
import { operators } from './draw_padded_operators.mjs';

class PaddedAxes {
  constructor(seed) {
    this.draw = new Draw(seed);
    this.g = new Builder(seed);
    this.all = [];
    this.used = new Set();
    this.opset = this.draw.between(18, 23);
  }

  add(name, dtype, shape) {
    const x = { name, dtype, shape };
    this.all.push(x);
    return x;
  }

  op(kind, inputs, dtype, shape, attributes = {}, domain = '') {
    for (const each of inputs) this.used.add(each.name);
    const names = inputs.map((each) => each.name ?? each);
    return this.add(this.g.op(kind, names, attributes, domain), dtype, shape);
  }

  /** A random value that passes the test, later ones more often. */
  find(test = () => true) {
    const fit = this.all.filter(test);
    if (fit.length === 0) return undefined;
    return this.draw.chance(0.6)
      ? fit[Math.max(0, fit.length - this.draw.between(1, 3))]
      : this.draw.pick(fit);
  }

  float(least = 0) {
    return this.find(({ dtype, shape }) => dtype === 'float32' && shape.length >= least);
  }

  size() {
    return this.draw.pick([1, 1, 2, 3, 4, 4, 5, 8, 16, 16, 16, 32]);
  }

  ints(...values) {
    return { name: this.g.ints(...values) };
  }

  scalar(value) {
    return { name: this.g.scalar(value) };
  }

  weight(shape) {
    return { name: this.g.weight(shape, 0.7) };
  }

  axis(x) {
    return this.draw.below(x.shape.length);
  }

  signed(axis, x) {
    return this.draw.chance(0.4) ? axis - x.shape.length : axis;
  }

  /** The length of a value as int64[1]. */
  length(x = this.find(({ shape }) => shape.includes('length'))) {
    this.used.add(x.name);
    return { name: this.g.size(x.name, x.shape.indexOf('length')) };
  }
}

const recipes = { ...movement, ...operators };

/** A model, its inputs, and its nodes as text. */
export function drawModel(seed) {
  const s = new PaddedAxes(seed);
  const { draw } = s;
  const batch = draw.pick([1, 1, 2, 3, 16]);
  const width = s.size();
  const inputs = draw.pick([
    [
      ['x', 'float32', ['batch', 'length', width]],
      ['y', 'float32', ['batch', 'other', width]],
    ],
    [['x', 'float32', ['batch', 'length', width]]],
    [['x', 'float32', ['batch', width, 'length']]],
    [['x', 'float32', ['batch', 'length']]],
    [['ids', 'int64', ['batch', 'length']]],
    [
      ['x', 'float32', ['batch', 'length', width]],
      ['mask', 'int64', ['batch', 'length']],
    ],
    [
      ['x', 'float32', ['batch', 'length', width]],
      ['y', 'float32', ['batch', width, 'length']],
    ],
    [['x', 'float32', ['batch', 'length', 'length']]],
    [
      ['x', 'float32', [batch, 'length', width]],
      ['z', 'float32', [batch, width]],
    ],
  ]);
  for (const [name, dtype, shape] of inputs) {
    s.g.input(name, dtype, shape);
    s.add(
      name,
      dtype,
      shape.map((size) => (size === 'batch' ? batch : size)),
    );
  }
  const isIds = inputs[0][0] === 'ids';
  if (isIds) recipes.lookUp(s);
  const names = Object.keys(recipes);
  const count = draw.between(1, 7);
  for (let made = 0, tries = 0; made < count && tries < 60; tries++) {
    const name = draw.pick(names);
    const before = s.all.length;
    if (recipes[name](s) === undefined && s.all.length === before) continue;
    made++;
  }
  const computed = s.all.slice(inputs.length);
  const ends = computed.filter(({ name }) => !s.used.has(name));
  const chosen = ends.slice(-4);
  chosen.forEach((each, k) =>
    s.g.output(
      `out${k}`,
      each.dtype,
      each.shape.map((_, axis) => `d${k}_${axis}`),
      each.name,
    ),
  );
  const bytes = s.g.bytes({ opset: s.opset, opsets: { 'com.microsoft': 1 } });
  const text = s.g.nodes
    .map(({ op, inputs, outputs, attributes }) => {
      const operands = inputs.map((name) => {
        const { [name]: initializer } = s.g.initializers;
        if (!initializer) return name;
        return initializer.data.length <= 6 && initializer.dtype !== 'float32'
          ? `[${initializer.data}]`
          : initializer.data.length === 1
            ? String(initializer.data[0])
            : `${name}[${initializer.shape}]`;
      });
      const attribute = JSON.stringify(attributes, (_, each) =>
        typeof each === 'bigint' ? String(each) : each,
      );
      return `  ${outputs} = ${op}(${operands}) ${attribute}`;
    })
    .join('\n');
  const lengths = draw.shuffled([
    1,
    2,
    3,
    5,
    15,
    16,
    draw.between(4, 14),
    draw.between(17, 40),
    draw.between(17, 40),
    16,
    32,
  ]);
  const feeds = (length) => {
    const other = [1, 2, 16, length, length + 1][(length * 7 + seed) % 5];
    const sizes = { batch, length, other };
    return Object.fromEntries(
      inputs.map(([name, dtype, shape]) => {
        const counts = shape.map((size) => sizes[size] ?? size);
        const values = new Draw(seed * 131 + length);
        const count = counts.reduce((a, b) => a * b, 1);
        const number =
          dtype === 'int64'
            ? () => BigInt(name === 'mask' ? values.below(4) && 1 : values.below(30))
            : () => values.between(-12, 12) / 4 + values.uniform() / 8;
        const data = Array.from({ length: count }, number);
        return [
          name,
          {
            dtype,
            shape: counts,
            data: dtype === 'int64' ? BigInt64Array.from(data) : Float32Array.from(data),
          },
        ];
      }),
    );
  };
  return {
    bytes,
    text: `inputs ${JSON.stringify(inputs)} batch ${batch} opset ${s.opset}\n${text}`,
    lengths,
    feeds,
  };
}
