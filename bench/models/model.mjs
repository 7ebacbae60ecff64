/**
 * The neutral description of a model that every peer builds: values in the order of their computation, channels last,
 * plain data that travels to a page. Knows no peer.
 */

/** Begins a model called name; its methods append values and return them, output() ends with the description. */
export function describe(name) {
  const values = [];
  const append = (op, inputs, shape, attributes = {}) => {
    const value = {
      id: values.length,
      op,
      inputs: inputs.map(({ id }) => id),
      shape,
      ...attributes,
    };
    values.push(value);
    return value;
  };
  const constant = (shape, scale) => append('constant', [], shape, { scale });
  const biases = (channels) => constant([channels], 0.1);
  const window = (x, [height, width], stride, padding) =>
    [x.shape[1], x.shape[2]].map((size, i) =>
      Math.ceil((padding === 'same' ? size : size - [height, width][i] + 1) / stride),
    );
  const reduced = ({ shape }, axes) => shape.filter((_, axis) => !axes.includes(axis));

  return {
    input: (shape) => append('input', [], shape, { scale: 1 }),
    /** An int8 or float16 input; peers that only support floats have no such input. */
    shortInput: (shape, dtype) => append('shortInput', [], shape, { scale: 1, dtype }),
    shortConstant: (shape, dtype) => append('shortConstant', [], shape, { scale: 1, dtype }),
    constant,

    /** Uniform weights that preserve the variance of activations through a rectifier (He et al. 2015). */
    weights: (shape, fanIn) => constant(shape, Math.sqrt(6 / fanIn)),

    matMul(a, b, { transposeA = false, transposeB = false } = {}) {
      const rows = a.shape.at(transposeA ? -1 : -2);
      const columns = b.shape.at(transposeB ? -2 : -1);
      const shape = [...a.shape.slice(0, -2), rows, columns];
      return append('matMul', [a, b], shape, { transposeA, transposeB });
    },

    /** activation(x · weights + bias), for x of two axes. */
    dense(x, units, activation = null) {
      const inputs = [x, this.weights([x.shape[1], units], x.shape[1]), biases(units)];
      return append('dense', inputs, [x.shape[0], units], { activation });
    },

    conv2d(x, filters, size, { stride = 1, padding = 'same', activation = null } = {}) {
      const channels = x.shape[3];
      const filter = this.weights([size, size, channels, filters], size * size * channels);
      const shape = [x.shape[0], ...window(x, [size, size], stride, padding), filters];
      const attributes = { stride, padding, activation };
      return append('conv2d', [x, filter, biases(filters)], shape, attributes);
    },

    depthwiseConv2d(x, size, { stride = 1, padding = 'same', activation = null } = {}) {
      const channels = x.shape[3];
      const filter = this.weights([size, size, channels, 1], size * size);
      const shape = [x.shape[0], ...window(x, [size, size], stride, padding), channels];
      const attributes = { stride, padding, activation };
      return append('depthwiseConv2d', [x, filter, biases(channels)], shape, attributes);
    },

    maxPool2d(x, size, { stride = size, padding = 'valid' } = {}) {
      const shape = [x.shape[0], ...window(x, [size, size], stride, padding), x.shape[3]];
      return append('maxPool2d', [x], shape, { size, stride, padding });
    },

    /** The mean over rows and columns: [n, h, w, c] to [n, c]. */
    globalAveragePool2d: (x) => append('globalAveragePool2d', [x], [x.shape[0], x.shape[3]]),

    /** a + b of one shape, or b along the last axis of a. */
    add: (a, b, activation = null) => append('add', [a, b], a.shape, { activation }),
    mul: (a, b) => append('mul', [a, b], a.shape),
    relu: (x) => append('relu', [x], x.shape),
    sigmoid: (x) => append('sigmoid', [x], x.shape),
    /** The approximation with tanh, which every peer has. */
    gelu: (x) => append('gelu', [x], x.shape),
    /** Along the last axis. */
    softmax: (x) => append('softmax', [x], x.shape),
    /** Along the last axis, scaled and shifted. */
    layerNorm(x, epsilon = 1e-5) {
      const channels = x.shape.at(-1);
      return append('layerNorm', [x, constant([channels], 1), biases(channels)], x.shape, {
        epsilon,
      });
    },
    sum: (x, axes) => append('sum', [x], reduced(x, axes), { axes }),
    transpose: (x) => append('transpose', [x], [...x.shape].reverse()),
    /** Running sums along the last axis. */
    cumsum: (x) => append('cumsum', [x], x.shape),
    /** The k largest along the last axis, largest first. */
    topK: (x, k) => append('topK', [x], [...x.shape.slice(0, -1), k], { k }),
    /** Bilinear with half-pixel centres. */
    resizeBilinear(x, [height, width]) {
      return append('resizeBilinear', [x], [x.shape[0], height, width, x.shape[3]]);
    },
    /** Channels of a, then those of b. */
    concatChannels(a, b) {
      return append('concatChannels', [a, b], [...a.shape.slice(0, 3), a.shape[3] + b.shape[3]]);
    },

    output(value) {
      const last = new Map();
      for (const { id, inputs } of values) for (const input of inputs) last.set(input, id);
      for (const each of values)
        each.lastUses = [...new Set(each.inputs)].filter((id) => last.get(id) === each.id);
      return { name, values, output: value.id };
    },
  };
}

export const sizeOf = (shape) => shape.reduce((product, extent) => product * extent, 1);

/**
 * The numbers of an input or a constant: its data, or else uniform ones in (-scale, scale), the same for every
 * peer and every run.
 */
export function fill({ id, shape, scale, data: values }) {
  if (values) return values;
  let state = (id + 1) * 0x9e3779b1;
  const data = new Float32Array(sizeOf(shape));
  for (let i = 0; i < data.length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    data[i] = (state / 2 ** 31) * scale;
  }
  return data;
}

/** The elements of a short input or constant: int8 over its range, or bits of float16 near ±1. */
export function fillShort(value) {
  const numbers = fill(value);
  if (value.dtype === 'int8') return Int8Array.from(numbers, (x) => Math.round(x * 127));
  const bits = (x) => (x < 0 ? 0x8000 : 0) | (0x3800 + Math.floor(Math.abs(x) * 1023));
  return Uint16Array.from(numbers, bits);
}

/** Inputs and constants one after the other, as a file of weights has them. */
export const leaves = ({ values }) =>
  values.filter(({ op }) => op === 'input' || op === 'constant');

/**
 * Computes every value in order with rules[op](value, operands), which returns what the peer calls a value; release is
 * called with each one after its last use.
 */
export function evaluate(model, rules, release = () => {}) {
  const results = [];
  for (const value of model.values) {
    const rule = rules[value.op];
    if (!rule) throw new Unsupported(`has no ${value.op}`);
    results.push(
      rule(
        value,
        value.inputs.map((id) => results[id]),
      ),
    );
    for (const id of value.lastUses) release(results[id], model.values[id]);
  }
  return results[model.output];
}

/** What a peer cannot do, as opposed to what it fails at. */
export class Unsupported extends Error {}

/** Floating-point operations of the products and convolutions of a model; 0 for one without. */
export function flopsOf({ values }) {
  const depth = {
    matMul: ({ transposeA }, [a]) => a.shape.at(transposeA ? -2 : -1),
    dense: (_, [, weights]) => weights.shape[0],
    conv2d: (_, [, filter]) => sizeOf(filter.shape.slice(0, 3)),
    depthwiseConv2d: (_, [, filter]) => sizeOf(filter.shape.slice(0, 2)),
  };
  return values.reduce((sum, value) => {
    const operands = value.inputs.map((id) => values[id]);
    return sum + 2 * sizeOf(value.shape) * (depth[value.op]?.(value, operands) ?? 0);
  }, 0);
}
