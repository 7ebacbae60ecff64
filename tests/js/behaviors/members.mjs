// Members of layers and models other than computing results.
import { artifactsOf, counts, differs, each, fill, graph, numbers, row } from './build.mjs';

const model = (tf) =>
  row(
    tf,
    tf.layers.dense({ units: 3, inputShape: [4], name: 'a' }),
    tf.layers.dense({ units: 2, name: 'b' }),
  );
const compiled = (tf, more) => {
  const m = model(tf);
  m.compile({ loss: 'meanSquaredError', optimizer: 'sgd', ...more });
  return m;
};
const lstm = (tf, more) =>
  fill(
    tf,
    row(
      tf,
      tf.layers.lstm({ units: 2, batchInputShape: [2, 3, 1], stateful: true, name: 'l', ...more }),
    ),
  );

/** Programs of a layer that is built on [null, 4]. */
const ofDense = (text) => {
  const read = new Function('l', 'tf', `return ${text};`);
  const program = (tf) => {
    const l = tf.layers.dense({ units: 3, name: 'd' });
    l.apply(tf.input({ shape: [4] }));
    return read(l, tf);
  };
  program.toString = () => `of dense that is called: ${text}`;
  return program;
};
const ofNew = (text) => {
  const read = new Function('l', 'tf', `return ${text};`);
  const program = (tf) => read(tf.layers.dense({ units: 3, name: 'd' }), tf);
  program.toString = () => `of a new dense: ${text}`;
  return program;
};
const ofModel = (text) => {
  const read = new Function('m', 'tf', `return ${text};`);
  const program = (tf) => read(model(tf), tf);
  program.toString = () => `of a model: ${text}`;
  return program;
};
const ofGraph = (text) => {
  const read = new Function('m', 'tf', `return ${text};`);
  const program = (tf) => read(graph(tf), tf);
  program.toString = () => `of a graph: ${text}`;
  return program;
};
const ofLayer =
  'l.name; l.built; l.trainable; l.stateful; l.supportsMasking; l.dtype; l.batchInputShape; l.inboundNodes.length; l.outboundNodes.length; l.weights.length; l.trainableWeights.length; l.nonTrainableWeights.length; l.losses; l.updates; l.input; l.output; l.inputSpec; l.outputShape; l.getWeights(); l.countParams(); l.computeOutputShape([null, 4]); l.computeOutputShape([2, 4]); l.computeOutputShape([null, 5, 4]); l.computeMask(null, null); l.getInputAt(0); l.getOutputAt(0); l.getInputAt(1); l.getOutputAt(1); l.getInputShapeAt; l.getConfig().units; l.getClassName(); l.constructor.className; l.dispose(); (l.dispose(), l.dispose()); (l.dispose(), l.getWeights()); l.setWeights([]); l.build([null, 4]); (l.build([null, 4]), l.getWeights().map((w) => w.shape)); (l.build([null, 4]), l.weights.map((w) => w.name)); l.apply(3); l.apply(); l.call === undefined; l.calculateLosses(); l.resetStates(); l.id > -1; (l.trainable = false, l.trainableWeights.length); (l.trainable = false, l.nonTrainableWeights.length); l.activityRegularizer; l.setFastWeightInitDuringBuild(true); l.clearCallHook(); l.setCallHook(() => 1); l.addLoss([]); l.inboundNodes.map((n) => n.inputShapes); l.inboundNodes.map((n) => n.outputShapes); l.inboundNodes.map((n) => n.inboundLayers.map((e) => e.getClassName())); l.inboundNodes.map((n) => n.getConfig()); l.inboundNodes.map((n) => n.inputTensors); l.inboundNodes.map((n) => n.outputTensors); l.inboundNodes.map((n) => n.outboundLayer); l.inboundNodes.map((n) => n.callArgs); l.inboundNodes.map((n) => n.nodeIndices); l.inboundNodes.map((n) => n.tensorIndices); l.inboundNodes.map((n) => n.inputMasks); l.inboundNodes.map((n) => n.outputMasks)'.split(
    '; ',
  );
const ofAModel =
  "m.name; m.built; m.trainable; m.stateful; m.layers; m.layers.length; m.inputs; m.outputs; m.input; m.output; m.inputNames; m.outputNames; m.losses; m.updates; m.weights.length; m.trainableWeights.length; m.nonTrainableWeights.length; m.getWeights().map((w) => w.shape); m.countParams(); m.getLayer(0); m.getLayer(null, 1); m.getLayer('shared'); m.getLayer('b'); m.getLayer('nothing'); m.getLayer(7); m.getLayer(); m.computeOutputShape([null, 4]); m.computeOutputShape([[null, 3], [null, 3]]); m.computeOutputShape([2, 4]); m.computeMask(null, null); m.dispose(); (m.dispose(), m.dispose()); (m.dispose(), m.getWeights()); (m.dispose(), m.predict(tf.ones([1, 4]))); m.resetStates(); m.inboundNodes.length; m.outboundNodes.length; m.getInputAt(0); m.getOutputAt(0); m.optimizer; m.loss; m.metrics; m.metricsNames; m.stopTraining; m.isTraining; m.history; m.isOptimizerOwned; m.layers[0].inboundNodes.length; m.layers[0].outboundNodes.length; m.layers[1].outboundNodes.length; m.layers.map((l) => l.name); m.layers.map((l) => l.outputShape); m.layers.map((l) => l.input); m.layers.map((l) => l.output); m.getClassName(); m.constructor.className; m.className; m.supportsMasking; m.inputLayers; m.outputLayers; m.inputLayersNodeIndices; m.outputLayersNodeIndices; m.outputLayersTensorIndices; m.inputLayersTensorIndices; m.feedInputShapes; m.feedInputNames; m.feedOutputNames; m.internalContainerRefs; m.layersByDepth.map((e) => e.length); m.nodesByDepth.map((e) => e.length); (m.trainable = false, m.trainableWeights.length); (m.layers[0].trainable = false, m.trainableWeights.length); (m.layers[0].trainable = false, m.nonTrainableWeights.length); m.dtype; m.inputSpec; m.outputShape; m.setWeights([]); m.setWeights(m.getWeights()); m.calculateLosses(); m.getNamedWeights(); m.predict(tf.ones([2, 4])).shape; m.predict([tf.ones([2, 3]), tf.ones([2, 3])]).map((t) => t.shape); m.predictOnBatch(tf.ones([2, 4])).shape; m.execute(tf.ones([2, 4]), 'b').shape; m.execute(tf.ones([2, 4]), 'nothing'); m.execute(tf.ones([2, 4]), ['a', 'b']).map((t) => t.shape); m.execute([tf.ones([2, 3]), tf.ones([2, 3])], 'shared').shape; m.execute([tf.ones([2, 3]), tf.ones([2, 3])], ['sum', 'flat']).map((t) => t.shape); m.execute({ a: tf.ones([2, 3]), b: tf.ones([2, 3]) }, 'sum').shape; m.execute(tf.ones([2, 4]), []); m.checkTrainableWeightsConsistency(); m.fitLoop === undefined; m.trainOnBatch(tf.ones([2, 4]), tf.ones([2, 2])); m.apply(tf.input({ shape: [4] })).shape; m.apply([tf.input({ shape: [3] }), tf.input({ shape: [3] })]).map((t) => t.shape)".split(
    '; ',
  );

export default [
  ofLayer.map(ofDense),
  ofLayer.map(ofNew),
  ofAModel.map(ofModel),
  ofAModel.map(ofGraph),
  (tf) => lstm(tf).predict(numbers(tf, [2, 3, 1])),
  (tf) => {
    const m = lstm(tf);
    m.predict(numbers(tf, [2, 3, 1]));
    return m.predict(numbers(tf, [2, 3, 1]));
  },
  (tf) => {
    const m = lstm(tf);
    m.predict(numbers(tf, [2, 3, 1]));
    m.resetStates();
    return m.predict(numbers(tf, [2, 3, 1]));
  },
  (tf) => {
    const m = lstm(tf);
    m.predict(numbers(tf, [2, 3, 1]));
    m.layers[0].resetStates();
    return m.predict(numbers(tf, [2, 3, 1]));
  },
  (tf) => {
    const m = lstm(tf);
    m.predict(numbers(tf, [2, 3, 1]));
    return m.layers[0].states;
  },
  (tf) => lstm(tf).layers[0].states,
  (tf) => lstm(tf).stateful,
  (tf) => lstm(tf).layers[0].stateful,
  (tf) => {
    const m = lstm(tf);
    m.layers[0].resetStates([tf.ones([2, 2]), tf.zeros([2, 2])]);
    return m.predict(numbers(tf, [2, 3, 1]));
  },
  (tf) => {
    const m = lstm(tf);
    m.layers[0].resetStates([tf.ones([2, 2])]);
  },
  (tf) => tf.layers.lstm({ units: 2 }).resetStates(),
  (tf) => tf.layers.lstm({ units: 2 }).states,
  (tf) => tf.layers.lstm({ units: 2 }).cell.getClassName(),
  (tf) => tf.layers.lstm({ units: 2 }).units,
  (tf) => tf.layers.gru({ units: 2 }).stateful,
  (tf) =>
    tf.layers
      .lstm({ units: 2, returnSequences: true, returnState: true })
      .computeOutputShape([null, 3, 4]),
  (tf) => tf.layers.lstm({ units: 2 }).computeOutputShape([null, 3, 4]),
  (tf) => tf.layers.conv2d({ filters: 2, kernelSize: 3 }).computeOutputShape([null, 8, 9, 3]),
  (tf) =>
    tf.layers
      .conv2d({ filters: 2, kernelSize: 3, padding: 'same', strides: 2 })
      .computeOutputShape([4, 8, 9, 3]),
  (tf) => tf.layers.conv1d({ filters: 2, kernelSize: 3 }).computeOutputShape([null, 8, 3]),
  (tf) => tf.layers.flatten().computeOutputShape([null, 8, 3]),
  (tf) => tf.layers.reshape({ targetShape: [4, -1] }).computeOutputShape([null, 8, 3]),
  (tf) => tf.layers.permute({ dims: [2, 1] }).computeOutputShape([null, 8, 3]),
  (tf) => tf.layers.repeatVector({ n: 3 }).computeOutputShape([null, 8]),
  (tf) => tf.layers.maxPooling2d({ poolSize: 2 }).computeOutputShape([null, 8, 9, 3]),
  (tf) => tf.layers.maxPooling1d({ poolSize: 2 }).computeOutputShape([null, 8, 3]),
  (tf) => tf.layers.globalMaxPooling2d({}).computeOutputShape([null, 8, 9, 3]),
  (tf) => tf.layers.embedding({ inputDim: 3, outputDim: 2 }).computeOutputShape([null, 8]),
  (tf) => tf.layers.embedding({ inputDim: 3, outputDim: 2 }).computeOutputShape([4, null]),
  (tf) =>
    tf.layers.add().computeOutputShape([
      [null, 3],
      [null, 3],
    ]),
  (tf) =>
    tf.layers.concatenate().computeOutputShape([
      [null, 3],
      [null, 4],
    ]),
  (tf) =>
    tf.layers.concatenate({ axis: 1 }).computeOutputShape([
      [null, 3, 2],
      [null, 4, 2],
    ]),
  (tf) =>
    tf.layers.dot({ axes: 1 }).computeOutputShape([
      [null, 3],
      [null, 3],
    ]),
  (tf) =>
    tf.layers
      .timeDistributed({ layer: tf.layers.dense({ units: 2 }) })
      .computeOutputShape([null, 3, 4]),
  (tf) =>
    tf.layers
      .bidirectional({ layer: tf.layers.lstm({ units: 2 }) })
      .computeOutputShape([null, 3, 4]),
  (tf) => tf.layers.zeroPadding2d({ padding: 1 }).computeOutputShape([null, 3, 4, 2]),
  (tf) => tf.layers.upSampling2d({ size: [2, 3] }).computeOutputShape([null, 3, 4, 2]),
  (tf) => tf.layers.cropping2D({ cropping: 1 }).computeOutputShape([null, 3, 4, 2]),
  (tf) => tf.layers.batchNormalization().computeOutputShape([null, 3, 4, 2]),
  (tf) => tf.layers.dropout({ rate: 0.5 }).computeOutputShape([null, 3]),
  (tf) => tf.layers.activation({ activation: 'relu' }).computeOutputShape([null, 3]),
  (tf) =>
    tf.layers
      .conv2dTranspose({ filters: 2, kernelSize: 3, strides: 2 })
      .computeOutputShape([null, 3, 4, 2]),
  (tf) =>
    tf.layers.separableConv2d({ filters: 2, kernelSize: 3 }).computeOutputShape([null, 8, 9, 2]),
  (tf) =>
    tf.layers
      .depthwiseConv2d({ kernelSize: 3, depthMultiplier: 2 })
      .computeOutputShape([null, 8, 9, 2]),
  (tf) => tf.layers.resizing({ height: 2, width: 3 }).computeOutputShape([null, 8, 9, 2]),
  (tf) => tf.layers.masking().computeOutputShape([null, 3, 4]),
  (tf) => tf.layers.dropout({ rate: 0.5 }).supportsMasking,
  (tf) => ['lstm', 'gru', 'simpleRNN'].map((name) => tf.layers[name]({ units: 2 }).supportsMasking),
  (tf) =>
    [
      ['activation', { activation: 'relu' }],
      ['flatten'],
      ['batchNormalization'],
      ['add'],
      ['masking'],
      ['reLU'],
      ['softmax'],
      ['dropout', { rate: 0.5 }],
    ].map(([name, args = {}]) => tf.layers[name](args).supportsMasking),

  (tf) => {
    const m = model(tf);
    m.loadWeights({
      'a/kernel': tf.ones([4, 3]),
      'a/bias': tf.ones([3]),
      'b/kernel': tf.ones([3, 2]),
      'b/bias': tf.zeros([2]),
    });
    return m.predict(tf.ones([1, 4]));
  },
  (tf) => {
    const m = model(tf);
    m.loadWeights({ 'a/kernel': tf.ones([4, 3]) });
  },
  (tf) => {
    const m = model(tf);
    m.loadWeights({ 'a/kernel': tf.ones([4, 3]) }, false);
    return m.layers[0].getWeights()[0];
  },
  (tf) => {
    const m = model(tf);
    m.loadWeights({
      'a/kernel': tf.ones([4, 3]),
      'a/bias': tf.ones([3]),
      'b/kernel': tf.ones([3, 2]),
      'b/bias': tf.zeros([2]),
      more: tf.ones([1]),
    });
  },
  (tf) => {
    const m = model(tf);
    m.loadWeights(
      {
        'a/kernel': tf.ones([4, 3]),
        'a/bias': tf.ones([3]),
        'b/kernel': tf.ones([3, 2]),
        'b/bias': tf.zeros([2]),
        more: tf.ones([1]),
      },
      false,
    );
    return m.predict(tf.ones([1, 4]));
  },
  (tf) => {
    const m = model(tf);
    m.loadWeights({ 'a/kernel': tf.ones([4, 4]) }, false);
  },
  (tf) => {
    const m = model(tf);
    m.loadWeights({
      'a/kernel': tf.ones([5, 3]),
      'a/bias': tf.ones([3]),
      'b/kernel': tf.ones([3, 2]),
      'b/bias': tf.zeros([2]),
    });
  },
  async (tf) => {
    const saved = await artifactsOf(tf, fill(tf, model(tf)));
    const m = await tf.loadLayersModel(tf.io.fromMemory(saved));
    return m.predict(tf.ones([1, 4]));
  },
  async (tf) => {
    const saved = await artifactsOf(tf, fill(tf, model(tf)));
    const m = await tf.loadLayersModel(tf.io.fromMemory({ modelTopology: saved.modelTopology }));
    return m.layers.map((l) => l.name);
  },
  async (tf) => {
    const saved = await artifactsOf(tf, fill(tf, model(tf)));
    return saved.modelTopology;
  },
  async (tf) => {
    const saved = await artifactsOf(tf, fill(tf, model(tf)));
    return saved.weightSpecs;
  },
  async (tf) => {
    const saved = await artifactsOf(tf, compiled(tf));
    return Object.keys(saved).sort();
  },
  async (tf) => {
    const saved = await artifactsOf(tf, model(tf), { includeOptimizer: true });
    return saved.trainingConfig;
  },
  (tf) => compiled(tf).loss,
  (tf) => compiled(tf, { metrics: ['mse'] }).metrics,
  (tf) => compiled(tf, { metrics: ['mse'] }).metricsNames,
  (tf) => compiled(tf).optimizer.getClassName(),
  (tf) => compiled(tf).isTraining,
  (tf) => {
    const lines = [];
    model(tf).summary(null, null, (line) => lines.push(line));
    return lines;
  },
  (tf) => {
    const lines = [];
    graph(tf).summary(null, null, (line) => lines.push(line));
    return lines;
  },
  (tf) => {
    const lines = [];
    model(tf).summary(60, [20, 40, 60], (line) => lines.push(line));
    return lines;
  },
  (tf) => {
    const l = tf.layers.dense({ units: 2 });
    const x = tf.input({ shape: [3] });
    l.apply(x);
    l.apply(x);
    return [l.inboundNodes.length, l.countParams()];
  },
  (tf) => {
    const l = tf.layers.dense({ units: 2 });
    const x = tf.input({ shape: [3] });
    l.apply(x);
    l.apply(x);
    return l.input;
  },
  (tf) => {
    const l = tf.layers.dense({ units: 2 });
    const x = tf.input({ shape: [3] });
    l.apply(x);
    l.apply(x);
    return l.getOutputAt(1);
  },
  (tf) => {
    const l = tf.layers.dense({ units: 2 });
    const x = tf.input({ shape: [3] });
    l.apply(x);
    l.apply(tf.input({ shape: [4] }));
  },
  (tf) => {
    const l = tf.layers.dense({ units: 2 });
    l.apply(tf.input({ shape: [3] }));
    l.setWeights([tf.ones([3, 2]), tf.ones([2])]);
    return l.getWeights();
  },
  (tf) => {
    const l = tf.layers.dense({ units: 2 });
    l.build([null, 3]);
    l.setWeights([tf.ones([3, 2]), tf.ones([2])]);
    return l.getWeights();
  },
  (tf) => {
    const l = tf.layers.dense({ units: 2 });
    l.build([null, 3]);
    l.setWeights([tf.ones([3, 2]), tf.ones([2])]);
    return row(tf, tf.layers.dense({ units: 3, inputShape: [3] }), l).getWeights()[2];
  },
  (tf) => {
    const l = tf.layers.dense({ units: 2, kernelInitializer: 'ones', inputShape: [3] });
    return row(tf, l).getWeights();
  },
  (tf) =>
    tf.layers
      .dense({
        units: 2,
        kernelInitializer: 'ones',
        weights: [tf.ones([3, 2]), tf.ones([2])],
        inputShape: [3],
      })
      .getWeights(),
  (tf) => {
    const x = tf.input({ shape: [3] });
    return [x.shape, x.dtype, x.rank, x.nodeIndex, x.tensorIndex, x.sourceLayer.getClassName()];
  },
  (tf) => {
    const y = tf.layers.dense({ units: 2, name: 'd' }).apply(tf.input({ shape: [3] }));
    return [y.shape, y.dtype, y.rank, y.nodeIndex, y.tensorIndex, y.name];
  },
  (tf) => typeof tf.input({ shape: [3] }).id,
  (tf) => tf.layers.dense({ units: 2, name: 'd' }).apply(tf.input({ shape: [3] })).originalName,
  (tf) => tf.layers.dense({ units: 2, name: 'd' }).apply(tf.input({ shape: [3] })).inputs.length,
  (tf) => tf.layers.dense({ units: 2, name: 'd' }).apply(tf.input({ shape: [3] })).callArgs,
  (tf) => {
    const [w] = model(tf).weights;
    return [w.name, w.originalName, w.shape, w.dtype, w.trainable, w.constraint, typeof w.id];
  },
  (tf) => {
    const [w] = model(tf).weights;
    w.write(tf.ones([4, 3]));
    return w.read();
  },
  (tf) => {
    const [w] = model(tf).weights;
    return w.write(tf.ones([4, 4]));
  },
  (tf) => {
    const [w] = model(tf).weights;
    w.dispose();
    return w.read();
  },
  (tf) => {
    const m = model(tf);
    m.weights[0].trainable = false;
    return m.trainableWeights.length;
  },
];
