// Host tensors: shapes, element types, nesting, and the text of every error.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { throws, rejects, smallModel } from '../../lib.mjs';

test('a nested array determines the shape and is float32', () => {
  const value = tl.tensor([
    [1, 2, 3],
    [4, 5, 6],
  ]);
  assert.deepEqual(value.shape, [2, 3]);
  assert.equal(value.dtype, 'float32');
  assert.equal(value.size, 6);
  assert.equal(String(value), 'Tensor\n    [[1, 2, 3],\n     [4, 5, 6]]');
  assert.deepEqual(value.arraySync(), [
    [1, 2, 3],
    [4, 5, 6],
  ]);
});

test('dtype follows the values', async () => {
  assert.equal(tl.tensor(new Uint8Array(3)).dtype, 'int32');
  assert.equal(tl.tensor(new Float64Array(3)).dtype, 'float32');
  assert.equal(tl.tensor([true, false]).dtype, 'bool');
  assert.deepEqual(await tl.tensor([1.9, -1.9], [2], 'int32').array(), [1, -1]);
  assert.equal(await tl.tensor(7).array(), 7);
});

test('a tensor copies what it is made of', () => {
  const source = new Float32Array([1, 2]);
  const value = tl.tensor(source);
  source[0] = 9;
  assert.deepEqual([...value.dataSync()], [1, 2]);
});

test('null and numeric strings are converted to numbers', () => {
  assert.deepEqual(tl.tensor([1, null, '3.5']).arraySync(), [1, 0, 3.5]);
  assert.deepEqual(tl.tensor([['1'], [null]], [2], 'int32').arraySync(), [1, 0]);
});

test('an empty tensor has no values', () => {
  assert.deepEqual(tl.tensor([], [0, 3]).arraySync(), []);
});

test('wrong arguments are named', () => {
  throws(() => tl.tensor([1, 2, 3], [2, 2]), 'tensor: 3 values do not fill shape [2,2] of 4');
  throws(() => tl.tensor([[1, 2], [3]]), /nested arrays must have equal lengths: 1 values where 2/);
  throws(() => tl.tensor([1, [2]]), /nested deeper than the first/);
  throws(() => tl.tensor([1, 'two']), 'tensor: values must be numbers, got two');
  throws(() => tl.tensor([1, undefined]), 'tensor: values must be numbers, got undefined');
  throws(() => tl.tensor([1], [1.5]), 'tensor: a shape is an array of integers ≥ 0, got [1.5]');
  throws(() => tl.tensor([1], [1], 'int65'), /unknown dtype "int65"; known: bool, int8, /);
});

test('detached arrays, and arrays of other types, are rejected', async () => {
  const detachedError =
    /has lost its elements: their ArrayBuffer was transferred or shortened; copy it before/;
  const transfer = ({ buffer }) => structuredClone(buffer, { transfer: [buffer] });
  const model = smallModel();
  const values = tl.tensor([[1, 2]]);
  const plain = Float32Array.of(1, 2);
  const f = tl.compile({ x: [1, 2] }, ({ x }) => ({ y: x.add(1) }));
  transfer(values.dataSync());
  transfer(plain);
  for (const each of [values, plain]) {
    throws(() => tl.tensor(each), detachedError);
    throws(() => model.predict(each), detachedError);
  }
  throws(() => values.dataSync(), detachedError);
  throws(() => f.run({ x: values }), detachedError);
  throws(() => values.arraySync(), detachedError);
  await rejects(values.data(), detachedError);
  throws(() => model.setWeights([values, values, values, values]), detachedError);
  throws(() => tl.tensor(new DataView(new ArrayBuffer(8))), /is needed, got a DataView/);
  const endless = [];
  endless[0] = endless;
  throws(() => tl.tensor(endless), 'tensor: arrays are nested more than 100 deep');
});

test('a disposed tensor throws', () => {
  const value = tl.tensor([1]);
  value.dispose();
  assert.ok(value.isDisposed);
  throws(() => value.dataSync(), 'this tensor has been disposed');
});

test('features can be forced and released', () => {
  const probed = tl.env().get('RELAXED_SIMD');
  tl.env().set('RELAXED_SIMD', !probed);
  assert.equal(tl.env().get('RELAXED_SIMD'), !probed);
  const { by, why } = tl.env().report().RELAXED_SIMD;
  assert.equal(by, 'set');
  assert.match(why, /^turned (on|off) by env\(\)\.set; the engine (accepts|rejects) relaxed SIMD/);
  tl.env().reset();
  assert.equal(tl.env().report().RELAXED_SIMD.by, 'probe');
  assert.equal(tl.env().get('RELAXED_SIMD'), probed);
  assert.ok(tl.env().features.SIMD);
  throws(() => tl.env().get('WARP'), /unknown feature "WARP"; known: SIMD, RELAXED_SIMD/);
});

test('tensors print what TensorFlow.js prints', async () => {
  const tf = await import('@tensorflow/tfjs');
  await tf.setBackend('cpu');
  const shapes = [
    [],
    [0],
    [1],
    [3],
    [25],
    [2, 3],
    [1, 4],
    [22, 2],
    [2, 30],
    [2, 1, 3],
    [2, 3, 1, 2],
    [1, 1, 1, 1, 2],
  ];
  for (const shape of shapes) {
    const size = shape.reduce((product, each) => product * each, 1);
    const numbers = Array.from({ length: size }, (_, at) => Math.sin(at) * 10 ** ((at % 7) - 3));
    for (const dtype of ['float32', 'int32', 'bool']) {
      const [ours, theirs] = [tl, tf].map((lib) =>
        lib.tensor(dtype === 'bool' ? numbers.map((each) => each > 0) : numbers, shape, dtype),
      );
      for (const verbose of [false, true])
        assert.equal(ours.toString(verbose), theirs.toString(verbose));
    }
  }
  assert.equal(String(tl.tensor([1n, 2n])), 'Tensor\n    [1, 2]');
  const { inspect } = process.getBuiltinModule('node:util');
  assert.equal(inspect(tl.scalar(2)), 'Tensor\n    2');
  const disposed = tl.tensor([1]);
  disposed.dispose();
  assert.equal(String(disposed), 'Tensor float32 [1], disposed');
});

test('tensors of so many axes, of zeros and of ones', async () => {
  const tf = await import('@tensorflow/tfjs');
  await tf.setBackend('cpu');
  const same = (make) => {
    const [ours, theirs] = [make(tl), make(tf)];
    assert.deepEqual([[...ours.shape], ours.dtype], [theirs.shape, theirs.dtype]);
    assert.deepEqual([...ours.dataSync()], [...theirs.dataSync()]);
  };
  same((lib) => lib.tensor1d([1, 2]));
  same((lib) => lib.tensor1d([1.5, 2], 'int32'));
  same((lib) => lib.tensor2d([[1], [2]]));
  same((lib) => lib.tensor2d([1, 2], [2, 1]));
  same((lib) => lib.tensor2d(new Int32Array(4), [2, 2]));
  for (const rank of [3, 4, 5, 6]) {
    const shape = Array.from({ length: rank }, () => 1);
    same((lib) => lib[`tensor${rank}d`]([7], shape, 'int32'));
  }
  same((lib) => lib.scalar(3));
  same((lib) => lib.scalar(true));
  same((lib) => lib.zeros([2, 3]));
  same((lib) => lib.ones([2], 'int32'));
  same((lib) => lib.ones([2, 1], 'bool'));
  throws(() => tl.tensor2d([1, 2]), 'tensor2d: flat values need a shape');
  throws(() => tl.tensor2d([1, 2], [2]), 'tensor2d: shape must have 2 sizes, got [2]');
  throws(
    () => tl.tensor1d([[1]]),
    'tensor1d: values must be flat or arrays nested 1 deep, got 2 deep',
  );
  throws(
    () => tl.tensor3d([[1]]),
    'tensor3d: values must be flat or arrays nested 3 deep, got 2 deep',
  );
  throws(() => tl.scalar([1]), /^scalar: one number is needed, got an array/);
});

test('non-numbers among bigints, and symbols', () => {
  assert.deepEqual([...tl.tensor([1n, null]).dataSync()], [1n, 0n]);
  throws(() => tl.tensor([1n, '1.5']), /^tensor: int64 accepts integers from .* got 1.5$/);
  throws(() => tl.tensor([Symbol('x')]), 'tensor: values must be numbers, got Symbol(x)');
  throws(() => tl.scalar(Symbol('x')), 'tensor: values must be numbers, got Symbol(x)');
});

test('sizes that no reshape can have name it', () => {
  const x = tl.ones([4]);
  for (const shape of [[-1, -1], [-2], [3, -1], [0, -1]])
    throws(() => x.reshape(shape), /^reshape: .*\[[-\d,]+\]/);
});
