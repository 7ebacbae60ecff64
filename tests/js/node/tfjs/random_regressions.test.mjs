// Regressions that random programs (tests/tfjs_random) have found, each as a separate program.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe/tfjs';

before(async () => {
  await tf.setBackend('cpu');
  await tl.ready();
});

/** Asserts that the program's result is equal in both libraries: dtype, shape and elements. */
function same(program, within = 1e-5) {
  const [ours, theirs] = [program(tl), program(tf)];
  assert.equal(`${ours.dtype} ${ours.shape}`, `${theirs.dtype} ${theirs.shape}`);
  const expected = theirs.dataSync();
  ours.dataSync().forEach((each, at) => {
    assert.ok(Math.abs(each - expected[at]) <= within, `${ours} is not ${theirs}`);
  });
}

test('powers of integers are exact, and wrap', () => {
  const base = [7, 13, 3, 46341, -3, 2, 2, 0, -1, -1, 5];
  const exponent = [9, 8, 19, 2, 5, -1, 31, 0, 3, -3, 0];
  same((lib) => lib.pow(lib.tensor(base, [11], 'int32'), lib.tensor(exponent, [11], 'int32')), 0);
  const two = (lib) => lib.scalar(2, 'int32');
  const slope = (lib) =>
    lib.grad((x) => lib.pow(x, two(lib)))(lib.tensor([3, 70000], [2], 'int32'));
  same(slope, 0);
});

test('bools are divided', () => {
  const bools = (lib, ...values) => lib.tensor(values, [4], 'bool');
  const quotient = tl.divNoNan(bools(tl, 1, 1, 0, 0), bools(tl, 1, 0, 1, 0));
  assert.deepEqual([...quotient.dataSync()], [1, 0, 0, 0]);
});

test('the gradient of the cross entropy of sigmoids is smooth at 0', () => {
  const labels = [0, 0.25, 1];
  const loss = (lib) => (x) => lib.losses.sigmoidCrossEntropy(lib.tensor(labels), x).sum();
  same((lib) => lib.grad(loss(lib))(lib.tensor([0, 0, 0])));
});

test('an argument returned unchanged is not a new tensor', () => {
  for (const lib of [tf, tl]) {
    const x = lib.tensor([1, 2]);
    const { numTensors } = lib.memory();
    assert.equal(lib.ensureShape(x, [2]), x);
    assert.equal(lib.losses.computeWeightedLoss(x, undefined, 0), x);
    lib.clone(2).dispose();
    assert.equal(lib.memory().numTensors, numTensors);
    x.dispose();
  }
});

test('traced functions: sums by segment, scatter, exclusive or', () => {
  const specs = { x: [3, 2], at: { shape: [3], dtype: 'int32' }, c: { shape: [2], dtype: 'bool' } };
  const f = tl.compile(specs, ({ x, at, c }) => ({
    sums: tl.unsortedSegmentSum(x, at, 2),
    put: tl.scatterND(at.reshape([3, 1]), x, [4, 2]),
    either: tl.logicalXor(c, tl.tensor([1, 1], [2], 'bool')),
  }));
  const found = f.run({
    x: tl.tensor([1, 2, 3, 4, 5, 6], [3, 2]),
    at: tl.tensor([1, 0, 1], [3], 'int32'),
    c: tl.tensor([1, 0], [2], 'bool'),
  });
  assert.deepEqual([...found.sums.dataSync()], [3, 4, 6, 8]);
  assert.deepEqual([...found.put.dataSync()], [3, 4, 6, 8, 0, 0, 0, 0]);
  assert.deepEqual([...found.either.dataSync()], [0, 1]);
  f.dispose();
});

test('complex numbers leak no bytes', () => {
  const before = tl.memory();
  const x = tl.tensor([1, 2, 3, 4]);
  const spectrum = tl.rfft(x);
  const part = tl.real(spectrum);
  spectrum.dispose();
  assert.deepEqual([...part.dataSync()].map(Math.round), [10, -2, -2]);
  part.dispose();
  tl.tidy(() => void tl.complex(x, x).mul(tl.complex(x, x)));
  x.dispose();
  const after = tl.memory();
  for (const name of ['numTensors', 'numDataBuffers', 'numBytes'])
    assert.equal(after[name], before[name], name);
});

test('invalid arguments are rejected', () => {
  const boxes = [[0, 0, 1, 1]];
  const calls = [
    (lib) => lib.image.nonMaxSuppression(lib.tensor(boxes), lib.tensor([1]), 1, 'no'),
    (lib) => lib.image.transform(lib.ones([1, 2, 2, 1]), lib.ones([1, 8]), 'no'),
    (lib) => lib.depthToSpace(lib.ones([1, 1, 1, 4]), 2, -1),
  ];
  for (const call of calls) {
    assert.throws(() => call(tf));
    assert.throws(() => call(tl), { name: 'LatheError' });
  }
});
