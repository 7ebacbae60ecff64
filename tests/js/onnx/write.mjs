// Writes the ONNX models of the tests.
import { dtypes, Message, perByte } from './proto.mjs';

const isTyped = Symbol('typed attribute');
const defaultOpset = 21;

/** A tensor for initializers and attributes: elements in rows, as an array of the type or numbers. */
export function tensor(dtype, data, shape = [data.length]) {
  const [, ArrayOf] = dtypes[dtype];
  if (ArrayOf === undefined || data instanceof ArrayOf) return { dtype, data, shape };
  const isBig = ArrayOf === BigInt64Array || ArrayOf === BigUint64Array;
  return { dtype, data: ArrayOf.from(data, isBig ? BigInt : undefined), shape };
}

/** Seeded normal random numbers with this standard deviation. */
export function random(seed, shape, deviation = 1) {
  let state = seed >>> 0;
  // Mulberry32 (T. Ettinger, 2017).
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const count = shape.reduce((product, size) => product * size, 1);
  const values = Float32Array.from({ length: count }, () => {
    const sum = uniform() + uniform() + uniform() + uniform() - 2;
    return sum * Math.sqrt(3) * deviation;
  });
  return tensor('float32', values, shape);
}

/** An attribute of another kind than its value looks like: an integer as a float, an empty list. */
export const typed = (kind, value) => ({ [isTyped]: kind, value });
export const float = (value) => typed('float', value);
export const floats = (value) => typed('floats', value);
export const ints = (value) => typed('ints', value);
/** In a function: the attribute of this name of the node that calls it. */
export const ref = (name, kind) => ({ [isTyped]: kind, ref: name });

/** A node. Attributes are numbers, strings, tensors, graphs, and arrays of them. */
export function node(op, inputs, outputs, attributes = {}, { domain = '', name = '' } = {}) {
  return { op, inputs, outputs, attributes, domain, name };
}

/** An input or output: its sizes are numbers, names, or null; without a shape the rank is unknown. */
export const value = (name, dtype, shape) => ({ name, dtype, shape });
/** Sequence and optional types, as the dtype of a value. */
export const sequenceOf = (dtype, shape) => ({ kind: 'sequence', of: { dtype, shape } });
export const optionalOf = (dtype, shape) => ({ kind: 'optional', of: { dtype, shape } });

/** The graph of a model, or of an attribute. */
export const graph = ({ nodes, inputs = [], outputs, initializers = {}, name = 'graph' }) => ({
  nodes,
  inputs,
  outputs,
  initializers,
  name,
});

/** A function of the model. Its nodes name its inputs, outputs and attributes. */
export const func = ({ domain, name, inputs, outputs, attributes = [], nodes, opsets = {} }) => ({
  domain,
  name,
  inputs,
  outputs,
  attributes,
  nodes,
  opsets: { '': defaultOpset, ...opsets },
});

/** The bytes of a model with this graph. */
export function model({
  opset = defaultOpset,
  opsets = {},
  functions = [],
  metadata = {},
  ...rest
}) {
  const message = new Message().int(1, rest.ir ?? 10).text(2, 'tests');
  message.message(7, graphMessage(graph(rest)));
  message.each(8, opsetMessages({ '': opset, ...opsets }), 'message');
  for (const [key, text] of Object.entries(metadata)) {
    message.message(14, new Message().text(1, key).text(2, text));
  }
  return message.each(25, functions.map(functionMessage), 'message').encoded();
}

const opsetMessages = (opsets) =>
  Object.entries(opsets).map(([domain, version]) => new Message().text(1, domain).int(2, version));

function functionMessage({ domain, name, inputs, outputs, attributes, nodes, opsets }) {
  const message = new Message().text(1, name).each(4, inputs, 'text').each(5, outputs, 'text');
  message.each(6, attributes, 'text').each(7, nodes.map(nodeMessage), 'message');
  return message.each(9, opsetMessages(opsets), 'message').text(10, domain);
}

function graphMessage({ nodes, inputs, outputs, initializers, name }) {
  const message = new Message().each(1, nodes.map(nodeMessage), 'message').text(2, name);
  for (const [each, contents] of Object.entries(initializers)) {
    message.message(5, tensorMessage(contents, each));
  }
  message.each(11, inputs.map(valueMessage), 'message');
  return message.each(12, outputs.map(valueMessage), 'message');
}

function nodeMessage({ op, inputs, outputs, attributes, domain, name }) {
  const message = new Message().each(1, inputs, 'text').each(2, outputs, 'text').text(3, name);
  message.text(4, op).text(7, domain);
  for (const [each, contents] of Object.entries(attributes)) {
    message.message(5, attributeMessage(each, contents));
  }
  return message;
}

/** A tensor as TensorProto. External ones are { dtype, shape, external: { location, offset, length } }. */
export function tensorMessage({ dtype, data, shape, external }, name = '') {
  const message = new Message().each(1, shape, 'int').int(2, dtypes[dtype][0]).text(8, name);
  if (external !== undefined) {
    for (const [key, text] of Object.entries(external)) {
      message.message(13, new Message().text(1, key).text(2, String(text)));
    }
    return message.int(14, 1);
  }
  if (dtype === 'string') return message.each(6, data, 'text');
  const count = shape.reduce((product, size) => product * size, 1);
  if (data.length !== Math.ceil(count / perByte(dtype)) * (dtype.startsWith('complex') ? 2 : 1)) {
    throw new Error(`${name}: ${data.length} elements are not [${shape}]`);
  }
  return message.bytes(9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
}

const attributeKinds = {
  float: [1, (message, value) => message.float(2, value)],
  int: [2, (message, value) => message.int(3, value)],
  string: [3, (message, value) => message.text(4, value)],
  tensor: [4, (message, value) => message.message(5, tensorMessage(value))],
  graph: [5, (message, value) => message.message(6, graphMessage(value))],
  floats: [6, (message, value) => message.each(7, value, 'float')],
  ints: [7, (message, value) => message.each(8, value, 'int')],
  strings: [8, (message, value) => message.each(9, value, 'text')],
};

function kindOf(value) {
  if (Array.isArray(value)) {
    const kinds = new Set(value.map(kindOf));
    return kinds.has('string') ? 'strings' : kinds.has('float') ? 'floats' : 'ints';
  }
  if (typeof value === 'string') return 'string';
  if (typeof value === 'bigint' || Number.isInteger(value)) return 'int';
  if (typeof value === 'number') return 'float';
  return value.nodes ? 'graph' : 'tensor';
}

function attributeMessage(name, contents) {
  const kind = contents[isTyped] ?? kindOf(contents);
  const [number, write] = attributeKinds[kind];
  const message = new Message().text(1, name).int(20, number);
  if (contents.ref !== undefined) return message.text(21, contents.ref);
  return write(message, contents[isTyped] === undefined ? contents : contents.value);
}

function valueMessage({ name, dtype, shape }) {
  return new Message().text(1, name).message(2, typeMessage(dtype, shape));
}

function typeMessage(dtype, shape) {
  if (typeof dtype === 'object') {
    const inner = new Message().message(1, typeMessage(dtype.of.dtype, dtype.of.shape));
    return new Message().message(dtype.kind === 'sequence' ? 4 : 9, inner);
  }
  const type = new Message().int(1, dtypes[dtype][0]);
  if (shape !== undefined) {
    const dims = shape.map((size) => {
      if (size === null) return new Message();
      return typeof size === 'string' ? new Message().text(2, size) : new Message().int(1, size);
    });
    type.message(2, new Message().each(1, dims, 'message'));
  }
  return new Message().message(1, type);
}
