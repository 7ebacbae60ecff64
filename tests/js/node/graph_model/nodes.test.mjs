// Single nodes of graph models against TensorFlow.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as theirs from '@tensorflow/tfjs';
import * as tf from 'tensorlathe/tfjs';

await tf.ready();
await theirs.setBackend('cpu');

const node = (name, op, input = [], attr = {}) => ({ name, op, input, attr });
const text = (value) => ({ s: btoa(value) });
const type = (name) => ({ type: name });
const ints = (...values) => ({ list: { i: values.map(String) } });
const placeholder = (name, dtype = 'DT_FLOAT') =>
  node(name, 'Placeholder', [], { dtype: type(dtype) });

const arrays = { float32: Float32Array, int32: Int32Array };
/** The bytes of a constant; strings are preceded by their lengths. */
const bytesOf = ({ dtype, values }) =>
  dtype === 'string'
    ? values.flatMap((each) => [each.length, 0, 0, 0, ...new TextEncoder().encode(each)])
    : [...new Uint8Array(arrays[dtype].from(values).buffer)];
const int = (...values) => ({ dtype: 'int32', shape: [values.length], values });
const one = (dtype, value) => ({ dtype, shape: [], values: [value] });

/** A model of these nodes with constants by name, loaded by one of both libraries. */
function load(lib, nodes, constants = {}) {
  const entries = Object.entries(constants);
  return lib.loadGraphModel({
    load: async () => ({
      modelTopology: {
        node: [...entries.map(([name]) => node(name, 'Const')), ...nodes],
        versions: { producer: 1 },
      },
      weightSpecs: entries.map(([name, { dtype, shape }]) => ({ name, dtype, shape })),
      weightData: new Uint8Array(entries.flatMap(([, each]) => bytesOf(each))).buffer,
    }),
  });
}

test('a table is filled before nodes with a control dependency on it', async () => {
  const types = { key_dtype: type('DT_STRING'), value_dtype: type('DT_INT64') };
  const nodes = [
    placeholder('words', 'DT_STRING'),
    node('table', 'HashTableV2', [], types),
    node('fill', 'LookupTableImportV2', ['table', 'keys', 'values']),
    node('found', 'LookupTableFindV2', ['table', 'words', 'none', '^fill']),
    node('ready', 'NoOp', ['^fill']),
    node('size', 'LookupTableSizeV2', ['table', '^ready']),
  ];
  const constants = {
    keys: { dtype: 'string', shape: [2], values: ['a', 'b'] },
    values: int(10, 20),
    none: one('int32', -1),
  };
  for (const lib of [theirs, tf]) {
    const model = await load(lib, nodes, constants);
    const words = lib.tensor1d(['b', 'c', 'a']);
    const [found, size] = await model.executeAsync({ words }, ['found', 'size']);
    assert.deepEqual([[...found.dataSync()], [...size.dataSync()]], [[20, -1, 10], [2]]);
  }
});

test('a node with control-dependent nodes is no output', async () => {
  const nodes = [
    placeholder('x'),
    node('first', 'Exp', ['x']),
    node('wait', 'NoOp', ['^first', '^x', '^none']),
    node('y', 'Neg', ['x', '^wait']),
  ];
  for (const lib of [theirs, tf]) {
    const model = await load(lib, nodes, { none: one('float32', 0) });
    assert.deepEqual(model.outputNodes, ['y']);
    assert.deepEqual([...model.predict(lib.tensor1d([1, -2])).dataSync()], [-1, 2]);
    model.dispose();
  }
});

test('control-dependent nodes in a loop run in each iteration', async () => {
  // while (i < 3) { i += 1; y *= 2 }, where 1 and 2 are made in the loop.
  const frame = { frame_name: text('loop') };
  const nodes = [
    placeholder('x'),
    node('i0', 'Enter', ['zero'], frame),
    node('y0', 'Enter', ['x'], frame),
    node('three0', 'Enter', ['three'], { ...frame, is_constant: { b: true } }),
    node('i', 'Merge', ['i0', 'nextI']),
    node('y', 'Merge', ['y0', 'nextY']),
    node('goes', 'LoopCond', ['less']),
    node('less', 'Less', ['i', 'three0']),
    node('switchI', 'Switch', ['i', 'goes']),
    node('switchY', 'Switch', ['y', 'goes']),
    node('inside', 'Identity', ['switchI:1']),
    node('one', 'Fill', ['none', 'oneOf', '^inside'], { T: type('DT_INT32') }),
    node('two', 'Fill', ['none', 'twoOf', '^inside'], { T: type('DT_FLOAT') }),
    node('addI', 'Add', ['switchI:1', 'one']),
    node('mulY', 'Mul', ['switchY:1', 'two']),
    node('nextI', 'NextIteration', ['addI']),
    node('nextY', 'NextIteration', ['mulY']),
    node('result', 'Exit', ['switchY']),
  ];
  const constants = {
    zero: one('int32', 0),
    three: one('int32', 3),
    none: int(),
    oneOf: one('int32', 1),
    twoOf: one('float32', 2),
  };
  for (const lib of [theirs, tf]) {
    const model = await load(lib, nodes, constants);
    const y = await model.executeAsync({ x: lib.tensor1d([1, 5]) }, 'result');
    assert.deepEqual([...y.dataSync()], [8, 40]);
  }
});

test('MatrixBandPart accepts more diagonals than there are', async () => {
  const nodes = [placeholder('x'), node('y', 'MatrixBandPart', ['x', 'many', 'many'])];
  for (const lib of [theirs, tf]) {
    const model = await load(lib, nodes, { many: one('int32', 2) });
    const x = lib.tensor2d([1, 2, 3], [3, 1]);
    assert.deepEqual([...model.predict(x).dataSync()], [1, 2, 3]);
  }
});

test('Fill accepts strings', async () => {
  const nodes = [node('y', 'Fill', ['shape', 'word'], { T: type('DT_STRING') })];
  const constants = { shape: int(2, 1), word: { dtype: 'string', shape: [], values: ['w'] } };
  for (const lib of [theirs, tf]) {
    const y = (await load(lib, nodes, constants)).execute({}, 'y');
    assert.deepEqual([y.dtype, y.shape, [...y.dataSync()]], ['string', [2, 1], ['w', 'w']]);
  }
});

/** Permutes per-axis values from NHWC to NCHW. */
const first = ([n, h, w, c]) => [n, c, h, w];

// TensorFlow.js misreads NCHW channels as a height.
for (const [op, operands] of [
  ['AvgPool', ['x']],
  ['MaxPool', ['x']],
  ['BiasAdd', ['x', 'bias']],
  ['FusedBatchNormV3', ['x', 'bias', 'bias', 'bias', 'bias']],
  ['Conv2D', ['x', 'filter']],
  ['Conv2DBackpropInput', ['shape', 'filter', 'x']],
]) {
  test(`${op} accepts the NCHW format`, async () => {
    const convolved = async (lib, format, order) => {
      const attributes = {
        data_format: text(format),
        strides: ints(...order([1, 1, 2, 1])),
        ksize: ints(...order([1, 2, 1, 1])),
        dilations: ints(1, 1, 1, 1),
        padding: text(op.startsWith('Conv') ? 'VALID' : 'SAME'),
      };
      const model = await load(lib, [placeholder('x'), node('y', op, operands, attributes)], {
        bias: { dtype: 'float32', shape: [2], values: [1, 2] },
        filter: { dtype: 'float32', shape: [1, 2, 2, 2], values: [1, 2, 3, 4, 5, 6, 7, 8] },
        shape: int(...order([1, 3, 8, 2])),
      });
      const x = lib.tensor4d(
        Array.from({ length: 24 }, (_, at) => (at * 7) % 11),
        [1, 3, 4, 2],
      );
      if (format === 'NHWC') return model.execute(x, 'y');
      return lib.transpose(model.execute(lib.transpose(x, [0, 3, 1, 2]), 'y'), [0, 2, 3, 1]);
    };
    const expected = await convolved(theirs, 'NHWC', (axes) => axes);
    const found = await convolved(tf, 'NCHW', first);
    assert.deepEqual(found.shape, expected.shape);
    const numbers = expected.dataSync();
    found.dataSync().forEach((each, at) => assert.ok(Math.abs(each - numbers[at]) < 1e-4));
  });
}
