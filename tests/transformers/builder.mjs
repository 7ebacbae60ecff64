// Writes graphs down operation by operation, with random weights that are always the same. Knows no kind of network.
import { graph, model, node, random, tensor, value } from '../js/onnx/write.mjs';

export class Builder {
  nodes = [];
  initializers = {};
  #inputs = [];
  #outputs = [];
  #seed;
  #count = 0;

  constructor(seed = 1) {
    this.#seed = seed * 1000;
  }

  input(name, dtype, shape) {
    this.#inputs.push({ name, dtype, shape });
    return name;
  }

  /** Names a value as an output. */
  output(name, dtype, shape, from) {
    this.nodes.push(node('Identity', [from], [name]));
    this.#outputs.push({ name, dtype, shape });
  }

  #next(kind) {
    return `${kind}_${this.#count++}`;
  }

  /** The first output of a node. */
  op(kind, inputs, attributes = {}, domain = '') {
    return this.ops(kind, inputs, 1, attributes, domain)[0];
  }

  ops(kind, inputs, count, attributes = {}, domain = '') {
    const outputs = Array.from({ length: count }, () => this.#next(kind));
    this.nodes.push(node(kind, inputs, outputs, attributes, { domain, name: outputs[0] }));
    return outputs;
  }

  constant(dtype, data, shape = [data.length]) {
    const name = this.#next('constant');
    this.initializers[name] = tensor(dtype, data, shape);
    return name;
  }

  ints = (...values) => this.constant('int64', values);
  scalar = (value) => this.constant('float32', [value], []);

  weight(shape, deviation = 1 / Math.sqrt(shape[0])) {
    const name = this.#next('weight');
    this.initializers[name] = random(this.#seed++, shape, deviation);
    return name;
  }

  /** x @ [width, units] + bias. */
  dense(x, width, units, { bias = true } = {}) {
    const product = this.op('MatMul', [x, this.weight([width, units])]);
    return bias ? this.op('Add', [product, this.weight([units], 0.1)]) : product;
  }

  /** Normalizes the last axis: one operator, or decomposed as exporters did before opset 17. */
  layerNorm(x, width, { isOld = false } = {}) {
    const scale = this.constant(
      'float32',
      Array.from({ length: width }, (_, at) => 1 + (at % 7) / 20),
    );
    const bias = this.weight([width], 0.1);
    if (!isOld) return this.op('LayerNormalization', [x, scale, bias], { axis: -1, epsilon: 1e-5 });
    const mean = this.op('ReduceMean', [x, this.ints(-1)], { keepdims: 1 });
    const off = this.op('Sub', [x, mean]);
    const square = this.op('Pow', [off, this.scalar(2)]);
    const variance = this.op('ReduceMean', [square, this.ints(-1)], { keepdims: 1 });
    const root = this.op('Sqrt', [this.op('Add', [variance, this.scalar(1e-5)])]);
    return this.op('Add', [this.op('Mul', [this.op('Div', [off, root]), scale]), bias]);
  }

  rmsNorm(x, width) {
    const mean = this.op('ReduceMean', [this.op('Pow', [x, this.scalar(2)]), this.ints(-1)], {
      keepdims: 1,
    });
    const root = this.op('Sqrt', [this.op('Add', [mean, this.scalar(1e-5)])]);
    const scale = this.constant(
      'float32',
      Array.from({ length: width }, (_, at) => 1 + (at % 5) / 20),
    );
    return this.op('Mul', [this.op('Div', [x, root]), scale]);
  }

  /** GELU decomposed with Erf, as exporters do. */
  gelu(x) {
    const erf = this.op('Erf', [this.op('Div', [x, this.scalar(Math.SQRT2)])]);
    const half = this.op('Mul', [x, this.op('Add', [erf, this.scalar(1)])]);
    return this.op('Mul', [half, this.scalar(0.5)]);
  }

  /** [batch, length, heads * size] to [batch, heads, length, size]. */
  split(x, heads, size) {
    const rows = this.op('Reshape', [x, this.ints(0, -1, heads, size)]);
    return this.op('Transpose', [rows], { perm: [0, 2, 1, 3] });
  }

  /** The reverse of `split`. */
  merge(x, width) {
    const rows = this.op('Transpose', [x], { perm: [0, 2, 1, 3] });
    return this.op('Reshape', [rows, this.ints(0, -1, width)]);
  }

  /** softmax(q kᵀ / √size + mask) v; all [batch, heads, length, size]. */
  attend(q, k, v, size, mask) {
    const columns = this.op('Transpose', [k], { perm: [0, 1, 3, 2] });
    const scores = this.op('Div', [this.op('MatMul', [q, columns]), this.scalar(Math.sqrt(size))]);
    const masked = mask === undefined ? scores : this.op('Add', [scores, mask]);
    return this.op('MatMul', [this.op('Softmax', [masked], { axis: -1 }), v]);
  }

  /** One size of a value, as a tensor of one element. */
  size(x, axis) {
    return this.op('Gather', [this.op('Shape', [x]), this.ints(axis)]);
  }

  /** Range from 0 to the value of a one-element tensor. */
  range(end) {
    const zero = this.constant('int64', [0], []);
    const one = this.constant('int64', [1], []);
    return this.op('Range', [zero, this.op('Squeeze', [end]), one]);
  }

  /** Zero where a condition is true, and a large negative number elsewhere. */
  penalty(condition) {
    return this.op('Where', [condition, this.scalar(0), this.scalar(-1e9)]);
  }

  /** The graph as a branch of an If with these outputs; local names get a prefix, others refer to the outer scope. */
  branch(prefix, values) {
    const local = new Set([
      ...Object.keys(this.initializers),
      ...this.nodes.flatMap((each) => each.outputs),
    ]);
    const named = (name) => (local.has(name) ? `${prefix}/${name}` : name);
    const initializers = Object.entries(this.initializers).map(([name, each]) => [
      named(name),
      each,
    ]);
    return graph({
      nodes: this.nodes.map((each) => ({
        ...each,
        inputs: each.inputs.map(named),
        outputs: each.outputs.map(named),
      })),
      outputs: values.map((name) => value(named(name), 'float32')),
      initializers: Object.fromEntries(initializers),
      name: prefix,
    });
  }

  bytes(options = {}) {
    return model({
      nodes: this.nodes,
      inputs: this.#inputs,
      outputs: this.#outputs,
      initializers: this.initializers,
      ...options,
    });
  }
}
