// Training configurations of saved models, saved by one library and loaded by the other.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { assertSameResult, waves } from '../../compare_tfjs.mjs';

before(() => tf.setBackend('cpu'));

async function artifactsOf(lib, model, args = { includeOptimizer: true }) {
  let artifacts;
  const save = async (parts) => {
    artifacts = parts;
    return { modelArtifactsInfo: { dateSaved: new Date(), modelTopologyType: 'JSON' } };
  };
  await model.save(lib === tl ? { save } : tf.io.withSaveHandler(save), args);
  return artifacts;
}

const read = (lib, artifacts) =>
  lib.loadLayersModel(lib === tl ? { load: async () => artifacts } : tf.io.fromMemory(artifacts));

const fit = (lib, model) =>
  model.fit(waves(lib, [6, 3]), waves(lib, [6, 2], 9), { epochs: 2, shuffle: false, verbose: 0 });

/** A trained model whose layers are called as those of every other one. */
async function trained(lib, optimizer, metrics = []) {
  // From other weights adadelta diverges in both, and amplifies rounding errors.
  const dense = (args) => {
    const kernelInitializer = lib.initializers.glorotUniform({ seed: 9 });
    return lib.layers.dense({ kernelInitializer, ...args });
  };
  const layers = [
    dense({ units: 4, inputShape: [3], activation: 'tanh', name: 'first' }),
    lib.layers.batchNormalization({ name: 'norm' }),
    dense({ units: 2, name: 'last' }),
  ];
  const model = lib.sequential({ layers });
  model.compile({ loss: 'meanSquaredError', optimizer, metrics });
  await fit(lib, model);
  return model;
}

const optimizers = {
  adam: () => 'adam',
  adagrad: () => 'adagrad',
  adadelta: () => 'adadelta',
  momentum: () => tf.train.momentum(0.1, 0.9),
  rmsprop: () => tf.train.rmsprop(0.01),
};
for (const [name, optimizer] of Object.entries(optimizers)) {
  test(`${name} continues as in TensorFlow.js, whatever the names of its states`, async () => {
    await trained(tf, optimizer());
    const artifacts = await artifactsOf(tf, await trained(tf, optimizer()));
    const names = artifacts.weightSpecs.map((spec) => spec.name);
    assert.ok(names.some((each) => /_\d+\//.test(each)));
    await assertSameResult(async (lib) => {
      const model = await read(lib, artifacts);
      const { history } = await fit(lib, model);
      return [history.loss, model.getWeights()];
    });
  });
}

const metrics = [
  ['mae', 'mse', 'mape', 'cosine'],
  ['accuracy', 'binaryAccuracy', 'categoricalAccuracy', 'precision'],
  ['categoricalCrossentropy', 'acc'],
  ['ce', 'mae'],
  'mae',
  { last: 'mse' },
];
for (const metric of metrics) {
  test(`metrics ${JSON.stringify(metric)} are loaded and saved`, async () => {
    for (const from of [tf, tl]) {
      const model = await trained(from, 'sgd', metric);
      const artifacts = await artifactsOf(from, model);
      for (const to of [tf, tl]) {
        const { metricsNames } = await read(to, artifacts);
        assert.deepEqual([...metricsNames], [...model.metricsNames]);
      }
    }
  });
}

test('a file has the digits of the learning rate that the program wrote', async () => {
  await assertSameResult(async (lib) => {
    const model = await trained(lib, lib.train.sgd(0.02));
    const rateOf = async () =>
      (await artifactsOf(lib, model)).trainingConfig.optimizer_config.config.learningRate;
    const before = await rateOf();
    model.optimizer.setLearningRate(0.003);
    return [before, await rateOf()];
  });
});

test('long names of metrics are saved as TensorFlow.js has them, and restored', async () => {
  const names = ['meanSquaredError', 'r2Score', 'cosineProximity'];
  const model = await trained(tl, 'sgd', names);
  const artifacts = await artifactsOf(tl, model);
  assert.deepEqual(artifacts.trainingConfig.metrics, ['mse', 'cosine']);
  assert.deepEqual((await read(tf, artifacts)).metricsNames, ['loss', 'mse', 'cosine']);
  assert.deepEqual((await read(tl, artifacts)).metricsNames, model.metricsNames);
});

test('trainableOnly saves the weights that training changes', async () => {
  for (const includeOptimizer of [false, true]) {
    await assertSameResult(async (lib) => {
      const model = await trained(lib, 'sgd');
      model.layers[2].trainable = false;
      const args = { trainableOnly: true, includeOptimizer };
      const { weightSpecs, weightData } = await artifactsOf(lib, model, args);
      return [weightSpecs.map(({ shape, group }) => [shape, group]), weightData.byteLength];
    });
  }
});

test('saved layers whose shape differs from that of their inputs', async () => {
  const input = tf.input({ shape: [2] });
  const layer = tf.layers.dense({ units: 3, inputShape: [7], kernelInitializer: 'ones' });
  const theirs = tf.model({ inputs: input, outputs: layer.apply(input) });
  let saved;
  await theirs.save(tf.io.withSaveHandler(async (artifacts) => (saved = artifacts)));
  const ours = await tl.loadLayersModel({ load: async () => saved }, { streamWeights: true });
  assert.deepEqual(ours.predict(tl.ones([1, 2])).arraySync(), [[2, 2, 2]]);
});
