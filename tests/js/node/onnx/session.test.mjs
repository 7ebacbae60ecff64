// Loaded models at run time: overlapping calls, inputs and outputs, leaks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { liveOnnxObjects } from '../../../../js/dist/onnx/file.js';
import { compiled } from '../../lib.mjs';
import { model, node, optionalOf, random, sequenceOf, value } from '../../onnx/write.mjs';

const single = (op, dtype, shape, attributes) =>
  model({
    nodes: [node(op, ['x'], ['y'], attributes)],
    inputs: [value('x', dtype, shape)],
    outputs: [value('y', dtype)],
  });
const double = model({
  nodes: [node('Add', ['x', 'x'], ['y'])],
  inputs: [value('x', 'float32', ['n'])],
  outputs: [value('y', 'float32', ['n'])],
});
/** A model that is split into segments, as data gives a size: indices of the non-zero elements. */
const nonZero = model({
  nodes: [node('NonZero', ['x'], ['p']), node('Transpose', ['p'], ['y'])],
  inputs: [value('x', 'float32', ['n'])],
  outputs: [value('y', 'int64')],
});
const numbers = (result) => [...result.y.dataSync()].map(Number);

async function using(bytes, act) {
  const loaded = await tl.loadModel(bytes);
  try {
    return await act(loaded);
  } finally {
    loaded.dispose();
  }
}

test('overlapping calls of one program return the results of their inputs', async () => {
  await using(double, async (loaded) => {
    const before = tl.memory().modules;
    const calls = Array.from({ length: 8 }, (_, k) => loaded.run({ x: Float32Array.of(k, 1) }));
    const results = await Promise.all(calls);
    results.forEach((each, k) => assert.deepEqual(numbers(each), [2 * k, 2]));
    assert.equal(tl.memory().modules, before + 1);
  });
});

test('calls that overlap with other shapes, and in parts, do not disturb one another', async () => {
  for (const [bytes, expected] of [
    [double, (k) => Array(k + 1).fill(2 * k + 2)],
    [nonZero, (k) => Array.from({ length: k + 1 }, (_, at) => at)],
  ]) {
    await using(bytes, async (loaded) => {
      const calls = [0, 1, 2, 1, 0].map(async (k) => {
        assert.deepEqual(
          numbers(await loaded.run({ x: new Float32Array(k + 1).fill(k + 1) })),
          expected(k),
        );
      });
      await Promise.all(calls);
    });
  }
});

test('a call has read its inputs when it returns, and results stay', async () => {
  await using(double, async (loaded) => {
    const x = Float32Array.of(1, 2);
    const calls = [loaded.run({ x })];
    x.set([3, 4]);
    calls.push(loaded.run({ x }));
    x.fill(0);
    const [first, second] = await Promise.all(calls);
    await loaded.run({ x });
    assert.deepEqual(
      [numbers(first), numbers(second)],
      [
        [2, 4],
        [6, 8],
      ],
    );
    loaded.dispose();
    assert.deepEqual(
      [numbers(first), numbers(second)],
      [
        [2, 4],
        [6, 8],
      ],
    );
  });
});

test('dispose lets running calls finish, and rejects further ones', async () => {
  const loaded = await tl.loadModel(double);
  const call = loaded.run({ x: Float32Array.of(4) });
  loaded.dispose();
  loaded.dispose();
  assert.deepEqual(numbers(await call), [8]);
  await assert.rejects(loaded.run({ x: Float32Array.of(4) }), /has been disposed/);
});

test('nothing is left of models that were let go, or that failed', async () => {
  const round = async () => {
    for (const bytes of [double, nonZero]) {
      await using(bytes, (loaded) => loaded.run({ x: Float32Array.of(1, 0, 2) }));
    }
    await assert.rejects(tl.loadModel(double.subarray(0, 40)));
    await assert.rejects(tl.loadModel(single('Frobnicate', 'float32', [2])));
    const wrong = single('Transpose', 'float32', [2], { perm: [1, 0] });
    await using(wrong, (loaded) => assert.rejects(loaded.run({ x: Float32Array.of(1, 2) })));
    return { ...tl.memory(), onnx: liveOnnxObjects() };
  };
  const { liveObjects, modules, moduleBytes, heapBlocks, onnx } = await round();
  const after = await round();
  assert.deepEqual(
    [after.liveObjects, after.modules, after.moduleBytes, after.heapBlocks, after.onnx],
    [liveObjects, modules, moduleBytes, heapBlocks, onnx],
  );
  assert.equal(onnx, 0);
});

test('numbers of another type are converted', async () => {
  const values = {
    int32: [BigInt64Array.of(1n, -2n), Float32Array.of(1, -2), [1, -2]],
    int64: [Int32Array.of(1, -2), Float64Array.of(1, -2), BigInt64Array.of(1n, -2n), [1, -2]],
    float32: [BigInt64Array.of(1n, -2n), Int8Array.of(1, -2), Float64Array.of(1, -2)],
    float64: [Float32Array.of(1, -2), Int32Array.of(1, -2)],
    float16: [Float32Array.of(1, -2), Uint16Array.of(0x3c00, 0xc000)],
  };
  for (const [dtype, all] of Object.entries(values)) {
    await using(single('Abs', dtype, [2]), async (loaded) => {
      for (const each of all) {
        const { y } = await loaded.run({ x: each });
        assert.equal(y.dtype, dtype);
        const expected = dtype === 'float16' ? [0x3c00, 0x4000] : [1, 2];
        const actual = [...y.dataSync()].map(Number);
        const isRight = actual.join() === expected.join() || actual.join() === '1,2';
        assert.ok(isRight, `${dtype} of ${each.constructor.name}: ${actual}`);
      }
    });
  }
});

test('overlapping calls request the data of their inputs at once', async () => {
  const reshaped = model({
    nodes: [node('Reshape', ['x', 'to'], ['y'])],
    inputs: [value('x', 'float32', [6]), value('to', 'int64', [2])],
    outputs: [value('y', 'float32')],
  });
  await using(reshaped, async (loaded) => {
    const x = Float32Array.of(0, 1, 2, 3, 4, 5);
    const shapes = [
      [2n, 3n],
      [3n, 2n],
      [2n, 3n],
    ];
    const calls = shapes.map((to) => loaded.run({ x, to: BigInt64Array.from(to) }));
    const results = await Promise.all(calls);
    assert.deepEqual(
      results.map(({ y }) => y.shape),
      [
        [2, 3],
        [3, 2],
        [2, 3],
      ],
    );
  });
});

test('booleans, no elements, no axes', async () => {
  await using(single('Not', 'bool', [3]), async (loaded) => {
    for (const x of [Uint8Array.of(0, 1, 2), [false, true, true], Float32Array.of(0, 0.5, -1)]) {
      assert.deepEqual(numbers(await loaded.run({ x })), [1, 0, 0]);
    }
  });
  await using(double, async (loaded) => {
    const { y } = await loaded.run({ x: new Float32Array(0) });
    assert.deepEqual([y.shape, y.dataSync().length], [[0], 0]);
  });
  await using(single('Neg', 'float32', []), async (loaded) => {
    const { y } = await loaded.run({ x: Float32Array.of(3) });
    assert.deepEqual([y.shape, [...y.dataSync()]], [[], [-3]]);
    await assert.rejects(loaded.run({ x: Float32Array.of(1, 2) }), { name: 'LatheError' });
  });
});

test('strings nest as their tensors do, sequences are arrays, optionals null', async () => {
  await using(single('Identity', 'string', ['a', 'b']), async (loaded) => {
    const x = [
      ['p', 'q', 'r'],
      ['s', 't', 'ü'],
    ];
    assert.deepEqual((await loaded.run({ x })).y, x);
    await assert.rejects(loaded.run({ x: [['p'], ['q', 'r']] }), /do not fill/);
    await assert.rejects(loaded.run({ x: [['p'], [1]] }), /expects strings/);
    await assert.rejects(loaded.run({ x: 'p' }), { name: 'LatheError' });
  });
  const list = model({
    nodes: [node('SequenceLength', ['x'], ['y'])],
    inputs: [value('x', sequenceOf('float32', [2]))],
    outputs: [value('y', 'int64', [])],
  });
  await using(list, async (loaded) => {
    const one = tl.tensor([1, 2]);
    assert.deepEqual(numbers(await loaded.run({ x: [one, one, one] })), [3]);
    assert.deepEqual(numbers(await loaded.run({ x: [] })), [0]);
    await assert.rejects(loaded.run({ x: one }), /expects an array of tensors/);
  });
  const maybe = model({
    nodes: [node('OptionalHasElement', ['x'], ['y'])],
    inputs: [value('x', optionalOf('float32', [2]))],
    outputs: [value('y', 'bool', [])],
  });
  await using(maybe, async (loaded) => {
    assert.deepEqual(numbers(await loaded.run({ x: null })), [0]);
    assert.deepEqual(numbers(await loaded.run({ x: tl.tensor([1, 2]) })), [1]);
  });
});

test('mismatched inputs are rejected by name, empty ones are not', async () => {
  await using(double, async (loaded) => {
    await assert.rejects(loaded.run({}), /input x is missing/);
    await assert.rejects(loaded.run({ x: [1], z: [1] }), /there is no input z; inputs: x /);
    await assert.rejects(loaded.run({ x: null }), /x/);
    await assert.rejects(loaded.run({ x: tl.tensor([[1]]) }), /expects shape \[n\], got \[1,1\]/);
  });
});

test('a convolution called with 40 widths in turn is compiled once for each', async () => {
  const bytes = model({
    nodes: [
      node('Conv', ['x', 'kernel'], ['c'], { kernel_shape: [3, 3], pads: [1, 1, 1, 1] }),
      node('Relu', ['c'], ['y']),
    ],
    inputs: [value('x', 'float32', ['n', 1, 4, 'width'])],
    outputs: [value('y', 'float32')],
    initializers: { kernel: random(1, [2, 1, 3, 3]) },
  });
  await using(bytes, async (loaded) => {
    const round = async () => {
      for (let width = 8; width < 48; width++) {
        const { y } = await loaded.run({ x: tl.ones([1, 1, 4, width]) });
        assert.deepEqual(y.shape, [1, 2, 4, width]);
        y.dispose();
      }
    };
    await round();
    assert.equal(await compiled(round), 0);
  });
});
