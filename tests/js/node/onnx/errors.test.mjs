// Errors name what is wrong with an ONNX model or with its feeds; no memory leaks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { graph, model, node, ref, func, tensor, typed, value } from '../../onnx/write.mjs';

const x = value('x', 'float32', ['n']);
const y = value('y', 'float32');
const modelBytes = (nodes, rest = {}) => model({ nodes, inputs: [x], outputs: [y], ...rest });
const load = (bytes, options) => tl.loadModel(bytes, options);
const message = (promise) =>
  promise.then(
    () => assert.fail('nothing was wrong'),
    (error) => {
      assert.ok(error instanceof tl.LatheError, `${error.stack}`);
      return error.message;
    },
  );
/** The error of running a model with an input of three numbers. */
async function runs(nodes, rest) {
  const loaded = await load(modelBytes(nodes, rest));
  try {
    return await message(loaded.run({ x: Float32Array.of(1, 2, 3) }));
  } finally {
    loaded.dispose();
  }
}

test('all operators that are missing are named, with their nodes', async () => {
  const text = await message(
    load(
      modelBytes([
        node('Frobnicate', ['x'], ['a'], {}, { name: 'first' }),
        node('Frobnicate', ['a'], ['b'], {}, { name: 'second' }),
        node('Relu', ['b'], ['c']),
        node('Twist', ['c'], ['y'], {}, { domain: 'my.company', name: 'third' }),
      ]),
    ),
  );
  for (const each of ['Frobnicate', "'first'", "'second'", 'my.company.Twist', "'third'"]) {
    assert.ok(text.includes(each), text);
  }
});

test('unsupported element types are named with the missing operators', async () => {
  const complex = (name) => value(name, 'complex64', [2]);
  const text = await message(
    load(
      model({
        nodes: [
          node('Frobnicate', ['x'], ['a'], {}, { name: 'first' }),
          node('Add', ['a', 'w'], ['y']),
          node(
            'Constant',
            [],
            ['c'],
            { value: tensor('complex128', [1, 2], [1]) },
            { name: 'stored' },
          ),
        ],
        inputs: [complex('x')],
        outputs: [complex('y')],
        initializers: { w: tensor('complex64', [1, 2], [1]) },
      }),
    ),
  );
  for (const each of ["'first'", "value 'x'", "value 'y'", "tensor 'w'", "Constant 'stored'"]) {
    assert.ok(text.includes(each), text);
  }
  assert.match(text, /complex128.*complex64/s);
});

test('all unsupported nodes are named, not those that depend on them', async () => {
  const relu = (name) => node('BitwiseNot', ['x'], [name], {}, { name });
  const nodes = [
    relu('a'),
    node('Neg', ['a'], ['b']),
    node('Pad', ['x', 'pads'], ['c'], { mode: 'odd' }, { name: 'padded' }),
    node('If', ['yes'], ['d'], {
      then_branch: graph({ nodes: [node('Neg', ['c'], ['e'])], outputs: [value('e', 'float32')] }),
      else_branch: graph({ nodes: [node('Neg', ['x'], ['f'])], outputs: [value('f', 'float32')] }),
    }),
    node('Add', ['b', 'd'], ['y']),
  ];
  const initializers = { pads: tensor('int64', [1, 1]), yes: tensor('bool', [1], []) };
  const text = await runs(nodes, { initializers });
  assert.match(text, /2 nodes of the model are not supported/);
  assert.match(text, /BitwiseNot 'a': does not support float32; cast it to one of uint8, int8/);
  assert.match(text, /Pad 'padded': knows no mode 'odd'/);
  assert.match(text, /3 nodes that depend on them were not checked/);
  const many = Array.from({ length: 30 }, (_, at) => relu(`n${at}`));
  const all = await runs([
    ...many,
    node(
      'Sum',
      many.map(({ name }) => name),
      ['y'],
    ),
  ]);
  assert.match(all, /30 nodes of the model are not supported.*'n19'.*… 30 in all/);
  assert.ok(!all.includes("'n20'"));
});

test('undefined values, cycles and duplicate names are rejected', async () => {
  assert.match(await runs([node('Relu', ['z'], ['y'])]), /Relu: no node produces its input 'z'/);
  assert.match(await runs([node('Relu', ['x'], ['z'])]), /output 'y' of graph 'graph'/);
  const cycle = [node('Add', ['x', 'b'], ['a'], {}, { name: 'p' }), node('Relu', ['a'], ['b'])];
  assert.match(await runs([...cycle, node('Relu', ['b'], ['y'])]), /a cycle/);
  const twice = [node('Relu', ['x'], ['y']), node('Neg', ['x'], ['y'])];
  assert.match(await runs(twice), /two nodes produce 'y'/);
});

test('sizes beyond all memory are rejected before anything is allocated', async () => {
  const sizes = (...list) => tensor('int64', list);
  const huge = sizes(2 ** 31, 2 ** 31);
  const far = 2n ** 62n;
  const cases = {
    ConstantOfShape: [[node('ConstantOfShape', ['huge'], ['y'])], { huge }],
    Expand: [[node('Expand', ['one', 'huge'], ['y'])], { huge, one: tensor('float32', [1]) }],
    Tile: [[node('Tile', ['x', 'huge'], ['y'])], { huge: sizes(2 ** 50) }],
    Range: [
      [node('Range', ['from', 'to', 'by'], ['y'])],
      {
        from: tensor('int64', [0n], []),
        to: tensor('int64', [far], []),
        by: tensor('int64', [1n], []),
      },
    ],
    Pad: [[node('Pad', ['x', 'huge'], ['y'])], { huge: tensor('int64', [0n, far]) }],
    Reshape: [[node('Reshape', ['x', 'huge'], ['y'])], { huge: sizes(2 ** 40, 2 ** 40) }],
  };
  for (const [name, [nodes, initializers]] of Object.entries(cases)) {
    const text = await runs(nodes, { initializers });
    assert.ok(text.includes(name), text);
  }
});

test('functions and loops that expand without end are rejected', async () => {
  const functions = Array.from({ length: 40 }, (_, level) =>
    func({
      domain: 'custom',
      name: `f${level}`,
      inputs: ['a'],
      outputs: ['c'],
      nodes:
        level === 0
          ? [node('Relu', ['a'], ['c'])]
          : [
              node(`f${level - 1}`, ['a'], ['b'], {}, { domain: 'custom' }),
              node(`f${level - 1}`, ['b'], ['c'], {}, { domain: 'custom' }),
            ],
      opsets: { custom: 1 },
    }),
  );
  const opsets = { custom: 1 };
  const many = [node('f39', ['x'], ['y'], {}, { domain: 'custom' })];
  assert.match(await runs(many, { functions, opsets }), /more than \d+ nodes/);
  const itself = func({
    domain: 'custom',
    name: 'f',
    inputs: ['a'],
    outputs: ['b'],
    nodes: [node('f', ['a'], ['b'], {}, { domain: 'custom' })],
    opsets,
  });
  const one = [node('f', ['x'], ['y'], {}, { domain: 'custom' })];
  assert.match(await runs(one, { functions: [itself], opsets }), /call one another without end/);
});

test('attributes of a wrong kind and missing graphs are rejected', async () => {
  assert.match(await runs([node('If', ['x'], ['y'])]), /then_branch/);
  const text = await runs([node('Transpose', ['x'], ['y'], { perm: [0, 1, 2] })]);
  assert.match(text, /Transpose/);
  assert.match(await runs([node('Concat', ['x'], ['y'], { axis: typed('int', 7) })]), /axis 7/);
});

test('external data must exist in the folder and in the file', async () => {
  const external = (location, offset, length) =>
    modelBytes([node('Add', ['x', 'w'], ['y'])], {
      initializers: {
        w: { dtype: 'float32', shape: [3], external: { location, offset, length } },
      },
    });
  for (const path of ['../w.bin', '/etc/passwd', 'a/../../w.bin', 'c:\\w.bin', 'http://a/b']) {
    const model = new Blob([external(path, 0, 12)]);
    assert.match(await message(tl.loadModel(model)), /give it as externalData/, path);
    const address = URL.createObjectURL(model);
    assert.match(await message(tl.loadModel(address)), /must be in the folder.*externalData/, path);
  }
  assert.match(await message(load(external('w.bin', 0, 12))), /'w.bin'; give it as externalData/);
  const options = { externalData: { 'w.bin': new Uint8Array(12) } };
  assert.match(await message(load(external('w.bin', 4, 12), options)), /'w': bytes 4 to 16/);
  assert.match(await message(load(external('w.bin', 0, 8), options)), /has 12 bytes/);
  const loaded = await load(external('w.bin', 0, 12), options);
  const { y: sum } = await loaded.run({ x: Float32Array.of(1, 2, 3) });
  assert.deepEqual([...sum.dataSync()], [1, 2, 3]);
  loaded.dispose();
});

test('every truncated model is an error', async () => {
  const bytes = modelBytes([node('Relu', ['x'], ['y'], {}, { name: 'relu' })]);
  let errors = 0;
  for (let size = 0; size < bytes.length; size++) {
    await load(bytes.subarray(0, size)).then(
      (loaded) => loaded.dispose(),
      (error) => {
        assert.ok(error instanceof tl.LatheError);
        errors++;
      },
    );
  }
  assert.ok(errors > bytes.length / 2);
});

test('an omitted attribute of a function call is unset', async () => {
  const leaky = func({
    domain: 'custom',
    name: 'Leaky',
    inputs: ['a'],
    outputs: ['b'],
    attributes: ['slope'],
    nodes: [node('LeakyRelu', ['a'], ['b'], { alpha: ref('slope', 'float') })],
    opsets: {},
  });
  const nodes = [
    node('Leaky', ['x'], ['p'], { slope: 0.5 }, { domain: 'custom' }),
    node('Leaky', ['x'], ['q'], {}, { domain: 'custom' }),
    node('Concat', ['p', 'q'], ['y'], { axis: 0 }),
  ];
  const loaded = await load(modelBytes(nodes, { functions: [leaky], opsets: { custom: 1 } }));
  const { y: both } = await loaded.run({ x: Float32Array.of(-2, 4) });
  assert.deepEqual([...both.dataSync()], [-1, 4, Math.fround(-0.02), 4].map(Math.fround));
  loaded.dispose();
});

test('a recurrent layer rejects an initial state of another shape', async () => {
  const shapes = { x: [2, 1, 3], w: [1, 16, 3], r: [1, 16, 4], h: [1, 4, 1] };
  const inputs = Object.entries(shapes).map(([name, shape]) => value(name, 'float32', shape));
  const nodes = [node('LSTM', ['x', 'w', 'r', '', '', 'h'], ['y'], { hidden_size: 4 })];
  const outputs = [value('y', 'float32')];
  const loaded = await tl.loadModel(model({ inputs, outputs, nodes }));
  const feeds = Object.entries(shapes).map(([name, shape]) => [name, tl.zeros(shape)]);
  await assert.rejects(
    loaded.run(Object.fromEntries(feeds)),
    /LSTM.*: initial state \[1,4,1\] must be \[1,1,4\]/,
  );
  loaded.dispose();
});
