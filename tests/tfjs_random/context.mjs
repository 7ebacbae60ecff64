// The source of random arguments: tensors of the program so far, new ones, sizes, axes and numbers.
import { Draw } from '../js/draw.mjs';

/** Kinds of values. Gradients are not compared for 'odd'. */
export const streams = ['plain', 'plain', 'special', 'special', 'odd'];
const specials = [0, 0, 1, -1, 0.5, -0.5, 1.5, 2, -2, 3, -7, 1e-3, 100, -300, 4096];
const oddities = [NaN, Infinity, -Infinity, 0, 1, -1];
const integerValues = [0, 0, 1, -1, 2, 3, -5, 7, 100, -1000, 3000];

export const sizeOf = (shape) => shape.reduce((product, each) => product * each, 1);

/** Tensors with larger magnitudes or NaN are not drawn as operands, except in the stream 'odd': results remain bounded. */
export const maxOperandMagnitude = 5000;
/** Approximate limit of the elements of a drawn shape. */
const targetElements = 2000;

/**
 * The state of drawing one program: the tensors that exist so far, and methods that draw arguments. Methods for tensors
 * return {ref: id}.
 */
export class Context {
  constructor(seed) {
    this.draw = new Draw(seed);
    this.stream = this.draw.pick(streams);
    /**
     * The inputs of the program: {id, shape, dtype, values, isVariable, fixed, bounds}.
     * isVariable: it is a tf.variable. fixed: operations depend on its values, so they are not replaced by others, and
     * it has no gradient. bounds: [min, max] of values that replace its own; default: [-2, 2].
     */
    this.leaves = [];
    /**
     * Inputs and results by id: {id, shape, dtype, exact, tame, hidden, isVariable}.
     * exact: bit-equal to TensorFlow.js. tame: no magnitude exceeds maxOperandMagnitude. hidden: not drawn as an operand of
     * later operations, such as indices and large results.
     */
    this.slots = new Map();
    this.nextId = 0;
    /** Whether operands must be bit-exact. */
    this.exactOnly = false;
    /** Whether operands must be finite. */
    this.finiteOnly = false;
  }

  /** One element, of the stream. */
  value(dtype) {
    const { draw } = this;
    if (dtype === 'bool') return draw.size(0, 1);
    if (dtype === 'int32')
      return this.stream === 'plain' ? draw.size(-9, 9) : draw.pick(integerValues);
    const plain = Math.fround(4 * draw.next() - 2);
    if (this.stream === 'plain') return plain;
    if (this.stream === 'odd' && !this.finiteOnly && draw.chance(0.1)) return draw.pick(oddities);
    return draw.chance(0.5) ? draw.pick(specials) : plain;
  }

  /** A new input tensor of the program. */
  leaf(shape, dtype = 'float32', value = () => this.value(dtype)) {
    const values = Array.from({ length: sizeOf(shape) }, (_, at) => value(at));
    const id = this.nextId++;
    const isVariable = this.draw.chance(0.08);
    this.leaves.push({ id, shape, dtype, values, isVariable });
    this.slots.set(id, {
      id,
      shape,
      dtype,
      exact: true,
      tame: values.every((each) => Math.abs(each) <= maxOperandMagnitude),
      isVariable,
    });
    return { ref: id };
  }
  /** A new input of integers from `min` to `max`, for indices: hidden and fixed. */
  integers(shape, min, max) {
    const made = this.leaf(shape, 'int32', () => this.draw.size(min, max));
    this.leaves.at(-1).fixed = true;
    this.slots.get(made.ref).hidden = true;
    return made;
  }
  /** A new input of just these values: fixed. */
  literal(shape, values, dtype = 'float32') {
    const made = this.leaf(shape, dtype, (at) => values[at]);
    this.leaves.at(-1).fixed = true;
    return made;
  }
  /** A new input of floats between two bounds, also where other values replace them. */
  between(shape, min, max) {
    const made = this.leaf(shape, 'float32', () =>
      Math.fround(min + (max - min) * this.draw.next()),
    );
    this.leaves.at(-1).bounds = [min, max];
    return made;
  }

  slotOf({ ref }) {
    return this.slots.get(ref);
  }
  shapeOf(x) {
    return this.slotOf(x).shape;
  }
  /** The tensors that may be operands now, and that `accepts` accepts. */
  #matching(accepts) {
    return [...this.slots.values()].filter(
      (each) =>
        !each.hidden &&
        (each.tame || (this.stream === 'odd' && !this.finiteOnly && each.dtype === 'float32')) &&
        (each.exact || !this.exactOnly) &&
        each.dtype !== 'complex64' &&
        accepts(each),
    );
  }
  /** A tensor of just this shape: an existing one or a new input. */
  tensorOfShape(shape, dtype = 'float32') {
    const text = shape.join();
    const found = this.#matching((each) => each.dtype === dtype && each.shape.join() === text);
    return found.length > 0 && this.draw.chance(0.5)
      ? { ref: this.draw.pick(found).id }
      : this.leaf(shape, dtype);
  }
  /** Any tensor of these types and so many axes. */
  any({ dtypes = ['float32'], minRank = 0, maxRank = 4, where = () => true } = {}) {
    const fits = (each) =>
      dtypes.includes(each.dtype) &&
      each.shape.length >= minRank &&
      each.shape.length <= maxRank &&
      where(each.shape);
    const found = this.#matching(fits);
    // The latest are drawn more often, so that chains grow.
    if (found.length > 0 && this.draw.chance(0.85)) {
      const at = Math.floor(found.length * (1 - this.draw.next() ** 2));
      return { ref: found[Math.min(at, found.length - 1)].id };
    }
    for (let tries = 0; tries < 20; ++tries) {
      const shape = this.shape(this.draw.size(minRank, Math.min(maxRank, minRank + 3)));
      if (where(shape)) return this.leaf(shape, this.draw.pick(dtypes));
    }
    return undefined;
  }

  dim(max = 40) {
    const { draw } = this;
    if (this.stream === 'odd' && draw.chance(0.02)) return 0;
    return draw.size(1, Math.min(max, draw.pick([2, 3, 5, 8, 13, 40])));
  }
  shape(rank, max = targetElements) {
    const sizes = [];
    let left = max;
    for (let axis = 0; axis < rank; ++axis) {
      sizes.push(this.dim(Math.max(1, Math.floor(left ** (1 / (rank - axis))) * 2)));
      left = Math.max(1, Math.floor(left / Math.max(1, sizes.at(-1))));
    }
    return sizes;
  }

  /** A number of JavaScript as an operand; drawn anew where the program runs with other values. */
  number() {
    const value = this.draw.pick([2, -1, 0.5, 3, -0.25, 1, this.value('float32')]);
    return { number: Number.isFinite(value) ? value : 0 };
  }
  axis(rank) {
    const axis = this.draw.size(0, rank - 1);
    return this.draw.chance(0.3) ? axis - rank : axis;
  }
  /** An axes argument of reductions. */
  axes(rank) {
    const { draw } = this;
    if (rank === 0 || draw.chance(0.25)) return undefined;
    if (draw.chance(0.4)) return this.axis(rank);
    const all = Array.from({ length: rank }, (_, axis) => axis).filter(() => draw.chance(0.5));
    return all.length === 0 ? [draw.size(0, rank - 1)] : all;
  }
  /** A shape that can be broadcast with the shape. */
  broadcastable(shape) {
    const { draw } = this;
    const dropped = draw.chance(0.3) ? draw.size(0, shape.length) : 0;
    return shape.slice(dropped).map((size) => (draw.chance(0.25) ? 1 : size));
  }
  /** A random permutation of the axes. */
  permutation(rank) {
    const left = Array.from({ length: rank }, (_, axis) => axis);
    return Array.from(
      { length: rank },
      () => left.splice(this.draw.size(0, left.length - 1), 1)[0],
    );
  }
  maybe(...values) {
    return this.draw.pick([undefined, ...values]);
  }
}
