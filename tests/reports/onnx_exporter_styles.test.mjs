// The same small models as PyTorch's two exporters, tf2onnx, skl2onnx and paddle2onnx export them: names, scopes, defaults
// present or absent, IR versions, initializers among the inputs, external data, inputs left out as empty names. And what no
// writer should write: unknown attributes, surplus inputs, operator sets of the future.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { ints, float, model, node, random, tensor, typed, value } from '../js/onnx/write.mjs';
import { attempt, differs, engines } from './onnx_lib.mjs';

/** How writers name values and nodes. */
const names = {
  torchscript: (name) => `/features/features.0/${name}_output_0`,
  dynamo: (name) => `val_${name}`,
  tf2onnx: (name) => `StatefulPartitionedCall/model/${name}/BiasAdd:0`,
  skl2onnx: (name) => `variable_${name}1`,
  paddle2onnx: (name) => `p2o.${name}.0`,
  onnx_ml: (name) => `${name} with spaces, "quotes" and ünïcode → 日本`,
  numbers: (name) => String([...name].reduce((sum, each) => sum + each.charCodeAt(0), 0)),
};

/** Whether attributes with default values are stored. */
const defaults = {
  none: () => ({}),
  all: (op, opset) =>
    ({
      Conv: { auto_pad: 'NOTSET', dilations: ints([1, 1]), group: 1, pads: ints([0, 0, 0, 0]) },
      MaxPool: {
        auto_pad: 'NOTSET',
        pads: ints([0, 0, 0, 0]),
        storage_order: 0,
        ...(opset >= 10 && { ceil_mode: 0, dilations: ints([1, 1]) }),
      },
      BatchNormalization: { epsilon: float(1e-5), momentum: float(0.9) },
      Gemm: { alpha: float(1), beta: float(1), transA: 0 },
      Flatten: { axis: 1 },
      Softmax: { axis: -1 },
      Cast: {},
    })[op] ?? {},
};

const weights = {
  w: random(1, [3, 2, 3, 3], 0.5),
  b: random(2, [3], 0.5),
  scale: tensor('float32', [1, 0.5, 2]),
  shift: tensor('float32', [0, 0.1, -0.1]),
  mean: tensor('float32', [0.1, 0, 0.2]),
  variance: tensor('float32', [1, 2, 0.5]),
  dense: random(3, [4, 12], 0.3),
  bias: random(4, [4], 0.3),
};

/** A small image network. */
function net({ opset, ir, name, extra, hasInputs, batch, skip, external }) {
  const of = (op, inputs, output, attributes = {}) =>
    node(
      op,
      inputs.map((each) => (each === '' ? '' : name(each))),
      [name(output)],
      {
        ...extra(op, opset),
        ...attributes,
      },
      { name: name(`${op}_${output}`) },
    );
  const nodes = [
    of('Conv', ['x', 'w', 'b'], 'c', { kernel_shape: ints([3, 3]), strides: ints([1, 1]) }),
    of('BatchNormalization', ['c', 'scale', 'shift', 'mean', 'variance'], 'n'),
    opset >= 11 ? of('Clip', ['n', '', 'six'], 'r') : of('Clip', ['n'], 'r', { max: float(6) }),
    of('MaxPool', ['r'], 'p', { kernel_shape: ints([2, 2]), strides: ints([2, 2]) }),
    ...(skip ? [of('Dropout', opset >= 12 ? ['p', 'ratio', ''] : ['p'], 'd')] : []),
    of('Flatten', [skip ? 'd' : 'p'], 'f'),
    of('Gemm', ['f', 'dense', 'bias'], 'g', { transB: 1 }),
    of('Softmax', ['g'], 'y', opset >= 13 ? {} : { axis: 1 }),
  ];
  const all = { ...weights };
  if (opset >= 11) all.six = tensor('float32', [6], []);
  if (skip && opset >= 12) all.ratio = tensor('float32', [0.3], []);
  const initializers = Object.fromEntries(
    Object.entries(all).map(([key, each]) => [name(key), external?.(key, each) ?? each]),
  );
  const listed = hasInputs ? Object.entries(all) : [];
  return model({
    opset,
    ir,
    nodes,
    name: name('graph'),
    inputs: [
      value(name('x'), 'float32', [batch, 2, 6, 6]),
      ...listed.map(([key, { dtype, shape }]) => value(name(key), dtype, shape)),
    ],
    outputs: [value(name('y'), 'float32', [batch, 4])],
    initializers,
  });
}

for (const [writer, name] of Object.entries(names)) {
  test(`an image network as exported by ${writer}`, async () => {
    const feeds = { [name('x')]: random(5, [2, 2, 6, 6]) };
    for (const [opset, ir] of [
      [8, 3],
      [9, 4],
      [11, 6],
      [12, 7],
      [13, 7],
      [17, 8],
      [18, 10],
      [21, 10],
    ]) {
      for (const [style, extra] of Object.entries(defaults)) {
        for (const hasInputs of ir < 4 ? [true] : [false, true]) {
          for (const skip of [false, true]) {
            const batch = skip ? 'unk__12' : null;
            const bytes = net({ opset, ir, name, extra, hasInputs, batch, skip });
            const what = `opset ${opset}, IR ${ir}, ${style} defaults, ${hasInputs}, ${skip}`;
            assert.equal(await differs(bytes, feeds), undefined, what);
          }
        }
      }
    }
  });
}

test('initializers among the inputs may be omitted or passed', async () => {
  const name = (each) => each;
  const bytes = net({ opset: 13, ir: 7, name, extra: defaults.none, hasInputs: true, batch: 'n' });
  const feeds = { x: random(5, [1, 2, 6, 6]) };
  assert.equal(await differs(bytes, feeds), undefined);
  const loaded = await tl.loadModel(bytes);
  assert.equal(loaded.inputs[0].name, 'x');
  loaded.dispose();
});

test('weights in external files, as PyTorch exports large ones', async () => {
  const parts = [];
  let size = 0;
  const external = (key, { dtype, data, shape }) => {
    if (data.length < 4) return undefined;
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const offset = Math.ceil(size / 64) * 64;
    parts.push([offset, bytes]);
    size = offset + bytes.length;
    const length = key === 'w' ? {} : { length: bytes.length };
    return { dtype, shape, external: { location: 'model.onnx.data', offset, ...length } };
  };
  const args = { opset: 18, ir: 10, name: names.dynamo, extra: defaults.all, batch: 's77' };
  const bytes = net({ ...args, external });
  const data = new Uint8Array(size);
  for (const [offset, each] of parts) data.set(each, offset);
  const loaded = await tl.loadModel(bytes, { externalData: { 'model.onnx.data': data } });
  const inside = await tl.loadModel(net(args));
  const x = tl.tensor(random(5, [1, 2, 6, 6]).data, [1, 2, 6, 6]);
  const [got, expected] = await Promise.all(
    [loaded, inside].map((each) => each.run({ [names.dynamo('x')]: x })),
  );
  const y = names.dynamo('y');
  assert.deepEqual([...got[y].dataSync()], [...expected[y].dataSync()]);
});

test('a pipeline of scikit-learn, with operators of two domains', async () => {
  const ml = { domain: 'ai.onnx.ml' };
  for (const zipmap of [false, true]) {
    const bytes = model({
      opset: 17,
      ir: 8,
      opsets: { 'ai.onnx.ml': 1 },
      nodes: [
        node('Scaler', ['X'], ['variable'], { offset: [0.5, 1.5], scale: [2.5, 0.5] }, ml),
        node(
          'LinearClassifier',
          ['variable'],
          ['label', 'probability_tensor'],
          {
            classlabels_ints: ints([0, 1, 2]),
            coefficients: typed('floats', [1, -1, 0.5, 0.25, -0.5, 1]),
            intercepts: typed('floats', [0.1, 0, -0.1]),
            multi_class: 1,
            post_transform: 'SOFTMAX',
          },
          ml,
        ),
        node('Cast', ['label'], ['output_label'], { to: 7 }),
        node('Normalizer', ['probability_tensor'], ['probabilities'], { norm: 'L1' }, ml),
        ...(zipmap ? [node('Identity', ['probabilities'], ['output_probability'])] : []),
      ],
      inputs: [value('X', 'float32', [null, 2])],
      outputs: [
        value('output_label', 'int64', [null]),
        value(zipmap ? 'output_probability' : 'probabilities', 'float32', [null, 3]),
      ],
    });
    assert.equal(await differs(bytes, { X: random(1, [5, 2]) }), undefined);
  }
});

const simple = (nodes, args = {}) =>
  model({
    opset: 17,
    ir: 8,
    nodes,
    inputs: [value('x', 'float32', [2])],
    outputs: [value('y', 'float32', [2])],
    ...args,
  });
const x = tensor('float32', [-1, 2]);

test('rejects invalid models by name, as ONNX Runtime does', async () => {
  for (const [bytes, expectedError] of [
    [simple([node('Relu', ['x'], ['y'], { foo: 1 })]), /Relu.*has no attribute 'foo'/],
    [simple([node('Relu', ['x'], ['y'], { alpha: 1 })]), /has no attribute 'alpha'/],
    [simple([node('Add', ['x', 'x'], ['y'], { other: 'a' })]), /has no attribute 'other'/],
    [simple([node('Relu', ['x', 'x'], ['y'])]), /expects 1 inputs, has 2/],
    [simple([node('Softmax', ['x', 'x'], ['y'])]), /expects 1 inputs, has 2/],
    [simple([node('Add', ['x', 'x', 'x'], ['y'])]), /Add/],
    [simple([node('Relu', ['x'], ['y'])], { opset: 99 }), /operator set 99 of ai.onnx; up to 28/],
    [
      simple([node('Relu', ['x'], ['y'])], { opsets: { 'ai.onnx.ml': 99 } }),
      /operator set 99 of ai.onnx.ml; up to 5/,
    ],
  ]) {
    const [peer, ours] = [
      await attempt(engines.peer, bytes, { x }),
      await attempt(engines.ours, bytes, { x }),
    ];
    assert.notEqual(peer.error, undefined);
    assert.match(ours.error ?? 'no error', expectedError);
  }
  for (const opset of [24, 25, 26]) {
    const bytes = simple([node('Relu', ['x'], ['y'])], { opset });
    assert.equal(await differs(bytes, { x }), undefined, `opset ${opset}`);
  }
});

test('apply of a loaded model outside a function names the method to call', async () => {
  const loaded = await tl.loadModel(simple([node('Relu', ['x'], ['y'])]));
  for (const wrong of [tl.tensor([1, 2]), { x: tl.tensor([1, 2]) }, undefined]) {
    assert.throws(() => loaded.apply(wrong), {
      name: 'LatheError',
      message: /on tensors call run/,
    });
  }
  const fn = await tl.compile({ x: [2] }, (inputs, g) => ({ y: loaded.apply(g, inputs).y }));
  assert.deepEqual([...fn.run({ x: [-1, 2] }).y.dataSync()], [0, 2]);
  loaded.dispose();
});

test('values of string attributes that the standard does not list', async () => {
  const image = random(1, [1, 4, 4, 4]);
  const initializers = {
    scales: tensor('float32', [1, 1, 2, 2]),
    sizes: tensor('int64', [1, 4, 8, 6]),
    rois: tensor('float32', [0, 0, 2, 2], [1, 4]),
    batch: tensor('int64', [0]),
    grid: random(2, [1, 2, 2, 2]),
    w: random(3, [1, 8, 2]),
  };
  const scaled = ['x', '', 'scales'];
  for (const [op, inputs, attribute, others, rest] of [
    ['Resize', scaled, 'mode'],
    ['Resize', scaled, 'coordinate_transformation_mode', { mode: 'linear' }],
    ['Resize', scaled, 'nearest_mode'],
    ['Resize', ['x', '', '', 'sizes'], 'keep_aspect_ratio_policy'],
    ['RoiAlign', ['x', 'rois', 'batch'], 'mode'],
    ['RoiAlign', ['x', 'rois', 'batch'], 'coordinate_transformation_mode'],
    ['GridSample', ['x', 'grid'], 'mode'],
    ['GridSample', ['x', 'grid'], 'padding_mode'],
    ['DepthToSpace', ['x'], 'mode', { blocksize: 2 }],
    ['LSTM', ['x', 'w', 'w'], 'direction', { hidden_size: 2 }, { x: random(4, [3, 1, 2]) }],
  ]) {
    const x = rest?.x ?? image;
    const bytes = model({
      opset: 20,
      ir: 9,
      nodes: [node(op, inputs, ['y'], { ...others, [attribute]: 'bogus' })],
      inputs: [value('x', 'float32', x.shape)],
      outputs: [value('y', 'float32')],
      initializers: Object.fromEntries(
        Object.entries(initializers).filter(([name]) => inputs.includes(name)),
      ),
    });
    const { error } = await attempt(engines.ours, bytes, { x });
    assert.match(error ?? `${op} runs`, new RegExp(`${attribute} 'bogus' is none of`));
  }
});
