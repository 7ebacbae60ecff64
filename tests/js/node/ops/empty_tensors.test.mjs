// Tensors without elements: here, on our backend of TensorFlow.js, and on its cpu backend.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as lathe from 'tensorlathe/tfjs';
import 'tensorlathe/tfjs-backend';

before(() => lathe.ready());

const described = (tensors) => tensors.map((x) => [x.dtype, x.shape, Array.from(x.dataSync())]);

/** Results of each: [TensorFlow.js, us, our backend]. */
async function everywhere(f) {
  const all = [];
  for (const [lib, backend] of [[tf, 'cpu'], [lathe], [tf, 'lathe']]) {
    if (backend) await tf.setBackend(backend);
    all.push(described([f(lib)].flat()));
  }
  return all;
}

const gradients = {
  'conv2d of no images': (lib) =>
    lib.grads((x, f) => lib.conv2d(x, f, 1, 'same'))([
      lib.zeros([0, 4, 4, 2]),
      lib.ones([3, 3, 2, 1]),
    ]),
  'conv2d of small images': (lib) =>
    lib.grads((x, f) => lib.conv2d(x, f, 1, 'valid'))([
      lib.ones([1, 2, 2, 2]),
      lib.ones([3, 3, 2, 1]),
    ]),
  depthwiseConv2d: (lib) =>
    lib.grads((x, f) => lib.depthwiseConv2d(x, f, 1, 'same'))([
      lib.zeros([0, 4, 4, 2]),
      lib.ones([3, 3, 2, 1]),
    ]),
  conv3d: (lib) =>
    lib.grads((x, f) => lib.conv3d(x, f, 1, 'same'))([
      lib.zeros([0, 3, 3, 3, 2]),
      lib.ones([2, 2, 2, 2, 1]),
    ]),
  maxPool: (lib) => lib.grad((x) => lib.maxPool(x, 2, 2, 'same'))(lib.zeros([0, 4, 4, 2])),
  'avgPool of small images': (lib) =>
    lib.grad((x) => lib.avgPool(x, 5, 1, 'valid'))(lib.ones([1, 4, 4, 2])),
  resizeBilinear: (lib) =>
    lib.grad((x) => lib.image.resizeBilinear(x, [3, 3]))(lib.zeros([0, 4, 4, 1])),
  unsortedSegmentSum: (lib) =>
    lib.grad((x) => lib.unsortedSegmentSum(x, lib.tensor1d([], 'int32'), 2))(lib.zeros([0, 3])),
};

for (const [name, f] of Object.entries(gradients)) {
  test(`gradients of nothing: ${name}`, async () => {
    const [expected, ours, theirs] = await everywhere(f);
    assert.deepEqual(ours, expected);
    assert.deepEqual(theirs, expected);
  });
}

const functions = {
  broadcastTo: (lib) => [
    lib.broadcastTo(lib.ones([2, 1, 0]), [3, 2, 4, 0]),
    lib.grad((x) => lib.broadcastTo(x, [2, 0, 3]))(lib.ones([3])),
  ],
  denseBincount: (lib) => [
    lib.denseBincount(lib.zeros([2, 0], 'int32'), lib.zeros([0]), 3, true),
    lib.denseBincount(lib.zeros([0], 'int32'), lib.zeros([0], 'int32'), 2, true),
    lib.denseBincount(lib.tensor2d([[1, 1, 7]], [1, 3], 'int32'), lib.zeros([0]), 3, true),
  ],
  unsortedSegmentSum: (lib) => [
    lib.unsortedSegmentSum(lib.zeros([0, 3]), lib.tensor1d([], 'int32'), 2),
    lib.unsortedSegmentSum(lib.zeros([2, 0]), lib.tensor1d([0, 1], 'int32'), 3),
  ],
};

for (const [name, f] of Object.entries(functions)) {
  test(`of nothing: ${name}`, async () => {
    const [expected, ours, theirs] = await everywhere(f);
    assert.deepEqual(ours, expected);
    assert.deepEqual(theirs, expected);
  });
}
