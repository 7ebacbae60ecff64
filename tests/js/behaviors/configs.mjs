// Configurations of layers and their parts: getConfig, toJSON, fromConfig.
import { differs, each, graph, numbers, row } from './build.mjs';

/** Every layer function with arguments. */
const made = [
  ['dense', { units: 3 }],
  ['dense', { units: 3, activation: 'relu', useBias: false, name: 'd', trainable: false }],
  ['dense', { units: 3, inputShape: [4] }],
  ['dense', { units: 3, inputDim: 4 }],
  ['dense', { units: 3, batchInputShape: [null, 4] }],
  ['dense', { units: 3, inputShape: [4], batchSize: 8 }],
  ['dense', { units: 3, inputShape: [4], dtype: 'float32' }],
  ['dense', { units: 3, kernelInitializer: 'zeros', biasInitializer: 'ones' }],
  [
    'dense',
    { units: 3, kernelRegularizer: 'l1l2', biasRegularizer: 'l1l2', activityRegularizer: 'l1l2' },
  ],
  ['dense', { units: 3, kernelConstraint: 'maxNorm', biasConstraint: 'nonNeg' }],
  ['dense', { units: 3, kernelConstraint: 'unitNorm', biasConstraint: 'minMaxNorm' }],
  ['activation', { activation: 'relu' }],
  ['activation', { activation: 'hardSigmoid' }],
  ['conv1d', { filters: 2, kernelSize: 3 }],
  ['conv1d', { filters: 2, kernelSize: [3], strides: 2, padding: 'same', activation: 'tanh' }],
  ['conv1d', { filters: 2, kernelSize: 3, padding: 'causal', dilationRate: 2 }],
  ['conv2d', { filters: 2, kernelSize: 3 }],
  ['conv2d', { filters: 2, kernelSize: [3, 2], strides: [2, 1], padding: 'same', useBias: false }],
  ['conv2d', { filters: 2, kernelSize: 3, dataFormat: 'channelsFirst', dilationRate: 2 }],
  ['conv3d', { filters: 2, kernelSize: 3 }],
  ['conv3d', { filters: 2, kernelSize: [1, 2, 3], strides: 2 }],
  ['conv2dTranspose', { filters: 2, kernelSize: 3 }],
  ['conv2dTranspose', { filters: 2, kernelSize: 3, strides: 2, padding: 'same' }],
  ['conv3dTranspose', { filters: 2, kernelSize: 3 }],
  ['depthwiseConv2d', { kernelSize: 3 }],
  ['depthwiseConv2d', { kernelSize: [3, 2], depthMultiplier: 2, strides: 2 }],
  ['separableConv2d', { filters: 2, kernelSize: 3 }],
  [
    'separableConv2d',
    { filters: 2, kernelSize: 3, depthMultiplier: 2, pointwiseInitializer: 'zeros' },
  ],
  ['maxPooling1d', {}],
  ['maxPooling1d', { poolSize: 3, strides: 2, padding: 'same' }],
  ['averagePooling1d', {}],
  ['averagePooling1d', { poolSize: [3] }],
  ['maxPooling2d', {}],
  ['maxPooling2d', { poolSize: 3, strides: [1, 2], padding: 'same' }],
  ['maxPooling2d', { poolSize: [2, 3], dataFormat: 'channelsFirst' }],
  ['averagePooling2d', {}],
  ['averagePooling2d', { poolSize: 3, strides: 1 }],
  ['maxPooling3d', {}],
  ['maxPooling3d', { poolSize: 3, strides: 1 }],
  ['averagePooling3d', {}],
  ['globalMaxPooling1d', {}],
  ['globalAveragePooling1d', {}],
  ['globalMaxPooling2d', {}],
  ['globalMaxPooling2d', { dataFormat: 'channelsFirst' }],
  ['globalAveragePooling2d', {}],
  ['batchNormalization', {}],
  ['batchNormalization', { axis: 1, momentum: 0.9, epsilon: 0.01, center: false, scale: false }],
  [
    'batchNormalization',
    { gammaRegularizer: 'l1l2', betaConstraint: 'nonNeg', movingMeanInitializer: 'ones' },
  ],
  ['layerNormalization', {}],
  ['layerNormalization', { axis: [1, 2], epsilon: 0.1, center: false }],
  ['flatten', {}],
  ['flatten', { dataFormat: 'channelsFirst' }],
  ['reshape', { targetShape: [2, 3] }],
  ['reshape', { targetShape: [-1, 3] }],
  ['permute', { dims: [2, 1] }],
  ['repeatVector', { n: 3 }],
  ['zeroPadding2d', {}],
  ['zeroPadding2d', { padding: 2 }],
  ['zeroPadding2d', { padding: [1, 2] }],
  [
    'zeroPadding2d',
    {
      padding: [
        [1, 2],
        [3, 4],
      ],
      dataFormat: 'channelsFirst',
    },
  ],
  ['cropping2D', { cropping: 1 }],
  ['cropping2D', { cropping: [1, 2] }],
  [
    'cropping2D',
    {
      cropping: [
        [1, 2],
        [3, 4],
      ],
    },
  ],
  ['upSampling2d', {}],
  ['upSampling2d', { size: [3, 2], interpolation: 'bilinear' }],
  ['embedding', { inputDim: 5, outputDim: 2 }],
  ['embedding', { inputDim: 5, outputDim: 2, maskZero: true, inputLength: 4 }],
  [
    'embedding',
    { inputDim: 5, outputDim: 2, embeddingsInitializer: 'zeros', embeddingsRegularizer: 'l1l2' },
  ],
  ['masking', {}],
  ['masking', { maskValue: 2 }],
  ['add', {}],
  ['multiply', {}],
  ['average', {}],
  ['maximum', {}],
  ['minimum', {}],
  ['concatenate', {}],
  ['concatenate', { axis: 1 }],
  ['dot', { axes: 1 }],
  ['dot', { axes: [1, 2], normalize: true }],
  ['simpleRNN', { units: 3 }],
  [
    'simpleRNN',
    { units: 3, returnSequences: true, goBackwards: true, activation: 'relu', dropout: 0.1 },
  ],
  ['lstm', { units: 3 }],
  ['lstm', { units: 3, recurrentActivation: 'sigmoid', unitForgetBias: false, implementation: 2 }],
  [
    'lstm',
    { units: 3, returnSequences: true, returnState: true, stateful: true, recurrentDropout: 0.2 },
  ],
  ['lstm', { units: 3, unroll: true, kernelRegularizer: 'l1l2', recurrentConstraint: 'maxNorm' }],
  ['gru', { units: 3 }],
  ['gru', { units: 3, useBias: false, resetAfter: false, recurrentInitializer: 'glorotNormal' }],
  ['convLstm2d', { filters: 2, kernelSize: 3 }],
  ['convLstm2d', { filters: 2, kernelSize: 3, strides: 2, padding: 'same', returnSequences: true }],
  ['simpleRNNCell', { units: 3 }],
  ['lstmCell', { units: 3 }],
  ['gruCell', { units: 3 }],
  ['convLstm2d', { filters: 2, kernelSize: 3, dataFormat: 'channelsFirst' }],
  ['convLstm2dCell', { filters: 2, kernelSize: 3 }],
  ['reLU', {}],
  ['reLU', { maxValue: 6 }],
  ['leakyReLU', {}],
  ['leakyReLU', { alpha: 0.1 }],
  ['prelu', {}],
  ['prelu', { sharedAxes: [1, 2], alphaInitializer: 'ones' }],
  ['elu', {}],
  ['thresholdedReLU', {}],
  ['thresholdedReLU', { theta: 2 }],
  ['softmax', {}],
  ['softmax', { axis: 1 }],
  ['rescaling', { scale: 2 }],
  ['rescaling', { scale: 2, offset: 1 }],
  ['resizing', { height: 2, width: 3 }],
  ['resizing', { height: 2, width: 3, interpolation: 'nearest', cropToAspectRatio: true }],
  ['centerCrop', { height: 2, width: 3 }],
  ['categoryEncoding', { numTokens: 4 }],
  ['categoryEncoding', { numTokens: 4, outputMode: 'oneHot' }],
  ['dropout', { rate: 0.5 }],
  ['dropout', { rate: 0.5, noiseShape: [null, 1, 3], seed: 3 }],
  ['spatialDropout1d', { rate: 0.5 }],
  ['gaussianNoise', { stddev: 0.5 }],
  ['gaussianDropout', { rate: 0.5 }],
  ['alphaDropout', { rate: 0.5 }],
];

const initializers = [
  ['zeros'],
  ['ones'],
  ['constant', { value: 3 }],
  ['identity', { gain: 2 }],
  ['identity', {}],
  ['randomUniform', {}],
  ['randomUniform', { minval: -1, maxval: 2, seed: 3 }],
  ['randomNormal', {}],
  ['randomNormal', { mean: 1, stddev: 2, seed: 3 }],
  ['truncatedNormal', {}],
  ['truncatedNormal', { mean: 1, stddev: 2 }],
  ['glorotUniform', {}],
  ['glorotNormal', { seed: 1 }],
  ['heUniform', {}],
  ['heNormal', {}],
  ['leCunUniform', {}],
  ['leCunNormal', {}],
  ['orthogonal', {}],
  ['orthogonal', { gain: 2 }],
  ['varianceScaling', {}],
  ['varianceScaling', { scale: 2, mode: 'fanOut', distribution: 'uniform' }],
];
const regularizers = [
  ['l1', {}],
  ['l1', { l1: 0.1 }],
  ['l2', {}],
  ['l2', { l2: 0.1 }],
  ['l1l2', {}],
  ['l1l2', { l1: 0.2, l2: 0.3 }],
  ['l1l2'],
];
const constraints = [
  ['maxNorm', {}],
  ['maxNorm', { maxValue: 3, axis: 1 }],
  ['unitNorm', {}],
  ['unitNorm', { axis: 1 }],
  ['nonNeg'],
  ['minMaxNorm', {}],
  ['minMaxNorm', { minValue: 1, maxValue: 2, rate: 0.5 }],
];
const model = (tf) =>
  row(
    tf,
    tf.layers.dense({ units: 3, inputShape: [4], name: 'a' }),
    tf.layers.dense({ units: 2, name: 'b', activation: 'softmax' }),
  );
const wrapped = [
  (tf) => tf.layers.timeDistributed({ layer: tf.layers.dense({ units: 2, name: 'd' }), name: 'w' }),
  (tf) => tf.layers.bidirectional({ layer: tf.layers.lstm({ units: 2, name: 'l' }), name: 'w' }),
  (tf) =>
    tf.layers.bidirectional({
      layer: tf.layers.gru({ units: 2, name: 'l' }),
      mergeMode: 'sum',
      name: 'w',
    }),
  (tf) => tf.layers.rnn({ cell: tf.layers.gruCell({ units: 2, name: 'c' }), name: 'w' }),
  (tf) =>
    tf.layers.rnn({
      cell: tf.layers.lstmCell({ units: 2, name: 'c' }),
      returnSequences: true,
      name: 'w',
    }),
  (tf) =>
    tf.layers.stackedRNNCells({
      cells: [
        tf.layers.gruCell({ units: 2, name: 'c' }),
        tf.layers.lstmCell({ units: 2, name: 'e' }),
      ],
      name: 'w',
    }),
];

export default [
  each(made, (tf, [maker, args]) => tf.layers[maker](args).getConfig()),
  each(made, (tf, [maker, args]) => tf.layers[maker](args).getClassName()),
  each(made, (tf, [maker, args]) => tf.layers[maker](args).name),
  each(made, (tf, [maker, args]) => {
    const layer = tf.layers[maker](args);
    return layer.constructor.fromConfig(layer.constructor, layer.getConfig()).getConfig();
  }),
  wrapped.map((make) => [
    Object.assign((tf) => make(tf).getConfig(), { toString: () => `getConfig of ${make}` }),
    Object.assign((tf) => make(tf).name, { toString: () => `name of ${make}` }),
  ]),
  each(initializers, (tf, [name, args]) => tf.initializers[name](args).getConfig()),
  each(initializers, (tf, [name, args]) => tf.initializers[name](args).getClassName()),
  each(initializers, (tf, [name, args]) =>
    tf.layers.dense({ units: 2, kernelInitializer: tf.initializers[name](args) }).getConfig(),
  ),
  each(regularizers, (tf, [name, args]) => tf.regularizers[name](args).getConfig()),
  each(regularizers, (tf, [name, args]) => tf.regularizers[name](args).getClassName()),
  each(regularizers, (tf, [name, args]) =>
    tf.layers.dense({ units: 2, kernelRegularizer: tf.regularizers[name](args) }).getConfig(),
  ),
  each(constraints, (tf, [name, args]) => tf.constraints[name](args).getConfig()),
  each(constraints, (tf, [name, args]) => tf.constraints[name](args).getClassName()),
  each(constraints, (tf, [name, args]) =>
    tf.layers.dense({ units: 2, kernelConstraint: tf.constraints[name](args) }).getConfig(),
  ),

  (tf) => model(tf).getConfig(),
  (tf) => model(tf).toJSON(null, false),
  (tf) => JSON.parse(model(tf).toJSON()),
  (tf) => typeof model(tf).toJSON(),
  (tf) => JSON.parse(JSON.stringify(model(tf).toJSON(null, false))).class_name,
  (tf) => graph(tf).getConfig(),
  (tf) => graph(tf).toJSON(null, false),
  (tf) => JSON.parse(graph(tf).toJSON()),
  (tf) => Object.keys(model(tf).toJSON(null, false)),
  (tf) => model(tf).getClassName(),
  (tf) => graph(tf).getClassName(),
  async (tf) => (await tf.models.modelFromJSON(model(tf).toJSON(null, false))).toJSON(null, false),
  async (tf) => (await tf.models.modelFromJSON(graph(tf).toJSON(null, false))).toJSON(null, false),
  async (tf) =>
    (await tf.models.modelFromJSON({ modelTopology: model(tf).toJSON(null, false) })).layers.map(
      (l) => l.name,
    ),
  async (tf) => (await tf.models.modelFromJSON(JSON.parse(model(tf).toJSON()))).outputs[0].shape,
  async (tf) => tf.models.modelFromJSON({}),
  async (tf) => tf.models.modelFromJSON({ class_name: 'Nothing', config: {} }),
  async (tf) => tf.models.modelFromJSON(null),
  (tf) => {
    const first = model(tf);
    const second = first.constructor.fromConfig(first.constructor, first.getConfig());
    return [second.getClassName(), second.layers.map((each) => each.name), second.outputs[0].shape];
  },
  (tf) => {
    const first = model(tf);
    const copy = first.constructor.fromConfig(first.constructor, first.getConfig());
    copy.setWeights(first.getWeights());
    const x = numbers(tf, [2, 4]);
    return (
      copy.predict(x).sub === undefined ||
      copy
        .predict(x)
        .dataSync()
        .every((v, i) => v === first.predict(x).dataSync()[i])
    );
  },
  (tf) => {
    const first = graph(tf);
    return first.constructor
      .fromConfig(first.constructor, first.getConfig())
      .outputs.map((each) => each.shape);
  },
  (tf) => {
    const m = model(tf);
    m.setUserDefinedMetadata({ a: 1, b: ['c'] });
    return m.getUserDefinedMetadata();
  },
  (tf) => model(tf).getUserDefinedMetadata(),
  (tf) => {
    const m = model(tf);
    m.setUserDefinedMetadata({ a: 1 });
    m.setUserDefinedMetadata({ b: 2 });
    return m.getUserDefinedMetadata();
  },
  (tf) => model(tf).setUserDefinedMetadata(1),
  (tf) => model(tf).setUserDefinedMetadata({ a: () => 1 }),
  (tf) => model(tf).setUserDefinedMetadata({ a: tf }),
  async (tf) => {
    const m = model(tf);
    m.setUserDefinedMetadata({ a: 1 });
    let saved;
    await m.save(
      tf.io.withSaveHandler(
        async (artifacts) => (
          (saved = artifacts),
          { modelArtifactsInfo: { dateSaved: new Date() } }
        ),
      ),
    );
    return (await tf.loadLayersModel(tf.io.fromMemory(saved))).getUserDefinedMetadata();
  },
  (tf) => new tf.Sequential().getConfig(),
  (tf) => tf.sequential().toJSON(null, false),
  (tf) => tf.sequential({ name: 's' }).name,
  (tf) => tf.sequential().name,
  (tf) => graph(tf).name,
  (tf) => tf.input({ shape: [3] }).name,
  (tf) => tf.input({ shape: [3], name: 'x' }).name,
  (tf) => tf.input({ shape: [3], name: 'x' }).sourceLayer.getConfig(),
  (tf) => tf.input({ batchShape: [2, 3], name: 'x' }).sourceLayer.getConfig(),
  (tf) => tf.input({ shape: [3], dtype: 'int32', name: 'x' }).sourceLayer.getConfig(),
  (tf) => tf.input({ shape: [3], dtype: 'int32', name: 'x' }).dtype,
  (tf) => tf.layers.inputLayer({ inputShape: [3], name: 'x' }).getConfig(),
  (tf) => model(tf).getWeights().length,
  (tf) => model(tf).weights.map((each) => each.name),
  (tf) =>
    row(
      tf,
      tf.layers.dense({ units: 3, inputShape: [4] }),
      tf.layers.dense({ units: 1 }),
    ).weights.map((w) => w.name),
  (tf) =>
    row(tf, tf.layers.lstm({ units: 3, inputShape: [4, 2], name: 'l' })).weights.map((w) => [
      w.name,
      w.shape,
    ]),
  (tf) =>
    row(tf, tf.layers.gru({ units: 3, inputShape: [4, 2], name: 'l' })).weights.map((w) => [
      w.name,
      w.shape,
    ]),
  (tf) =>
    row(
      tf,
      tf.layers.bidirectional({
        layer: tf.layers.lstm({ units: 3, name: 'l' }),
        inputShape: [4, 2],
        name: 'b',
      }),
    ).weights.map((w) => [w.name, w.shape]),
  (tf) =>
    row(
      tf,
      tf.layers.bidirectional({ layer: tf.layers.gru({ units: 3 }), inputShape: [4, 2] }),
    ).weights.map((w) => [w.name, w.shape]),
  (tf) =>
    row(
      tf,
      tf.layers.timeDistributed({
        layer: tf.layers.dense({ units: 3, name: 'd' }),
        inputShape: [4, 2],
        name: 't',
      }),
    ).weights.map((w) => [w.name, w.shape]),
  (tf) =>
    row(tf, tf.layers.batchNormalization({ inputShape: [4, 2], name: 'n' })).weights.map((w) => [
      w.name,
      w.shape,
      w.trainable,
    ]),
  (tf) =>
    row(
      tf,
      tf.layers.separableConv2d({ filters: 2, kernelSize: 2, inputShape: [4, 4, 2], name: 's' }),
    ).weights.map((w) => [w.name, w.shape]),
  (tf) =>
    row(
      tf,
      tf.layers.depthwiseConv2d({ kernelSize: 2, inputShape: [4, 4, 2], name: 's' }),
    ).weights.map((w) => [w.name, w.shape]),
  (tf) =>
    row(
      tf,
      tf.layers.embedding({ inputDim: 3, outputDim: 2, inputLength: 2, name: 'e' }),
    ).weights.map((w) => [w.name, w.shape]),
  (tf) =>
    row(tf, tf.layers.prelu({ inputShape: [4, 2], name: 'p' })).weights.map((w) => [
      w.name,
      w.shape,
    ]),
  (tf) =>
    row(tf, tf.layers.layerNormalization({ inputShape: [4, 2], name: 'p' })).weights.map((w) => [
      w.name,
      w.shape,
    ]),
];
