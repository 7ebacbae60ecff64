// Expectations of the layer specs of TensorFlow.js about training and topologies.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe/tfjs';
import { assertSameResult } from '../../compare_tfjs.mjs';

before(() => Promise.all([tf.setBackend('cpu'), tl.ready()]));

/** Widely separated logits, so that probabilities are 0 and 1 in float32. */
function sure(lib, loss, activation, units) {
  const layer = lib.layers.dense({ units, activation, inputShape: [units], useBias: false });
  const model = lib.sequential({ layers: [layer] });
  model.setWeights([lib.eye(units)]);
  model.compile({ loss, optimizer: lib.train.sgd(0.1), metrics: [lib.metrics[loss] ?? loss] });
  return model;
}

const labels = {
  binaryCrossentropy: ['sigmoid', 1, [[0], [1], [0], [1]]],
  categoricalCrossentropy: [
    'softmax',
    2,
    [
      [0, 1],
      [1, 0],
      [0.5, 0.5],
      [0, 1],
    ],
  ],
  sparseCategoricalCrossentropy: ['softmax', 2, [[1], [0], [0], [1]]],
};

for (const [loss, [activation, units, y]] of Object.entries(labels)) {
  for (const logit of [0.5, 8, 17, 40, 300]) {
    test(`${loss} at logits of ${logit} is that of probabilities from 1e-7 to 1 - 1e-7`, async () => {
      await assertSameResult(
        async (lib) => {
          const model = sure(lib, loss, activation, units);
          const row = units === 1 ? [logit] : [logit, -logit / 2];
          const x = lib.tensor2d([row, row, row.map((each) => -each), row]);
          const labeled = lib.tensor2d(y);
          const before = model.evaluate(x, labeled);
          const { history } = await model.fit(x, labeled, {
            epochs: 2,
            shuffle: false,
            verbose: 0,
          });
          return [before, history.loss, model.getWeights()];
        },
        1e-4,
        tl,
      );
    });
  }
}

test('mean-preserving noise with rate 1 changes nothing', async () => {
  for (const maker of ['gaussianDropout', 'alphaDropout']) {
    for (const training of [true, false]) {
      const x = tl.tensor2d([[1, 2, -3]]);
      const y = tl.layers[maker]({ rate: 1 }).apply(x, { training });
      assert.deepEqual(y.arraySync(), x.arraySync());
    }
    assert.throws(() => tl.layers[maker]({ rate: 1.5 }).apply(tl.ones([1, 2])), /rate must be/);
  }
});

/** A topology whose entries are not called as their layers are. */
const renamed = (config) => ({
  class_name: 'Model',
  config: {
    name: 'm',
    layers: [
      {
        class_name: 'InputLayer',
        name: 'x',
        config: { name: 'x', batch_input_shape: [null, 2] },
        inbound_nodes: [],
      },
      { class_name: 'Dense', name: 'first', config, inbound_nodes: [[['x', 0, 0, {}]]] },
      {
        class_name: 'Activation',
        name: 'last',
        config: { name: 'other', activation: 'relu' },
        inbound_nodes: [[['first', 0, 0, {}]]],
      },
    ],
    input_layers: [['x', 0, 0]],
    output_layers: [['last', 0, 0]],
  },
});

test('modelFromJSON: entries refer to each other by name', async () => {
  const topology = renamed({ name: 'layer_a', units: 3 });
  const model = await tl.models.modelFromJSON({ modelTopology: topology });
  assert.deepEqual(
    model.layers.map(({ name }) => name),
    ['x', 'layer_a', 'other'],
  );
  assert.deepEqual(model.outputs[0].shape, [null, 3]);
});

/** Installs a fetch that serves these files while `action` runs; returns the requested paths. */
async function answering(files, action) {
  const { platform } = tl.env();
  const { fetch } = platform;
  const requested = [];
  platform.fetch = async (path) => {
    requested.push(path);
    if (!(path in files)) throw new Error(`no ${path}`);
    return new Response(files[path]);
  };
  try {
    await action();
  } finally {
    platform.fetch = fetch;
  }
  return requested;
}

const manifest = [
  { paths: ['w0'], weights: [{ name: 'layer_a/kernel', shape: [2, 3], dtype: 'float32' }] },
  { paths: ['w1'], weights: [{ name: 'layer_a/bias', shape: [3], dtype: 'float32' }] },
];

for (const pathPrefix of ['.', './', './home', './home/']) {
  test(`modelFromJSON loads the weights of a manifest below ${pathPrefix}`, async () => {
    const folder = pathPrefix.replace(/[^/]$/, '$&/');
    const files = {
      [`${folder}w0`]: new Float32Array(6).fill(2),
      [`${folder}w1`]: new Float32Array(3).fill(3),
    };
    await answering(files, async () => {
      const modelTopology = { model_config: renamed({ name: 'layer_a', units: 3 }) };
      const json = { modelTopology, weightsManifest: manifest, pathPrefix };
      const model = await tl.models.modelFromJSON(json);
      assert.deepEqual(model.predict(tl.ones([1, 2])).arraySync(), [[7, 7, 7]]);
    });
  });
}

test('a fetch that a program puts in gets relative addresses in Node, too', async () => {
  const modelTopology = renamed({ name: 'layer_a', units: 3 });
  const seen = [];
  const files = {
    'model/model.json': JSON.stringify({ modelTopology, weightsManifest: manifest }),
    'model/w0': new Float32Array(6).fill(2),
    'model/w1': new Float32Array(3).fill(3),
  };
  const requested = await answering(files, async () => {
    const onProgress = (share) => seen.push(share);
    const model = await tl.loadLayersModel('model/model.json', { onProgress });
    assert.deepEqual(model.predict(tl.ones([1, 2])).arraySync(), [[7, 7, 7]]);
  });
  assert.deepEqual(requested.sort(), Object.keys(files).sort());
  assert.deepEqual(seen, [0.25, 0.5, 0.75, 1]);
  await assert.rejects(tl.loadLayersModel('model/model.json'), /cannot read model\/model.json/);
});

test('validationBatchSize is the size of batches of validation', async () => {
  const model = sure(tl, 'binaryCrossentropy', 'sigmoid', 1);
  const [x, y] = [tl.ones([7, 1]), tl.ones([7, 1])];
  const fit = (args) => model.fit(x, y, { validationData: [x, y], shuffle: false, ...args });
  const losses = [];
  for (const validationBatchSize of [undefined, 1, 3, 100]) {
    model.setWeights([tl.eye(1)]);
    losses.push((await fit({ batchSize: 2, validationBatchSize })).history.val_loss[0]);
  }
  for (const each of losses) assert.ok(Math.abs(each - losses[0]) < 1e-6, losses.join());
  await assert.rejects(fit({ validationBatchSize: 0 }), /validationBatchSize must be/);
});

test('randomWidth has the same errors for its factor as TensorFlow.js', async () => {
  const factors = [-0.5, [-5, 0.3], [-5, 0.3, 7], [0.5, 0.3], [1], 0];
  for (const factor of factors) {
    const errors = [tf, tl].map((lib) => {
      try {
        lib.layers.randomWidth({ factor });
        return 'nothing';
      } catch (error) {
        return error.message.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
      }
    });
    assert.equal(errors[1], errors[0]);
  }
});

test('toJSON of models, also of loaded ones, has null for unset values', async () => {
  await assertSameResult(
    async ({ layers, models, sequential }) => {
      const name = (at) => ({ name: `layer${at}` });
      const first = { inputDim: 5, outputDim: 2, inputShape: [3], ...name(0) };
      const model = sequential({
        name: 'm',
        layers: [
          layers.embedding(first),
          layers.lstm({ units: 2, returnSequences: true, ...name(1) }),
          layers.dropout({ rate: 0.5, ...name(2) }),
          layers.bidirectional({
            layer: layers.gru({ units: 2, ...name(3) }),
            mergeMode: 'concat',
            ...name(4),
          }),
          layers.dense({ units: 2, kernelInitializer: 'heNormal', ...name(5) }),
        ],
      });
      const made = model.toJSON();
      const loaded = (await models.modelFromJSON(JSON.parse(made))).toJSON(null, false);
      return [JSON.parse(made), loaded];
    },
    0,
    tl,
  );
});
