// Initialisers, regularisers and constraints applied by programs, beside TensorFlow.js, and beside what models do with them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { same } from './tfjs_layers_lib.mjs';
import * as tl from 'tensorlathe/tfjs';

const weight = [
  [1, -2, 0.5],
  [-3, 0.25, 4],
];
const constraints = [
  ['maxNorm', { maxValue: 1.5 }],
  ['maxNorm', { maxValue: 2, axis: 1 }],
  ['minMaxNorm', { minValue: 3, maxValue: 4, rate: 0.5 }],
  ['unitNorm', { axis: 1 }],
  ['nonNeg'],
];

test('constraints, regularisers and initialisers without chance give what TensorFlow.js gives', () =>
  same((lib) => {
    const w = lib.tensor2d(weight);
    const results = [
      ...constraints.map(([name, args]) => lib.constraints[name](args).apply(w)),
      lib.regularizers.l1({ l1: 0.1 }).apply(w),
      lib.regularizers.l2({ l2: 0.2 }).apply(w),
      lib.regularizers.l1l2().apply(w),
      lib.initializers.constant({ value: 3 }).apply([2, 2]),
      lib.initializers.identity({ gain: 2 }).apply([3, 3]),
      lib.initializers.ones().apply([4], 'int32'),
      lib.grad((x) => lib.regularizers.l2({ l2: 0.5 }).apply(x))(w),
    ];
    return results.map((each) => [
      each.dtype,
      each.shape,
      Array.from(each.dataSync(), (value) => Number(value.toFixed(5))),
    ]);
  }));

test('a constraint gives what training gives', async () => {
  for (const [name, args] of constraints) {
    const kernelConstraint = tl.constraints[name](args);
    const model = tl.sequential({
      layers: [tl.layers.dense({ units: 3, inputShape: [2], useBias: false, kernelConstraint })],
    });
    model.compile({ loss: 'meanSquaredError', optimizer: tl.train.sgd(0) });
    model.setWeights([tl.tensor2d(weight)]);
    await model.trainOnBatch(tl.ones([1, 2]), tl.ones([1, 3]));
    const [got] = model.getWeights();
    const want = kernelConstraint.apply(tl.tensor2d(weight));
    assert.ok(got.sub(want).abs().max().dataSync()[0] < 1e-6, name);
  }
});

test('initialisers draw by their seed, without one anew, and leave nothing behind', () => {
  const before = tl.memory().numTensors;
  const { numbers, again, other, others } = tl.tidy(() => {
    const drawn = (args) => [...tl.initializers.glorotUniform(args).apply([5, 7]).dataSync()];
    return {
      numbers: drawn({ seed: 3 }),
      again: drawn({ seed: 3 }),
      other: drawn(),
      others: drawn(),
    };
  });
  assert.deepEqual(numbers, again);
  assert.notDeepEqual(other, others);
  assert.ok(other.every((each) => Math.abs(each) <= Math.sqrt(6 / 12)));
  assert.equal(tl.memory().numTensors, before);
  assert.throws(() => tl.initializers.zeros().apply(3), /zeros\.apply: a shape is needed, got 3/);
  assert.throws(() => tl.regularizers.l2().apply([1]), /l2\.apply: a tensor is needed, got object/);
});
