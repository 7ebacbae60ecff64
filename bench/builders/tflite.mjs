/** Writes a description as the bytes of a TensorFlow Lite model. Knows the format, not who runs it. */
import { Builder } from 'flatbuffers';
import { fill, Unsupported } from '../models/model.mjs';
import { permute } from './channels.mjs';

const float32 = 0;
const int32 = 2;
const paddings = { same: 0, valid: 1 };
const activations = { relu: 1, relu6: 3 };

/** Number of the operator and of its options in the schema; the options name their fields in the order of the schema. */
const operators = {
  ADD: [0, 11, ['activation']],
  CONCATENATION: [2, 10, ['axis', 'activation']],
  CONV_2D: [3, 1, ['padding', 'strideW', 'strideH', 'activation']],
  DEPTHWISE_CONV_2D: [4, 2, ['padding', 'strideW', 'strideH', 'depthMultiplier', 'activation']],
  FULLY_CONNECTED: [9, 8, ['activation']],
  LOGISTIC: [14],
  MAX_POOL_2D: [17, 5, ['padding', 'strideW', 'strideH', 'filterW', 'filterH', 'activation']],
  MUL: [18, 21, ['activation']],
  RELU: [19],
  RESIZE_BILINEAR: [23, 15, ['newH', 'newW', 'alignCorners', 'halfPixelCentres']],
  SOFTMAX: [25, 9, ['beta']],
  TRANSPOSE: [39, 26, []],
  MEAN: [40, 27, ['keepDims']],
  SUB: [41, 28, ['activation']],
  TOPK_V2: [48, 34, []],
  SUM: [74, 27, ['keepDims']],
  RSQRT: [76],
  SQUARED_DIFFERENCE: [99, 76, []],
  BATCH_MATMUL: [126, 101, ['adjX', 'adjY']],
  CUMSUM: [128, 102, ['exclusive', 'reverse']],
  GELU: [150, 116, ['approximate']],
};
const fieldTypes = {
  activation: 'Int8',
  padding: 'Int8',
  beta: 'Float32',
  keepDims: 'Int8',
  alignCorners: 'Int8',
  halfPixelCentres: 'Int8',
  adjX: 'Int8',
  adjY: 'Int8',
  exclusive: 'Int8',
  reverse: 'Int8',
  approximate: 'Int8',
};
const placeholderForGreaterCodes = 127;

/** Each rule adds operators with emit(name, inputs, shape, options) → tensor and constants with store(shape, data) → tensor. */
const rules = {
  matMul: ({ transposeA, transposeB, shape }, operands, { emit }) =>
    emit('BATCH_MATMUL', operands, shape, { adjX: transposeA, adjY: transposeB }),
  dense({ activation, shape }, operands, { emit }) {
    const x = emit('FULLY_CONNECTED', operands, shape, { activation: fused(activation) });
    return activation === 'sigmoid' ? emit('LOGISTIC', [x], shape) : x;
  },
  conv2d: (value, operands, { emit }) => emit('CONV_2D', operands, value.shape, window(value)),
  depthwiseConv2d: (value, operands, { emit }) =>
    emit('DEPTHWISE_CONV_2D', operands, value.shape, { ...window(value), depthMultiplier: 1 }),
  maxPool2d: (value, operands, { emit }) => {
    const filter = { filterW: value.size, filterH: value.size };
    return emit('MAX_POOL_2D', operands, value.shape, { ...window(value), ...filter });
  },
  globalAveragePool2d: ({ shape }, [x], { emit, store }) =>
    emit('MEAN', [x, store([2], Int32Array.of(1, 2))], shape),
  add: ({ activation, shape }, operands, { emit }) =>
    emit('ADD', operands, shape, { activation: fused(activation) }),
  mul: ({ shape }, operands, { emit }) => emit('MUL', operands, shape),
  relu: ({ shape }, operands, { emit }) => emit('RELU', operands, shape),
  sigmoid: ({ shape }, operands, { emit }) => emit('LOGISTIC', operands, shape),
  gelu: ({ shape }, operands, { emit }) => emit('GELU', operands, shape, { approximate: true }),
  softmax: ({ shape }, operands, { emit }) => emit('SOFTMAX', operands, shape, { beta: 1 }),
  layerNorm({ shape, epsilon }, [x, scale, shift], { emit, store }) {
    const last = store([1], Int32Array.of(shape.length - 1));
    const single = [...shape.slice(0, -1), 1];
    const mean = emit('MEAN', [x, last], single, { keepDims: true });
    const squares = emit('SQUARED_DIFFERENCE', [x, mean], shape);
    const variance = emit('MEAN', [squares, last], single, { keepDims: true });
    const offset = store([], Float32Array.of(epsilon));
    const inverse = emit('RSQRT', [emit('ADD', [variance, offset], single)], single);
    const normal = emit('MUL', [emit('SUB', [x, mean], shape), inverse], shape);
    return emit('ADD', [emit('MUL', [normal, scale], shape), shift], shape);
  },
  sum: ({ axes, shape }, [x], { emit, store }) =>
    emit('SUM', [x, store([axes.length], Int32Array.from(axes))], shape),
  transpose: ({ shape }, [x], { emit, store }) =>
    emit('TRANSPOSE', [x, store([shape.length], Int32Array.from(shape.keys()).reverse())], shape),
  cumsum: ({ shape }, [x], { emit, store }) =>
    emit('CUMSUM', [x, store([], Int32Array.of(shape.length - 1))], shape),
  topK: ({ k, shape }, [x], { emit, store }) =>
    emit('TOPK_V2', [x, store([], Int32Array.of(k))], shape, {}, [{ shape, type: int32 }]),
  resizeBilinear: ({ shape }, [x], { emit, store }) =>
    emit('RESIZE_BILINEAR', [x, store([2], Int32Array.from(shape.slice(1, 3)))], shape, {
      halfPixelCentres: true,
    }),
  concatChannels: ({ shape }, operands, { emit }) =>
    emit('CONCATENATION', operands, shape, { axis: 3 }),
};
const fused = (activation) => activations[activation] ?? 0;
const window = ({ stride, padding, activation }) => ({
  padding: paddings[padding],
  strideW: stride,
  strideH: stride,
  activation: fused(activation),
});

/** The layout of a constant, by the operator that reads it as its second operand. */
const layouts = { dense: [1, 0], conv2d: [3, 0, 1, 2], depthwiseConv2d: [3, 0, 1, 2] };

/** Tensors, operators and constants of a description, before they become bytes. */
function collect({ values, output }) {
  const tensors = [];
  const steps = [];
  const add = (shape, { data, type = float32 } = {}) => tensors.push({ shape, data, type }) - 1;
  const store = (shape, data) =>
    add(shape, { data, type: data instanceof Int32Array ? int32 : float32 });
  const emit = (name, inputs, shape, options = {}, extra = []) => {
    const outputs = [add(shape), ...extra.map((each) => add(each.shape, each))];
    steps.push({ name, inputs, outputs, options });
    return outputs[0];
  };
  const inputs = [];
  const tensorIds = [];
  for (const value of values) {
    if (value.op === 'input') {
      inputs.push(add(value.shape));
      tensorIds.push(inputs.at(-1));
    } else if (value.op === 'constant') {
      const reader = values.find((each) => each.op in layouts && each.inputs[1] === value.id);
      const axes = reader ? layouts[reader.op] : value.shape.map((_, axis) => axis);
      const shape = axes.map((axis) => value.shape[axis]);
      tensorIds.push(store(shape, reader ? permute(fill(value), value.shape, axes) : fill(value)));
    } else {
      const rule = rules[value.op];
      if (!rule) throw new Unsupported(`has no ${value.op}`);
      const operands = value.inputs.map((id) => tensorIds[id]);
      tensorIds.push(rule(value, operands, { emit, store }));
    }
  }
  return { tensors, steps, inputs, output: tensorIds[output] };
}

export function buildTflite(model) {
  const { tensors, steps, inputs, output } = collect(model);
  const size = tensors.reduce((sum, { data }) => sum + (data?.byteLength ?? 0) + 64, 1 << 16);
  const builder = new Builder(size);
  builder.forceDefaults(true);

  /** fields: [slot, type, content]; type is that of flatbuffers' addField… */
  const table = (fields) => {
    builder.startObject(fields.reduce((count, [slot]) => Math.max(count, slot + 1), 0));
    for (const [slot, type, content] of fields) builder[`addField${type}`](slot, content, 0);
    return builder.endObject();
  };
  const vector = (offsets) => {
    builder.startVector(4, offsets.length, 4);
    for (const offset of offsets.toReversed()) builder.addOffset(offset);
    return builder.endVector();
  };
  const integers = (list) => {
    builder.startVector(4, list.length, 4);
    for (const each of list.toReversed()) builder.addInt32(each);
    return builder.endVector();
  };
  const alignedBytes = ({ buffer, byteOffset, byteLength }) => {
    builder.startVector(1, byteLength, 16);
    builder.bb.setPosition((builder.space -= byteLength));
    builder.bb.bytes().set(new Uint8Array(buffer, byteOffset, byteLength), builder.space);
    return builder.endVector();
  };

  const constants = tensors.filter(({ data }) => data);
  const buffers = [table([])];
  for (const { data } of constants) buffers.push(table([[0, 'Offset', alignedBytes(data)]]));

  const writeTensor = ({ shape, type, data }, index) => {
    const name = builder.createString(`t${index}`);
    const extents = integers(shape);
    const buffer = data ? constants.findIndex((each) => each.data === data) + 1 : 0;
    return table([
      [0, 'Offset', extents],
      [1, 'Int8', type],
      [2, 'Int32', buffer],
      [3, 'Offset', name],
    ]);
  };
  const used = [...new Set(steps.map(({ name }) => name))];
  const writeStep = ({ name, inputs: from, outputs, options }) => {
    const [, kind, fields] = operators[name];
    const content =
      kind &&
      table(
        fields
          .map((field, slot) => [slot, fieldTypes[field] ?? 'Int32', Number(options[field] ?? 0)])
          .filter(([slot]) => name !== 'RESIZE_BILINEAR' || slot > 1),
      );
    const [fromList, toList] = [integers(from), integers(outputs)];
    return table([
      [0, 'Int32', used.indexOf(name)],
      [1, 'Offset', fromList],
      [2, 'Offset', toList],
      ...(kind
        ? [
            [3, 'Int8', kind],
            [4, 'Offset', content],
          ]
        : []),
    ]);
  };
  const writeCode = (name) => {
    const [code] = operators[name];
    return table([
      [0, 'Int8', Math.min(code, placeholderForGreaterCodes)],
      [2, 'Int32', 1],
      [3, 'Int32', code],
    ]);
  };

  const tensorList = vector(tensors.map(writeTensor));
  const stepList = vector(steps.map(writeStep));
  const [inputList, outputList] = [integers(inputs), integers([output])];
  const graph = table([
    [0, 'Offset', tensorList],
    [1, 'Offset', inputList],
    [2, 'Offset', outputList],
    [3, 'Offset', stepList],
  ]);
  const [codes, graphs, bufferList] = [
    vector(used.map(writeCode)),
    vector([graph]),
    vector(buffers),
  ];
  const root = table([
    [0, 'Int32', 3],
    [1, 'Offset', codes],
    [2, 'Offset', graphs],
    [4, 'Offset', bufferList],
  ]);
  builder.finish(root, 'TFL3');
  return builder.asUint8Array();
}
