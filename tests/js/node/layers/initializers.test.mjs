// Initializers, regularizers and constraints applied by programs, compared with TensorFlow.js and with training.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { same } from './lib.mjs';
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

test('constraints, regularizers and deterministic initializers equal TensorFlow.js', () =>
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

test('a constraint applied directly equals its effect in training', async () => {
  for (const [name, args] of constraints) {
    const kernelConstraint = tl.constraints[name](args);
    const model = tl.sequential({
      layers: [tl.layers.dense({ units: 3, inputShape: [2], useBias: false, kernelConstraint })],
    });
    model.compile({ loss: 'meanSquaredError', optimizer: tl.train.sgd(0) });
    model.setWeights([tl.tensor2d(weight)]);
    await model.trainOnBatch(tl.ones([1, 2]), tl.ones([1, 3]));
    const [actual] = model.getWeights();
    const expected = kernelConstraint.apply(tl.tensor2d(weight));
    assert.ok(actual.sub(expected).abs().max().dataSync()[0] < 1e-6, name);
  }
});

test('layers have regularization losses, for custom training loops', () =>
  same((lib) => {
    class Scaled extends lib.layers.Layer {
      static className = 'Scaled';
      build() {
        const penalty = lib.regularizers.l2({ l2: 0.5 });
        this.factor = this.addWeight('factor', [2], 'float32', lib.initializers.ones(), penalty);
        this.built = true;
      }
      call(inputs) {
        return lib.mul([inputs].flat()[0], this.factor.read());
      }
    }
    const kernelInitializer = 'ones';
    const kernelRegularizer = lib.regularizers.l2({ l2: 0.25 });
    const inner = lib.layers.dense({
      ...{ units: 2, inputShape: [3], kernelInitializer, kernelRegularizer },
      biasRegularizer: lib.regularizers.l2(),
    });
    assert.deepEqual(inner.losses, []);
    const layers = [
      inner,
      lib.layers.batchNormalization({ gammaRegularizer: 'l1l2' }),
      new Scaled({}),
      lib.layers.dense({ units: 1, kernelInitializer }),
    ];
    // A Sequential of TensorFlow.js has no losses.
    const inputs = lib.input({ shape: [3] });
    const outputs = layers.reduce((value, layer) => layer.apply(value), inputs);
    const model = lib.model({ inputs, outputs });
    const [x, y] = [lib.ones([2, 3]), lib.zeros([2, 1])];
    const loss = () => {
      const error = lib.losses.meanSquaredError(y, model.apply(x));
      return lib.addN([error, ...model.calculateLosses()]);
    };
    const optimizer = lib.train.sgd(0.01);
    const costs = Array.from({ length: 3 }, () => optimizer.minimize(loss, true).dataSync()[0]);
    return [
      [model, ...layers].map((layer) => layer.losses.length),
      [model, ...layers].map((layer) => layer.calculateLosses().length),
      inner.losses.map((loss) => loss().dataSync()[0].toFixed(4)),
      costs.map((each) => each.toFixed(4)),
    ];
  }));

test('initializers are deterministic with a seed, random without one, and leak nothing', () => {
  const before = tl.memory().numTensors;
  const { numbers, repeated, other, others } = tl.tidy(() => {
    const sample = (args) => [...tl.initializers.glorotUniform(args).apply([5, 7]).dataSync()];
    return {
      numbers: sample({ seed: 3 }),
      repeated: sample({ seed: 3 }),
      other: sample(),
      others: sample(),
    };
  });
  assert.deepEqual(numbers, repeated);
  assert.notDeepEqual(other, others);
  assert.ok(other.every((each) => Math.abs(each) <= Math.sqrt(6 / 12)));
  assert.equal(tl.memory().numTensors, before);
  assert.throws(() => tl.initializers.zeros().apply(3), /zeros\.apply: a shape is needed, got 3/);
  assert.throws(() => tl.regularizers.l2().apply([1]), /l2\.apply: a tensor is needed, got object/);
});

test('any number is a seed, and another number another one', async () => {
  const seeds = [3.14, 3, -1, -2.5, 1e20];
  const different = (all) => new Set(all.map((each) => String(each))).size;
  const numbers = (seed) => {
    const kernelInitializer = tl.initializers.varianceScaling({ seed });
    const layer = tl.layers.dense({ units: 3, inputShape: [4], kernelInitializer });
    const model = tl.sequential({ layers: [layer] });
    const { config } = layer.getConfig().kernelInitializer;
    assert.equal(config.seed, seed);
    const sample = [...model.getWeights()[0].dataSync()];
    const applied = tl.initializers.varianceScaling({ seed }).apply([4, 3]);
    assert.deepEqual([...applied.dataSync()], sample);
    return sample;
  };
  assert.equal(different(seeds.map(numbers)), seeds.length);
  assert.deepEqual(seeds.map(numbers), seeds.map(numbers));
  const dropped = (seed) => {
    const layer = tl.layers.dropout({ rate: 0.5, seed });
    assert.equal(layer.getConfig().seed, seed);
    return [...layer.apply(tl.ones([1, 64]), { training: true }).dataSync()];
  };
  assert.equal(different(seeds.map(dropped)), seeds.length);
  for (const seed of [...seeds, null]) {
    const shuffled = () => tl.data.array([1, 2, 3, 4, 5]).shuffle(5, seed).toArray();
    assert.equal((await shuffled()).length, 5);
    if (seed !== null) assert.deepEqual(await shuffled(), await shuffled());
  }
});
