// Operators that read the content of an input (axes, shape, starts, k) behind a size that data determine: the content becomes a
// constant of the segments. Results equal ONNX Runtime Web's.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ort from 'onnxruntime-web';
import * as tl from 'tensorlathe';
import { difference } from '../../onnx/compare.mjs';
import * as engines from '../../onnx/engines.mjs';
import { graph, model, node, tensor, value } from '../../onnx/write.mjs';

ort.env.wasm.numThreads = 1;
ort.env.logLevel = 'fatal';
const theirs = engines.runtime(ort);
const ours = engines.lathe(tl);

const scalar = (data) => tensor('int64', [data], []);
const ints = (...data) => tensor('int64', data);
const floats = (...data) => tensor('float32', data);

/** Each computes from x, float32 ["n"], a float32 vector "v" whose length depends on the elements. */
const sources = {
  NonZero: [
    node('NonZero', ['x'], ['indices']),
    node('Squeeze', ['indices', 'zero'], ['flat']),
    node('Cast', ['flat'], ['v'], { to: 1 }),
  ],
  Compress: [
    node('Greater', ['x', 'half'], ['chosen']),
    node('Compress', ['x', 'chosen'], ['v'], { axis: 0 }),
  ],
  Unique: [node('Unique', ['x'], ['v'], { sorted: 1 })],
  NonMaxSuppression: [
    node('Unsqueeze', ['x', 'front'], ['scores']),
    node('Concat', ['x', 'x', 'x', 'x'], ['corners'], { axis: 0 }),
    node('Reshape', ['corners', 'byFour'], ['rows']),
    node('Transpose', ['rows'], ['columns'], { perm: [0, 2, 1] }),
    node('Mul', ['columns', 'unit'], ['scaled']),
    node('Add', ['scaled', 'unit'], ['boxes']),
    node('NonMaxSuppression', ['boxes', 'scores', 'many', 'half', 'half'], ['selected']),
    node('Reshape', ['selected', 'minusOne'], ['flat']),
    node('Cast', ['flat'], ['v'], { to: 1 }),
  ],
  If: [
    node('ReduceSum', ['x'], ['sum'], { keepdims: 0 }),
    node('Greater', ['sum', 'limit'], ['isLarge']),
    node('If', ['isLarge'], ['v'], {
      then_branch: graph({
        nodes: [node('Concat', ['x', 'x'], ['both'], { axis: 0 })],
        outputs: [value('both', 'float32', ['m'])],
      }),
      else_branch: graph({
        nodes: [node('Identity', ['x'], ['once'])],
        outputs: [value('once', 'float32', ['m'])],
      }),
    }),
  ],
};
const initializers = {
  zero: ints(0),
  front: ints(0, 1),
  byFour: ints(1, 4, -1),
  minusOne: ints(-1),
  unit: tensor('float32', [0, 0, 1, 1], [1, 1, 4]),
  many: ints(9),
  half: floats(0.5),
  limit: tensor('float32', [6], []),
  hot: floats(-1, 3),
  fill: tensor('float32', [7], []),
};
const elements = [
  [1, 0, 2, 0],
  [3, 0, 2, 3, 2],
  [1, 2, 0, 3],
  [0, 0, 2, 0],
];

/** The nodes from v to y, and values of the input "a" for each call. */
const consumers = {
  Reshape: [
    [node('Concat', ['v', 'v'], ['w'], { axis: 0 }), node('Reshape', ['w', 'a'], ['y'])],
    [ints(2, -1), ints(-1, 2), ints(2, -1), ints(1, -1)],
  ],
  Slice: [[node('Slice', ['v', 'a', 'a2'], ['y'])], [ints(0), ints(1), ints(0), ints(-1)]],
  TopK: [[node('TopK', ['v', 'a'], ['y', 'at'])], [ints(1), ints(1), ints(0), ints(1)]],
  ReduceSum: [
    [node('Unsqueeze', ['v', 'zero'], ['w']), node('ReduceSum', ['w', 'a'], ['y'])],
    [ints(1), ints(0), ints(-1), ints(1)],
  ],
  Expand: [
    [node('Unsqueeze', ['v', 'zero'], ['w']), node('Expand', ['w', 'a'], ['y'])],
    [ints(2, 1), ints(3, 1), ints(2, 1), ints(2, 2, 1)],
  ],
  Range: [
    [
      node('Size', ['v'], ['end']),
      node('Range', ['a', 'end', 'step'], ['r']),
      node('Cast', ['r'], ['y'], { to: 1 }),
    ],
    [scalar(0), scalar(-3), scalar(1), scalar(0)],
  ],
  Pad: [[node('Pad', ['v', 'a', 'fill'], ['y'])], [ints(1, 2), ints(0, 1), ints(3, 0), ints(1, 2)]],
  Tile: [[node('Tile', ['v', 'a'], ['y'])], [ints(2), ints(3), ints(1), ints(2)]],
  OneHot: [
    [node('Cast', ['v'], ['classes'], { to: 7 }), node('OneHot', ['classes', 'a', 'hot'], ['y'])],
    [ints(4), ints(5), ints(4), ints(2)],
  ],
  Split: [
    [
      node('Concat', ['v', 'x'], ['w'], { axis: 0 }),
      node('Slice', ['w', 'zero', 'three'], ['s']),
      node('Split', ['s', 'a'], ['y', 'z']),
    ],
    [ints(1, 2), ints(2, 1), ints(3, 0), ints(1, 2)],
  ],
  Squeeze: [
    [node('Unsqueeze', ['v', 'front'], ['w']), node('Squeeze', ['w', 'a'], ['y'])],
    [ints(0), ints(1), ints(0, 1), ints(-2)],
  ],
  Unsqueeze: [[node('Unsqueeze', ['v', 'a'], ['y'])], [ints(0), ints(1), ints(0, 2), ints(-1)]],
  'Reshape after a second break': [
    [
      node('Unique', ['v'], ['u'], { sorted: 1 }),
      node('Tile', ['u', 'twice'], ['w']),
      node('Reshape', ['w', 'a'], ['y']),
    ],
    [ints(2, -1), ints(-1, 2), ints(2, -1), ints(1, -1)],
  ],
};

/** The bytes of a model from x and a to y. */
function bytesOf(source, nodes, rank) {
  return model({
    nodes: [...sources[source], ...nodes],
    inputs: [value('x', 'float32', ['n']), value('a', 'int64', rank === 0 ? [] : ['k'])],
    outputs: [value('y', 'float32')],
    initializers: {
      ...initializers,
      a2: ints(1000),
      step: scalar(1),
      three: ints(3),
      twice: ints(2),
    },
  });
}

/** Compares calls, one after the other and at once. */
async function assertSame(bytes, feeds) {
  const [actual, expected] = [await ours(bytes), await theirs(bytes)];
  try {
    for (const each of [...feeds, ...feeds.toReversed()]) {
      const { y } = await expected.run(each);
      const why = difference(y, (await actual.run(each)).y);
      assert.equal(why, undefined, `x ${each.x.data}, a ${each.a.data}: ${why}`);
    }
    const all = await Promise.all(feeds.map((each) => actual.run(each)));
    for (const [at, each] of feeds.entries())
      assert.equal(difference((await expected.run(each)).y, all[at].y), undefined, 'at once');
  } finally {
    actual.dispose();
    expected.dispose();
  }
}

for (const [name, [nodes, contents]] of Object.entries(consumers)) {
  for (const source of Object.keys(sources)) {
    test(`${name} behind ${source}`, async () => {
      const rank = contents[0].shape.length;
      const feeds = elements.map((x, at) => ({ x: floats(...x), a: contents[at] }));
      await assertSame(bytesOf(source, nodes, rank), feeds);
    });
  }
}

test('inputs may change once a call has begun', async () => {
  const loaded = await tl.loadModel(bytesOf('NonZero', consumers.Tile[0], 1));
  const x = Float32Array.of(1, 0, 2);
  const a = BigInt64Array.of(2n);
  const running = loaded.run({ x, a });
  x.fill(0);
  a.fill(9n);
  assert.deepEqual([...(await running).y.dataSync()], [0, 2, 0, 2]);
  loaded.dispose();
});

/** Lengths from the second on are padded, but the content of a padded input is no constant. */
for (const [name, nodes] of [
  ['constant rank', [node('Reshape', ['x', 'shape'], ['y'])]],
  ['data-dependent size', [...sources.NonZero, node('Expand', ['v', 'shape'], ['y'])]],
]) {
  test(`an input of which a named axis other than the first varies is read, ${name}`, async () => {
    const bytes = model({
      nodes: [node('Squeeze', ['a', 'zero'], ['shape']), ...nodes],
      inputs: [value('x', 'float32', ['n']), value('a', 'int64', ['one', 'k'])],
      outputs: [value('y', 'float32')],
      initializers,
    });
    const x = floats(1, 2, 3, 4, 5, 6);
    const shapes = [[6], [1, 6], [2, 1, 6], [3, 1, 1, 6], [1, 6], [2, 1, 1, 1, 6]];
    const reshapes = [[6], [2, 3], [1, -1, 2], [3, 1, 2, 1], [-1, 2], [3, 2, 1, 1, 1]];
    const all = name === 'constant rank' ? reshapes : shapes;
    await assertSame(
      bytes,
      all.map((each) => ({ x, a: tensor('int64', each, [1, each.length]) })),
    );
  });
}

test('the content of an input as long as a bucket does not determine a size of padded axes', async () => {
  const bytes = model({
    nodes: [
      node('ReduceMax', ['a', 'one'], ['largest'], { keepdims: 0 }),
      node('Expand', ['x', 'largest'], ['y']),
    ],
    inputs: [value('x', 'float32', ['one']), value('a', 'int64', ['batch', 'n'])],
    outputs: [value('y', 'float32')],
    initializers: { one: ints(1) },
  });
  const x = floats(3);
  const a = (count, from) =>
    tensor(
      'int64',
      Array.from({ length: count }, (_, at) => ((at * 5) % 7) + from),
      [1, count],
    );
  const calls = [a(3, 1), a(16, 2), a(5, 1), a(16, 1), a(32, 3)];
  await assertSame(
    bytes,
    calls.map((each) => ({ x, a: each })),
  );
});

test('overlapping calls find out at once what segments require', async () => {
  const loaded = await tl.loadModel(bytesOf('NonZero', consumers.Tile[0], 1));
  const calls = [1, 2, 3].map((count) =>
    loaded.run({ x: Float32Array.of(1, 0, 2), a: BigInt64Array.of(BigInt(count)) }),
  );
  const results = await Promise.all(calls);
  assert.deepEqual(
    results.map(({ y }) => y.size),
    [2, 4, 6],
  );
  loaded.dispose();
});
