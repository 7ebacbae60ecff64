// Models whose inputs have dynamic (null) axes: for every size equal to a model of fixed shapes with the same weights.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import {
  compiled,
  counts,
  data,
  randomSizes,
  largestDifference,
  throws,
  rejects,
} from '../../lib.mjs';

const { layers } = tl;

/** A sequential model of these layers on inputs of this shape. */
const row = (shape, [first, ...rest], seed = 3) => {
  const made = [first({ inputShape: shape }), ...rest.map((make) => make({}))];
  return tl.sequential({ name: 'row', seed, layers: made });
};
const conv = (filters, padding, more) => (args) =>
  layers.conv2d({ filters, kernelSize: 3, padding, activation: 'tanh', ...more, ...args });
const dense = (units) => (args) => layers.dense({ units, ...args });

/** Typical models: the shape of an example with null axes, the layers, and the minimum sizes. */
const programs = {
  'images to numbers': {
    shape: [null, null, 3],
    least: 7,
    layers: [
      conv(4, 'same'),
      () => layers.maxPooling2d({ poolSize: 2 }),
      conv(5, 'valid'),
      () => layers.batchNormalization(),
      () => layers.globalAveragePooling2d(),
      dense(3),
    ],
    output: [3],
  },
  'images to images': {
    shape: [null, null, 1],
    least: 2,
    layers: [
      conv(3, 'same', { strides: 2 }),
      () => layers.upSampling2d({ size: [2, 2] }),
      conv(2, 'same'),
    ],
    output: [null, null, 2],
  },
  'sequences by LSTM': {
    shape: [null, 8],
    least: 1,
    layers: [(args) => layers.lstm({ units: 6, ...args }), dense(3)],
    output: [3],
  },
  'sequences by GRU': {
    shape: [null, 8],
    least: 1,
    layers: [(args) => layers.gru({ units: 5, returnSequences: true, ...args }), dense(2)],
    output: [null, 2],
  },
  tokens: {
    shape: [null],
    least: 1,
    tokens: 11,
    layers: [
      (args) => layers.embedding({ inputDim: 11, outputDim: 4, ...args }),
      () => layers.globalAveragePooling1d(),
      dense(2),
    ],
    output: [2],
  },
  'one axis of two': {
    shape: [null, 6],
    least: 3,
    layers: [(args) => layers.conv1d({ filters: 4, kernelSize: 3, ...args }), dense(2)],
    output: [null, 2],
  },
};

/** x and y of `rows` examples of these sizes. */
function examples({ shape, tokens }, sizes, outputShape, rows = 3, seed = 1) {
  const left = [...sizes];
  const full = [rows, ...shape.map((size) => size ?? left.shift())];
  let x = data(full, seed);
  if (tokens)
    x = tl.tensor(
      x.dataSync().map((value) => Math.floor((0.5 + value / 2) * (tokens - 1))),
      full,
    );
  return [x, data([rows, ...outputShape.slice(1)], seed + 5)];
}

const settle = (model) =>
  model.compile({ loss: 'meanSquaredError', optimizer: tl.train.adam(0.01) });

for (const [name, program] of Object.entries(programs)) {
  const { shape, least, output } = program;
  const open = () => row(shape, program.layers);
  const axes = shape.filter((size) => size === null).length;
  const fixedOf = (sizes) => {
    const left = [...sizes];
    return row(
      shape.map((size) => size ?? left.shift()),
      program.layers,
    );
  };
  const sizesList = Array.from({ length: 6 }, (_, at) =>
    randomSizes(axes, 41 - least, at + 3).map((size) => size - 1 + least),
  );

  test(`${name}: predictions are bit-identical to those of fixed shapes`, () => {
    const before = counts();
    const model = open();
    assert.deepEqual(model.inputShape, [null, ...shape]);
    assert.deepEqual(model.outputShape, [null, ...output]);
    assert.deepEqual(model.inputs[0].shape, [null, ...shape]);
    assert.deepEqual(model.layers.at(-1).outputShape, [null, ...output]);
    for (const sizes of sizesList) {
      const fixed = fixedOf(sizes);
      const [x] = examples(program, sizes, fixed.outputShape);
      const [actual, expected] = [model.predict(x), fixed.predict(x)];
      assert.deepEqual(actual.shape, expected.shape);
      assert.deepEqual(actual.dataSync(), expected.dataSync());
      fixed.dispose();
    }
    model.dispose();
    assert.deepEqual(counts(), before);
  });

  test(`${name}: training and evaluation are bit-identical to those of fixed shapes`, async () => {
    const before = counts();
    const model = open();
    for (const sizes of sizesList.slice(0, 4)) {
      const fixed = fixedOf(sizes);
      fixed.setWeights(model.getWeights());
      for (const each of [model, fixed]) settle(each);
      const [x, y] = examples(program, sizes, fixed.outputShape, 5);
      const args = { epochs: 2, batchSize: 2, shuffle: false };
      const [actual, expected] = [await model.fit(x, y, args), await fixed.fit(x, y, args)];
      assert.deepEqual(actual.history.loss, expected.history.loss);
      assert.equal(await model.trainOnBatch(x, y), await fixed.trainOnBatch(x, y));
      assert.deepEqual(
        model.evaluate(x, y, { asObject: true }),
        fixed.evaluate(x, y, { asObject: true }),
      );
      const [weights, fixedWeights] = [model, fixed].map((each) => each.getWeights());
      weights.forEach((each, i) => assert.deepEqual(each.dataSync(), fixedWeights[i].dataSync()));
      fixed.dispose();
    }
    model.dispose();
    assert.deepEqual(counts(), before);
  });

  test(`${name}: saved and loaded, here and by TensorFlow.js`, async () => {
    const model = open();
    let artifacts;
    await model.save({ save: async (saved) => ((artifacts = saved), {}) });
    const { layers: saved } = artifacts.modelTopology.config;
    assert.deepEqual(saved[0].config.batch_input_shape, [null, ...shape]);
    const copy = await tl.loadLayersModel(tl.io.fromMemory(artifacts));
    const theirs = await tf.loadLayersModel(tf.io.fromMemory(artifacts));
    let theirArtifacts;
    await theirs.save({ save: async (saved) => ((theirArtifacts = saved), {}) });
    const reloaded = await tl.loadLayersModel(tl.io.fromMemory(theirArtifacts));
    assert.deepEqual(copy.outputShape, model.outputShape);
    assert.deepEqual(reloaded.outputShape, theirs.outputShape);
    for (const sizes of sizesList.slice(0, 2)) {
      const [x] = examples(program, sizes, [null]);
      const expected = model.predict(x);
      assert.deepEqual(copy.predict(x).dataSync(), expected.dataSync());
      assert.deepEqual(reloaded.predict(x).dataSync(), expected.dataSync());
      const their = theirs.predict(tf.tensor(x.dataSync(), [...x.shape]));
      assert.deepEqual(their.shape, [...expected.shape]);
      assert.ok(largestDifference(their.dataSync(), expected.dataSync()) < 1e-5);
    }
    for (const each of [model, copy, reloaded]) each.dispose();
  });
}

const sequences = () => row([null, 8], programs['sequences by LSTM'].layers);
const ofLength = (length, seed, rows = 4) =>
  examples({ shape: [null, 8] }, [length], [null, 3], rows, seed);

test('alternating lengths are compiled once each, for predict, evaluate and fit', async () => {
  const model = sequences();
  settle(model);
  const round = async () => {
    for (const length of [5, 9, 5, 17, 9]) {
      const [x, y] = ofLength(length, length);
      await model.trainOnBatch(x, y);
      model.evaluate(x, y, { asObject: true });
      model.predict(x).dataSync();
      await model.fit(x, y, { batchSize: 4 });
    }
  };
  await round();
  assert.equal(await compiled(round), 0);
  const before = counts().modules;
  for (const length of randomSizes(30)) model.predict(ofLength(length, 1)[0]).dataSync();
  assert.ok(counts().modules - before <= 16);
  model.dispose();
});

test('the optimizer state is shared by all lengths', async () => {
  const model = sequences();
  settle(model);
  for (const length of [5, 9, 5]) {
    await model.trainOnBatch(...ofLength(length, length));
    for (const next of [5, 4]) {
      let artifacts;
      await model.save(
        { save: async (saved) => ((artifacts = saved), {}) },
        { includeOptimizer: true },
      );
      artifacts.modelTopology.config.layers[0].config.batch_input_shape = [null, next, 8];
      const fixed = await tl.loadLayersModel(tl.io.fromMemory(artifacts));
      assert.deepEqual(fixed.inputShape, [null, next, 8]);
      const [actual, expected] = [model, fixed].map((each) =>
        each.trainOnBatch(...ofLength(next, 1)),
      );
      assert.equal(await actual, await expected);
      fixed.dispose();
    }
  }
  model.dispose();
});

test('each batch of a dataset may have a different length', async () => {
  const model = sequences();
  settle(model);
  const lengths = [5, 9, 5, 2];
  const batches = tl.data.array(lengths).map((length) => {
    const [xs, ys] = ofLength(length, length);
    return { xs, ys };
  });
  const { history } = await model.fitDataset(batches, { epochs: 3, validationData: batches });
  assert.ok(history.loss[2] < history.loss[0]);
  assert.equal(history.val_loss.length, 3);
  model.dispose();
});

test('validation and predictions of other sizes do not affect training', async () => {
  const [model, other] = [sequences(), sequences()];
  const [x, y] = ofLength(6, 1, 10);
  const validationData = ofLength(11, 2);
  const seen = [];
  for (const each of [model, other]) settle(each);
  const args = { epochs: 3, batchSize: 4, seed: 1 };
  const { history } = await model.fit(x, y, {
    ...args,
    validationData,
    callbacks: { onBatchEnd: () => seen.push(model.predict(ofLength(3, 1)[0]).dataSync()[0]) },
  });
  const undisturbed = await other.fit(x, y, args);
  assert.deepEqual(history.loss, undisturbed.history.loss);
  assert.equal(history.val_loss.at(-1), model.evaluate(...validationData, { asObject: true }).loss);
  assert.equal(seen.length, 9);
  for (const each of [model, other]) each.dispose();
});

test('weights whose shapes depend on a null axis are rejected', () => {
  const before = counts();
  const message =
    /^dense(_Dense1)?: the shape of kernel depends on an axis that is null: \[\d+,3\] for some sizes, \[\d+,3\]/;
  const flat = [() => layers.flatten({ inputShape: [null, 8] }), dense(3)];
  throws(() => tl.sequential({ layers: flat.map((make) => make({})) }), message);
  const x = tl.input({ shape: [null, 8] });
  const flattened = layers.flatten().apply(x);
  assert.deepEqual(flattened.shape, [null, null]);
  throws(() => layers.dense({ units: 3 }).apply(flattened), message);
  throws(
    () => layers.reshape({ targetShape: [5, 5] }).apply(x),
    /^model "model": layer "reshape".*\(with \[32,8\] for \[null,8\]\)$/,
  );
  throws(() => tl.input({ shape: [null, 0] }), /positive integers or null/);
  assert.deepEqual(counts(), before);
});

test('errors of wrong data shapes print the null axes', () => {
  const model = row([null, null, 3], programs['images to numbers'].layers);
  const of = (shape) => model.predict(data(shape));
  throws(
    () => of([2, 8, 8, 4]),
    'predict: x has shape [2,8,8,4], but the model expects [batch,null,null,3]',
  );
  throws(() => of([8, 8, 3]), /^predict: x has shape \[8,8,3\], but/);
  throws(
    () => model.predict(new Float32Array(192)),
    /^predict: x is a typed array.*pass a tl.tensor$/,
  );
  throws(
    () => of([1, 3, 9, 3]),
    /a window of 3 does not fit.*\(with \[3,9,3\] for \[null,null,3\]\)$/,
  );
  throws(() => of([1, 0, 9, 3]), /must be an array of positive integers, got 0 \(with \[0,9,3\]/);
  throws(() => model.toWasm(), /^toWasm: the inputs have null axes; call predict first/);
  const expected = of([2, 9, 8, 3]).dataSync();
  assert.ok(model.toWasm().length > 0);
  assert.deepEqual(of([2, 9, 8, 3]).dataSync(), expected);
  const lines = [];
  model.summary(undefined, undefined, (line) => lines.push(line));
  assert.match(
    lines.join('\n'),
    / \[\[null,null,null,3\]\] [^]*\[null,null,null,5\][^]*\[null,3\]/,
  );
  model.dispose();
});

test('graphs: several inputs, axes of equal size, nested models on other sizes', async () => {
  const before = counts();
  const a = tl.input({ shape: [null, null, 2], name: 'a' });
  const b = tl.input({ shape: [null], name: 'b' });
  const down = layers.maxPooling2d({ poolSize: 2 }).apply(conv(2, 'same')({}).apply(a));
  const up = layers.upSampling2d({ size: [2, 2] }).apply(down);
  const both = layers.concatenate().apply([up, a]);
  assert.deepEqual(both.shape, [null, null, null, 4]);
  const tower = row(
    [null, null, 4],
    [conv(3, 'same', { name: 'inner' }), () => layers.globalMaxPooling2d()],
  );
  const words = layers.embedding({ inputDim: 9, outputDim: 3 }).apply(b);
  const mean = layers.globalAveragePooling1d().apply(words);
  const outputs = layers.add().apply([tower.apply(both), mean]);
  const model = tl.model({ inputs: [a, b], outputs, seed: 1 });
  assert.deepEqual(model.outputShape, [null, 3]);
  assert.deepEqual(model.inputShape, [
    [null, null, null, 2],
    [null, null],
  ]);
  let artifacts;
  await model.save({ save: async (saved) => ((artifacts = saved), {}) });
  const theirs = await tf.loadLayersModel(tf.io.fromMemory(artifacts));
  const copy = await tl.loadLayersModel(tl.io.fromMemory(artifacts));
  for (const [h, w, t] of [
    [4, 6, 5],
    [8, 2, 1],
  ]) {
    const [x, tokens] = [data([2, h, w, 2]), tl.tensor(new Float32Array(2 * t).fill(3), [2, t])];
    const expected = model.predict({ a: x, b: tokens }).dataSync();
    assert.deepEqual(copy.predict([x, tokens]).dataSync(), expected);
    const inputs = [x, tokens].map((each) => tf.tensor(each.dataSync(), [...each.shape]));
    assert.ok(largestDifference(theirs.predict(inputs).dataSync(), expected) < 1e-5);
    const merged = data([2, h, w, 4]);
    assert.deepEqual(tower.predict(merged).shape, [2, 3]);
  }
  throws(
    () => model.predict({ a: data([1, 5, 4, 2]), b: [[1]] }),
    /concatenate.*\(with \[5,4,2\] and \[1\] for \[null,null,2\] and \[null\]\)$/,
  );
  const fixed = tl.sequential({ layers: [conv(4, 'valid')({ inputShape: [9, 9, 1] }), tower] });
  assert.deepEqual(fixed.layers[1].outputShape, [null, 3]);
  assert.deepEqual(fixed.predict(data([2, 9, 9, 1])).shape, [2, 3]);
  const stacked = tl.sequential({ layers: [tower, dense(2)({})] });
  assert.deepEqual(stacked.inputShape, [null, null, null, 4]);
  assert.deepEqual(stacked.predict(data([2, 3, 5, 4])).shape, [2, 2]);
  for (const each of [model, copy.getLayer('row'), copy, fixed, stacked, tower]) each.dispose();
  assert.deepEqual(counts(), before);
});

test('stateful layers continue with sequences of other lengths', () => {
  const of = (time) =>
    row(
      [time, 2],
      [
        (args) =>
          layers.gru({
            units: 3,
            stateful: true,
            ...args,
            inputShape: undefined,
            batchInputShape: [2, time, 2],
          }),
      ],
    );
  const [open, full] = [of(null), of(8)];
  const part = (x, from, to) => {
    const values = x.dataSync();
    const rows = [0, 1].map((at) => values.slice(16 * at + 2 * from, 16 * at + 2 * to));
    return tl.tensor(Float32Array.from(rows.flatMap((each) => [...each])), [2, to - from, 2]);
  };
  const x = data([2, 8, 2]);
  open.predict(part(x, 0, 5)).dataSync();
  const actual = open.predict(part(x, 5, 8)).dataSync();
  assert.ok(largestDifference(actual, full.predict(x).dataSync()) < 1e-6);
  open.resetStates();
  assert.deepEqual(open.predict(x).dataSync(), of(8).predict(x).dataSync());
  for (const each of [open, full]) each.dispose();
});

test('custom layers receive the actual sizes', () => {
  class Middle extends layers.Layer {
    static className = 'Middle';
    build(shape) {
      this.scale = this.addWeight('scale', [shape.at(-1)], 'float32', 'ones');
    }
    call(x, { g }) {
      const [rows, time, width] = x.shape;
      return g.slice(x, [0, Math.floor(time / 2), 0], [rows, 1, width]).mul(this.scale.read());
    }
  }
  const model = tl.sequential({ layers: [new Middle({ inputShape: [null, 2] })] });
  assert.deepEqual(model.outputShape, [null, 1, 2]);
  for (const time of [1, 5, 8]) {
    const x = data([1, time, 2]);
    const from = 2 * Math.floor(time / 2);
    assert.deepEqual(model.predict(x).dataSync(), x.dataSync().slice(from, from + 2));
  }
  model.dispose();
});

test('loading rejects sizes that are neither numbers nor null', async () => {
  const modelTopology = {
    class_name: 'Sequential',
    config: [
      { class_name: 'Dense', config: { units: 1, name: 'd', batch_input_shape: [null, 'x'] } },
    ],
  };
  await rejects(
    tl.loadLayersModel(
      tl.io.fromMemory({ modelTopology, weightSpecs: [], weightData: new ArrayBuffer(0) }),
    ),
    /sizes must be numbers or null, but the shape is \[null,"x"\]/,
  );
});
