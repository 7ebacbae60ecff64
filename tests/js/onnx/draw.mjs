// Random numbers, and the graph that a random model is drawn into: names with their types, and nodes. What the operators
// are is in draw_operators.mjs, operators with graphs are in draw_control.mjs.
import { node, tensor } from './write.mjs';

export class Draw {
  #state;

  constructor(seed) {
    this.#state = (seed * 2654435761) >>> 0;
  }

  /** Mulberry32 (T. Ettinger, 2017). */
  uniform() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(end) {
    return Math.floor(this.uniform() * end);
  }

  between(first, last) {
    return first + this.below(last - first + 1);
  }

  chance(share) {
    return this.uniform() < share;
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  shuffled(list) {
    const rest = [...list];
    return list.map(() => rest.splice(this.below(rest.length), 1)[0]);
  }

  /** A size of an axis: odd ones, and often small ones. */
  size() {
    return this.chance(0.6) ? this.between(1, 7) : this.between(1, 40);
  }

  shape(rank, maxSize = 1500) {
    const shape = [];
    for (let left = maxSize; shape.length < rank; left /= shape.at(-1)) {
      shape.push(Math.min(this.size(), Math.max(1, Math.floor(left))));
    }
    return this.shuffled(shape);
  }

  /** Elements whose sums and products of a few are exact. */
  tensor(dtype, shape) {
    const element = {
      float32: () => this.between(-12, 12) / 4,
      int32: () => this.between(-9, 9),
      int64: () => this.between(-9, 9),
      uint8: () => this.between(0, 20),
      bool: () => this.below(2),
    }[dtype];
    return tensor(dtype, Array.from({ length: count(shape) }, element), shape);
  }
}

export const count = (shape) => shape.reduce((product, size) => product * size, 1);
export const isSigned = ({ dtype }) => dtype !== 'bool' && dtype !== 'uint8';
export const isInteger = (dtype) => dtype === 'int32' || dtype === 'int64' || dtype === 'uint8';

/** Bits of the largest number in a random tensor, in quarters. */
export const drawnBits = 6;
/** Beyond them sums of floats round. */
const exactBits = 22;

/**
 * The values and nodes so far. A value is { name, dtype, shape, bits }: data-dependent sizes in a shape are names; `bits`
 * bounds the numbers, in quarters; floats that are not exact, whose comparisons may go either way, have `rounds`.
 */
export class Scope {
  constructor(draw, outer) {
    this.draw = draw;
    this.outer = outer;
    this.values = [];
    this.sequences = [];
    this.nodes = [];
    this.initializers = {};
    this.root = outer?.root ?? this;
    if (!outer) this.names = 0;
    this.depth = outer ? outer.depth + 1 : 0;
  }

  fresh(prefix = 'v') {
    return `${prefix}${this.root.names++}`;
  }

  /** A value of this or an outer scope that satisfies `predicate`. */
  find(predicate = () => true) {
    const all = this.all().filter(predicate);
    if (all.length === 0) return undefined;
    // The latest values twice as often, so that models get deep.
    return this.draw.chance(0.5) ? this.draw.pick(all.slice(-4)) : this.draw.pick(all);
  }

  all() {
    return [...(this.outer?.all() ?? []), ...this.values];
  }

  add(dtype, shape, more = {}) {
    const added = { name: this.fresh(), dtype, shape, bits: drawnBits, ...more };
    if (dtype === 'bool') Object.assign(added, { bits: 3, rounds: false });
    if (dtype === 'float32' && added.bits > exactBits) added.rounds = true;
    this.values.push(added);
    return added;
  }

  constant(dtype, data, shape = [data.length]) {
    const name = this.fresh('c');
    const contents = tensor(dtype, data, shape);
    if (this.draw.chance(0.5)) this.initializers[name] = contents;
    else this.nodes.push(node('Constant', [], [name], { value: contents }));
    return { name, dtype, shape, bits: drawnBits };
  }

  /** A constant of random elements. */
  weights(dtype, shape) {
    const { data } = this.draw.tensor(dtype, shape);
    return this.constant(dtype, data, shape);
  }

  /** A node over values, or names, of one result. */
  apply(op, operands, attributes, dtype, shape, more = {}) {
    const out = this.add(dtype, shape, more);
    const names = operands.map((each) => (typeof each === 'string' ? each : each.name));
    this.nodes.push(node(op, names, [out.name], attributes, more.of ?? {}));
    return out;
  }

  /** The same operator for every element. */
  like(op, x, attributes = {}, more = {}) {
    return this.apply(op, [x], attributes, x.dtype, x.shape, {
      bits: x.bits,
      rounds: x.rounds,
      ...more,
    });
  }

  /** The value, scaled down where its numbers have become large. */
  tame(x) {
    if (x.dtype === 'float32' && x.bits > 12) {
      return this.like('Tanh', x, {}, { bits: 3, rounds: true });
    }
    if (isInteger(x.dtype) && x.bits > 20) {
      const by = this.constant(x.dtype, [this.draw.between(2, 11)], []);
      return this.apply('Mod', [x, by], {}, x.dtype, x.shape, { bits: drawnBits });
    }
    return x;
  }

  cast(x, dtype) {
    if (x.dtype === dtype) return x;
    // Floats stay what they are, exactly.
    const small = isInteger(x.dtype) ? this.tame(x) : x;
    const number = { float32: 1, int32: 6, int64: 7, uint8: 2, bool: 9 }[dtype];
    const more = { bits: Math.max(small.bits, 3), rounds: small.rounds };
    return this.apply('Cast', [small], { to: number }, dtype, small.shape, more);
  }

  /** The value converted to this dtype; for another shape its maximum or sum is broadcast. */
  fitted(x, dtype, shape) {
    // Where floats are rounded they may become either of two integers.
    const isNone = x.shape.includes(0);
    if (isNone || (x.rounds && dtype !== 'float32'))
      return this.like('Identity', this.weights(dtype, shape));
    const isSame = String(x.shape) === String(shape);
    let y = x;
    if (!isSame) {
      if (!isSigned(y)) y = this.cast(y, 'int32');
      // There may be no element of which one were the largest.
      const isStatic = y.shape.every(Number.isInteger);
      const more = { bits: y.bits + (isStatic ? 0 : 11), rounds: y.rounds };
      const op = isStatic ? 'ReduceMax' : 'ReduceSum';
      y = this.apply(op, [y], { keepdims: 0 }, y.dtype, [], more);
    }
    if (dtype === 'uint8' && y.dtype !== 'uint8') y = this.cast(y, 'bool');
    y = this.cast(y, dtype);
    if (isSame) return y;
    const to = this.constant('int64', shape);
    const more = { bits: y.bits, rounds: y.rounds };
    return this.apply('Expand', [y, to], {}, dtype, shape, more);
  }
}
