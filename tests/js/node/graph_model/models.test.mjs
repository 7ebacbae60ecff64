// Graph models of TensorFlow.js: published ones against results of TensorFlow.js, and small ones for what these do not cover.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import * as theirs from '@tensorflow/tfjs';
import * as tf from 'tensorlathe/tfjs';
import { golden, modelsAbsent, modelsFolder } from '../../models.mjs';

await tf.ready();
await theirs.setBackend('cpu');

const names = ['basic-pitch', 'lstm-graph-while', 'segmentation-224-graph'];
const addressOf = (name) => pathToFileURL(join(modelsFolder, 'tfjs', name, 'model.json'));

function sameNumbers(actual, expected, what) {
  const [a, b] = [actual.dataSync(), expected.dataSync()];
  assert.equal(a.length, b.length, what);
  const scale = b.reduce((max, each) => Math.max(max, Math.abs(each)), 1e-6);
  let worst = 0;
  for (let at = 0; at < a.length; at++) worst = Math.max(worst, Math.abs(a[at] - b[at]));
  assert.ok(worst <= 1e-3 * scale, `${what}: off by ${worst} of ${scale}`);
}

for (const name of names) {
  test(`${name} equals TensorFlow.js`, { skip: modelsAbsent }, async () => {
    const { inputs, outputs } = golden(name);
    const before = tf.memory().numTensors;
    const model = await tf.loadGraphModel(addressOf(name));
    const found = [model.predict(inputs)].flat();
    const executed = [await model.executeAsync(inputs, model.outputNodes)].flat();
    for (const [at, expectedOutput] of outputs.entries()) {
      const same = (list) => list.find((each) => each.shape.join() === expectedOutput.shape.join());
      sameNumbers(
        found[at].shape.join() === expectedOutput.shape.join() ? found[at] : same(found),
        expectedOutput,
        name,
      );
      sameNumbers(
        executed[at].shape.join() === expectedOutput.shape.join() ? executed[at] : same(executed),
        expectedOutput,
        name,
      );
    }
    tf.dispose([found, executed]);
    model.dispose();
    assert.equal(tf.memory().numTensors, before);
  });
}

const versions = { producer: 1, minConsumer: 2 };

const attr = (value) => {
  if (typeof value === 'boolean') return { b: value };
  if (typeof value === 'number') return { i: String(value) };
  if (Array.isArray(value))
    return { shape: { dim: value.map((size) => ({ size: String(size) })) } };
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

/** Artifacts of a model of these nodes, with constants by name; `more`: other fields of the artifacts. */
function artifactsOf(nodes, constants = {}, functions = [], more = {}) {
  const entries = Object.entries(constants);
  const weightSpecs = entries.map(([name, { shape, dtype }]) => ({ name, shape, dtype }));
  const weightData = new Uint8Array(
    entries.flatMap(([, each]) => [...new Uint8Array(each.dataSync().slice().buffer)]),
  ).buffer;
  const consts = entries.map(([name]) => node(name, 'Const'));
  return {
    ...more,
    modelTopology: { node: [...consts, ...nodes], library: { function: functions }, versions },
    weightSpecs,
    weightData,
  };
}
const modelOf = (...parts) => tf.loadGraphModelSync(artifactsOf(...parts));

/** Outputs of such a model in both libraries for inputs as [values, shape, dtype]. */
async function inBoth(parts, inputs, outputs) {
  const artifacts = artifactsOf(...parts);
  const results = [];
  for (const lib of [tf, theirs]) {
    const before = lib.memory().numTensors;
    const model = await lib.loadGraphModel({ load: async () => artifacts });
    const feeds = Object.fromEntries(
      Object.entries(inputs).map(([name, value]) => [name, lib.tensor(...value)]),
    );
    const found = [await model.executeAsync(feeds, outputs)].flat();
    results.push(found.map((each) => [each.dtype, each.shape, [...each.dataSync()]]));
    lib.dispose([found, feeds]);
    model.dispose();
    assert.equal(lib.memory().numTensors, before);
  }
  assert.deepEqual(results[0], results[1]);
  return results[0];
}

test('control flow of TensorFlow 1: Switch, Merge and loops', () => {
  // while (i < 5) { i += 1; y *= x }
  const frame = { frame_name: 'loop' };
  const model = modelOf(
    [
      placeholder('x'),
      node('i0', 'Enter', ['zero'], frame),
      node('y0', 'Enter', ['x'], frame),
      node('x0', 'Enter', ['x'], { ...frame, is_constant: true }),
      node('five0', 'Enter', ['five'], { ...frame, is_constant: true }),
      node('one0', 'Enter', ['one'], { ...frame, is_constant: true }),
      node('i', 'Merge', ['i0', 'nextI']),
      node('y', 'Merge', ['y0', 'nextY']),
      node('less', 'Less', ['i', 'five0']),
      node('goes', 'LoopCond', ['less']),
      node('switchI', 'Switch', ['i', 'goes']),
      node('switchY', 'Switch', ['y', 'goes']),
      node('addI', 'Add', ['switchI:1', 'one0']),
      node('mulY', 'Mul', ['switchY:1', 'x0']),
      node('nextI', 'NextIteration', ['addI']),
      node('nextY', 'NextIteration', ['mulY']),
      node('result', 'Exit', ['switchY']),
    ],
    {
      zero: tf.scalar(0, 'int32'),
      five: tf.scalar(5, 'int32'),
      one: tf.scalar(1, 'int32'),
    },
  );
  assert.deepEqual(model.execute({ x: tf.tensor1d([2, 3]) }, 'result').arraySync(), [64, 729]);
  model.dispose();
});

test('If and While run functions', () => {
  const signature = (name, inputs, outputs) => ({
    name,
    inputArg: inputs.map((each) => ({ name: each })),
    outputArg: outputs.map((each) => ({ name: each })),
  });
  const model = modelOf(
    [
      placeholder('x'),
      placeholder('positive', 'DT_BOOL'),
      node('chosen', 'StatelessIf', ['positive', 'x'], {
        then_branch: 'func twice',
        else_branch: 'func minus',
      }),
      node('loop', 'StatelessWhile', ['chosen', 'x'], { cond: 'func small', body: 'func grow' }),
      node('result', 'Identity', ['loop:0']),
    ],
    { limit: tf.scalar(100) },
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
        signature: signature('small', ['v', 'w'], ['r']),
        nodeDef: [node('less', 'Less', ['v', 'limit'])],
        ret: { r: 'less:z:0' },
      },
      {
        signature: signature('grow', ['v', 'w'], ['r', 's']),
        nodeDef: [node('sum', 'AddV2', ['v', 'v'])],
        ret: { r: 'sum:z:0', s: 'w' },
      },
    ],
  );
  const run = (x, positive) =>
    model.execute({ x: tf.scalar(x), positive: tf.scalar(positive, 'bool') }, 'result').arraySync();
  assert.equal(run(3, true), 192);
  assert.equal(run(-3, false), 192);
  model.dispose();
});

test('errors name mismatched inputs and unknown operators', () => {
  const strange = modelOf([placeholder('x'), node('y', 'Strange', ['x']), node('z', 'Odd', ['y'])]);
  assert.throws(
    () => strange.predict(tf.scalar(1)),
    /^LatheError: Unknown op 'Strange'. Register .* tf.registerOp\(\); .* unknown ops Odd$/,
  );
  const model = modelOf([placeholder('x'), node('y', 'Relu', ['x'])]);
  assert.deepEqual(model.predict(tf.tensor1d([-1, 2])).arraySync(), [0, 2]);
  assert.throws(() => model.execute({}, 'y'), /Missing the following inputs: \[x\]/);
  assert.throws(() => model.execute({ z: tf.scalar(1) }, 'y'), /\[z\] that are not part of graph/);
  assert.throws(
    () => model.execute({ x: tf.scalar(1, 'int32') }, 'y'),
    /dtype of dict\['x'\] provided in model.execute\(dict\) must be float32, but was int32/,
  );
  model.dispose();
});

test('inputs have the shapes of their placeholders, not of the signature, and the names of their nodes', () => {
  const shaped = (name, ...shape) => node(name, 'Placeholder', [], { dtype: 'DT_FLOAT', shape });
  const tensorShape = { dim: [{ size: '1' }, { size: '4' }] };
  const signature = {
    inputs: { image: { name: 'x:0', dtype: 'DT_FLOAT', tensorShape } },
    outputs: { scores: { name: 'y:0', dtype: 'DT_FLOAT', tensorShape } },
  };
  const relu = node('y', 'Relu', ['x']);
  const model = modelOf([shaped('x', 1, -1), relu], {}, [], { signature });
  assert.deepEqual(model.inputs, [{ name: 'x', shape: [1, -1], dtype: 'float32' }]);
  assert.equal(model.outputs[0].name, 'y');
  assert.deepEqual([model.inputNodes, model.outputNodes], [['image'], ['scores']]);
  const wide = tf.tensor2d([[-1, 2, 3, -4, 5]]);
  for (const feeds of [wide, { image: wide }, { x: wide }, { 'x:0': wide }]) {
    assert.deepEqual(model.execute(feeds, 'y:0').arraySync(), [[0, 2, 3, 0, 5]]);
  }
  for (const name of ['image', 'x', 'x:0']) {
    assert.throws(() => model.execute({ [name]: tf.scalar(1) }), /must be \[1,-1\], but was \[\]/);
  }
  model.dispose();
  const empty = modelOf([shaped('x', -1), relu], {}, [], {
    signature: { inputs: {}, outputs: {} },
  });
  assert.deepEqual(empty.predict(tf.tensor1d([-1, 2])).arraySync(), [0, 2]);
  empty.dispose();
  const other = node('z', 'PlaceholderWithDefault', ['one'], { dtype: 'DT_FLOAT' });
  const sum = modelOf([shaped('x', -1), other, node('y', 'Add', ['x', 'z'])], {
    one: tf.scalar(1),
  });
  assert.deepEqual(sum.inputNodes, ['x', 'z']);
  assert.deepEqual(sum.predict([tf.tensor1d([1]), tf.scalar(2)]).arraySync(), [3]);
  assert.deepEqual(sum.execute({ x: tf.tensor1d([1]) }, 'y').arraySync(), [2]);
  sum.dispose();
});

test('a GraphModel that the program constructs is loaded by load, or by loadSync', async () => {
  const nodes = [
    node('x', 'Placeholder', [], { dtype: 'DT_FLOAT' }),
    node('y', 'Neg', ['x'], { T: 'DT_FLOAT' }),
  ];
  const artifacts = {
    modelTopology: { node: nodes, versions: { producer: 1, minConsumer: 2 } },
    weightSpecs: [],
    weightData: new ArrayBuffer(0),
  };
  const negated = (model) => [...model.predict(tf.tensor1d([1, -2])).dataSync()];

  const model = new tf.GraphModel({ load: async () => artifacts });
  assert.equal(model.executor, undefined);
  assert.throws(() => model.predict(tf.ones([1])), /has not been loaded; call load\(\) before/);
  assert.equal(await model.load(), true);
  assert.equal(typeof model.executor, 'object');
  assert.deepEqual(negated(model), [-1, 2]);

  const atOnce = new tf.GraphModel({ load: () => artifacts });
  assert.equal(atOnce.load(), true);
  assert.deepEqual(negated(atOnce), [-1, 2]);
  assert.equal(atOnce.artifacts, artifacts);
  assert.equal(atOnce.modelVersion, '1.2');

  const address = 'http://localhost:1/model.json';
  const byHand = new tf.GraphModel(address, { fetchFunc: () => Promise.reject(new Error('away')) });
  byHand.findIOHandler();
  assert.equal(byHand.modelUrl, address);
  await assert.rejects(byHand.handler.load(), /away/);
  assert.equal(byHand.loadSync(artifacts), true);
  assert.deepEqual(negated(byHand), [-1, 2]);

  const saved = await byHand.save({ save: async (toSave) => toSave });
  assert.equal(saved, artifacts);
  assert.throws(() => new tf.GraphModel({}).load(), /nothing can be loaded from there/);
  assert.throws(() => tf.loadGraphModelSync({ load: async () => artifacts }), /returns a promise/);
});

/** Strings as in weight data: each is preceded by its length. */
const textBytes = (strings) =>
  strings.flatMap((text) => {
    const bytes = new TextEncoder().encode(text);
    return [bytes.length, 0, 0, 0, ...bytes];
  });
const int32Bytes = (values) => [...new Uint8Array(new Int32Array(values).buffer)];

/** A model with a lookup table that an initializer graph fills; `more`: fields that depend on the writer of the file. */
function lookingUp(table, nodes, more) {
  const filling = [
    node('keys', 'Const'),
    node('values', 'Const'),
    table,
    node('handle', 'Identity', [table.name], { T: 'DT_RESOURCE' }),
    node('fill', 'LookupTableImportV2', ['handle', 'keys', 'values']),
    node('end', 'NoOp', ['^fill']),
    node('filled', 'Identity', ['handle', '^end'], { T: 'DT_RESOURCE' }),
  ];
  return {
    format: 'graph-model',
    modelTopology: { node: [node('none', 'Const'), ...nodes], versions },
    modelInitializer: { node: filling, versions },
    weightSpecs: [
      { name: 'none', shape: [], dtype: 'int32' },
      { name: 'keys', shape: [3], dtype: 'string' },
      { name: 'values', shape: [3], dtype: 'int32' },
    ],
    weightData: new Uint8Array([
      ...int32Bytes([-1]),
      ...textBytes(['a', 'é', '']),
      ...int32Bytes([7, 8, 9]),
    ]).buffer,
    ...more,
  };
}

const words = node('words', 'Placeholder', [], { dtype: 'DT_STRING' });
const table = node('table', 'HashTableV2', [], {
  key_dtype: 'DT_STRING',
  value_dtype: 'DT_INT32',
});
const ofTables = {
  'by a resource': lookingUp(
    table,
    [
      words,
      node('resource', 'Placeholder', [], { dtype: 'DT_RESOURCE' }),
      node('y', 'LookupTableFindV2', ['resource', 'words', 'none']),
    ],
    {
      signature: {
        inputs: {
          words: { name: 'words:0', dtype: 'DT_STRING' },
          resource: { name: 'resource:0', dtype: 'DT_RESOURCE', resourceId: 4 },
        },
        outputs: { y: { name: 'y:0', dtype: 'DT_INT32' } },
      },
      initializerSignature: { outputs: { filled: { name: 'filled:0', resourceId: 4 } } },
    },
  ),
  'by its name': lookingUp(
    table,
    [words, table, node('y', 'LookupTableFindV2', ['table', 'words', 'none'])],
    {},
  ),
};

for (const [how, artifacts] of Object.entries(ofTables)) {
  test(`a table of strings that an initializer graph fills is found ${how}`, async () => {
    const lookups = async (lib) => {
      const before = lib.memory().numTensors;
      const model = await lib.loadGraphModel({ load: async () => artifacts });
      const x = lib.tensor1d(['é', '', 'b', 'a']);
      const found = [];
      for (let at = 0; at < 2; ++at) {
        const y = await model.executeAsync({ words: x }, 'y');
        found.push([...y.dataSync()]);
        y.dispose();
      }
      x.dispose();
      model.dispose();
      assert.equal(lib.memory().numTensors, before);
      return found;
    };
    assert.deepEqual(await lookups(tf), await lookups(theirs));
  });
}

test('weights may be a stream, and typed arrays', async () => {
  const nodes = [
    node('w', 'Const'),
    node('x', 'Placeholder', [], { dtype: 'DT_FLOAT' }),
    node('y', 'Mul', ['x', 'w']),
  ];
  const artifacts = {
    modelTopology: { node: nodes, versions },
    weightSpecs: [{ name: 'w', shape: [2], dtype: 'float32' }],
  };
  const numbers = new Float32Array([2, 3]);
  const getWeightStream = () =>
    new ReadableStream({
      start(stream) {
        stream.enqueue(numbers.buffer.slice(0, 5));
        stream.enqueue(numbers.buffer.slice(5));
        stream.close();
      },
    });
  for (const weights of [{ getWeightStream }, { weightData: numbers }]) {
    for (const lib of [tf, theirs]) {
      const model = await lib.loadGraphModel({ load: async () => ({ ...artifacts, ...weights }) });
      assert.deepEqual([...model.predict(lib.tensor1d([1, -1])).dataSync()], [2, -3]);
      model.dispose();
    }
  }
});

test('an output that the graph does not have is named', async () => {
  const nodes = [node('x', 'Placeholder', [], { dtype: 'DT_FLOAT' }), node('y', 'Neg', ['x'])];
  const artifacts = { modelTopology: { node: nodes, versions }, weightSpecs: [], weightData: [] };
  for (const lib of [tf, theirs]) {
    const model = await lib.loadGraphModel({ load: async () => artifacts });
    const message = /The output 'z' is not found in the graph/;
    assert.throws(() => model.execute(lib.tensor1d([1]), 'z'), message);
    assert.deepEqual([...model.execute(lib.tensor1d([1]), 'y').dataSync()], [-1]);
  }
});

const ints = (...values) => tf.tensor1d(values, 'int32');
const int = (value) => tf.scalar(value, 'int32');

test('operators accept the same inputs as in TensorFlow.js', async () => {
  const cases = [
    [node('y', 'SplitV', ['x', 'sizes', 'zero']), { sizes: ints(1, -1, 1), zero: int(0) }, 3],
    [
      node('y', 'SparseToDense', ['indices', 'size', 'x', 'other']),
      { indices: ints(1, 3, 4, 6), size: ints(8), other: tf.scalar(1, 'int32') },
    ],
    [node('y', 'Where', ['x']), {}],
    [node('y', 'Range', ['from', 'to', 'step']), { from: int(1), to: int(4), step: int(1) }],
    [node('y', 'Abs', ['x', '^from']), { from: int(1) }],
  ];
  for (const [y, constants, count = 1] of cases) {
    const outputs = Array.from({ length: count }, (_, at) => `y:${at}`);
    const parts = [[placeholder('x'), y], constants];
    await inBoth(parts, { x: [[1, NaN, 0, -3], [4], 'float32'] }, outputs);
  }
  const band = node('y', 'MatrixBandPart', ['x', 'below', 'above']);
  const parts = [[placeholder('x'), band], { below: int(9), above: int(-1) }];
  assert.deepEqual((await inBoth(parts, { x: [[[1], [2]]] }, 'y'))[0][2], [1, 2]);
  const text = node('y', 'Fill', ['size', 'x'], { T: 'DT_STRING' });
  const strings = [[placeholder('x', 'DT_STRING'), text], { size: ints(2) }];
  assert.deepEqual((await inBoth(strings, { x: ['é', [], 'string'] }, 'y'))[0][2], ['é', 'é']);
});

test('any value of a node can be an input, of any dtype where the graph does not specify one', async () => {
  const nodes = [
    node('x', 'Placeholder'),
    node('parts', 'Unpack', ['x']),
    { ...node('y', 'Sub', ['parts:1', 'one']), attr: null },
  ];
  const parts = [nodes, { one: int(1) }];
  const x = { x: [[4, 6], [2], 'int32'] };
  assert.deepEqual(await inBoth(parts, x, 'y'), [['int32', [], [5]]]);
  const part = { 'parts:1': [3, [], 'int32'] };
  assert.deepEqual(await inBoth(parts, part, 'y'), [['int32', [], [2]]]);
});

test('outputs are values without consumers, also constants, but not control dependencies', async () => {
  const nodes = [placeholder('x'), node('a', 'Neg', ['x']), node('b', 'Abs', ['x', '^a'])];
  const artifacts = artifactsOf([...nodes, placeholder('z')], { one: int(1) });
  for (const lib of [tf, theirs]) {
    const model = await lib.loadGraphModel({ load: async () => artifacts });
    assert.deepEqual(model.outputNodes, ['one', 'b', 'z']);
  }
});

test('a branch with only a control dependency runs only on its side', async () => {
  const nodes = [
    placeholder('x'),
    placeholder('isOn', 'DT_BOOL'),
    node('side', 'Switch', ['isOn', 'isOn']),
    node('off', 'Identity', ['side']),
    node('on', 'Identity', ['side:1']),
    node('ones', 'Fill', ['size', 'one', '^on'], { T: 'DT_FLOAT' }),
    node('twos', 'Fill', ['size', 'two', '^off'], { T: 'DT_FLOAT' }),
    node('merged', 'Merge', ['ones', 'twos']),
    node('y', 'Add', ['x', 'merged']),
  ];
  const parts = [nodes, { size: ints(2), one: tf.scalar(1), two: tf.scalar(2) }];
  for (const isOn of [true, false]) {
    const feeds = { x: [[10, 20]], isOn: [isOn, [], 'bool'] };
    const expectedOutput = isOn ? [11, 21] : [12, 22];
    assert.deepEqual(await inBoth(parts, feeds, 'y'), [['float32', [2], expectedOutput]]);
  }
  await assert.rejects(inBoth([[...nodes, node('z', 'Abs', ['x', '^isOn'])]], { x: [1] }, 'z'), {
    message: /Missing the following inputs: \[isOn\]/,
  });
});

test('a table is filled before its control-dependent nodes, anew in each call, and retained between calls', async () => {
  const table = { key_dtype: 'DT_INT32', value_dtype: 'DT_FLOAT' };
  const nodes = [
    placeholder('x', 'DT_INT32'),
    node('table', 'HashTableV2', [], table),
    node('first', 'LookupTableImportV2', ['table', 'keys', 'values']),
    node('second', 'LookupTableImportV2', ['table', 'others', 'values', '^first']),
    node('found', 'LookupTableFindV2', ['table', 'x', 'none', '^first']),
    node('later', 'LookupTableFindV2', ['table', 'x', 'none']),
    node('anew', 'LookupTableFindV2', ['table', 'x', 'none', '^second']),
  ];
  const artifacts = artifactsOf(nodes, {
    keys: ints(1, 2),
    others: ints(2, 3),
    values: tf.tensor1d([10, 20]),
    none: tf.scalar(-1),
  });
  for (const lib of [tf, theirs]) {
    const model = await lib.loadGraphModel({ load: async () => artifacts });
    const lookup = async (output) => {
      const y = await model.executeAsync({ x: lib.tensor1d([1, 2, 3], 'int32') }, output);
      return [...y.dataSync()];
    };
    assert.deepEqual(await lookup('found'), [10, 20, -1]);
    assert.deepEqual(await lookup('later'), [10, 20, -1]);
    assert.deepEqual(await lookup('anew'), [-1, 10, 20]);
  }
});

test('weights are complex, too', async () => {
  const artifacts = {
    modelTopology: { node: [node('w', 'Const'), node('y', 'Imag', ['w'])], versions },
    weightSpecs: [
      { name: 'b', shape: [3], dtype: 'bool' },
      { name: 'w', shape: [2], dtype: 'complex64' },
    ],
    weightData: new Uint8Array([
      ...[1, 0, 1],
      ...new Uint8Array(new Float32Array([1, 2, 3, -4]).buffer),
    ]).buffer,
  };
  for (const lib of [tf, theirs]) {
    const before = lib.memory().numTensors;
    const model = await lib.loadGraphModel({ load: async () => artifacts });
    const [w, y] = model.execute({}, ['w', 'y']);
    assert.deepEqual([w.dtype, [...y.dataSync()]], ['complex64', [2, -4]]);
    lib.dispose([w, y]);
    if (lib === tf) model.dispose();
    if (lib === tf) assert.equal(lib.memory().numTensors, before);
  }
});
