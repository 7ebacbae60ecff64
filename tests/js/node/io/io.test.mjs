// Saving and loading in the layers format, to and from TensorFlow.js, with equal predictions and training.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { blobs, largestDifference, rejects, smallModel } from '../../lib.mjs';
import { golden, loadOrSkip, modelsAbsent, modelsFolder } from '../../models.mjs';
import { jsonMutations, mutations } from '../../mutate.mjs';

const { layers } = tl;
const imageShape = [6, 8, 8, 2];
const x = tl.tensor(
  Float32Array.from({ length: 768 }, (_, at) => Math.sin(1.7 * at)),
  imageShape,
);
const theirX = tf.tensor(x.dataSync(), imageShape);

/** A model with every layer that both libraries have. */
function zoo() {
  return tl.sequential({
    name: 'zoo',
    seed: 3,
    layers: [
      layers.conv2d({ filters: 4, kernelSize: [3, 2], padding: 'same', inputShape: [8, 8, 2] }),
      layers.batchNormalization({ momentum: 0.9 }),
      layers.activation({ activation: { name: 'leakyRelu', alpha: 0.2 } }),
      layers.zeroPadding2d({ padding: 1 }),
      layers.depthwiseConv2d({
        kernelSize: 3,
        depthMultiplier: 2,
        strides: [2, 2],
        activation: 'relu6',
      }),
      layers.maxPooling2d({ strides: 1 }),
      layers.averagePooling2d({ poolSize: 2, padding: 'same' }),
      layers.reshape({ targetShape: [-1, 2], name: 'pairs' }),
      layers.flatten(),
      layers.dense({
        units: 5,
        activation: { name: 'elu' },
        kernelInitializer: { name: 'randomNormal', stddev: 0.4 },
      }),
      layers.dense({ units: 3, activation: 'softmax', useBias: false, name: 'last' }),
    ],
  });
}

/** A model that both libraries can train. */
function trainable(optimizer) {
  const model = tl.sequential({ seed: 5 });
  model.add(
    layers.conv2d({ filters: 3, kernelSize: 3, activation: 'tanh', inputShape: [8, 8, 2] }),
  );
  model.add(layers.batchNormalization());
  model.add(layers.flatten());
  model.add(layers.dense({ units: 4, activation: 'softmax' }));
  model.compile({ loss: 'softmaxCrossEntropy', optimizer, metrics: ['accuracy'] });
  return model;
}

/** The artifacts that `save` passes to an IO handler. */
async function savedBy(model, args) {
  let artifacts;
  await model.save({ save: async (saved) => ((artifacts = saved), {}) }, args);
  return artifacts;
}

const theirs = (artifacts) => tf.loadLayersModel(tf.io.fromMemory(artifacts));
const ours = (artifacts, options) => tl.loadLayersModel(tl.io.fromMemory(artifacts), options);
const near = (a, b, tolerance) =>
  assert.ok(largestDifference(a, b) < tolerance, largestDifference(a, b));

test('TensorFlow.js loads a model saved here, with equal predictions', async () => {
  const model = zoo();
  const theirModel = await theirs(await savedBy(model));
  near(model.predict(x).dataSync(), theirModel.predict(theirX).dataSync(), 1e-5);
  assert.deepEqual(
    theirModel.weights.map(({ shape }) => shape),
    model.getWeights().map(({ shape }) => [...shape]),
  );
});

test('a model saved by TensorFlow.js is loaded with equal predictions', async () => {
  const theirModel = await theirs(await savedBy(zoo()));
  const model = await ours(await savedBy(theirModel));
  assert.equal(model.name, 'zoo');
  near(model.predict(x).dataSync(), theirModel.predict(theirX).dataSync(), 1e-5);
});

test('saving and loading preserves the predictions and the file', async () => {
  const model = zoo();
  const first = await savedBy(model);
  const copy = await ours(first);
  assert.deepEqual(copy.predict(x).dataSync(), model.predict(x).dataSync());
  assert.deepEqual(await savedBy(copy), first);
});

// TensorFlow.js has no AdamW, and cannot load the state that its Adamax saves.
const onlyOurs = ['adamw', 'adamax'];
for (const optimizer of onlyOurs) {
  test(`training resumes after loading: ${optimizer}`, async () => {
    const model = trainable(tl.train[optimizer](0.01));
    const y = tl.tensor([0, 1, 2, 3, 1, 0]);
    for (let step = 0; step < 3; ++step) await model.trainOnBatch(x, y);
    const copy = await ours(await savedBy(model, { includeOptimizer: true }));
    for (let step = 0; step < 4; ++step) {
      assert.deepEqual(await copy.trainOnBatch(x, y), await model.trainOnBatch(x, y));
    }
  });
}

for (const optimizer of Object.keys(tl.train).filter((name) => !onlyOurs.includes(name))) {
  test(`training resumes in either library: ${optimizer}`, async () => {
    const model = trainable(tl.train[optimizer](0.01));
    const y = tl.tensor([0, 1, 2, 3, 1, 0]);
    const theirY = tf.oneHot(tf.tensor1d([0, 1, 2, 3, 1, 0], 'int32'), 4);
    for (let step = 0; step < 3; ++step) await model.trainOnBatch(x, y);
    const artifacts = await savedBy(model, { includeOptimizer: true });
    const theirModel = await theirs(artifacts);
    const copy = await ours(artifacts);
    const back = await ours(await savedBy(theirModel, { includeOptimizer: true }));
    for (let step = 0; step < 4; ++step) {
      const [loss, acc] = await model.trainOnBatch(x, y);
      assert.deepEqual(await copy.trainOnBatch(x, y), [loss, acc]);
      const [theirLoss] = await theirModel.trainOnBatch(theirX, theirY);
      assert.ok(Math.abs(theirLoss - loss) < 1e-4, `step ${step}: ${theirLoss}, here ${loss}`);
      const [backLoss] = await back.trainOnBatch(x, y);
      assert.ok(Math.abs(backLoss - loss) < 1e-4, `step ${step}: ${backLoss}, here ${loss}`);
    }
  });
}

test('training of a graph with two outputs resumes in either library', async () => {
  const a = tl.input({ shape: [3], name: 'a' });
  const b = tl.input({ shape: [3], name: 'b' });
  const shared = layers.dense({ units: 4, activation: 'tanh', name: 'shared' });
  const sum = layers.add({ name: 'sum' }).apply([shared.apply(a), shared.apply(b)]);
  const u = layers.dense({ units: 2, name: 'u' }).apply(sum);
  const v = layers.dense({ units: 1, name: 'v' }).apply(shared.apply(a));
  const model = tl.model({ inputs: [a, b], outputs: [u, v], seed: 2, name: 'graph' });
  model.compile({ loss: 'meanSquaredError', optimizer: tl.train.adam(0.05) });
  const numbers = (count, step) =>
    Float32Array.from({ length: count }, (_, at) => Math.cos(step * at));
  const shapes = [
    [4, 3],
    [4, 3],
    [4, 2],
    [4, 1],
  ];
  const arrays = shapes.map(([rows, width], at) => numbers(rows * width, at + 0.3));
  const [xa, xb, yu, yv] = arrays.map((each, at) => tl.tensor(each, shapes[at]));
  const [txa, txb, tyu, tyv] = arrays.map((each, at) => tf.tensor(each, shapes[at]));
  for (let step = 0; step < 3; ++step) await model.trainOnBatch([xa, xb], [yu, yv]);
  const artifacts = await savedBy(model, { includeOptimizer: true });
  const copy = await ours(artifacts);
  const theirModel = await theirs(artifacts);
  const back = await ours(await savedBy(theirModel, { includeOptimizer: true }));
  for (let step = 0; step < 4; ++step) {
    const losses = await model.trainOnBatch([xa, xb], [yu, yv]);
    assert.deepEqual(await copy.trainOnBatch([xa, xb], [yu, yv]), losses);
    near(await theirModel.trainOnBatch([txa, txb], [tyu, tyv]), losses, 1e-4);
    near(await back.trainOnBatch([xa, xb], [yu, yv]), losses, 1e-4);
  }
  model.predict([xa, xb]).forEach((each, at) => {
    near(each.dataSync(), theirModel.predict([txa, txb])[at].dataSync(), 1e-4);
  });
});

test('nested models and shared weights are preserved', async () => {
  const inner = tl.sequential({
    name: 'inner',
    layers: [layers.dense({ units: 3, inputShape: [3] })],
  });
  const a = tl.input({ shape: [3] });
  const twice = inner.apply(inner.apply(a));
  const model = tl.model({ inputs: a, outputs: twice, seed: 1 });
  const artifacts = await savedBy(model);
  const copy = await ours(artifacts);
  const theirModel = await theirs(artifacts);
  const x = [[1, -2, 0.5]];
  assert.deepEqual(copy.predict(x).dataSync(), model.predict(x).dataSync());
  near(theirModel.predict(tf.tensor(x)).dataSync(), model.predict(x).dataSync(), 1e-5);
  const other = tl.sequential({
    name: 'inner',
    layers: [layers.dense({ units: 3, inputShape: [3], name: inner.layers[0].name })],
  });
  await inner.loadWeights(await tl.io.toSafetensors(other));
  const expected = other.predict(other.predict(x)).dataSync();
  near(model.predict(x).dataSync(), expected, 1e-6);
});

test('timeDistributed models are saved to and loaded from TensorFlow.js', async () => {
  const models = {
    row: ({ sequential, layers }) =>
      sequential({ layers: [layers.dense({ units: 2, inputShape: [3] })] }),
    graph: ({ input, model, layers }) => {
      const one = input({ shape: [3] });
      return model({ inputs: one, outputs: layers.dense({ units: 2 }).apply(one) });
    },
  };
  const wrapped = (library, make) => {
    const layer = library.layers.timeDistributed({ layer: make(library), inputShape: [4, 3] });
    return library.sequential({ layers: [layer] });
  };
  const steps = [Float32Array.from({ length: 12 }, (_, at) => Math.sin(at)), [1, 4, 3]];
  for (const make of Object.values(models)) {
    const model = wrapped(tl, make);
    const artifacts = await savedBy(model);
    const expected = model.predict(tl.tensor(...steps)).dataSync();
    near((await ours(artifacts)).predict(tl.tensor(...steps)).dataSync(), expected, 1e-6);
    near((await theirs(artifacts)).predict(tf.tensor(...steps)).dataSync(), expected, 1e-6);
    const theirModel = wrapped(tf, make);
    const copy = await ours(await savedBy(theirModel));
    const theirResult = theirModel.predict(tf.tensor(...steps)).dataSync();
    near(copy.predict(tl.tensor(...steps)).dataSync(), theirResult, 1e-6);
  }
});

test('without includeOptimizer no training configuration is saved', async () => {
  const artifacts = await savedBy(trainable('adam'));
  assert.equal(artifacts.trainingConfig, undefined);
  assert.ok(artifacts.weightSpecs.every(({ group }) => group === undefined));
});

test('the current learning rate is saved', async () => {
  const model = trainable('adam');
  model.setLearningRate(0.125);
  const { trainingConfig } = await savedBy(model, { includeOptimizer: true });
  assert.equal(trainingConfig.optimizer_config.config.learningRate, 0.125);
});

test('metrics are restored, and TensorFlow.js loads those it supports', async () => {
  const metrics = ['accuracy', 'confusionMatrix', { name: 'precision', threshold: 0.7 }];
  const model = trainable('adam');
  const y = tl.tensor([0, 1, 2, 3, 1, 0]);
  model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'adam', metrics });
  const artifacts = await savedBy(model, { includeOptimizer: true });
  assert.deepEqual(artifacts.trainingConfig.metrics, ['accuracy']);
  const copy = await ours(artifacts);
  assert.deepEqual(
    copy.evaluate(x, y, { asObject: true }),
    model.evaluate(x, y, { asObject: true }),
  );
  const names = Object.keys(copy.evaluate(x, y, { asObject: true })).sort();
  assert.deepEqual(names, ['acc', 'confusionMatrix', 'loss', 'precision']);
  assert.deepEqual(await savedBy(copy, { includeOptimizer: true }), artifacts);
  const theirModel = await theirs(artifacts);
  assert.deepEqual(theirModel.metricsNames, ['loss', 'acc']);
  model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'adam', metrics: ['accuracy'] });
  const { trainingConfig } = await savedBy(model, { includeOptimizer: true });
  assert.equal(trainingConfig.tensorlathe_metrics, undefined);
});

test('a loss of logits is restored; TensorFlow.js loads its counterpart', async () => {
  for (const [loss, theirLoss] of [
    ['softmaxCrossEntropy', 'categoricalCrossentropy'],
    ['sigmoidCrossEntropy', 'binaryCrossentropy'],
  ]) {
    const model = tl.sequential({ layers: [layers.dense({ units: 2, inputShape: [3] })] });
    model.compile({ loss, optimizer: 'sgd' });
    const artifacts = await savedBy(model, { includeOptimizer: true });
    const copy = await ours(artifacts);
    const [one, label] = [tl.tensor([[3, -4, 5]]), tl.tensor([[1, 0]])];
    const losses = [copy, model].map((each) => each.evaluate(one, label, { asObject: true }).loss);
    assert.equal(losses[0], losses[1], loss);
    assert.equal((await theirs(artifacts)).loss, theirLoss);
  }
});

test('metrics of each output are restored', async () => {
  const input = tl.input({ shape: [3] });
  const outputs = ['a', 'b'].map((name) => layers.dense({ units: 2, name }).apply(input));
  const model = tl.model({ inputs: input, outputs, seed: 1 });
  const metrics = { a: ['r2Score'], b: 'cosine' };
  model.compile({ loss: 'meanSquaredError', optimizer: 'sgd', metrics });
  const copy = await ours(await savedBy(model, { includeOptimizer: true }));
  const three = tl.tensor([1, 2, 3], [1, 3]);
  const scores = copy.evaluate(three, [tl.tensor([[1, 2]]), tl.tensor([[3, 4]])], {
    asObject: true,
  });
  assert.deepEqual(
    Object.keys(scores)
      .filter((name) => /r2|cos/.test(name))
      .sort(),
    ['a_r2Score', 'b_cosine'],
  );
});

for (const [quantize, tolerance, share] of [
  ['uint8', 2e-2, 1 / 4],
  ['uint16', 1e-4, 1 / 2],
  ['float16', 1e-3, 1 / 2],
]) {
  test(`weights as ${quantize}: both libraries read the same numbers`, async () => {
    const model = smallModel();
    const plain = await savedBy(model);
    const artifacts = await savedBy(model, { quantize });
    assert.equal(artifacts.weightData.byteLength, plain.weightData.byteLength * share);
    const copy = await ours(artifacts);
    const theirModel = await theirs(artifacts);
    copy.getWeights().forEach((weight, at) => {
      near(weight.dataSync(), theirModel.weights[at].read().dataSync(), 1e-7);
      near(weight.dataSync(), model.getWeights()[at].dataSync(), tolerance);
    });
  });
}

test('quantization preserves zeros, constants and ranges without zero', async () => {
  for (const values of [
    [0, 0, 0, 0],
    [3, 3, 3, 3],
    [-1, 0, 0.5, 2],
    [5, 6, 7, 8],
    [-8, -7, -6, -5.5],
  ]) {
    const model = tl.sequential({ layers: [layers.dense({ units: 2, inputShape: [2] })] });
    model.setWeights([tl.tensor(values, [2, 2]), tl.tensor([0, 0])]);
    for (const quantize of ['uint8', 'uint16', 'float16']) {
      const copy = await ours(await savedBy(model, { quantize }));
      const actual = copy.getWeights()[0].dataSync();
      near(actual, values, 0.01);
      values.forEach((value, at) => value !== 0 || assert.equal(actual[at], 0));
    }
  }
});

const stored = [
  'abalone',
  'rn-mnist-cnn',
  'cvae-quickdraw/models',
  'darknet-tiny',
  'embedding-gru-layers',
];
for (const name of stored) {
  const what = `${name} predicts the recorded outputs, also after saving`;
  test(what, { skip: modelsAbsent }, async (context) => {
    const { inputs, outputs } = golden(name.replace('/', '__'));
    const model = await loadOrSkip(context, `file://${modelsFolder}/tfjs/${name}/model.json`);
    if (model === undefined) return;
    const numbers = (result) => [result].flat().map((each) => each.dataSync());
    const check = (result) =>
      numbers(result).forEach((each, at) => near(each, outputs[at].dataSync(), 1e-4));
    check(model.predict(inputs.length === 1 ? inputs[0] : inputs));
    const artifacts = await savedBy(model);
    const reloaded = await ours(artifacts);
    check(reloaded.predict(inputs.length === 1 ? inputs[0] : inputs));
    const theirModel = await theirs(artifacts);
    const theirInputs = inputs.map((each) => tf.tensor(each.dataSync(), each.shape));
    check(theirModel.predict(theirInputs.length === 1 ? theirInputs[0] : theirInputs));
    theirModel.dispose();
    model.dispose();
    reloaded.dispose();
  });
}

const small = await savedBy(smallModel());

/** The artifacts of a small model, changed. */
async function damaged(change) {
  const artifacts = structuredClone(small);
  change(artifacts, artifacts.modelTopology.config.layers, artifacts.weightSpecs);
  return ours(artifacts);
}

test('errors name the layer or the tensor', async () => {
  const cases = [
    [
      (_, all) => (all[0].class_name = 'Sphere'),
      /layer "dense_Dense1" \(Sphere\) is of an unknown class/,
    ],
    [
      (_, all) => (all[1].config.colour = 3),
      /layer "dense_Dense2" \(Dense\) has the option colour = 3/,
    ],
    [
      (_, all) => (all[0].config.activation = 'soft'),
      /"dense_Dense1".*: activation "soft" is not supported/,
    ],
    [(_, all) => delete all[0].config, /has no class_name or no config/],
    [(_, all) => (all[1].config.name = 'dense_Dense1'), /dense_Dense1/],
    [
      (_, __, specs) => (specs[0].shape = [8, 2]),
      /dense_Dense1\/kernel has shape \[8,2\].*expects \[2,8\]/,
    ],
    [(_, __, specs) => (specs[0].name = 'a/b'), /needs dense_Dense1\/kernel, which is not there/],
    [(_, __, specs) => (specs[1].dtype = 'float8'), /dense_Dense1\/bias" has the dtype "float8"/],
    [(_, __, specs) => (specs[1].shape = [-1]), /dense_Dense1\/bias" has no shape, but \[-1\]/],
    [(_, __, specs) => (specs[1].name = specs[0].name), /dense_Dense1\/kernel" occurs twice/],
    [
      (all) => (all.weightData = all.weightData.slice(0, 100)),
      /ends after 100 bytes, within .*dense_Dense2\/kernel/,
    ],
    [
      (all) => (all.weightData = new ArrayBuffer(999)),
      /it has 999 bytes, but its tensors have 204/,
    ],
    [
      (_, all) => (all[0].class_name = 'constructor'),
      /"dense_Dense1" \(constructor\) is of an unknown/,
    ],
    [
      (_, all) => (all[1].class_name = '__proto__'),
      /"dense_Dense2" \(__proto__\) is of an unknown/,
    ],
    [(_, all) => (all[1].config.constructor = [1]), /has the option constructor = \[1\], which/],
    [(_, all) => (all[1].config.kernel_initializer = 'toString'), /"toString" is not supported/],
    [
      (all) => (all.weightData = null),
      /it ends after 0 bytes, within the tensor dense_Dense1\/kernel/,
    ],
    [
      (all) => delete all.weightData,
      /it ends after 0 bytes, within the tensor dense_Dense1\/kernel/,
    ],
    [
      (all) => (all.weightData = [all.weightData, null]),
      'the model: weightData must be an ArrayBuffer or an array of them, got null',
    ],
    [
      (all) => (all.weightData = 'weights'),
      'the model: weightData must be an ArrayBuffer or an array of them, got a string',
    ],
    [
      (all) => structuredClone(all.weightData, { transfer: [all.weightData] }),
      'the model: weightData has been transferred; copy it before',
    ],
    [(all) => delete all.weightSpecs, /weight specifications are missing/],
    [(all) => delete all.modelTopology, /contains weights only/],
    [(all) => (all.modelTopology.class_name = 'Tree'), /models of class "Tree" cannot be loaded/],
    [(all) => (all.modelTopology.config.layers = 3), /the topology has no layers/],
  ];
  const { liveObjects } = tl.memory();
  for (const [change, message] of cases) await rejects(damaged(change), message);
  assert.equal(tl.memory().liveObjects, liveObjects, 'failed models are freed');
});

test('handlers whose load returns no artifacts are rejected', async () => {
  for (const nothing of [null, undefined, 7, []]) {
    await rejects(ours(nothing), /load must return model artifacts, got /);
  }
  await rejects(tl.loadLayersModel(null), /"null" is not a model address/);
  await rejects(tl.loadLayersModel({ load: 'model.json' }), /nothing can be loaded from there/);
  await rejects(smallModel().save(null), /"null" is not a model address/);
});

test('ArrayBuffers of another realm are valid weight data', async () => {
  const { runInNewContext } = await import('node:vm');
  const bytes = Array.from(new Uint8Array(small.weightData));
  const weightData = runInNewContext('new Uint8Array(bytes).buffer', { bytes });
  assert.ok(!(weightData instanceof ArrayBuffer));
  const model = await ours({ ...small, weightData });
  assert.deepEqual(model.getWeights()[0].dataSync(), smallModel().getWeights()[0].dataSync());
});

test('extra weights are an error, and ignored where strict is false', async () => {
  const artifacts = structuredClone(small);
  artifacts.weightSpecs[3].name = 'other/bias';
  await rejects(ours(artifacts), /needs dense_Dense2\/bias/);
  artifacts.weightSpecs.push({ name: 'dense_Dense2/bias', shape: [0], dtype: 'float32' });
  await rejects(ours(artifacts), /dense_Dense2\/bias has shape \[0\]/);
  artifacts.weightSpecs.pop();
  const model = await ours(artifacts, { strict: false });
  assert.deepEqual(model.getWeights()[0].dataSync(), smallModel().getWeights()[0].dataSync());
  const extra = structuredClone(small);
  extra.weightSpecs.push({ name: 'more', shape: [0], dtype: 'float32' });
  await rejects(ours(extra), /the model has no weight more/);
});

test('regularizers and constraints unknown to a class are dropped with a warning', async (t) => {
  const warn = t.mock.method(console, 'warn', () => {});
  const model = await damaged((_, all) => {
    const penalty = { class_name: 'L1L2', config: { l1: 0, l2: 0.1 } };
    Object.assign(all[0].config, { moon_regularizer: penalty, moon_constraint: null });
  });
  assert.match(warn.mock.calls[0].arguments[0], /without moon_regularizer of layer "dense_Dense1"/);
  assert.deepEqual(model.getWeights()[0].dataSync(), smallModel().getWeights()[0].dataSync());
});

test('an axis may be positive or negative', async () => {
  const artifacts = await savedBy(zoo());
  const change = (axis) => {
    const copy = structuredClone(artifacts);
    copy.modelTopology.config.layers[1].config.axis = axis;
    return ours(copy);
  };
  await change([3]);
  await change(3);
  await rejects(change([2]), /batch\w*1.gamma .*shape/);
  await rejects(change(4), /axis must be 1 to 3, or -1 to -3 from the end, got 4/);
});

test('an unsupported training configuration is a warning', async (t) => {
  const warn = t.mock.method(console, 'warn', () => {});
  const model = trainable('adam');
  const artifacts = await savedBy(model, { includeOptimizer: true });
  artifacts.trainingConfig = { ...artifacts.trainingConfig, loss: 'my_loss' };
  const copy = await ours(artifacts);
  assert.match(warn.mock.calls[0].arguments[0], /without its training: .*my_loss/);
  assert.deepEqual(copy.predict(x).dataSync(), model.predict(x).dataSync());
});

test('a failed save changes nothing', async () => {
  const model = smallModel();
  await rejects(model.save('nowhere://x'), /save: "nowhere:\/\/x" is not a model address/);
  await rejects(model.save('file://'), /not a model address/);
  await rejects(model.save({}), /nothing can be saved there/);
  await rejects(savedBy(model, { quantize: 'int4' }), /quantize must be uint8, uint16, float16/);
  await rejects(model.save('downloads://x'), /downloads:\/\/ is for pages/);
  await rejects(model.save('indexeddb://x'), /there is no IndexedDB here/);
  await rejects(model.save('localstorage://x'), /there is no localStorage here/);
  await rejects(
    tl.loadLayersModel('file:///a/model.h5'),
    /fromKeras of the module tensorlathe\/keras/,
  );
  const [kernel, ...rest] = model.getWeights();
  kernel.dataSync()[0] = NaN;
  model.setWeights([kernel, ...rest]);
  await rejects(savedBy(model, { quantize: 'uint8' }), /dense_Dense1\/kernel has NaN/);
  model.dispose();
  await rejects(model.save('file:///tmp/x'), /is already disposed/);
});

test('damaged topologies yield a model or a LatheError', async () => {
  const artifacts = await savedBy(zoo());
  const bytes = Buffer.from(JSON.stringify(artifacts.modelTopology));
  let [loaded, rejected] = [0, 0];
  for (const mutated of mutations(bytes, 600)) {
    let modelTopology;
    try {
      modelTopology = JSON.parse(Buffer.from(mutated).toString());
    } catch {
      continue;
    }
    try {
      (await ours({ ...artifacts, modelTopology })).dispose();
      ++loaded;
    } catch (error) {
      assert.equal(error.name, 'LatheError', error.stack);
      ++rejected;
    }
  }
  assert.ok(loaded > 3 && rejected > 30, `${loaded} loaded, ${rejected} rejected`);
});

test('unexpected values anywhere in a saved model yield a model or a LatheError', async (t) => {
  const warn = t.mock.method(console, 'warn', () => {});
  const net = trainable('adam');
  const withOptimizer = { includeOptimizer: true };
  for (const { weightData, ...rest } of [await savedBy(net, withOptimizer), await savedBy(zoo())]) {
    let [loaded, rejected] = [0, 0];
    for (const changed of jsonMutations(rest, 600)) {
      try {
        (await ours({ ...changed, weightData })).dispose();
        ++loaded;
      } catch (error) {
        assert.equal(error.name, 'LatheError', error.stack);
        ++rejected;
      }
    }
    assert.ok(loaded > 30 && rejected > 100, `${loaded} loaded, ${rejected} rejected`);
  }
  for (const { arguments: args } of warn.mock.calls) {
    assert.doesNotMatch(args[0], /Cannot |is not a function/);
  }
});

test('loadWeights accepts a saved model', async () => {
  const [from, to] = [smallModel({ seed: 1 }), smallModel({ seed: 2 })];
  await to.loadWeights(tl.io.fromMemory(await savedBy(from)));
  const [points] = blobs(5);
  assert.deepEqual(to.predict(points).dataSync(), from.predict(points).dataSync());
});
