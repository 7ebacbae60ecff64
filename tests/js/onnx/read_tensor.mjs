// Reads the inputs and outputs of the ONNX backend cases: TensorProto, SequenceProto and OptionalProto, and what kind each is.
import { dtypeOf, dtypes, fieldsOf, perByte, varintsOf } from './proto.mjs';

const utf8 = new TextDecoder();

/** Elements of a repeated field of fixed numbers, as bytes. */
const concatenated = (parts) => Uint8Array.from(parts.flatMap((part) => [...part]));

/** A tensor as { dtype, shape, data }; elements of fewer than eight bits have a byte each. */
export function readTensor(bytes) {
  const { dtype, shape, data } = readPacked(bytes);
  const count = shape.reduce((product, size) => product * size, 1);
  return { dtype, shape, data: unpacked(dtype, data, count) };
}

/** Unpacks elements of types with several per byte, the first in the lowest bits. */
export function unpacked(dtype, data, count) {
  const each = perByte(dtype);
  if (each === 1) return data;
  const bits = 8 / each;
  const sign = dtype.startsWith('int') ? 1 << (bits - 1) : 0;
  const elements = Array.from({ length: count }, (_, at) => {
    const element = (data[Math.floor(at / each)] >> ((at % each) * bits)) & ((1 << bits) - 1);
    return (element ^ sign) - sign;
  });
  return sign ? Int8Array.from(elements) : Uint8Array.from(elements);
}

/** The reverse of `unpacked`. */
export function packed(dtype, data) {
  const each = perByte(dtype);
  if (each === 1) return data;
  const bytes = new Uint8Array(Math.ceil(data.length / each));
  const bits = 8 / each;
  data.forEach((element, at) => {
    bytes[Math.floor(at / each)] |= (element & ((1 << bits) - 1)) << ((at % each) * bits);
  });
  return bytes;
}

function readPacked(bytes) {
  const shape = [];
  const strings = [];
  const integers = [];
  const fixed = [];
  let [dtype, raw] = ['float32', undefined];
  for (const [field, value] of fieldsOf(bytes)) {
    if (field === 1) shape.push(...varintsOf(value).map(Number));
    if (field === 2) dtype = dtypeOf(Number(value));
    if (field === 4 || field === 10) fixed.push(value);
    if (field === 5 || field === 7 || field === 11) integers.push(...varintsOf(value));
    if (field === 6) strings.push(utf8.decode(value));
    if (field === 9) raw = value;
  }
  if (dtype === 'string') return { dtype, shape, data: strings };
  const [, ArrayOf] = dtypes[dtype] ?? [];
  if (ArrayOf === undefined) throw new Error(`the reader has no ${dtype}`);
  if (raw === undefined && fixed.length > 0) raw = concatenated(fixed);
  if (raw !== undefined) return { dtype, shape, data: new ArrayOf(Uint8Array.from(raw).buffer) };
  const isBig = ArrayOf === BigInt64Array || ArrayOf === BigUint64Array;
  const data = ArrayOf.from(isBig ? integers : integers.map(Number));
  const count = shape.reduce((product, size) => product * size, 1);
  return { dtype, shape, data: data.subarray(0, Math.ceil(count / perByte(dtype))) };
}

/** The fields of SequenceProto and OptionalProto for tensors, sequences and optionals. */
const inner = { 3: 'tensor', 5: 'sequence', 7: 'optional' };

/** A value of a kind: a tensor, a sequence as an array, an optional as its value or null. */
export function readValue(bytes, kind) {
  if (kind === 'tensor') return readTensor(bytes);
  const found = [];
  for (const [field, value] of fieldsOf(bytes)) {
    if (field in inner) found.push(readValue(value, inner[field]));
    if (field === 4 || field === 6)
      throw new Error(`the reader has no field ${field} of a ${kind}`);
  }
  return kind === 'sequence' ? found : (found[0] ?? null);
}

const typeKinds = { 1: 'tensor', 4: 'sequence', 5: 'map', 8: 'sparse tensor', 9: 'optional' };

/** Names and kinds of the inputs and outputs of a model (without initializers), and the operators of its nodes. */
export function readModel(bytes) {
  const ports = { inputs: [], outputs: [], operators: [] };
  const initializers = new Set();
  const [, graph] = [...fieldsOf(bytes)].find(([field]) => field === 7);
  for (const [field, value] of fieldsOf(graph)) {
    if (field === 1) ports.operators.push(textOf(value, 4));
    if (field === 5) initializers.add(textOf(value, 8));
    if (field === 11) ports.inputs.push(portOf(value));
    if (field === 12) ports.outputs.push(portOf(value));
  }
  ports.inputs = ports.inputs.filter(({ name }) => !initializers.has(name));
  return ports;
}

function textOf(bytes, number) {
  for (const [field, value] of fieldsOf(bytes)) if (field === number) return utf8.decode(value);
  return '';
}

function portOf(bytes) {
  const fields = new Map(fieldsOf(bytes));
  const [[kind] = [1]] = fieldsOf(fields.get(2) ?? new Uint8Array());
  return { name: utf8.decode(fields.get(1)), kind: typeKinds[kind] };
}
