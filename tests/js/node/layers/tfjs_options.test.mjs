// Options of layers and members of models by the names of TensorFlow.js, compared with it.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { throws } from '../../lib.mjs';

before(() => tf.setBackend('cpu'));

/** Asserts equal results in both libraries. */
async function same(run) {
  assert.deepEqual(await run(tl), await run(tf));
}
const row = (lib, ...layers) => lib.sequential({ layers });

test('options of TensorFlow.js', async () => {
  const { layers: l } = tl;
  const shapes = {
    'no length': (lib) => row(lib, lib.layers.embedding({ inputDim: 5, outputDim: 2 })),
    length: (lib) => row(lib, lib.layers.embedding({ inputDim: 5, outputDim: 2, inputLength: 4 })),
    nulls: (lib) =>
      row(lib, lib.layers.dense({ units: 2, inputShape: [3], useBias: null, activation: null })),
    inputDim: (lib) => row(lib, lib.layers.dense({ units: 2, inputDim: 3 })),
    implementation: (lib) =>
      row(lib, lib.layers.lstm({ units: 2, inputShape: [3, 2], implementation: 1 })),
    dtype: (lib) =>
      row(
        lib,
        lib.layers.dense({ units: 2, inputShape: [3], dtype: 'float32', inputDType: 'float32' }),
      ),
    inputLayer: (lib) =>
      row(lib, lib.layers.inputLayer({ inputShape: [3] }), lib.layers.dense({ units: 2 })),
    avgPool: (lib) =>
      row(
        lib,
        lib.layers.avgPool2d({ poolSize: 2, inputShape: [4, 4, 1] }),
        lib.layers.avgPooling2d({ poolSize: [2, 2], strides: null }),
      ),
    maxPool: (lib) =>
      row(
        lib,
        lib.layers.maxPool1d({ poolSize: 2, inputShape: [4, 1] }),
        lib.layers.globalMaxPool1d(),
      ),
  };
  for (const make of Object.values(shapes)) {
    await same((lib) => [make(lib).outputShape, make(lib).inputs[0].shape.slice(1)]);
  }
  const sequences = row(tl, l.gru({ units: 2, inputDim: 3, inputLength: 4 }));
  assert.deepEqual(sequences.inputShape, [null, 4, 3]);
  assert.equal(
    row(tl, l.dense({ units: 1, inputShape: [2], batchSize: 4 })).layers[0].batchSize,
    4,
  );
  const [first, second] = l
    .bidirectional({ layer: l.lstm({ units: 2 }), mergeMode: null })
    .apply(tl.input({ shape: [3, 1] }));
  assert.deepEqual(
    [first.shape, second.shape],
    [
      [null, 2],
      [null, 2],
    ],
  );
  throws(
    () => l.dense({ units: 2, dtype: 'float64' }),
    /^layers.dense: dtype must be float32, got float64/,
  );
  throws(
    () => l.conv2d({ filters: 0, kernelSize: 3 }),
    "layers.conv2d: Expected filters to be a 'number' > 0, got 0.",
  );
  throws(
    () => l.conv2d({ filters: 1, kernelSize: [3, -1] }),
    'layers.conv2d: kernelSize must be a positive integer, got -1.',
  );
});

test('classes with their configuration, and first weights', async () => {
  await same((lib) => {
    const model = row(
      lib,
      lib.layers.dense({
        units: 2,
        inputShape: [2],
        kernelInitializer: { className: 'Constant', config: { value: 3 } },
        biasInitializer: 'Ones',
        kernelRegularizer: { className: 'L1L2', config: { l1: 0.5, l2: 0.25 } },
        kernelConstraint: { className: 'MaxNorm', config: { maxValue: 10, axis: 0 } },
      }),
      lib.layers.dense({ units: 1, weights: [lib.tensor2d([[1], [2]]), lib.tensor1d([3])] }),
    );
    return model.predict(lib.ones([1, 2])).arraySync();
  });
  const weights = [tl.zeros([3, 1]), tl.zeros([1])];
  throws(
    () => row(tl, tl.layers.dense({ units: 1, inputShape: [2], weights })),
    /kernel has shape \[2,1\], got \[3,1\]/,
  );
});

test('weights one by one', async () => {
  await same((lib) => {
    const model = row(
      lib,
      lib.layers.dense({ units: 2, inputShape: [3], name: 'a' }),
      lib.layers.batchNormalization({ name: 'b' }),
      lib.layers.dense({ units: 1, name: 'c' }),
    );
    const described = (list) =>
      list.map(({ name, shape, dtype, trainable }) => [name, [...shape], dtype, trainable]);
    const before = [model.layers[0], model.layers[1]].map(({ weights }) => described(weights));
    const counts = () =>
      [model.weights, model.trainableWeights, model.nonTrainableWeights].map(
        ({ length }) => length,
      );
    const all = counts();
    model.layers[0].trainable = false;
    const frozen = counts();
    const [kernel] = model.layers[2].weights;
    kernel.write(lib.ones([2, 1]));
    return [
      before,
      all,
      frozen,
      [...kernel.read().dataSync()],
      [...model.layers[2].getWeights()[0].dataSync()],
    ];
  });
  assert.deepEqual(tl.layers.dense({ units: 1 }).weights, []);
  assert.deepEqual(tl.layers.dense({ units: 1 }).getWeights(), []);
});

test('layers are removed and added', () => {
  const model = row(
    tl,
    tl.layers.dense({ units: 3, inputShape: [2] }),
    tl.layers.dense({ units: 5 }),
  );
  const retained = model.layers[0].getWeights()[0].dataSync();
  model.pop();
  assert.deepEqual(
    [model.outputShape, model.output.shape, model.layers.length],
    [[null, 3], [null, 3], 1],
  );
  model.add(tl.layers.dense({ units: 4 }));
  assert.deepEqual(model.predictOnBatch(tl.ones([6, 2])).shape, [6, 4]);
  assert.deepEqual(model.layers[0].getWeights()[0].dataSync(), retained);
  throws(() => tl.sequential().pop(), 'pop: there are no layers in the model');
});

test('callbacks may call those of their class', async () => {
  const epochs = [];
  class Custom extends tl.Callback {
    async onEpochEnd(epoch, logs) {
      await super.onEpochEnd(epoch, logs);
      await super.onTrainBegin(logs);
      epochs.push(epoch);
    }
  }
  const model = row(tl, tl.layers.dense({ units: 1, inputShape: [1] }));
  model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
  await model.fit(tl.ones([4]), tl.ones([4]), { epochs: 2, callbacks: new Custom() });
  assert.deepEqual(epochs, [0, 1]);
  tl.callbacks.earlyStopping({ minDelta: -0.1 });
});

test('the inputShape of a layer after others is ignored', () =>
  same((lib) => {
    const { dense } = lib.layers;
    const model = row(
      lib,
      dense({ units: 3, inputShape: [2] }),
      dense({ units: 1, inputShape: [7] }),
    );
    const x = lib.input({ shape: [2] });
    const y = dense({ units: 4, inputShape: [9] }).apply(x);
    const both = lib.model({ inputs: x, outputs: [y, model.apply(x)] });
    return both.predict(lib.ones([5, 2])).map(({ shape }) => shape);
  }));

test('factories accept what getConfig of TensorFlow.js returns', () => {
  const conv = { filters: 2, kernelSize: 3 };
  const args = {
    dense: { units: 2 },
    conv2d: conv,
    conv2dTranspose: conv,
    depthwiseConv2d: { kernelSize: 3 },
    separableConv2d: conv,
    maxPooling2d: {},
    globalAveragePooling2d: {},
    batchNormalization: {},
    embedding: { inputDim: 3, outputDim: 2 },
    lstm: { units: 2 },
    gru: { units: 2 },
    simpleRNN: { units: 2 },
    convLstm2d: conv,
    dropout: { rate: 0.5 },
    reLU: {},
    leakyReLU: {},
    prelu: {},
    reshape: { targetShape: [2, 2] },
  };
  for (const [name, given] of Object.entries(args)) {
    const config = tf.layers[name]({ ...given, inputShape: [4, 4, 4] }).getConfig();
    assert.equal(tl.layers[name](config).name, config.name, name);
  }
});
