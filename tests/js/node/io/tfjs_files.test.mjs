// Models saved by TensorFlow.js and the Keras converters are loaded, with equal predictions.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { readTopology } from '../../../../js/dist/io/topology.js';
import { inFolder, networkOf, predictions, skip as noCommand, writeModel } from '../../command.mjs';
import { missingData } from '../../../../tools/data.mjs';
import { largestDifference } from '../../lib.mjs';
import { modelsFolder } from '../../models.mjs';

before(() => tf.setBackend('cpu'));

const published = {
  abalone: 'abalone',
  'darknet-tiny': 'darknet-tiny',
  'cvae-quickdraw/models': 'cvae-quickdraw__models',
  'embedding-gru-layers': 'embedding-gru-layers',
  'rn-mnist-cnn': 'rn-mnist-cnn',
};

for (const [name, golden] of Object.entries(published)) {
  const file = `${modelsFolder}/tfjs/${name}/model.json`;
  const skip = missingData('models/tfjs', name, 'model.json');
  test(`${name} has the predictions of its publication`, { skip }, async () => {
    const model = await tl.loadLayersModel(`file://${file}`);
    const folder = `${modelsFolder}/golden_tfjs/${golden}`;
    const { inputs, outputs } = JSON.parse(readFileSync(`${folder}/meta.json`, 'utf8'));
    const read = ({ file: part, dtype, dims }) => {
      const bytes = readFileSync(`${folder}/${part}`);
      const copy = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
      return tl.tensor(dtype === 'int32' ? new Int32Array(copy) : new Float32Array(copy), dims);
    };
    const result = [model.predict(inputs.map(read))].flat();
    const values = inputs.map((each) => read(each).dataSync());
    const compiled = noCommand
      ? []
      : await predictions(
          file,
          values,
          inputs.map(({ dims }) => dims),
        );
    for (const [at, output] of outputs.entries()) {
      const expected = read(output).dataSync();
      const scale = Math.max(1, ...expected.map(Math.abs));
      assert.ok(largestDifference(result[at].dataSync(), expected) / scale < 1e-4);
      if (!noCommand) assert.ok(largestDifference(compiled[at], expected) / scale < 1e-4);
    }
    model.dispose();
  });
}

const l = tf.layers;
const row = (...layers) => tf.sequential({ layers });
const dense = (units, rest = {}) => l.dense({ units, biasInitializer: 'randomNormal', ...rest });
const asIs = (artifacts) => artifacts;
/** Changes every layer of a topology, nested ones too. */
const eachLayer = (change) => (artifacts) => {
  const visit = (layer) => {
    for (const inner of layer.config?.layers ?? (Array.isArray(layer.config) ? layer.config : []))
      visit(inner);
    change(layer);
  };
  visit(artifacts.modelTopology);
  return artifacts;
};

/** Models in TensorFlow.js, input shapes, and edits that imitate files of other writers. */
const files = {
  'layers in a row': [
    () => row(dense(4, { inputShape: [3], activation: 'relu' }), dense(2)),
    [[5, 3]],
  ],
  'shapes on later layers': [
    () => row(dense(4, { inputShape: [3] }), dense(5, { inputShape: [4] }), dense(2)),
    [[5, 3]],
    eachLayer(({ config }) => {
      if (config.units === 5) config.batch_input_shape = [null, 77];
    }),
  ],
  'Keras 1: a list of layers': [
    () => row(dense(4, { inputShape: [3] }), dense(2)),
    [[5, 3]],
    (artifacts) => {
      artifacts.modelTopology.config = artifacts.modelTopology.config.layers;
      return artifacts;
    },
  ],
  'model_config, training_config': [
    () => row(dense(4, { inputShape: [3] }), dense(2)),
    [[5, 3]],
    (artifacts) => {
      const optimizer_config = {
        class_name: 'Adam',
        config: { learning_rate: 0.01, name: 'Adam' },
      };
      const training_config = { loss: 'mse', metrics: [], optimizer_config };
      artifacts.modelTopology = {
        keras_version: '2.4.0',
        backend: 'tensorflow',
        model_config: artifacts.modelTopology,
        training_config,
      };
      return artifacts;
    },
  ],
  'dtype policies': [
    () => row(dense(4, { inputShape: [3] }), dense(2)),
    [[5, 3]],
    eachLayer(({ config }) => {
      if (config.units) config.dtype = { class_name: 'Policy', config: { name: 'float32' } };
    }),
  ],
  'weights with the number of their output, in parts': [
    () => row(dense(4, { inputShape: [3] }), dense(2)),
    [[5, 3]],
    (artifacts) => {
      for (const each of artifacts.weightSpecs) each.name = `${each.name}:0`;
      const weightBytes = tf.io.concatenateArrayBuffers([artifacts.weightData].flat());
      artifacts.weightData = [weightBytes.slice(0, 40), weightBytes.slice(40)];
      return artifacts;
    },
  ],
  images: [
    () =>
      row(
        l.conv2d({
          filters: 3,
          kernelSize: 3,
          inputShape: [8, 7, 2],
          padding: 'same',
          useBias: false,
        }),
        l.batchNormalization({
          betaInitializer: 'randomNormal',
          movingMeanInitializer: 'randomNormal',
        }),
        l.leakyReLU({ alpha: 0.2 }),
        l.maxPooling2d({ poolSize: 2 }),
        l.depthwiseConv2d({ kernelSize: 2 }),
        l.globalAveragePooling2d({}),
        dense(2, { activation: 'softmax' }),
      ),
    [[3, 8, 7, 2]],
  ],
  'null axes': [
    () =>
      row(
        l.conv2d({ filters: 3, kernelSize: 3, inputShape: [null, null, 2] }),
        l.globalMaxPooling2d({}),
      ),
    [[2, 6, 9, 2]],
  ],
  'words of any number': [
    () =>
      row(
        l.embedding({ inputDim: 7, outputDim: 3, maskZero: true }),
        l.lstm({ units: 4 }),
        dense(1),
      ),
    [[4, 5]],
  ],
  'both directions, every step': [
    () =>
      row(
        l.bidirectional({
          layer: l.gru({ units: 3, returnSequences: true }),
          inputShape: [5, 2],
          mergeMode: 'sum',
        }),
        l.timeDistributed({ layer: dense(2) }),
      ),
    [[3, 5, 2]],
  ],
  'states from batch to batch': [
    () => row(l.lstm({ units: 3, batchInputShape: [2, 4, 2], stateful: true }), dense(1)),
    [[2, 4, 2]],
  ],
  'models in a row': [() => row(row(dense(4, { inputShape: [3] }), dense(3)), dense(2)), [[5, 3]]],
  'two inputs, a shared layer, two outputs': [
    () => {
      const [a, b] = [tf.input({ shape: [3], name: 'a' }), tf.input({ shape: [3], name: 'b' })];
      const shared = dense(4, { name: 'shared' });
      const sum = l.add().apply([shared.apply(a), shared.apply(b)]);
      return tf.model({
        inputs: [a, b],
        outputs: [dense(2).apply(sum), l.concatenate().apply([sum, a])],
      });
    },
    [
      [5, 3],
      [5, 3],
    ],
  ],
  'a graph by the name Functional': [
    () => {
      const a = tf.input({ shape: [3] });
      return tf.model({ inputs: a, outputs: l.multiply().apply([dense(3).apply(a), a]) });
    },
    [[5, 3]],
    (artifacts) => {
      artifacts.modelTopology.class_name = 'Functional';
      return artifacts;
    },
  ],
  'a model within a graph': [
    () => {
      const a = tf.input({ shape: [3] });
      const inner = row(dense(4, { inputShape: [3] }), l.dropout({ rate: 0.5 }));
      return tf.model({ inputs: a, outputs: dense(2).apply(inner.apply(a)) });
    },
    [[5, 3]],
  ],
  'regularizers, constraints, initializers': [
    () =>
      row(
        dense(4, {
          inputShape: [3],
          kernelInitializer: tf.initializers.varianceScaling({
            scale: 2,
            mode: 'fanOut',
            distribution: 'uniform',
          }),
          kernelRegularizer: tf.regularizers.l1l2({ l1: 0.1, l2: 0.2 }),
          kernelConstraint: tf.constraints.maxNorm({ maxValue: 2 }),
        }),
        dense(2, { biasRegularizer: 'l1l2', activation: 'tanh' }),
      ),
    [[5, 3]],
  ],
};

/** The command line reads the same network as the package, and its module predicts the same. */
async function checkCommand(artifacts, numbers, shapes, expected) {
  if (noCommand) return;
  await inFolder(async (folder) => {
    writeModel(folder, artifacts);
    const { network } = readTopology(artifacts.modelTopology, 'model.json');
    assert.deepEqual(networkOf(folder), JSON.parse(JSON.stringify(network)));
    const outputs = await predictions(folder, numbers, shapes);
    assert.equal(outputs.length, expected.length);
    outputs.forEach((output, at) => {
      assert.ok(largestDifference(output, expected[at].dataSync()) < 1e-5);
    });
  });
}

for (const [name, [make, shapes, rewrite = asIs]] of Object.entries(files)) {
  test(`a file of TensorFlow.js: ${name}`, async () => {
    const theirs = make();
    let saved;
    await theirs.save(tf.io.withSaveHandler((artifacts) => ((saved = artifacts), {})));
    const copy = { ...saved, modelTopology: structuredClone(saved.modelTopology) };
    const artifacts = rewrite(copy);
    const ours = await tl.loadLayersModel({ load: async () => artifacts });
    const isWords = name.startsWith('words');
    const numbers = shapes.map((shape, input) => {
      const size = shape.reduce((product, each) => product * each, 1);
      return Float32Array.from({ length: size }, (_, at) =>
        isWords ? (3 * at) % 7 : Math.sin(at + input),
      );
    });
    const result = (lib, model) => {
      const x = numbers.map((each, at) => lib.tensor(each, shapes[at]));
      return [model.predict(x.length === 1 ? x[0] : x, { batchSize: shapes[0][0] })].flat();
    };
    const expected = result(tf, theirs);
    result(tl, ours).forEach((output, at) => {
      assert.deepEqual([...output.shape], expected[at].shape);
      assert.ok(largestDifference(output.dataSync(), expected[at].dataSync()) < 1e-5);
    });
    await checkCommand(artifacts, numbers, shapes, expected);
    // And back: TensorFlow.js loads what is saved here.
    let exported;
    await ours.save({ save: async (parts) => ((exported = parts), {}) });
    await checkCommand(exported, numbers, shapes, expected);
    const reloaded = await tf.loadLayersModel(tf.io.fromMemory(exported));
    reloaded.resetStates();
    result(tf, reloaded).forEach((output, at) => {
      assert.ok(largestDifference(output.dataSync(), expected[at].dataSync()) < 1e-5);
    });
    ours.dispose();
  });
}
