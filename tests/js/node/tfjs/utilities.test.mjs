// The pure utilities of tensorlathe/tfjs equal those of TensorFlow.js, or throw where they do, for random arguments.
// Not drawn, as TensorFlow.js is wrong there: a -1 that comes first in the sizes of `split`; a stride above the size of a filter in
// three dimensions with 'same'; a number for padding where filter or stride differ by axis;
// a new axis after one that is dropped; the shapes of ragged tensors, where it confuses a size with an axis.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe/tfjs';

let state = 7;
const draw = (below) => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};
const between = (low, high) => low + draw(high - low + 1);
const list = (length, low, high) => Array.from({ length }, () => between(low, high));
const one = (...of) => of[draw(of.length)];

/** The result as plain data, or 'error'. */
function outcome(call) {
  try {
    return JSON.parse(
      JSON.stringify(call() ?? null, (_, value) =>
        ArrayBuffer.isView(value) ? [...value] : value,
      ),
    );
  } catch {
    return 'error';
  }
}

/** `args` draws the arguments of the function at `path`. */
function same(path, args, times = 300) {
  test(path, () => {
    const of = (library) => path.split('.').reduce((value, name) => value[name], library);
    for (let time = 0; time < times; ++time) {
      const drawn = args();
      const copy = structuredClone(drawn);
      const expected = outcome(() => of(tf)(...drawn));
      assert.deepEqual(
        outcome(() => of(tl)(...copy)),
        expected,
        `${path}(${JSON.stringify(drawn)})`,
      );
    }
  });
}

const shape = (max = 4) => list(draw(max + 1), 1, 4);
const ranked = (sizes) => ({ shape: sizes, rank: sizes.length });
const axes = (rank) =>
  list(draw(3), 0, Math.max(0, rank - 1)).filter((each, at, all) => all.indexOf(each) === at);
const pad = () => one('same', 'valid', 0, 1, 2);
const rounding = () => one(undefined, 'floor', 'ceil', 'round');

same('util.inferFromImplicitShape', () => [list(draw(4), -1, 4), draw(25)]);
same('util.squeezeShape', () => [shape(), one(undefined, [], list(draw(3), -4, 3))].slice(0, 2));
same('util.parseAxisParam', () => [one(between(-4, 4), list(draw(3), -3, 3)), shape()]);
same('util.computeStrides', () => [shape()]);
same('enclosingPowerOfTwo', () => [between(1, 5000)]);
same('util.nearestDivisor', () => [between(1, 60), between(1, 10)]);
same('util.indexToLoc', () => [draw(24), 3, [12, 4]]);
same('util.locToIndex', () => [[draw(2), draw(3), draw(4)], 3, draw(2) ? [12, 4] : [12, 4, 1]]);
same('util.sizeToSquarishShape', () => [between(1, 90)]);
same('util.hasEncodingLoss', () => [
  one('bool', 'int32', 'float32', 'complex64'),
  one('bool', 'int32', 'float32', 'complex64'),
]);
same('backend_util.upcastType', () => [
  one('bool', 'int32', 'float32', 'complex64', 'string'),
  one('bool', 'int32', 'float32', 'complex64', 'string'),
]);
same('backend_util.getBroadcastDims', () => {
  const out = list(4, 1, 3);
  return [out.slice(draw(4)).map((size) => one(1, size)), out];
});
same('backend_util.getReductionAxes', () => {
  const out = list(4, 1, 3);
  return [out.slice(draw(4)).map((size) => one(1, size)), out];
});
same('backend_util.assertAndGetBroadcastShape', () => [list(draw(4), 1, 2), list(draw(4), 1, 2)]);
same('backend_util.getAxesPermutation', () => [axes(4), 4]);
same('backend_util.expandShapeToKeepDim', () => [list(2, 1, 4), axes(3)]);
same('backend_util.computeOutAndReduceShapes', () => [list(4, 1, 4), axes(4)]);
same('backend_util.computeOptimalWindowSize', () => [between(1, 500)]);
same('backend_util.segment_util.segOpComputeOptimalWindowSize', () => [
  between(1, 500),
  between(1, 20),
]);
same('backend_util.prepareSplitSize', () => [
  { shape: [between(2, 12)] },
  one(between(1, 4), [between(0, 4), ...list(2, -1, 4)]),
  0,
]);
same('backend_util.computeConv2DInfo', () => {
  const size = between(1, 3);
  const stride = between(1, 3);
  return [
    list(4, 3, 9),
    [size, size, between(1, 3), between(1, 3)],
    stride,
    between(1, 2),
    pad(),
    rounding(),
    one(true, false),
    one('channelsFirst', 'channelsLast'),
  ];
});
same('backend_util.computeConv2DInfo', () => [
  list(4, 3, 9),
  list(4, 1, 3),
  list(2, 1, 3),
  list(2, 1, 2),
  one('same', 'valid', [[0, 0], list(2, 0, 2), list(2, 0, 2), [0, 0]]),
  rounding(),
]);
same('backend_util.computePool2DInfo', () => [
  list(4, 3, 9),
  between(1, 3),
  between(1, 3),
  1,
  pad(),
  rounding(),
  one('channelsFirst', 'channelsLast'),
]);
same('backend_util.computeConv3DInfo', () => [
  list(5, 3, 7),
  list(5, 2, 3),
  list(3, 1, 2),
  1,
  one('same', 'valid'),
  one(true, false),
  one('channelsFirst', 'channelsLast'),
]);
same('backend_util.computePool3DInfo', () => [
  list(5, 3, 7),
  between(2, 3),
  between(1, 2),
  1,
  pad(),
  rounding(),
  one('NDHWC', 'NCDHW'),
]);
same('backend_util.computeDilation2DInfo', () => [
  list(4, 3, 9),
  list(3, 1, 3),
  between(1, 2),
  one('same', 'valid'),
  'NHWC',
  between(1, 2),
]);
same('backend_util.computeDefaultPad', () => [
  list(4, 3, 9),
  between(1, 4),
  between(1, 3),
  between(1, 3),
]);
for (const name of ['getReshaped', 'getReshapedPermuted']) {
  same(`backend_util.${name}`, () => [[8, 4, 6, 3], one([2], [2, 2]), 4, one(true, false)]);
}
same('backend_util.getPermuted', () => [between(5, 7), between(1, 2), true]);
same('backend_util.getPermuted', () => [between(5, 7), between(1, 2), false]);
same('backend_util.getSliceSize', () => [
  [4, 8, 8, 3],
  [list(2, 0, 3), list(2, 0, 3)],
  between(1, 2),
]);
same('backend_util.exponents', () => [between(1, 9), one(true, false)]);
same('backend_util.decodeEinsumEquation', () => [
  one('ij,jk->ik', 'ij->ji', 'i,i->', 'ij,jk', 'bij,bjk->bik', 'ii->i', 'ij->k', 'i,j,k->i'),
  between(1, 2),
]);
same('backend_util.getEinsumComputePath', () => [axes(3), [axes(3), axes(3)]]);
same('backend_util.getEinsumPermutation', () => [3, axes(3)]);
same('backend_util.validateDefaultValueShape', () => [list(draw(3), 1, 3), list(draw(4), 1, 3)]);
same('backend_util.segment_util.collectGatherOpShapeInfo', () => [
  { shape: list(3, 2, 3) },
  { shape: list(2, 2, 3) },
  between(0, 2),
  between(-3, 3),
]);
same('gather_util.prepareAndValidate', () => [
  ranked(list(draw(4), 0, 3)),
  { ...ranked(list(draw(4), 1, 4)), dtype: one('int32', 'int32', 'float32') },
]);
same('scatter_util.calculateShapes', () => [
  { shape: [] },
  { shape: list(between(1, 3), 1, 3) },
  list(between(3, 4), 1, 4),
]);
same('scatter_util.validateInput', () => {
  const [updates, indices] = [list(draw(3), 1, 2), list(draw(3), 1, 2)];
  const dtype = one('int32', 'int32', 'bool');
  return [ranked(updates), { ...ranked(indices), dtype }, list(draw(4), 1, 2)];
});
same('slice_util.isSliceContinous', () => [list(3, 1, 3), list(3, 0, 1), list(3, 1, 3)]);
same('slice_util.computeFlatOffset', () => [list(3, 0, 4), [12, 4]]);
same('slice_util.parseSliceParams', () => [
  { shape: list(3, 1, 4) },
  one(between(-1, 2), list(draw(4), 0, 2)),
  one(null, between(-2, 2), list(draw(4), -1, 2)),
]);
same('slice_util.maskToAxes', () => [draw(64)]);
same('slice_util.computeOutShape', () => [list(3, 0, 3), list(3, 3, 8), list(3, 1, 3)]);
same(
  'slice_util.sliceInfo',
  () => {
    const [x, length] = [list(between(1, 4), 1, 5), between(1, 4)];
    const mask = () => draw(1 << length);
    const few = () => mask() & mask() & mask();
    const [added, dropped] = one([few(), 0], [0, few()]);
    return [
      x,
      list(length, -6, 6),
      list(length, -6, 6),
      list(length, -2, 3),
      mask(),
      mask(),
      few(),
      added,
      dropped,
    ];
  },
  3000,
);
for (const [name, last] of [
  ['nonMaxSuppressionV3Impl', []],
  ['nonMaxSuppressionV4Impl', [true]],
  ['nonMaxSuppressionV5Impl', [0.5]],
]) {
  same(`kernel_impls.${name}`, () => [
    Float32Array.from(list(32, 0, 20), (each) => each / 10),
    Float32Array.from(list(8, 0, 9), (each) => each / 10),
    between(1, 9),
    between(0, 10) / 10,
    between(0, 5) / 10,
    ...last,
  ]);
}

test('large arrays give the results of TensorFlow.js', async () => {
  await tf.setBackend('cpu');
  const size = 1e6;
  const bytes = Uint8Array.from({ length: 2 * size }, (_, at) => at % 61);
  const numbers = Float32Array.from({ length: size }, (_, at) => at % 1000);
  const decode = (lib, dtype) => {
    const quantization = { dtype, scale: 0.5, min: -1 };
    const specs = [{ name: 'x', shape: [size], dtype: 'float32', quantization }];
    const { x } = lib.io.decodeWeights(bytes.buffer, specs);
    const found = x.dataSync();
    x.dispose();
    return found;
  };
  const actions = {
    uint8: (lib) => decode(lib, 'uint8'),
    uint16: (lib) => decode(lib, 'uint16'),
    float16: (lib) => decode(lib, 'float16'),
    unique: (lib) => lib.tidy(() => lib.unique(lib.tensor1d(numbers)).indices.dataSync()),
    nested: (lib) => lib.tidy(() => lib.tensor(numbers, [100, 100, 100]).arraySync()),
  };
  for (const [name, action] of Object.entries(actions)) {
    assert.deepEqual(action(tl), action(tf), name);
  }
});

test('a TensorBuffer without a dtype is float32', () => {
  for (const lib of [tf, tl]) {
    const buffer = new lib.TensorBuffer([2, 2]);
    buffer.set(1.5, 0, 1);
    assert.ok(buffer.values instanceof Float32Array);
    const tensor = buffer.toTensor();
    assert.deepEqual([tensor.dtype, [...tensor.dataSync()]], ['float32', [0, 1.5, 0, 0]]);
  }
});
