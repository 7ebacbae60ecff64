/** Writes a description as the bytes of an ONNX model, channels first. Knows the format, not who runs it. */
import protobuf from 'protobufjs';
import { fill, Unsupported } from '../models/model.mjs';
import { channelsFirst, permute } from './channels.mjs';

const irVersion = 10;
const opset = 20;
const float = 1;
const int64 = 7;
const attributeTypes = { f: 1, i: 2, s: 3, ints: 7 };

/** The part of onnx.proto that models of one output need: message, then field: [number, type, repeated]. */
const messages = {
  Model: {
    irVersion: [1, 'int64'],
    producerName: [2, 'string'],
    graph: [7, 'Graph'],
    opsetImport: [8, 'OperatorSet', true],
  },
  OperatorSet: { domain: [1, 'string'], version: [2, 'int64'] },
  Graph: {
    node: [1, 'Node', true],
    name: [2, 'string'],
    initializer: [5, 'Tensor', true],
    input: [11, 'ValueInfo', true],
    output: [12, 'ValueInfo', true],
  },
  Node: {
    input: [1, 'string', true],
    output: [2, 'string', true],
    name: [3, 'string'],
    opType: [4, 'string'],
    attribute: [5, 'Attribute', true],
  },
  Attribute: {
    name: [1, 'string'],
    f: [2, 'float'],
    i: [3, 'int64'],
    s: [4, 'bytes'],
    ints: [8, 'int64', true],
    type: [20, 'int32'],
  },
  Tensor: {
    dims: [1, 'int64', true],
    dataType: [2, 'int32'],
    name: [8, 'string'],
    rawData: [9, 'bytes'],
  },
  ValueInfo: { name: [1, 'string'], type: [2, 'Type'] },
  Type: { tensorType: [1, 'TensorType'] },
  TensorType: { elemType: [1, 'int32'], shape: [2, 'Shape'] },
  Shape: { dim: [1, 'Dimension', true] },
  Dimension: { dimValue: [1, 'int64'] },
};

const root = protobuf.Root.fromJSON({
  nested: Object.fromEntries(
    Object.entries(messages).map(([name, fields]) => [
      name,
      {
        fields: Object.fromEntries(
          Object.entries(fields).map(([field, [id, type, repeated]]) => [
            field,
            { id, type, ...(repeated && { rule: 'repeated' }) },
          ]),
        ),
      },
    ]),
  ),
});

const rawData = ({ buffer, byteOffset, byteLength }) =>
  new Uint8Array(buffer, byteOffset, byteLength);
const tensor = (name, dims, data, dataType = float) => ({
  name,
  dims,
  dataType,
  rawData: rawData(data),
});
const valueInfo = (name, shape) => ({
  name,
  type: {
    tensorType: { elemType: float, shape: { dim: shape.map((dimValue) => ({ dimValue })) } },
  },
});

function attribute(name, value) {
  const kind = Array.isArray(value)
    ? 'ints'
    : typeof value === 'string'
      ? 's'
      : Number.isInteger(value)
        ? 'i'
        : 'f';
  const content = kind === 's' ? new TextEncoder().encode(value) : value;
  return { name, type: attributeTypes[kind], [kind]: content };
}

const autoPads = { same: 'SAME_UPPER', valid: 'VALID' };

/** Each rule adds nodes with emit(opType, inputs, attributes, extra outputs) → name and constants with store(…) → name. */
const rules = {
  matMul({ transposeA, transposeB, shape }, [a, b], { emit }) {
    if (!transposeA && !transposeB) return emit('MatMul', [a, b]);
    if (shape.length !== 2) throw new Unsupported('has no transposed batches');
    return emit('Gemm', [a, b], { transA: Number(transposeA), transB: Number(transposeB) });
  },
  dense: ({ activation }, operands, { emit }) => activate(emit, emit('Gemm', operands), activation),
  conv2d: (value, operands, { emit }) => convolve(value, operands, emit, 1),
  depthwiseConv2d: (value, operands, { emit }) => convolve(value, operands, emit, value.shape[3]),
  maxPool2d: ({ size, stride, padding }, [x], { emit }) =>
    emit('MaxPool', [x], {
      kernel_shape: [size, size],
      strides: [stride, stride],
      auto_pad: autoPads[padding],
    }),
  globalAveragePool2d: (_, [x], { emit }) => emit('Flatten', [emit('GlobalAveragePool', [x])]),
  add: ({ activation }, operands, { emit }) => activate(emit, emit('Add', operands), activation),
  mul: (_, operands, { emit }) => emit('Mul', operands),
  relu: (_, [x], { emit }) => emit('Relu', [x]),
  sigmoid: (_, [x], { emit }) => emit('Sigmoid', [x]),
  gelu: (_, [x], { emit }) => emit('Gelu', [x], { approximate: 'tanh' }),
  softmax: (_, [x], { emit }) => emit('Softmax', [x]),
  layerNorm: ({ epsilon }, operands, { emit }) => emit('LayerNormalization', operands, { epsilon }),
  sum: ({ axes }, [x], { emit, store }) =>
    emit('ReduceSum', [x, store([axes.length], BigInt64Array.from(axes, BigInt), int64)], {
      keepdims: 0,
    }),
  transpose: (_, [x], { emit }) => emit('Transpose', [x]),
  cumsum: ({ shape }, [x], { emit, store }) =>
    emit('CumSum', [x, store([], BigInt64Array.of(BigInt(shape.length - 1)), int64)]),
  topK: ({ k }, [x], { emit, store }) =>
    emit('TopK', [x, store([1], BigInt64Array.of(BigInt(k)), int64)], {}, 1),
  resizeBilinear: ({ shape }, [x], { emit, store }) =>
    emit(
      'Resize',
      [x, '', '', store([4], BigInt64Array.from(channelsFirst(shape), BigInt), int64)],
      {
        mode: 'linear',
        coordinate_transformation_mode: 'half_pixel',
      },
    ),
  concatChannels: (_, operands, { emit }) => emit('Concat', operands, { axis: 1 }),
};

function convolve({ stride, padding, activation }, operands, emit, group) {
  const result = emit('Conv', operands, {
    strides: [stride, stride],
    auto_pad: autoPads[padding],
    group,
  });
  return activate(emit, result, activation);
}

function activate(emit, x, activation) {
  if (activation === null) return x;
  if (activation === 'relu6') return emit('Clip', [x, 'zero', 'six']);
  return emit({ relu: 'Relu', sigmoid: 'Sigmoid' }[activation], [x]);
}

/** A filter is [rows, columns, in, out] in a description and [out, in, rows, columns] here; other constants stay. */
const constantData = (value) =>
  value.shape.length === 4
    ? { dims: filterAxes(value.shape), data: permute(fill(value), value.shape, [3, 2, 0, 1]) }
    : { dims: value.shape, data: fill(value) };
const filterAxes = ([rows, columns, inputs, outputs]) => [outputs, inputs, rows, columns];

export function buildOnnx({ name, values, output }) {
  const node = [];
  const initializer = [
    tensor('zero', [], Float32Array.of(0)),
    tensor('six', [], Float32Array.of(6)),
  ];
  const input = [];
  const names = [];
  const emitters = {
    emit(opType, inputs, attributes = {}, extraOutputs = 0) {
      const result = `n${node.length}`;
      const outputs = Array.from({ length: extraOutputs }, (_, i) => `${result}.${i + 1}`);
      node.push({
        opType,
        input: inputs,
        output: [result, ...outputs],
        name: result,
        attribute: Object.entries(attributes).map(([key, each]) => attribute(key, each)),
      });
      return result;
    },
    store(dims, data, type) {
      const result = `c${initializer.length}`;
      initializer.push(tensor(result, dims, data, type));
      return result;
    },
  };
  for (const value of values) {
    if (value.op === 'input') {
      names.push(`input${value.id}`);
      input.push(valueInfo(names.at(-1), channelsFirst(value.shape)));
    } else if (value.op === 'constant') {
      const depthwise = values.some(
        ({ op, inputs }) => op === 'depthwiseConv2d' && inputs[1] === value.id,
      );
      const { dims, data } = constantData(value);
      names.push(emitters.store(depthwise ? [dims[1], 1, dims[2], dims[3]] : dims, data));
    } else {
      const rule = rules[value.op];
      if (!rule) throw new Unsupported(`has no ${value.op}`);
      const operands = value.inputs.map((id) => names[id]);
      names.push(rule(value, operands, emitters));
    }
  }
  const graph = {
    name,
    node,
    initializer,
    input,
    output: [valueInfo(names[output], channelsFirst(values[output].shape))],
  };
  const model = {
    irVersion,
    producerName: 'tensorlathe bench',
    graph,
    opsetImport: [{ domain: '', version: opset }],
  };
  const Model = root.lookupType('Model');
  return {
    bytes: Model.encode(Model.create(model)).finish(),
    inputs: input.map(({ name: each }) => each),
    output: names[output],
  };
}
