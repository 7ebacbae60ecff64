// Layers called on tensors: results equal those of a model with the layer and of TensorFlow.js, with or without dropout.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe/tfjs';
import { waves } from '../../compare_tfjs.mjs';

before(() => tf.setBackend('cpu'));

const rows = 3;

/** Options of a layer, and the shapes of its inputs without the batch axis. */
const layers = {
  dense: [{ units: 5, activation: 'softmax' }, [7]],
  activation: [{ activation: 'selu' }, [5, 3]],
  conv1d: [{ filters: 3, kernelSize: 3, padding: 'same', dilationRate: 2 }, [9, 2]],
  conv2d: [{ filters: 3, kernelSize: [3, 2], strides: 2, activation: 'relu' }, [7, 9, 2]],
  conv3d: [{ filters: 2, kernelSize: 2, padding: 'same' }, [3, 5, 3, 2]],
  conv2dTranspose: [{ filters: 3, kernelSize: 3, strides: 2, padding: 'same' }, [3, 5, 2]],
  conv3dTranspose: [{ filters: 2, kernelSize: 2, strides: 2 }, [2, 3, 2, 2]],
  depthwiseConv2d: [{ kernelSize: 3, depthMultiplier: 2 }, [5, 7, 3]],
  separableConv2d: [{ filters: 4, kernelSize: 3 }, [5, 7, 3]],
  maxPooling1d: [{ poolSize: 3 }, [11, 2]],
  maxPooling2d: [{ poolSize: 2, padding: 'same' }, [7, 5, 2]],
  maxPooling3d: [{ poolSize: 2 }, [3, 5, 4, 2]],
  averagePooling1d: [{ poolSize: 3, strides: 2 }, [11, 2]],
  averagePooling2d: [{ poolSize: [2, 3] }, [7, 5, 2]],
  averagePooling3d: [{ poolSize: 2 }, [3, 5, 4, 2]],
  globalMaxPooling1d: [{}, [5, 3]],
  globalMaxPooling2d: [{}, [5, 3, 2]],
  globalAveragePooling1d: [{}, [5, 3]],
  globalAveragePooling2d: [{}, [5, 3, 2]],
  batchNormalization: [{ momentum: 0.7 }, [5, 3]],
  layerNormalization: [{}, [5, 3]],
  flatten: [{}, [5, 3]],
  reshape: [{ targetShape: [3, -1] }, [5, 3]],
  permute: [{ dims: [2, 1] }, [5, 3]],
  repeatVector: [{ n: 3 }, [5]],
  zeroPadding2d: [{ padding: [1, 2] }, [5, 3, 2]],
  cropping2D: [
    {
      cropping: [
        [1, 1],
        [0, 1],
      ],
    },
    [5, 3, 2],
  ],
  upSampling2d: [{ size: [2, 3] }, [5, 3, 2]],
  embedding: [{ inputDim: 7, outputDim: 3 }, [5]],
  masking: [{ maskValue: 0 }, [5, 3]],
  add: [{}, [5, 3], [5, 3]],
  multiply: [{}, [5, 3], [5, 3]],
  average: [{}, [5, 3], [5, 3], [5, 3]],
  maximum: [{}, [5, 3], [5, 3]],
  minimum: [{}, [5, 3], [5, 3]],
  concatenate: [{ axis: 1 }, [5, 3], [2, 3]],
  dot: [{ axes: 1 }, [5, 3], [5, 2]],
  simpleRNN: [{ units: 3 }, [5, 2]],
  lstm: [{ units: 3, returnSequences: true }, [5, 2]],
  gru: [{ units: 3, goBackwards: true }, [5, 2]],
  convLstm2d: [{ filters: 2, kernelSize: 2 }, [3, 5, 4, 2]],
  reLU: [{ maxValue: 0.5 }, [5]],
  leakyReLU: [{ alpha: 0.2 }, [5]],
  prelu: [{ alphaInitializer: 'ones' }, [5]],
  elu: [{}, [5]],
  thresholdedReLU: [{ theta: 0.3 }, [5]],
  softmax: [{}, [5]],
  rescaling: [{ scale: 2, offset: 0.5 }, [5, 3, 2]],
  resizing: [{ height: 4, width: 7 }, [5, 3, 2]],
  centerCrop: [{ height: 3, width: 2 }, [5, 3, 2]],
  'bidirectional of an LSTM': [
    (l) => l.bidirectional({ layer: l.lstm({ units: 3 }), mergeMode: 'concat' }),
    [5, 2],
  ],
  'timeDistributed of dense': [(l) => l.timeDistributed({ layer: l.dense({ units: 3 }) }), [5, 2]],
  'rnn of cells': [
    (l) => l.rnn({ cell: [l.gruCell({ units: 3 }), l.simpleRNNCell({ units: 2 })] }),
    [5, 2],
  ],
};
/** Layers that are random in training. */
const random = {
  dropout: [{ rate: 0.5 }, [200]],
  spatialDropout1d: [{ rate: 0.5 }, [5, 60]],
  gaussianNoise: [{ stddev: 0.5 }, [200]],
  gaussianDropout: [{ rate: 0.3 }, [200]],
  alphaDropout: [{ rate: 0.3 }, [200]],
};
/** Layers that TensorFlow.js does not have. */
const extraLayers = {
  subtract: [{}, [5, 3], [5, 3]],
  categoryEncoding: [{ numTokens: 4, outputMode: 'count' }, [5]],
  multiHeadAttention: [{ numHeads: 2, keyDim: 3 }, [5, 4], [5, 4]],
};

const make = (lib, name, options) =>
  typeof options === 'function' ? options(lib.layers) : lib.layers[name](options);
const inputs = (lib, name, shapes) => {
  const all = shapes.map((shape, at) => {
    const x = waves(lib, [rows, ...shape], at + 1);
    return /embedding|category/.test(name) ? x.abs().mul(4).floor() : x;
  });
  return all.length === 1 ? all[0] : all;
};
const plain = (x) => [x].flat().map((each) => [each.shape, [...each.dataSync()]]);

function near(ours, theirs, what, tolerance = 1e-4) {
  assert.deepEqual(
    ours.map(([shape]) => shape),
    theirs.map(([shape]) => shape),
    what,
  );
  for (const [at, [, values]] of theirs.entries()) {
    values.forEach((value, index) => {
      const error = Math.abs(ours[at][1][index] - value) / Math.max(1, Math.abs(value));
      assert.ok(error <= tolerance, `${what}, ${index}: ${ours[at][1][index]}, not ${value}`);
    });
  }
}

const copyWeights = (from, to, lib) =>
  to.setWeights(from.getWeights().map((each) => lib.tensor(each.dataSync(), each.shape)));

for (const [name, [options, ...shapes]] of Object.entries({
  ...layers,
  ...extraLayers,
  ...random,
})) {
  test(`${name} equals a model of it`, () => {
    const x = inputs(tl, name, shapes);
    const layer = make(tl, name, options);
    const found = plain(layer.apply(x));
    const symbols = shapes.map((shape) => tl.input({ shape }));
    const outputs = layer.apply(symbols.length === 1 ? symbols[0] : symbols);
    near(found, plain(tl.model({ inputs: symbols, outputs }).predict(x)), name, 1e-5);
  });
}

for (const [name, [options, ...shapes]] of Object.entries({ ...layers, ...random })) {
  test(`${name} equals TensorFlow.js`, () => {
    const [ours, theirs] = [tl, tf].map((lib) => make(lib, name, options));
    const [x, tx] = [tl, tf].map((lib) => inputs(lib, name, shapes));
    theirs.apply(tx);
    ours.apply(x);
    if (theirs.weights.length > 0) copyWeights(theirs, ours, tl);
    const isRandom = name in random;
    for (const training of isRandom ? [false] : [false, true, false]) {
      const [found, expected] = [ours.apply(x, { training }), theirs.apply(tx, { training })];
      near(plain(found), plain(expected), `${name}, training ${training}`);
    }
    // Also moving averages.
    near(plain(ours.getWeights()), plain(theirs.getWeights()), `${name}, weights`);
  });
}

for (const [name, [options, ...shapes]] of Object.entries(random)) {
  test(`${name} is random in each training call`, () => {
    const layer = make(tl, name, options);
    const x = tl.ones([rows, ...shapes[0]]);
    const [one, two] = [0, 0].map(() => [...layer.apply(x, { training: true }).dataSync()]);
    assert.notDeepEqual(one, two);
    const mean = one.reduce((sum, each) => sum + each, 0) / one.length;
    assert.ok(Math.abs(mean - 1) < 0.7, `${mean}`);
  });
}

test('masks skip steps', () => {
  const mask = [
    [1, 1, 0, 1, 0],
    [1, 0, 0, 0, 0],
    [1, 1, 1, 1, 1],
  ];
  for (const make of [
    (l) => l.lstm({ units: 3 }),
    (l) => l.gru({ units: 2, returnSequences: true }),
    (l) => l.bidirectional({ layer: l.simpleRNN({ units: 2 }), mergeMode: 'sum' }),
  ]) {
    const [ours, theirs] = [make(tl.layers), make(tf.layers)];
    const [x, tx] = [tl, tf].map((lib) => waves(lib, [rows, 5, 2]));
    [theirs.apply(tx), ours.apply(x)];
    copyWeights(theirs, ours, tl);
    const [found, expected] = [
      ours.apply(x, { mask: tl.tensor2d(mask) }),
      theirs.apply(tx, { mask: tf.tensor2d(mask) }),
    ];
    near(plain(found), plain(expected), ours.getClassName());
  }
});

test('recurrent layers use initial states, and return states', () => {
  const [ours, theirs] = [tl, tf].map((lib) => lib.layers.lstm({ units: 3, returnState: true }));
  const run = (lib, layer) => {
    const initialState = [1, 2].map((seed) => waves(lib, [rows, 3], seed));
    return layer.apply(waves(lib, [rows, 5, 2]), { initialState });
  };
  [theirs.apply(waves(tf, [rows, 5, 2])), ours.apply(waves(tl, [rows, 5, 2]))];
  copyWeights(theirs, ours, tl);
  near(plain(run(tl, ours)), plain(run(tf, theirs)), 'lstm');
});

/** A model with a mask, a model in it, a layer that is called twice and two outputs. */
function nestedModel({ layers, input, model, sequential }) {
  const inner = sequential({
    layers: [
      layers.dense({ units: 4, activation: 'tanh', inputShape: [3] }),
      layers.batchNormalization({ momentum: 0.5 }),
    ],
  });
  const shared = layers.dense({ units: 3, activation: 'relu' });
  const [tokens, b] = [input({ shape: [5] }), input({ shape: [3] })];
  const embedded = layers.embedding({ inputDim: 6, outputDim: 2, maskZero: true }).apply(tokens);
  const read = layers.lstm({ units: 3 }).apply(embedded);
  const both = layers.add().apply([shared.apply(read), shared.apply(b)]);
  return model({ inputs: [tokens, b], outputs: [inner.apply(both), both] });
}

const nestedInputs = (lib) => [
  lib.tensor2d([
    [1, 2, 0, 0, 0],
    [3, 0, 5, 1, 0],
    [5, 4, 3, 2, 1],
  ]),
  waves(lib, [rows, 3]),
];

test('models within models, masks and layers called twice', () => {
  const [ours, theirs] = [nestedModel(tl), nestedModel(tf)];
  copyWeights(theirs, ours, tl);
  for (const training of [false, true, false]) {
    const [found, expected] = [
      ours.apply(nestedInputs(tl), { training }),
      theirs.apply(nestedInputs(tf), { training }),
    ];
    near(plain(found), plain(expected), `training ${training}`);
  }
  near(plain(ours.getWeights()), plain(theirs.getWeights()), 'weights');
  near(plain(ours.apply(nestedInputs(tl))), plain(ours.predict(nestedInputs(tl))), 'predict');
});

test('optimizers change the weights of models, however they are passed', () => {
  const ways = {
    'all that are used': () => undefined,
    val: (model) => model.trainableWeights.map(({ val }) => val),
    getWeights: (model) => model.getWeights(),
    'weights of layers': (model) =>
      model.layers.flatMap((layer) => layer.trainableWeights.map((each) => each.val)),
  };
  for (const [name, of] of Object.entries(ways)) {
    const train = (lib, calls) => {
      const model = lib.sequential({
        layers: [
          lib.layers.dense({ units: 4, activation: 'tanh', inputShape: [3] }),
          lib.layers.dense({ units: 1 }),
        ],
      });
      model.setWeights([waves(lib, [3, 4]), lib.zeros([4]), waves(lib, [4, 1]), lib.zeros([1])]);
      const optimizer = lib.train.momentum(0.05, 0.8);
      const [x, y] = [waves(lib, [7, 3], 5), waves(lib, [7, 1], 9)];
      const loss = () => lib.losses.meanSquaredError(y, model[calls](x));
      const costs = Array.from(
        { length: 5 },
        () => optimizer.minimize(loss, true, of(model)).dataSync()[0],
      );
      return [[[5], costs], ...plain(model.getWeights()), ...plain(model.predict(x))];
    };
    for (const calls of ['predict', 'apply', 'predictOnBatch']) {
      near(train(tl, calls), train(tf, calls), `${name}, ${calls}`);
    }
  }
});

test('gradients by the weights of models', () => {
  const grads = (lib) => {
    const model = nestedModel(lib);
    model.setWeights(
      model.getWeights().map((each, at) => waves(lib, each.shape, at).abs().mul(0.5).add(0.2)),
    );
    const loss = () => lib.addN(model.apply(nestedInputs(lib)).map((y) => y.square().sum()));
    const { value, grads: by } = lib.variableGrads(
      loss,
      model.trainableWeights.map(({ val }) => val),
    );
    return plain([value, ...model.trainableWeights.map(({ val }) => by[val.name])]);
  };
  near(grads(tl), grads(tf), 'gradients', 1e-3);
});

test('weights are the same in fit, in variables and when they are read', async () => {
  const model = tl.sequential({ layers: [tl.layers.dense({ units: 1, inputShape: [2] })] });
  const { val } = model.trainableWeights[0];
  model.layers[0].setWeights([tl.tensor2d([[1], [2]]), tl.tensor1d([0])]);
  assert.deepEqual([...val.dataSync()], [1, 2]);
  val.assign(tl.tensor2d([[3], [4]]));
  const x = tl.tensor2d([[1, 1]]);
  assert.equal(model.predict(x).dataSync()[0], 7);
  assert.deepEqual([...model.getWeights()[0].dataSync()], [3, 4]);
  const before = val.add(0);
  model.compile({ loss: 'meanSquaredError', optimizer: tl.train.sgd(0.1) });
  await model.fit(x, tl.tensor2d([[0]]), { epochs: 1, verbose: 0 });
  assert.deepEqual([...before.dataSync()], [3, 4]);
  assert.deepEqual([...val.dataSync()], [...model.getWeights()[0].dataSync()]);
  assert.notEqual(val.dataSync()[0], 3);
  model.trainableWeights[0].val.assign(tl.zeros([2, 1]));
  assert.deepEqual([...model.layers[0].getWeights()[0].dataSync()], [0, 0]);
});

test('disposing of a model disposes of its variables', () => {
  const before = tl.memory();
  const model = tl.sequential({ layers: [tl.layers.dense({ units: 1, inputShape: [2] })] });
  tl.tidy(() => void model.apply(tl.ones([3, 2])));
  assert.equal(tl.memory().numTensors, before.numTensors + 2);
  model.dispose();
  assert.deepEqual(tl.memory().numTensors, before.numTensors);
  assert.equal(tl.memory().numBytes, before.numBytes);
});

/** A custom layer as in programs for TensorFlow.js. */
const scaled = (lib) =>
  class Scaled extends lib.layers.Layer {
    static className = 'Scaled';

    constructor(config = {}) {
      super(config);
      this.power = config.power ?? 2;
    }

    build(inputShape) {
      this.scale = this.addWeight('scale', [inputShape.at(-1)], 'float32', lib.initializers.ones());
      this.seen = this.addWeight('seen', [1], 'float32', lib.initializers.zeros(), null, false);
    }

    call(inputs, kwargs) {
      return lib.tidy(() => {
        const x = Array.isArray(inputs) ? inputs[0] : inputs;
        this.invokeCallHook?.(inputs, kwargs);
        return lib.mul(lib.pow(lib.abs(x), this.power), this.scale.read());
      });
    }

    computeOutputShape(shape) {
      return shape;
    }

    getConfig() {
      return { ...super.getConfig(), power: this.power };
    }
  };

test('layers in JavaScript run on tensors and in models, and learn both ways', async () => {
  const run = async (lib) => {
    const Scaled = scaled(lib);
    const layer = new Scaled({ power: 3 });
    const x = waves(lib, [4, 3]);
    const first = plain(layer.apply(x));
    layer.scale.write(lib.tensor1d([1, 2, 3]));
    const model = lib.sequential({
      layers: [lib.layers.dense({ units: 3, inputShape: [3] }), new Scaled()],
    });
    model.setWeights([waves(lib, [3, 3]), lib.zeros([3]), lib.ones([3]), lib.zeros([1])]);
    const optimizer = lib.train.sgd(0.1);
    optimizer.minimize(() => model.predict(x).sub(1).square().mean());
    const learned = plain(model.getWeights());
    model.compile({
      optimizer: lib.train.sgd(0.1),
      loss: (yTrue, yPred) => lib.tidy(() => lib.mean(lib.abs(lib.sub(yTrue, yPred)), -1)),
      metrics: [(yTrue, yPred) => lib.max(lib.squaredDifference(yTrue, yPred), -1)],
    });
    const { history } = await model.fit(x, lib.ones([4, 3]), {
      epochs: 2,
      verbose: 0,
      shuffle: false,
    });
    return [
      ...first,
      ...plain(layer.apply(x)),
      ...learned,
      [[2], history.loss],
      ...plain(model.predict(x)),
    ];
  };
  near(await run(tl), await run(tf), 'layer');
});

test('gradients by the inputs of models, and losses of TensorFlow.js in functions of the program', async () => {
  const run = async (lib) => {
    const model = lib.sequential({
      layers: [lib.layers.dense({ units: 2, activation: 'tanh', inputShape: [3] })],
    });
    model.setWeights([waves(lib, [3, 2]), waves(lib, [2])]);
    const x = waves(lib, [4, 3]);
    const byPredict = lib.grad((each) => model.predict(each).square().sum())(x);
    const byCall = lib.grad((each) => model.layers[0].call(each).sum())(x);
    const y = waves(lib, [4, 2], 3).abs();
    model.compile({
      optimizer: lib.train.sgd(0.1),
      loss: (yTrue, yPred) =>
        lib.losses.meanSquaredError(yTrue, yPred).add(lib.losses.huberLoss(yTrue, yPred)),
    });
    const { history } = await model.fit(x, y, { epochs: 2, verbose: 0, shuffle: false });
    return [...plain([byPredict, byCall]), [[2], history.loss]];
  };
  near(await run(tl), await run(tf), 'gradients');
});

// TensorFlow.js omits a term of the second derivative of tanh, so finite differences are the reference.
test('gradients of gradients through models', () => {
  const model = tl.sequential({
    layers: [tl.layers.dense({ units: 2, activation: 'tanh', inputShape: [3] })],
  });
  model.setWeights([waves(tl, [3, 2]), waves(tl, [2])]);
  const slope = (x) =>
    tl
      .grad((each) => model.apply(each).square().sum())(x)
      .sum();
  const x = waves(tl, [1, 3]);
  const found = tl.grad(slope)(x).dataSync();
  for (let at = 0; at < 3; ++at) {
    const step = tl.oneHot([at], 3).mul(1e-2);
    const difference = slope(x.add(step))
      .sub(slope(x.sub(step)))
      .div(2e-2)
      .dataSync()[0];
    assert.ok(Math.abs(found[at] - difference) < 1e-3, `${found[at]}, ${difference}`);
  }
});

test('mismatched inputs are rejected', () => {
  const throws = (action, message) => assert.throws(action, { name: 'LatheError', message });
  const dense = tl.layers.dense({ units: 2, inputShape: [3], name: 'first' });
  throws(() => dense.apply([1, 2]), /apply expects symbolic tensors, as of tl.input, or tensors/);
  throws(
    () => tl.layers.conv2d({ filters: 1, kernelSize: 2 }).apply(tl.ones([2, 3])),
    /Conv2D|conv2d/i,
  );
  const model = tl.sequential({ layers: [dense] });
  throws(
    () => model.apply(tl.ones([2, 4])),
    /^layer "first" \(Dense\): for inputs of \[2,4\] first\/kernel\S* would have shape \[4,2\], it has \[3,2\]$/,
  );
  throws(() => model.apply([tl.ones([2, 3]), tl.ones([2, 3])]), /expects 1 inputs, got 2/);
});

/** Shape, dtype and elements of a tensor, rounded. */
const described = (x) => [x.shape, x.dtype, [...x.dataSync()].map((each) => each.toFixed(5))];

test('layers of any rank accept tensors without a batch axis', () => {
  const resultsOf = (lib) => {
    const { activation, embedding, categoryEncoding, ...layer } = lib.layers;
    const row = lib.tensor1d([1, 2, -1]);
    const indices = lib.tensor1d([1, 2], 'int32');
    const embedded = embedding({ inputDim: 4, outputDim: 2, embeddingsInitializer: 'ones' });
    return [
      activation({ activation: 'relu' }).apply(row),
      activation({ activation: 'softmax' }).apply(row),
      activation({ activation: 'relu' }).apply(lib.scalar(-2)),
      layer.reLU({ maxValue: 1 }).apply(row),
      layer.leakyReLU({ alpha: 0.5 }).apply(row),
      layer.dropout({ rate: 0.5 }).apply(row),
      layer.rescaling({ scale: 2, offset: 1 }).apply(row),
      layer.add().apply([row, row]),
      embedded.apply(indices),
      ...['oneHot', 'multiHot', 'count'].map((outputMode) =>
        categoryEncoding({ numTokens: 4, outputMode }).apply(indices),
      ),
    ].map(described);
  };
  assert.deepEqual(resultsOf(tl), resultsOf(tf));
});

test('images without a batch axis are cropped and resized, and crops retain the dtype', () => {
  const resultsOf = (lib) => {
    const { centerCrop, resizing } = lib.layers;
    const numbers = (dtype) => lib.range(0, 20, 1, dtype);
    return [
      centerCrop({ height: 3, width: 2 }).apply(numbers().reshape([4, 5, 1])),
      centerCrop({ height: 2, width: 2 }).apply(numbers('int32').reshape([1, 4, 5, 1])),
      resizing({ height: 2, width: 2 }).apply(numbers().reshape([4, 5, 1])),
    ].map(described);
  };
  assert.deepEqual(resultsOf(tl), resultsOf(tf));
});

test('null as call arguments is ignored', () => {
  const flat = tl.layers.flatten().apply(tl.ones([2, 3, 4]), null);
  assert.deepEqual(flat.shape, [2, 12]);
  assert.deepEqual(tl.layers.flatten().apply(tl.input({ shape: [3, 4] }), null).shape, [null, 12]);
});

test('embedding and masking compute masks', () => {
  const resultsOf = (lib) => {
    const { embedding, lstm, masking } = lib.layers;
    const words = lib.tensor2d([[1, 0, 3]], [1, 3], 'int32');
    const sizes = { inputDim: 5, outputDim: 2, embeddingsInitializer: 'ones' };
    const masked = embedding({ ...sizes, maskZero: true });
    const { numTensors } = lib.memory();
    const mask = masked.computeMask(words);
    if (lib === tl) assert.equal(lib.memory().numTensors, numTensors + 1);
    const steps = lib.tensor3d([1, 0, 0, 0, 0, 2], [1, 3, 2]);
    const recurrent = lstm({ units: 2, kernelInitializer: 'ones', recurrentInitializer: 'ones' });
    assert.equal(embedding(sizes).computeMask(words), null);
    return [
      mask,
      masking().computeMask(steps),
      masking({ maskValue: 2 }).computeMask(steps),
      recurrent.apply(masked.apply(words), { mask }),
    ].map(described);
  };
  assert.deepEqual(resultsOf(tl), resultsOf(tf));
});

test('a wrapped layer updates its moving averages in training', () => {
  const inner = tl.layers.batchNormalization({ momentum: 0.75 });
  const layer = tl.layers.timeDistributed({ layer: inner });
  const x = tl.tensor3d([1, 2, 3, 4, 5, 6, 7, 8], [2, 2, 2]);
  layer.apply(x, { training: false });
  const [, , mean] = inner.getWeights();
  assert.deepEqual([...mean.dataSync()], [0, 0]);
  layer.apply(x, { training: true });
  // Once for each step: means 3 and 5, and 4 and 6.
  assert.deepEqual([...inner.getWeights()[2].dataSync()], [1.8125, 2.25]);
  layer.dispose();
});

test('tensorlathe/tfjs ignores unknown options with one warning', (t) => {
  const warn = t.mock.method(console, 'warn', () => {});
  for (let i = 0; i < 2; i++) {
    const kernelInitializer = tl.initializers.randomNormal({ stddev: 1, std: 3 });
    const layer = tl.layers.dense({ units: 2, activaton: 'relu', kernelInitializer });
    assert.deepEqual(layer.apply(tl.ones([1, 3])).shape, [1, 2]);
  }
  const start = 'tensorlathe: ignored, as in TensorFlow.js: ';
  assert.deepEqual(
    warn.mock.calls.map(({ arguments: [message] }) => message),
    [
      `${start}randomNormal: there is no option std; known: mean, stddev, seed`,
      `${start}layers.dense: there is no option activaton; did you mean activation?`,
    ],
  );
});
