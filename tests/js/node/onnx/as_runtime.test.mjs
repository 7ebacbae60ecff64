// Regressions that random models have found, compared with ONNX Runtime Web call by call of one session.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ort from 'onnxruntime-web';
import * as ours from 'tensorlathe/onnxruntime';
import { Message } from '../../onnx/proto.mjs';
import { ints, model, node, random, tensor, value } from '../../onnx/write.mjs';

ort.env.wasm.numThreads = 1;
ort.env.logLevel = 'fatal';

const contrib = { domain: 'com.microsoft' };

function assertLike(expected, actual, what) {
  assert.deepEqual(Object.keys(actual).sort(), Object.keys(expected).sort(), what);
  for (const [name, { dims, type, data }] of Object.entries(expected)) {
    const result = actual[name];
    assert.deepEqual([result.type, result.dims], [type, dims], `${what}: ${name}`);
    for (let at = 0; at < data.length; at++) {
      const [a, b] = [result.data[at], data[at]];
      const isNear = typeof b === 'number' && Math.abs(a - b) <= 1e-4 * Math.max(1, Math.abs(b));
      assert.ok(Object.is(a, b) || isNear, `${what}: ${name}[${at}] is ${a}, not ${b}`);
    }
  }
}

/** Feeds of each call in turn: [type, data, dims] by name. */
async function assertSame(bytes, calls, what) {
  const [expected, actual] = await Promise.all(
    [ort, ours].map((each) => each.InferenceSession.create(bytes, { logSeverityLevel: 4 })),
  );
  for (const [at, feeds] of calls.entries()) {
    const results = [];
    for (const [session, { Tensor }] of [
      [expected, ort],
      [actual, ours],
    ]) {
      const entries = Object.entries(feeds).map(([name, each]) => [name, new Tensor(...each)]);
      results.push(await session.run(Object.fromEntries(entries)));
    }
    assertLike(...results, `${what}, call ${at}`);
  }
  await Promise.all([expected.release(), actual.release()]);
}

const floats = (seed, dims) => ['float32', random(seed, dims, 1).data, dims];
const lengths = [3, 5, 4, 17, 2];

/** Nodes on x [1, …, length, …], called with several lengths. */
const byLength = (nodes, shape, initializers = {}, outputs = { y: 'float32' }) => [
  model({
    inputs: [value('x', 'float32', shape)],
    outputs: Object.entries(outputs).map(([name, dtype]) => value(name, dtype)),
    nodes,
    initializers,
    opset: 16,
  }),
  lengths.map((length) => ({
    x: floats(
      length,
      shape.map((size) => (size === 'batch' ? 2 : size === 'length' ? length : size)),
    ),
  })),
];

const counting = {
  'ScatterND from the end': byLength(
    [node('ScatterND', ['x', 'at', 'to'], ['y'])],
    ['batch', 'length'],
    { at: tensor('int64', [0, -1], [1, 2]), to: tensor('float32', [9], [1]) },
  ),
  'ScatterElements from the end': byLength(
    [node('ScatterElements', ['x', 'at', 'to'], ['y'], { axis: 1, reduction: 'add' })],
    ['batch', 'length'],
    { at: tensor('int64', [-1, -2], [2, 1]), to: tensor('float32', [9, 8], [2, 1]) },
  ),
  'ConvTranspose after Softmax': byLength(
    [
      node('Softmax', ['x'], ['p'], { axis: -1 }),
      node('ConvTranspose', ['p', 'w'], ['y'], { strides: ints([2]) }),
    ],
    ['batch', 1, 'length'],
    { w: random(1, [1, 1, 2]) },
  ),
  'indices of MaxPool': byLength(
    [node('MaxPool', ['x'], ['y', 'at'], { kernel_shape: ints([2]), strides: ints([2]) })],
    ['batch', 'length', 4],
    {},
    { y: 'float32', at: 'int64' },
  ),
  'Tile by none': byLength([node('Tile', ['x', 'by'], ['y'])], ['batch', 'length'], {
    by: tensor('int64', [0, 3], [2]),
  }),
};

for (const [name, [bytes, calls]] of Object.entries(counting)) {
  test(`operators over dynamic lengths: ${name}`, () => assertSame(bytes, calls, name));
}

test('GroupQueryAttention whose caches have other names', async () => {
  const size = 16;
  const rows = (name, heads) => value(name, 'float32', ['batch', heads, 'past', size]);
  const fresh = (name) => value(name, 'float32', ['batch', 'length', size]);
  const bytes = model({
    inputs: [
      ...['q', 'k', 'v'].map(fresh),
      rows('pk', 1),
      rows('pv', 1),
      value('last', 'int32', ['batch']),
      value('total', 'int32', []),
    ],
    outputs: ['y', 'nk', 'nv'].map((name) => value(name, 'float32')),
    nodes: [
      node(
        'GroupQueryAttention',
        ['q', 'k', 'v', 'pk', 'pv', 'last', 'total'],
        ['y', 'nk', 'nv'],
        { num_heads: 1, kv_num_heads: 1 },
        contrib,
      ),
    ],
    opsets: { 'com.microsoft': 1 },
  });
  const calls = [
    [0, 3],
    [3, 1],
    [4, 1],
    [0, 2],
    [2, 1],
    [5, 1],
  ].map(([past, length]) => ({
    ...Object.fromEntries(['q', 'k', 'v'].map((name, at) => [name, floats(at, [1, length, size])])),
    ...Object.fromEntries(['pk', 'pv'].map((name, at) => [name, floats(at, [1, 1, past, size])])),
    last: ['int32', Int32Array.of(past + length - 1), [1]],
    total: ['int32', Int32Array.of(past + length), []],
  }));
  await assertSame(bytes, calls, 'GroupQueryAttention');
});

test('models whose only outputs are strings', async () => {
  const names = tensor('string', ['cat', 'dog', 'owl']);
  const stringModel = (nodes, more = {}) =>
    model({
      inputs: [value('x', 'float32', ['n'])],
      outputs: [value('y', 'string')],
      nodes,
      initializers: { names },
      opset: 20,
      ...more,
    });
  const best = node('ArgMax', ['x'], ['at'], { axis: 0, keepdims: 0 });
  const encoder = { keys_int64s: ints([0, 1, 2]), values_strings: ['no', 'yes', 'maybe'] };
  const models = {
    gather: stringModel([best, node('Gather', ['names', 'at'], ['y'])]),
    cast: stringModel([
      node('Floor', ['x'], ['floor']),
      node('Cast', ['floor'], ['i'], { to: 7 }),
      node('Cast', ['i'], ['y'], { to: 8 }),
    ]),
    encode: stringModel(
      [best, node('LabelEncoder', ['at'], ['y'], encoder, { domain: 'ai.onnx.ml' })],
      {
        opsets: { 'ai.onnx.ml': 2 },
      },
    ),
  };
  for (const [name, bytes] of Object.entries(models)) {
    const calls = [
      [1, 5, 2],
      [7, 5, 2],
    ].map((data) => ({ x: ['float32', Float32Array.from(data), [3]] }));
    await assertSame(bytes, calls, name);
  }
});

test('RoiAlign with sample counts that follow from the regions, and of no regions', async () => {
  for (const mode of ['avg', 'max']) {
    for (const ratio of [0, 2]) {
      const bytes = model({
        inputs: [
          value('x', 'float32', [1, 1, 8, 8]),
          value('rois', 'float32', ['n', 4]),
          value('of', 'int64', ['n']),
        ],
        outputs: [value('y', 'float32')],
        nodes: [
          node('RoiAlign', ['x', 'rois', 'of'], ['y'], {
            mode,
            sampling_ratio: ratio,
            output_height: 2,
            output_width: 2,
          }),
        ],
        opset: 16,
      });
      const x = floats(3, [1, 1, 8, 8]);
      x[1] = x[1].map((each) => each - 3);
      const of = (...regions) => ({
        x,
        rois: ['float32', Float32Array.from(regions.flat()), [regions.length, 4]],
        of: ['int64', new BigInt64Array(regions.length), [regions.length]],
      });
      const calls = [of([1, 1, 2, 2]), of([1, 1, 2, 2], [0, 0, 7, 6]), of(), of([2, 0, 7, 3])];
      await assertSame(bytes, calls, `${mode}, ratio ${ratio}`);
    }
  }
});

test('Resize by the nearest element', async () => {
  const sized = (from, to, coordinates, nearest) =>
    model({
      inputs: [value('x', 'float32', [1, 1, 1, from])],
      outputs: [value('y', 'float32')],
      nodes: [
        node('Resize', ['x', '', '', 'sizes'], ['y'], {
          coordinate_transformation_mode: coordinates,
          nearest_mode: nearest,
        }),
      ],
      initializers: { sizes: tensor('int64', [1, 1, 1, to], [4]) },
      opset: 13,
    });
  const cases = [
    [14, 18, 'asymmetric', 'floor'],
    [7, 9, 'half_pixel', 'floor'],
    [9, 21, 'half_pixel', 'floor'],
    [5, 11, 'half_pixel', 'round_prefer_floor'],
  ];
  for (const [from, ...rest] of cases) {
    const data = Float32Array.from({ length: from }, (_, at) => at);
    const call = { x: ['float32', data, [1, 1, 1, from]] };
    await assertSame(sized(from, ...rest), [call], `${from} to ${rest}`);
  }
  const old = model({
    inputs: [value('x', 'float32', [1, 1, 2, 4])],
    outputs: [value('y', 'float32')],
    nodes: [node('Resize', ['x', 'scales'], ['y'], { mode: 'nearest' })],
    initializers: { scales: tensor('float32', [1, 1, 0.6, 0.6], [4]) },
    opset: 10,
  });
  const x = ['float32', Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8), [1, 1, 2, 4]];
  await assertSame(old, [{ x }], 'version 10');
});

test('remainders by infinity and infinite powers of -1', async () => {
  for (const [op, attributes, x, y] of [
    ['Mod', { fmod: 1 }, [5, -5, 5, 0], [Infinity, Infinity, -Infinity, Infinity]],
    ['Pow', {}, [-1, -1, 1, -2], [Infinity, -Infinity, Infinity, 3]],
  ]) {
    const bytes = model({
      inputs: ['x', 'z'].map((name) => value(name, 'float64', ['n'])),
      outputs: [value('y', 'float64')],
      nodes: [node(op, ['x', 'z'], ['y'], attributes)],
      opset: 15,
    });
    const feeds = { x: ['float64', Float64Array.from(x), [4]] };
    feeds.z = ['float64', Float64Array.from(y), [4]];
    await assertSame(bytes, [feeds], op);
  }
});

test('sequences without steps', async () => {
  const [batch, input, hidden] = [2, 3, 2];
  for (const [op, gates, stateCount] of [
    ['RNN', 1, 1],
    ['GRU', 3, 1],
    ['LSTM', 4, 2],
  ]) {
    for (const direction of ['forward', 'reverse', 'bidirectional']) {
      const count = direction === 'bidirectional' ? 2 : 1;
      const initial = ['h', 'c'].slice(0, stateCount);
      const last = initial.map((name) => `${name}_last`);
      const bytes = model({
        inputs: [
          value('x', 'float32', ['steps', batch, input]),
          value('lengths', 'int32', [batch]),
          ...initial.map((name) => value(name, 'float32', [count, batch, hidden])),
        ],
        outputs: ['y', ...last].map((name) => value(name, 'float32')),
        nodes: [
          node(op, ['x', 'w', 'r', '', 'lengths', ...initial], ['y', ...last], {
            hidden_size: hidden,
            direction,
            ...(op === 'RNN' && { activations: Array(count).fill('Tanh') }),
          }),
        ],
        initializers: {
          w: random(1, [count, gates * hidden, input]),
          r: random(2, [count, gates * hidden, hidden]),
        },
        opset: 16,
      });
      const calls = [
        [0, 3],
        [0, 0],
        [2, 3],
      ].map((lengths) => ({
        x: floats(3, [3, batch, input]),
        lengths: ['int32', Int32Array.from(lengths), [batch]],
        ...Object.fromEntries(initial.map((name) => [name, floats(4, [count, batch, hidden])])),
      }));
      await assertSame(bytes, calls, `${op} ${direction}`);
    }
  }
});

test('int64 to strings and back', async () => {
  const converted = (from, to, number, data) => {
    const bytes = model({
      inputs: [value('x', from, ['n'])],
      outputs: [value('y', to)],
      nodes: [node('Cast', ['x'], ['y'], { to: number })],
      opset: 16,
    });
    return assertSame(bytes, [{ x: [from, data, [data.length]] }], `${from} as ${to}`);
  };
  const strings = ['18446744073709551615', '9223372036854775808', '7', '0'];
  await converted('uint64', 'string', 8, BigUint64Array.from(strings, BigInt));
  await converted('string', 'uint64', 13, strings);
  const signed = ['-9223372036854775808', '9223372036854775807', '-1', '0'];
  await converted('int64', 'string', 8, BigInt64Array.from(signed, BigInt));
  await converted('string', 'int64', 7, signed);
});

test('strings with spaces around them are cast to numbers', async () => {
  const strings = [' 1', '2 ', '\t-3\r\n', '\v+4\f'];
  for (const [type, to] of Object.entries({
    float32: 1,
    int64: 7,
    uint8: 2,
    bool: 9,
    float64: 11,
  })) {
    const bytes = model({
      inputs: [value('x', 'string', ['n'])],
      outputs: [value('y', type)],
      nodes: [node('Cast', ['x'], ['y'], { to })],
      opset: 16,
    });
    await assertSame(bytes, [{ x: ['string', strings, [4]] }], type);
  }
});

test('bool scattered by sums and products', async () => {
  for (const op of ['ScatterElements', 'ScatterND']) {
    // ONNX Runtime has neither max nor min of bool, which equal add and mul.
    for (const [reduction, equivalent, expected] of [
      ['add', 'max', [0, 1, 0, 1, 1, 1]],
      ['mul', 'min', [0, 0, 0, 1, 0, 0]],
    ]) {
      const scatter = (reduction) =>
        model({
          inputs: [value('x', 'bool', ['n']), value('z', 'bool', [4])],
          outputs: [value('y', 'bool')],
          nodes: [node(op, ['x', 'at', 'z'], ['y'], { reduction })],
          initializers: { at: tensor('int64', [1, 1, -1, 4], op === 'ScatterND' ? [4, 1] : [4]) },
          opset: 18,
        });
      const x = ['bool', Uint8Array.of(0, 1, 0, 1, 1, 0), [6]];
      const z = ['bool', Uint8Array.of(0, 1, 1, 0), [4]];
      await assertSame(scatter(reduction), [{ x, z }], `${op}, ${reduction}`);
      const session = await ours.InferenceSession.create(scatter(equivalent));
      const { y } = await session.run({ x: new ours.Tensor(...x), z: new ours.Tensor(...z) });
      assert.deepEqual([...y.data], expected, `${op}, ${equivalent}`);
      await session.release();
    }
  }
});

test('a model whose graph field occurs twice', async () => {
  const bytes = model({
    inputs: [value('x', 'float32', ['n', 3])],
    outputs: [value('y', 'float32')],
    nodes: [node('Mul', ['x', 'w'], ['z']), node('Neg', ['z'], ['y'])],
    initializers: { w: random(1, [3]) },
    opset: 16,
  });
  // A graph that has an output only: protobuf merges the fields of a message that occurs several times.
  const more = new Message().message(7, new Message().message(12, new Message().text(1, 'z')));
  const both = Buffer.concat([bytes, more.encoded()]);
  await assertSame(both, [{ x: floats(2, [2, 3]) }], 'y and z');
});

test('string tensors with an element that is no string are rejected', async () => {
  const bytes = model({
    inputs: [value('x', 'string', ['n'])],
    outputs: [value('y', 'string')],
    nodes: [node('Identity', ['x'], ['y'])],
    opset: 16,
  });
  const session = await ours.InferenceSession.create(bytes);
  const x = new ours.Tensor('string', ['a', 5], [2]);
  const message = "failed to run: 'feeds': x at index 1 is not a string";
  await assert.rejects(session.run({ x }), { name: 'TypeError', message });
  await session.release();
});

/** A node on a string tensor x; its other inputs are constants. */
const onStrings = (op, attributes, outputs, constants = {}) =>
  model({
    inputs: [value('x', 'string', ['n'])],
    outputs: Object.entries(outputs).map(([name, dtype]) => value(name, dtype)),
    nodes: [node(op, ['x', ...Object.keys(constants)], Object.keys(outputs), attributes)],
    initializers: constants,
    opset: 20,
  });

/** Asserts that both runtimes reject these feeds. */
async function assertRejected(bytes, feeds, what) {
  for (const { InferenceSession, Tensor } of [ort, ours]) {
    const session = await InferenceSession.create(bytes, { logSeverityLevel: 4 });
    const entries = Object.entries(feeds).map(([name, each]) => [name, new Tensor(...each)]);
    await assert.rejects(session.run(Object.fromEntries(entries)), Error, what);
    await session.release();
  }
}

test('numbers followed by other characters', async () => {
  const strings = ['1e3', '1abc', '1,5', '2 3', '-7.9', '+5', '010', '1e-2', '4e', '12x'];
  const numbers = ['NaN', 'nan(1)', 'inf', '-Infinity', '+inf', 'infx', '1e39', '.5', '-1.'];
  const types = { float32: 1, float64: 11, int64: 7, int32: 6, int8: 3, uint8: 2, bool: 9 };
  for (const [type, to] of Object.entries(types)) {
    const bytes = onStrings('Cast', { to }, { y: type });
    const data = type.startsWith('float') ? [...strings, ...numbers] : strings;
    await assertSame(bytes, [{ x: ['string', data, [data.length]] }], type);
    const invalid = ['', 'true', '+-5', 'e5'];
    if (!type.startsWith('float')) invalid.push('.5', 'NaN', '-inf', '99999999999999999999');
    for (const each of invalid) {
      await assertRejected(bytes, { x: ['string', [each], [1]] }, `${type} '${each}'`);
    }
  }
});

test('splitting an empty string', async () => {
  for (const delimiter of ['', ',']) {
    const bytes = onStrings('StringSplit', { delimiter }, { y: 'string', z: 'int64' });
    const x = ['', 'a,b', ' a  b ', ','];
    await assertSame(bytes, [{ x: ['string', x, [4]] }], `'${delimiter}'`);
  }
});

test('strings are scattered, but never reduced', async () => {
  for (const [op, shape] of [
    ['ScatterElements', [4]],
    ['ScatterND', [4, 1]],
  ]) {
    const constants = {
      at: tensor('int64', [2, 0, 2, -1], shape),
      z: tensor('string', ['A', 'B', 'C', 'D']),
    };
    const scatter = (reduction) => onStrings(op, { reduction }, { y: 'string' }, constants);
    const x = ['string', ['a', 'b', 'c'], [3]];
    await assertSame(scatter('none'), [{ x }], op);
    for (const each of ['mul', 'max', 'min']) await assertRejected(scatter(each), { x }, each);
    // ONNX Runtime concatenates them here.
    const session = await ours.InferenceSession.create(scatter('add'));
    const feeds = { x: new ours.Tensor(...x) };
    const message = `failed to run: ${op}: strings are no numbers`;
    await assert.rejects(session.run(feeds), { name: 'Error', message });
    await session.release();
  }
});

test('initial states of another batch size are rejected', async () => {
  for (const [op, gates] of Object.entries({ RNN: 1, GRU: 3, LSTM: 4 })) {
    const bytes = model({
      inputs: [value('x', 'float32', ['steps', 'batch', 3]), value('h', 'float32', [1, 'rows', 4])],
      outputs: [value('y', 'float32')],
      nodes: [node(op, ['x', 'w', 'r', '', '', 'h'], ['y'], { hidden_size: 4 })],
      initializers: { w: random(1, [1, gates * 4, 3]), r: random(2, [1, gates * 4, 4]) },
      opset: 16,
    });
    const feeds = (batch, rows) => ({ x: floats(3, [5, batch, 3]), h: floats(4, [1, rows, 4]) });
    await assertSame(bytes, [feeds(2, 2), feeds(1, 1)], op);
    await assertRejected(bytes, feeds(1, 3), op);
    await assertRejected(bytes, feeds(3, 1), op);
  }
});

test('initial states of another batch size are rejected with the batch first', async () => {
  // ONNX Runtime has no layers of layout 1.
  const bytes = model({
    inputs: [value('x', 'float32', ['batch', 5, 3]), value('h', 'float32', ['rows', 1, 4])],
    outputs: [value('y', 'float32')],
    nodes: [node('RNN', ['x', 'w', 'r', '', '', 'h'], ['y'], { hidden_size: 4, layout: 1 })],
    initializers: { w: random(1, [1, 4, 3]), r: random(2, [1, 4, 4]) },
    opset: 16,
  });
  const session = await ours.InferenceSession.create(bytes);
  const run = (batch, rows) =>
    session.run({
      x: new ours.Tensor(...floats(3, [batch, 5, 3])),
      h: new ours.Tensor(...floats(4, [rows, 1, 4])),
    });
  assert.deepEqual((await run(2, 2)).y.dims, [2, 5, 1, 4]);
  for (const rows of [1, 3]) await assert.rejects(run(2, rows), Error);
  await session.release();
});
