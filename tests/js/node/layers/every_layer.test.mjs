// Every layer compared with that of TensorFlow.js: equal predictions and training steps from equal weights.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { throws } from '../../lib.mjs';

const rows = 5;
const steps = 8;

before(() => tf.setBackend('cpu'));

/** A generator of pseudo-random numbers between -1 and 1. */
const waves = (count, frequency = 12.9898) =>
  Float32Array.from({ length: count }, (_, at) => Math.sin(frequency * (at + 1)));

const elements = (shape) => shape.reduce((product, size) => product * size, 1);

/** A sequential model of layers [factory name, arguments], in either library. */
function chain(library, inputShape, layers) {
  const model = library.sequential(library === tl ? { seed: 5 } : {});
  layers.forEach(([name, options = {}], at) => {
    const args = library === tl ? options : theirOptions(options);
    model.add(library.layers[name](at === 0 ? { ...args, inputShape } : args));
  });
  return model;
}

/** Constructors of initializers, regularizers and constraints by the suffix of the option's name. */
const rules = {
  Initializer: tf.initializers,
  Regularizer: tf.regularizers,
  Constraint: tf.constraints,
};

/** Options with initializers, regularizers and constraints of TensorFlow.js. */
function theirOptions(args) {
  return Object.fromEntries(
    Object.entries(args).map(([key, value]) => {
      const kind = Object.keys(rules).find((end) => key.endsWith(end));
      if (kind === undefined) return [key, value];
      const { name, ...parameters } = value;
      return [key, rules[kind][name](parameters)];
    }),
  );
}

const tensorOf = (each) => tf.tensor(each.dataSync(), [...each.shape]);

function expectClose(actual, expected, tolerance, what) {
  assert.equal(actual.length, expected.length, what);
  actual.forEach((value, at) => {
    const difference = Math.abs(value - expected[at]);
    const bound = tolerance * Math.max(1, Math.abs(expected[at]));
    assert.ok(difference <= bound, `${what}[${at}]: ${value}, TensorFlow.js ${expected[at]}`);
  });
}

async function expectSameSteps(ours, x, theirs, theirX) {
  const y = waves(rows * 2, 3.7);
  const loss = 'meanSquaredError';
  ours.compile({ loss, optimizer: tl.train.sgd(0.02) });
  theirs.compile({ loss, optimizer: tf.train.sgd(0.02) });
  for (let step = 0; step < steps; ++step) {
    const actual = await ours.trainOnBatch(x, tl.tensor(y, [rows, 2]));
    const expected = await theirs.trainOnBatch(theirX, tf.tensor(y, [rows, 2]));
    // TensorFlow.js applies constraints only in `write`.
    for (const weight of theirs.weights) weight.write(weight.read().clone());
    const difference = Math.abs(actual - expected) / Math.abs(expected);
    assert.ok(difference < 1e-3, `step ${step}: ${actual}, TensorFlow.js ${expected}`);
  }
}

async function expectSame(inputShape, layers, x, { trains = true } = {}) {
  const flatten = chain(tl, inputShape, layers).outputShape.length > 2 ? [['flatten']] : [];
  const all = [...layers, ...flatten, ['dense', { units: 2 }]];
  const ours = chain(tl, inputShape, all);
  const theirs = chain(tf, inputShape, all);
  const weights = ours.getWeights().map((each, at) => {
    const content = each.dataSync();
    // Distinct values reveal weights in a wrong order.
    const values = content.map((value, i) => value + 0.05 * Math.sin(7 * (i + 1) + at) ** 2);
    return tl.tensor(values, [...each.shape]);
  });
  theirs.setWeights(weights.map(tensorOf)); // under their constraints
  ours.setWeights(theirs.getWeights().map((each) => tl.tensor(each.dataSync(), each.shape)));
  const shape = [rows, ...inputShape];
  const theirX = tf.tensor(x, shape);
  const actual = ours.predict(tl.tensor(x, shape));
  const expected = theirs.predict(theirX);
  assert.deepEqual(actual.shape, expected.shape);
  expectClose(actual.dataSync(), expected.dataSync(), 1e-5, 'predict');

  if (trains) await expectSameSteps(ours, tl.tensor(x, shape), theirs, theirX);
  ours.dispose();
  theirs.dispose();
}

/** A trained layer before the tested one checks the gradient of its input. */
const afterDense = (channels, layers) => [
  ['dense', { units: channels, activation: 'tanh' }],
  ...layers,
];

const imageShape = [6, 5, 3];
const volumeShape = [4, 5, 4, 2];
const sequenceShape = [7, 3];
// Layers whose gradient TensorFlow.js 4.22 does not have or computes wrongly: padded average pooling, images that
// are not square.
const cannotTrain = { trains: false };
const cases = {
  dense: [[4], [['dense', { units: 3, activation: 'sigmoid' }]]],
  'dense over steps': [sequenceShape, [['dense', { units: 4, useBias: false }]]],
  activation: [[4], afterDense(4, [['activation', { activation: 'softmax' }]])],
  conv1d: [
    sequenceShape,
    afterDense(3, [['conv1d', { filters: 4, kernelSize: 3, padding: 'same' }]]),
  ],
  'conv1d, strides': [
    sequenceShape,
    afterDense(3, [['conv1d', { filters: 2, kernelSize: 2, strides: 2 }]]),
  ],
  conv2d: [
    imageShape,
    afterDense(3, [
      ['conv2d', { filters: 4, kernelSize: [3, 2], padding: 'same', activation: 'relu' }],
    ]),
  ],
  'conv2d, strides': [
    imageShape,
    afterDense(3, [['conv2d', { filters: 4, kernelSize: 3, strides: [2, 1] }]]),
  ],
  'conv2d, dilated': [
    imageShape,
    afterDense(3, [['conv2d', { filters: 2, kernelSize: 2, dilationRate: 2, useBias: false }]]),
    cannotTrain,
  ],
  conv3d: [
    volumeShape,
    afterDense(2, [['conv3d', { filters: 3, kernelSize: 2, padding: 'same' }]]),
  ],
  'conv3d, strides': [
    volumeShape,
    afterDense(2, [['conv3d', { filters: 2, kernelSize: [1, 3, 2], strides: 2 }]]),
  ],
  conv2dTranspose: [
    imageShape,
    afterDense(3, [['conv2dTranspose', { filters: 2, kernelSize: 3, strides: 2 }]]),
  ],
  'conv2dTranspose, same': [
    imageShape,
    afterDense(3, [
      ['conv2dTranspose', { filters: 2, kernelSize: 3, strides: 2, padding: 'same' }],
    ]),
  ],
  'conv2dTranspose, small window': [
    imageShape,
    afterDense(3, [['conv2dTranspose', { filters: 2, kernelSize: 2, strides: 3 }]]),
  ],
  conv3dTranspose: [
    volumeShape,
    afterDense(2, [['conv3dTranspose', { filters: 2, kernelSize: 2, strides: 2 }]]),
    cannotTrain,
  ],
  depthwiseConv2d: [
    imageShape,
    afterDense(3, [['depthwiseConv2d', { kernelSize: 3, depthMultiplier: 2 }]]),
  ],
  separableConv2d: [
    imageShape,
    afterDense(3, [
      ['separableConv2d', { filters: 4, kernelSize: 3, depthMultiplier: 2, padding: 'same' }],
    ]),
  ],
  maxPooling1d: [sequenceShape, afterDense(3, [['maxPooling1d', { poolSize: 3, strides: 2 }]])],
  maxPooling2d: [imageShape, afterDense(3, [['maxPooling2d', { padding: 'same' }]])],
  maxPooling3d: [volumeShape, afterDense(2, [['maxPooling3d', {}]])],
  averagePooling1d: [
    sequenceShape,
    afterDense(3, [['averagePooling1d', { padding: 'same' }]]),
    cannotTrain,
  ],
  averagePooling2d: [
    imageShape,
    afterDense(3, [['averagePooling2d', { poolSize: [3, 2], strides: 1 }]]),
  ],
  averagePooling3d: [volumeShape, afterDense(2, [['averagePooling3d', { poolSize: 2 }]])],
  globalMaxPooling1d: [sequenceShape, afterDense(3, [['globalMaxPooling1d']])],
  globalMaxPooling2d: [imageShape, afterDense(3, [['globalMaxPooling2d', {}]])],
  globalAveragePooling1d: [sequenceShape, afterDense(3, [['globalAveragePooling1d']])],
  globalAveragePooling2d: [imageShape, afterDense(3, [['globalAveragePooling2d', {}]])],
  batchNormalization: [imageShape, afterDense(3, [['batchNormalization', { momentum: 0.9 }]])],
  layerNormalization: [sequenceShape, afterDense(3, [['layerNormalization', {}]])],
  'layerNormalization over two axes': [
    sequenceShape,
    afterDense(3, [['layerNormalization', { axis: [1, 2] }]]),
  ],
  reshape: [
    imageShape,
    afterDense(3, [
      ['reshape', { targetShape: [10, 9] }],
      ['dense', { units: 2 }],
    ]),
  ],
  permute: [
    sequenceShape,
    afterDense(3, [
      ['permute', { dims: [2, 1] }],
      ['dense', { units: 2 }],
    ]),
  ],
  repeatVector: [[4], afterDense(4, [['repeatVector', { n: 3 }]])],
  zeroPadding2d: [
    imageShape,
    afterDense(3, [
      [
        'zeroPadding2d',
        {
          padding: [
            [1, 0],
            [2, 1],
          ],
        },
      ],
    ]),
  ],
  cropping2D: [
    imageShape,
    afterDense(3, [
      [
        'cropping2D',
        {
          cropping: [
            [1, 0],
            [2, 1],
          ],
        },
      ],
    ]),
  ],
  'upSampling2d, nearest': [
    imageShape,
    afterDense(3, [['upSampling2d', { size: [2, 3] }]]),
    cannotTrain,
  ],
  'upSampling2d, bilinear': [
    imageShape,
    afterDense(3, [['upSampling2d', { interpolation: 'bilinear' }]]),
    cannotTrain,
  ],
  reLU: [imageShape, afterDense(3, [['reLU', { maxValue: 0.3 }]])],
  leakyReLU: [imageShape, afterDense(3, [['leakyReLU', { alpha: 0.1 }]])],
  prelu: [imageShape, afterDense(3, [['prelu', { sharedAxes: [1, 2] }]])],
  'prelu, an alpha for each': [[4], afterDense(4, [['prelu', {}]])],
  elu: [imageShape, afterDense(3, [['elu', {}]])],
  thresholdedReLU: [imageShape, afterDense(3, [['thresholdedReLU', { theta: 0.2 }]]), cannotTrain],
  softmax: [[4], afterDense(4, [['softmax', {}]])],
  rescaling: [imageShape, [['rescaling', { scale: 0.5, offset: -0.25 }]]],
};

const channelsFirst = { dataFormat: 'channelsFirst' };
const planes = [3, 5, 5];
const cube = [2, 4, 4, 4];
for (const [name, shape, args, options] of [
  ['conv2d', planes, { filters: 4, kernelSize: 3, activation: 'relu' }],
  ['conv2d', planes, { filters: 2, kernelSize: 2, strides: 2, padding: 'same' }],
  ['conv3d', cube, { filters: 2, kernelSize: 2 }],
  ['conv2dTranspose', planes, { filters: 2, kernelSize: 3, strides: 2 }],
  ['depthwiseConv2d', planes, { kernelSize: 3, depthMultiplier: 2 }],
  ['separableConv2d', planes, { filters: 4, kernelSize: 3, padding: 'same', useBias: false }],
  ['maxPooling2d', planes, {}],
  ['maxPooling3d', cube, {}],
  ['averagePooling2d', planes, { poolSize: 2, strides: 1 }],
  ['averagePooling3d', cube, {}],
  ['globalMaxPooling2d', planes, {}],
  ['globalAveragePooling2d', planes, {}],
  ['upSampling2d', planes, { size: [2, 3] }, cannotTrain],
  ['zeroPadding2d', planes, { padding: [[1, 0], [2, 1]] }], // prettier-ignore
  ['cropping2D', planes, { cropping: [[1, 0], [2, 1]] }], // prettier-ignore
  ['flatten', planes, {}],
]) {
  const title = `${name}, channels first${args.strides ? ', strides' : ''}`;
  const layers = [
    ['activation', { activation: 'tanh' }],
    [name, { ...args, ...channelsFirst }],
  ];
  cases[title] = [shape, layers, options];
}

/** An initializer, a regularizer and a constraint for each weight of these names. */
function constrained(...weights) {
  const each = weights.map((weight, at) => [
    [`${weight}Initializer`, { name: 'randomUniform', minval: 0.1, maxval: 0.9 }],
    [`${weight}Regularizer`, { name: 'l1l2', l1: 0.02 + 0.01 * at, l2: 0.03 }],
    [`${weight}Constraint`, { name: 'maxNorm', maxValue: 0.4 + 0.1 * at }],
  ]);
  return Object.fromEntries(each.flat());
}
const kernelAndBias = constrained('kernel', 'bias');
const window = { filters: 2, kernelSize: 2 };
Object.assign(cases, {
  'dense with constraints': [[4], afterDense(4, [['dense', { units: 3, ...kernelAndBias }]])],
  'conv1d with constraints': [
    sequenceShape,
    afterDense(3, [['conv1d', { ...window, ...kernelAndBias }]]),
  ],
  'conv2d with constraints': [
    imageShape,
    afterDense(3, [['conv2d', { ...window, ...kernelAndBias }]]),
  ],
  'conv3d with constraints': [
    volumeShape,
    afterDense(2, [['conv3d', { ...window, ...kernelAndBias }]]),
  ],
  'conv2dTranspose with constraints': [
    imageShape,
    afterDense(3, [['conv2dTranspose', { ...window, ...kernelAndBias }]]),
  ],
  'depthwiseConv2d with constraints': [
    imageShape,
    afterDense(3, [['depthwiseConv2d', { kernelSize: 3, ...constrained('depthwise', 'bias') }]]),
  ],
  'separableConv2d with constraints': [
    imageShape,
    afterDense(3, [
      ['separableConv2d', { ...window, ...constrained('depthwise', 'pointwise', 'bias') }],
    ]),
  ],
  'batchNormalization with constraints': [
    imageShape,
    afterDense(3, [['batchNormalization', { momentum: 0.9, ...constrained('beta', 'gamma') }]]),
  ],
  'layerNormalization with constraints': [
    sequenceShape,
    afterDense(3, [
      [
        'layerNormalization',
        { gammaRegularizer: { name: 'l2', l2: 0.1 }, betaRegularizer: { name: 'l1', l1: 0.1 } },
      ],
    ]),
  ],
  'prelu with constraints': [imageShape, afterDense(3, [['prelu', constrained('alpha')]])],
});
for (const [name, [inputShape, layers, options]] of Object.entries(cases)) {
  test(`${name} as in TensorFlow.js`, () =>
    expectSame(inputShape, layers, waves(rows * elements(inputShape)), options));
}

const indices = (count, below) =>
  Float32Array.from({ length: count }, (_, at) => (7 * at + 3) % below);

test('embedding as in TensorFlow.js', () =>
  expectSame([6], [['embedding', { inputDim: 9, outputDim: 4 }]], indices(rows * 6, 9)));

test('embedding with constraints as in TensorFlow.js', () =>
  expectSame(
    [6],
    [['embedding', { inputDim: 9, outputDim: 4, ...constrained('embeddings') }]],
    indices(rows * 6, 9),
  ));

test('embedding checks the length of its input', () => {
  const model = tl.sequential({ seed: 1 });
  model.add(tl.layers.embedding({ inputDim: 9, outputDim: 4, inputLength: 6 }));
  assert.deepEqual(model.outputShape, [null, 6, 4]);
});

// Layers that TensorFlow.js models do not support, compared with its operations.
const byOperations = {
  'conv1d, causal': [
    sequenceShape,
    ['conv1d', { filters: 4, kernelSize: 3, padding: 'causal', dilationRate: 2 }],
    (x, [kernel, bias]) => {
      const before = tf.pad(x, [[0, 0], [4, 0], [0, 0]]); // prettier-ignore
      return tf.conv1d(before, kernel, 1, 'valid', 'NWC', 2).add(bias);
    },
  ],
  'softmax along steps': [
    sequenceShape,
    ['softmax', { axis: 1 }],
    (x) => tf.softmax(x.transpose([0, 2, 1])).transpose([0, 2, 1]),
  ],
  reLU: [
    imageShape,
    ['reLU', { maxValue: 0.5, negativeSlope: 0.1, threshold: 0.2 }],
    (x) => tf.where(x.greaterEqual(0.2), x.minimum(0.5), x.sub(0.2).mul(0.1)),
  ],
};
for (const [name, args] of Object.entries({
  resizing: { height: 9, width: 7 },
  'resizing, nearest': { height: 3, width: 4, interpolation: 'nearest' },
  'resizing, cropped': { height: 9, width: 7, cropToAspectRatio: true },
  centerCrop: { height: 4, width: 3 },
  'centerCrop, enlarged': { height: 9, width: 3 },
})) {
  const maker = name.split(',')[0];
  byOperations[name] = [imageShape, [maker, args], (x) => tf.layers[maker](args).apply(x)];
}
for (const [name, [inputShape, layer, expected]] of Object.entries(byOperations)) {
  test(`${name} as the operations of TensorFlow.js`, () => {
    const model = chain(tl, inputShape, [layer]);
    const x = waves(rows * elements(inputShape));
    const shape = [rows, ...inputShape];
    const result = expected(tf.tensor(x, shape), model.getWeights().map(tensorOf));
    const actual = model.predict(tl.tensor(x, shape));
    assert.deepEqual(actual.shape, result.shape);
    expectClose(actual.dataSync(), result.dataSync(), 1e-5, name);
    model.dispose();
  });
}

// The cpu backend of TensorFlow.js computes statistics of axes other than the last in the wrong order.
test('batchNormalization of the first axis equals that of the last with transposed axes', async () => {
  const normal = {
    momentum: 0.9,
    gammaInitializer: { name: 'randomUniform', minval: 0.5, maxval: 2 },
  };
  const [first, last] = [
    [['batchNormalization', { axis: 1, ...normal, name: 'normal' }]],
    [
      ['permute', { dims: [2, 3, 1] }],
      ['batchNormalization', { axis: 3, ...normal, name: 'normal' }],
      ['permute', { dims: [3, 1, 2] }],
    ],
  ].map((layers) =>
    chain(tl, planes, [...layers, ['flatten'], ['dense', { units: 2, name: 'last' }]]),
  );
  const x = waves(rows * elements(planes));
  const y = waves(rows * 2, 3.7);
  for (const model of [first, last]) model.compile({ loss: 'mse', optimizer: 'sgd' });
  for (let step = 0; step < steps; ++step) {
    const [one, other] = [await first.trainOnBatch(x, y), await last.trainOnBatch(x, y)];
    assert.ok(Math.abs(one - other) < 1e-5, `step ${step}: ${one}, ${other}`);
  }
  expectClose(first.predict(x).dataSync(), last.predict(x).dataSync(), 1e-4, 'predict');
});

test('categoryEncoding counts as TensorFlow.js does', () => {
  for (const outputMode of ['multiHot', 'count']) {
    const x = indices(rows * 4, 6);
    const args = { numTokens: 6, outputMode };
    const actual = chain(tl, [4], [['categoryEncoding', args]]).predict(tl.tensor(x, [rows, 4]));
    const expected = tf.layers.categoryEncoding(args).apply(tf.tensor(x, [rows, 4]));
    expectClose(actual.dataSync(), expected.dataSync(), 0, outputMode);
  }
});

/** Asserts that a merging layer over two inputs of these shapes equals that of TensorFlow.js. */
async function expectSameMerge(name, args, shapes, units = 3) {
  const build = (library) => {
    const inputs = shapes.map((shape, at) => library.input({ shape, name: `in${at}` }));
    const before = inputs.map((input, at) =>
      library.layers.dense({ units, activation: 'tanh', name: `before${at}` }).apply(input),
    );
    const merged = library.layers[name](args).apply(before);
    const flat = merged.shape.length > 2 ? library.layers.flatten().apply(merged) : merged;
    const outputs = library.layers.dense({ units: 2, name: 'last' }).apply(flat);
    return library.model({ inputs, outputs });
  };
  const [ours, theirs] = [build(tl), build(tf)];
  theirs.setWeights(ours.getWeights().map(tensorOf));
  const xs = shapes.map((shape, at) => waves(rows * elements(shape), 5.1 + at));
  const x = xs.map((each, at) => tl.tensor(each, [rows, ...shapes[at]]));
  const actual = ours.predict(x);
  const theirXs = xs.map((x, at) => tf.tensor(x, [rows, ...shapes[at]]));
  expectClose(actual.dataSync(), theirs.predict(theirXs).dataSync(), 1e-5, name);
  await expectSameSteps(ours, x, theirs, theirXs);
  ours.dispose();
  theirs.dispose();
}

for (const name of ['add', 'multiply', 'average', 'maximum', 'minimum', 'concatenate']) {
  test(`${name} as in TensorFlow.js`, () =>
    expectSameMerge(name, {}, [sequenceShape, sequenceShape]));
}
test('concatenate along the steps as in TensorFlow.js', () =>
  expectSameMerge('concatenate', { axis: 1 }, [sequenceShape, [4, 3]]));
test('dot of vectors as in TensorFlow.js', () => expectSameMerge('dot', { axes: -1 }, [[4], [5]]));
test('dot of vectors, normalized, as in TensorFlow.js', () =>
  expectSameMerge('dot', { axes: -1, normalize: true }, [[4], [5]]));
test('dot of matrices as in TensorFlow.js', () =>
  expectSameMerge('dot', { axes: [2, 2] }, [sequenceShape, [4, 3]]));

/** Reference attention over arrays: softmax(q kᵀ / √d) v per head. */
function attention(query, value, weights, { heads, dim, causal = false }) {
  const [wq, bq, wk, bk, wv, bv, wo, bo] = weights.map((each) => each.arraySync());
  const project = (x, kernel, bias, head) =>
    x.map((row) =>
      bias[head].map((b, i) =>
        row.reduce((total, each, c) => total + each * kernel[c][head][i], b),
      ),
    );
  return query.map((q, t) => {
    const result = [...bo];
    for (let head = 0; head < heads; ++head) {
      const queryRow = project([q], wq, bq, head)[0];
      const keys = project(value, wk, bk, head);
      const values = project(value, wv, bv, head);
      const scores = keys.map((key, s) =>
        causal && s > t
          ? 0
          : Math.exp(key.reduce((sum, k, i) => sum + k * queryRow[i], 0) / Math.sqrt(dim)),
      );
      const total = scores.reduce((a, b) => a + b);
      for (let i = 0; i < dim; ++i) {
        const mixed = scores.reduce((sum, score, s) => sum + (score / total) * values[s][i], 0);
        result.forEach((_, c) => (result[c] += mixed * wo[head][i][c]));
      }
    }
    return result;
  });
}

for (const useCausalMask of [false, true]) {
  test(`multiHeadAttention equals the reference, causal mask ${useCausalMask}`, () => {
    const query = tl.input({ shape: [5, 6] });
    const value = tl.input({ shape: [5, 4] });
    const layer = tl.layers.multiHeadAttention({ numHeads: 2, keyDim: 3, useCausalMask });
    const model = tl.model({ inputs: [query, value], outputs: layer.apply([query, value]) });
    const weights = model
      .getWeights()
      .map((each, at) => tl.tensor(waves(each.size, 2.3 + at), [...each.shape]));
    model.setWeights(weights);
    const [q, v] = [tl.tensor(waves(30), [1, 5, 6]), tl.tensor(waves(20, 4.4), [1, 5, 4])];
    const actual = model.predict([q, v]);
    const options = { heads: 2, dim: 3, causal: useCausalMask };
    const expected = attention(q.arraySync()[0], v.arraySync()[0], weights, options);
    expectClose(actual.dataSync(), expected.flat(), 1e-5, 'attention');
    model.dispose();
  });
}

test('an unknown data format is rejected', () => {
  throws(
    () => chain(tl, imageShape, [['conv2d', { filters: 2, kernelSize: 2, dataFormat: 'NCHW' }]]),
    /dataFormat must be "channelsFirst" or "channelsLast", got "NCHW"/,
  );
});

test('errors name the layer, the option and the shapes', () => {
  const wrong = {
    'kernelSize:? must be a positive integer': [
      sequenceShape,
      'conv1d',
      { filters: 2, kernelSize: 0 },
    ],
    'expects examples of shape \\[steps, channels\\], got \\[6,5,3\\]': [
      imageShape,
      'conv1d',
      { filters: 2, kernelSize: 2 },
    ],
    'dims must be a permutation of all axes': [sequenceShape, 'permute', { dims: [1, 1] }],
    'leaves nothing of \\[6,5,3\\]': [imageShape, 'cropping2D', { cropping: 3 }],
    'inputDim:? must be a positive integer': [[4], 'embedding', { inputDim: 0, outputDim: 2 }],
    'n:? must be a positive integer': [[4], 'repeatVector', { n: -1 }],
    'numTokens:? must be a positive integer': [[4], 'categoryEncoding', { numTokens: 0 }],
    'interpolation must be "nearest" or "bilinear", got "cubic"': [
      imageShape,
      'upSampling2d',
      { interpolation: 'cubic' },
    ],
  };
  for (const [message, [shape, name, args]] of Object.entries(wrong)) {
    throws(() => chain(tl, shape, [[name, args]]), new RegExp(message));
  }
});
