// Graph models on the device `webgpu`: results as on `wasm`, sizes that the graph computes, control flow, live tensors.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as tf from 'tensorlathe/tfjs';

before(() => tf.ready());
after(() => tf.setBackend('wasm'));

const attr = (value) => {
  if (typeof value === 'boolean') return { b: value };
  if (typeof value === 'number') return { i: String(value) };
  if (Array.isArray(value)) {
    return typeof value[0] === 'string'
      ? { list: { s: value.map(btoa) } }
      : { list: { i: value.map(String) } };
  }
  if (value.startsWith('DT_')) return { type: value };
  if (value.startsWith('func ')) return { func: { name: value.slice(5) } };
  return { s: btoa(value) };
};
const node = (name, op, input = [], attributes = {}) => ({
  name,
  op,
  input,
  attr: Object.fromEntries(Object.entries(attributes).map(([key, value]) => [key, attr(value)])),
});
const placeholder = (name, dtype = 'DT_FLOAT') => node(name, 'Placeholder', [], { dtype });

/** Numbers that look random, always the same. */
const wave = (shape, seed, scale = 1) => {
  const size = shape.reduce((product, each) => product * each, 1);
  const values = Float32Array.from({ length: size }, (_, at) => scale * Math.sin(seed + at * 1.7));
  return { dtype: 'float32', shape, values };
};
const ints = (values, shape = [values.length]) => ({
  dtype: 'int32',
  shape,
  values: Int32Array.from(values),
});
const float = (value) => ({ dtype: 'float32', shape: [], values: Float32Array.of(value) });

const artifactsOf = (nodes, constants, functions = []) => ({
  modelTopology: {
    node: [...Object.keys(constants).map((name) => node(name, 'Const')), ...nodes],
    library: { function: functions },
    versions: { producer: 1 },
  },
  weightSpecs: Object.entries(constants).map(([name, { dtype, shape }]) => ({
    name,
    dtype,
    shape,
  })),
  weightData: new Uint8Array(
    Object.values(constants).flatMap(({ values }) => [...new Uint8Array(values.buffer)]),
  ).buffer,
});

/** Nodes from `from` on that reshape to [batch, …sizes], as converters write it: the batch is read from a shape. */
const reshapeOf = (from, to, last) => [
  node(`${to}/shape`, 'Shape', [from]),
  node(`${to}/batch`, 'StridedSlice', [`${to}/shape`, 'zero1', 'one1', 'one1'], {
    shrink_axis_mask: 1,
    begin_mask: 0,
    end_mask: 0,
    ellipsis_mask: 0,
    new_axis_mask: 0,
  }),
  node(`${to}/sizes`, 'Pack', [`${to}/batch`, ...last], { axis: 0, N: 1 + last.length }),
  node(to, 'Reshape', [from, `${to}/sizes`]),
];
const sizes = { zero1: ints([0]), one1: ints([1]) };

const conv = (name, input, strides = 2) =>
  node(name, '_FusedConv2D', input, {
    strides: [1, strides, strides, 1],
    padding: 'SAME',
    data_format: 'NHWC',
    num_args: input.length - 2,
    fused_ops: ['BiasAdd', 'Relu6'],
    dilations: [1, 1, 1, 1],
  });
const depthwise = (name, input) =>
  node(name, 'FusedDepthwiseConv2dNative', input, {
    strides: [1, 1, 1, 1],
    padding: 'SAME',
    data_format: 'NHWC',
    num_args: 1,
    fused_ops: ['BiasAdd', 'Relu6'],
    dilations: [1, 1, 1, 1],
  });

const features = {
  nodes: [
    placeholder('image'),
    node('scaled', 'Mul', ['image', 'scale']),
    conv('c1', ['scaled', 'w1', 'b1']),
    depthwise('d1', ['c1', 'wd', 'bd']),
    conv('c2', ['d1', 'w2', 'b2'], 1),
    node('features', 'AddV2', ['c2', 'c1']),
  ],
  constants: {
    ...sizes,
    scale: float(0.5),
    w1: wave([3, 3, 3, 8], 1, 0.4),
    b1: wave([8], 2, 0.2),
    wd: wave([3, 3, 8, 1], 3, 0.4),
    bd: wave([8], 4, 0.2),
    w2: wave([1, 1, 8, 8], 5, 0.4),
    b2: wave([8], 6, 0.2),
  },
};

const mobileNet = artifactsOf(
  [
    ...features.nodes,
    node('pooled', 'Mean', ['features', 'spatial'], { keep_dims: true }),
    ...reshapeOf('pooled', 'flat', ['width']),
    node('products', 'MatMul', ['flat', 'w3'], { transpose_a: false, transpose_b: false }),
    node('logits', 'BiasAdd', ['products', 'b3']),
    node('y', 'Softmax', ['logits']),
  ],
  {
    ...features.constants,
    spatial: ints([1, 2]),
    width: ints([8], []),
    w3: wave([8, 5], 7),
    b3: wave([5], 8),
  },
);

/** The place of the largest value of each channel, and the offset that is gathered there, as MoveNet decodes key points. */
const moveNet = artifactsOf(
  [
    ...features.nodes,
    ...reshapeOf('features', 'rows', ['cells', 'width']),
    node('places', 'ArgMax', ['rows', 'axis'], { output_type: 'DT_INT32' }),
    node('ys', 'FloorDiv', ['places', 'columns']),
    node('xs', 'FloorMod', ['places', 'columns']),
    node('zeros', 'ZerosLike', ['ys']),
    node('channels', 'Range', ['start', 'width', 'step'], { Tidx: 'DT_INT32' }),
    node('channelRow', 'ExpandDims', ['channels', 'start']),
    node('at', 'Pack', ['zeros', 'ys', 'xs', 'channelRow'], { axis: 2, N: 4 }),
    node('scores', 'GatherNd', ['features', 'at']),
    node('fy', 'Cast', ['ys'], { SrcT: 'DT_INT32', DstT: 'DT_FLOAT' }),
    node('fx', 'Cast', ['xs'], { SrcT: 'DT_INT32', DstT: 'DT_FLOAT' }),
    node('y', 'Pack', ['fy', 'fx', 'scores'], { axis: 2, N: 3 }),
  ],
  {
    ...features.constants,
    cells: ints([64], []),
    width: ints([8], []),
    columns: ints([8], []),
    axis: ints([1], []),
    start: ints([0], []),
    step: ints([1], []),
  },
);

const signature = (name, inputs, outputs) => ({
  name,
  inputArg: inputs.map((each) => ({ name: each })),
  outputArg: outputs.map((each) => ({ name: each })),
});
/** Twice x or -x, then doubled while it is small, in a function that is called in a branch. */
const functions = artifactsOf(
  [
    placeholder('x'),
    node('sum', 'Sum', ['x', 'axis'], { keep_dims: false }),
    node('positive', 'Greater', ['sum', 'nought']),
    node('chosen', 'If', ['positive', 'x'], {
      then_branch: 'func twice',
      else_branch: 'func minus',
    }),
    node('loop', 'While', ['i', 'chosen'], { cond: 'func small', body: 'func grow' }),
    node('y', 'Identity', ['loop:1']),
    node('rounds', 'Identity', ['loop:0']),
  ],
  { axis: ints([0]), nought: float(0), i: ints([0], []), one: ints([1], []), limit: float(100) },
  [
    {
      signature: signature('twice', ['v'], ['r']),
      nodeDef: [node('add', 'AddV2', ['v', 'v'])],
      ret: { r: 'add:z:0' },
    },
    {
      signature: signature('minus', ['v'], ['r']),
      nodeDef: [node('neg', 'Neg', ['v'])],
      ret: { r: 'neg:y:0' },
    },
    {
      signature: signature('small', ['i', 'v'], ['r']),
      nodeDef: [
        node('largest', 'Max', ['v', 'axis'], { keep_dims: false }),
        node('less', 'Less', ['largest:output:0', 'limit']),
      ],
      ret: { r: 'less:z:0' },
    },
    {
      signature: signature('grow', ['i', 'v'], ['j', 'r']),
      nodeDef: [node('next', 'AddV2', ['i', 'one']), node('double', 'AddV2', ['v', 'v'])],
      ret: { j: 'next:z:0', r: 'double:z:0' },
    },
  ],
);

/** while (sum(y) < 5) { i += 1; y *= x }, in the nodes of TensorFlow 1. */
const frame = { frame_name: 'loop' };
const frames = artifactsOf(
  [
    placeholder('x'),
    node('i0', 'Enter', ['zero'], frame),
    node('y0', 'Enter', ['x'], frame),
    node('x0', 'Enter', ['x'], { ...frame, is_constant: true }),
    node('five0', 'Enter', ['five'], { ...frame, is_constant: true }),
    node('one0', 'Enter', ['one'], { ...frame, is_constant: true }),
    node('axis0', 'Enter', ['axis'], { ...frame, is_constant: true }),
    node('i', 'Merge', ['i0', 'nextI']),
    node('y', 'Merge', ['y0', 'nextY']),
    node('sum', 'Sum', ['y', 'axis0'], { keep_dims: false }),
    node('less', 'Less', ['sum', 'five0']),
    node('goes', 'LoopCond', ['less']),
    node('switchI', 'Switch', ['i', 'goes']),
    node('switchY', 'Switch', ['y', 'goes']),
    node('addI', 'Add', ['switchI:1', 'one0']),
    node('mulY', 'Mul', ['switchY:1', 'x0']),
    node('nextI', 'NextIteration', ['addI']),
    node('nextY', 'NextIteration', ['mulY']),
    node('result', 'Exit', ['switchY']),
    node('rounds', 'Exit', ['switchI']),
  ],
  { zero: ints([0], []), five: float(500), one: ints([1], []), axis: ints([0]) },
);

/** Boxes that remain after suppression, whose number data determine, and where x is positive. */
const dynamic = artifactsOf(
  [
    placeholder('boxes'),
    placeholder('scores'),
    node('louder', 'Mul', ['scores', 'two']),
    node('kept', 'NonMaxSuppressionV3', ['boxes', 'louder', 'most', 'overlap', 'least']),
    node('chosen', 'GatherV2', ['boxes', 'kept', 'axis']),
    node('high', 'Greater', ['louder', 'least']),
    node('where', 'Where', ['high']),
  ],
  {
    two: float(2),
    most: ints([3], []),
    overlap: float(0.5),
    least: float(0.1),
    axis: ints([0], []),
  },
);

const image = (batch) => [wave([batch, 16, 16, 3], 9).values, [batch, 16, 16, 3]];
const boxes = [0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 2, 1, 3, 0, 5, 1, 6];
const cases = {
  'like MobileNet': [mobileNet, { image: image(2) }, ['y'], true],
  'like MoveNet': [moveNet, { image: image(1) }, ['y'], true],
  'If and While': [functions, { x: [[3, -1]] }, ['y', 'rounds']],
  'If and While, the other branch': [functions, { x: [[-3, 1]] }, ['y', 'rounds']],
  'loops of TensorFlow 1': [frames, { x: [[2, 3]] }, ['result', 'rounds']],
  'sizes that data determine': [
    dynamic,
    { boxes: [boxes, [4, 4]], scores: [[0.9, 0.8, 0.02, 0.3]] },
    ['kept', 'chosen', 'where'],
  ],
};

/** The outputs on a backend: at once if so, otherwise by executeAsync. Inputs are computed there. */
async function outputsOn(backend, [artifacts, inputs, names], isAtOnce) {
  await tf.setBackend(backend);
  const model = await tf.loadGraphModel({ load: async () => artifacts });
  const feeds = Object.fromEntries(
    Object.entries(inputs).map(([name, [data, shape]]) => [
      name,
      tf.tidy(() => tf.tensor(data, shape).add(tf.scalar(0))),
    ]),
  );
  const tensors = tf.memory().numTensors;
  const found = [
    isAtOnce ? model.execute(feeds, names) : await model.executeAsync(feeds, names),
  ].flat();
  assert.equal(tf.memory().numTensors, tensors + names.length);
  const read = await Promise.all(
    found.map(async (each) => [each.dtype, each.shape, Array.from(await each.data())]),
  );
  tf.dispose([found, feeds]);
  model.dispose();
  return read;
}

for (const [what, [artifacts, inputs, names, isStatic]] of Object.entries(cases)) {
  test(what, async () => {
    const parts = [artifacts, inputs, names];
    const expected = await outputsOn('wasm', parts, false);
    const counts = () => tf.memory().numTensors;
    const before = counts();
    for (const isAtOnce of isStatic ? [true, false] : [false]) {
      const actual = await outputsOn('webgpu', parts, isAtOnce);
      for (const [at, [dtype, shape, data]] of expected.entries()) {
        assert.deepEqual([actual[at][0], actual[at][1]], [dtype, shape], names[at]);
        for (const [k, each] of data.entries())
          assert.ok(
            Math.abs(actual[at][2][k] - each) <= 1e-4 * (1 + Math.abs(each)),
            `${names[at]} ${k}`,
          );
      }
      assert.equal(counts(), before);
    }
  });
}

test('what other code makes while a model awaits is its own', async () => {
  await tf.setBackend('webgpu');
  const model = await tf.loadGraphModel({ load: async () => functions });
  const x = tf.tensor1d([3, -1]).add(tf.scalar(0));
  const pending = model.executeAsync({ x }, ['y', 'rounds']);
  await Promise.resolve();
  const [mine, other] = [tf.ones([2]), tf.tidy(() => tf.ones([2]).add(1))];
  const results = await Promise.all([pending, model.executeAsync({ x }, ['y', 'rounds'])]);
  assert.deepEqual(await results[0][0].data(), await results[1][0].data());
  assert.deepEqual([...(await mine.data()), ...(await other.data())], [1, 1, 2, 2]);
  tf.dispose([results, mine, other, x]);
  model.dispose();
});

test('what needs elements says so where it cannot await them', async () => {
  await tf.setBackend('webgpu');
  const model = await tf.loadGraphModel({ load: async () => functions });
  const x = tf.tensor1d([3, -1]);
  assert.throws(() => model.execute({ x }, 'y'), /cannot be read synchronously/);
  assert.equal((await model.executeAsync({ x }, 'rounds')).dtype, 'int32');
  model.dispose();
});
