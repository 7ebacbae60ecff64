// Results of layers, and their output shapes.
import { counts, differs, each, numbers, row, run, runAll, shape } from './build.mjs';

const activations =
  'linear relu relu6 elu selu sigmoid hardSigmoid softplus softsign tanh softmax logSoftmax swish mish gelu gelu_new';
const images = [2, 5, 6, 3];
const steps = [2, 5, 3];
const paddings = ['valid', 'same'];

export default [
  each(activations.split(' '), (tf, activation) =>
    run(tf, tf.layers.activation({ activation }), [2, 5]),
  ),
  each(activations.split(' '), (tf, activation) =>
    run(tf, tf.layers.dense({ units: 3, activation }), [2, 4]),
  ),
  (tf) => run(tf, tf.layers.dense({ units: 3 }), [2, 4]),
  (tf) => run(tf, tf.layers.dense({ units: 3, useBias: false }), [2, 4]),
  (tf) => run(tf, tf.layers.dense({ units: 3 }), [2, 4, 5]),
  (tf) => run(tf, tf.layers.dense({ units: 3 }), [2, 4, 5, 2]),
  (tf) => run(tf, tf.layers.activation(), [2, 4]),

  each(paddings, (tf, padding) =>
    run(tf, tf.layers.conv1d({ filters: 2, kernelSize: 3, padding }), steps),
  ),
  each(paddings, (tf, padding) =>
    run(tf, tf.layers.conv1d({ filters: 2, kernelSize: 2, strides: 2, padding }), steps),
  ),
  (tf) => run(tf, tf.layers.conv1d({ filters: 2, kernelSize: [2], dilationRate: 2 }), steps),
  (tf) => run(tf, tf.layers.conv1d({ filters: 2, kernelSize: [2], dilationRate: [2] }), steps),
  (tf) => run(tf, tf.layers.conv1d({ filters: 2, kernelSize: 3, useBias: false }), steps),
  (tf) => run(tf, tf.layers.conv1d({ filters: 2, kernelSize: 3, activation: 'tanh' }), steps),

  each(paddings, (tf, padding) =>
    run(tf, tf.layers.conv2d({ filters: 2, kernelSize: 3, padding }), images),
  ),
  each(paddings, (tf, padding) =>
    run(tf, tf.layers.conv2d({ filters: 2, kernelSize: [2, 3], strides: [2, 1], padding }), images),
  ),
  each(paddings, (tf, padding) =>
    run(tf, tf.layers.conv2d({ filters: 2, kernelSize: 2, dilationRate: [2, 2], padding }), images),
  ),
  each(['channelsFirst', 'channelsLast'], (tf, dataFormat) =>
    run(tf, tf.layers.conv2d({ filters: 2, kernelSize: 2, dataFormat }), [2, 5, 6, 3]),
  ),
  each(['relu', 'tanh', 'softmax', 'elu'], (tf, activation) =>
    run(tf, tf.layers.conv2d({ filters: 2, kernelSize: 2, activation }), images),
  ),
  each(paddings, (tf, padding) =>
    run(tf, tf.layers.conv3d({ filters: 2, kernelSize: 2, padding }), [1, 3, 4, 5, 2]),
  ),
  each(paddings, (tf, padding) =>
    run(tf, tf.layers.conv3d({ filters: 2, kernelSize: 2, strides: 2, padding }), [1, 3, 4, 5, 2]),
  ),
  each(['channelsFirst', 'channelsLast'], (tf, dataFormat) =>
    run(tf, tf.layers.conv3d({ filters: 2, kernelSize: 2, dataFormat }), [1, 3, 4, 5, 2]),
  ),
  each(paddings, (tf, padding) =>
    run(tf, tf.layers.conv2dTranspose({ filters: 2, kernelSize: 3, padding }), images),
  ),
  each(paddings, (tf, padding) =>
    run(tf, tf.layers.conv2dTranspose({ filters: 2, kernelSize: 3, strides: 2, padding }), images),
  ),
  each(['channelsFirst', 'channelsLast'], (tf, dataFormat) =>
    run(tf, tf.layers.conv2dTranspose({ filters: 2, kernelSize: 2, dataFormat }), images),
  ),
  each(paddings, (tf, padding) =>
    run(tf, tf.layers.conv3dTranspose({ filters: 2, kernelSize: 2, padding }), [1, 3, 4, 5, 2]),
  ),
  each(paddings, (tf, padding) =>
    run(
      tf,
      tf.layers.conv3dTranspose({ filters: 2, kernelSize: 3, strides: 2, padding }),
      [1, 3, 2, 3, 2],
    ),
  ),
  each(paddings, (tf, padding) =>
    run(tf, tf.layers.depthwiseConv2d({ kernelSize: 3, padding }), images),
  ),
  each([1, 2, 3], (tf, depthMultiplier) =>
    run(tf, tf.layers.depthwiseConv2d({ kernelSize: 2, depthMultiplier }), images),
  ),
  each(paddings, (tf, padding) =>
    run(tf, tf.layers.depthwiseConv2d({ kernelSize: 2, strides: 2, padding }), images),
  ),
  (tf) => run(tf, tf.layers.depthwiseConv2d({ kernelSize: 2, useBias: false }), images),
  (tf) => run(tf, tf.layers.depthwiseConv2d({ kernelSize: 2, activation: 'relu' }), images),
  each(paddings, (tf, padding) =>
    run(tf, tf.layers.separableConv2d({ filters: 2, kernelSize: 3, padding }), images),
  ),
  each([1, 2], (tf, depthMultiplier) =>
    run(tf, tf.layers.separableConv2d({ filters: 2, kernelSize: 2, depthMultiplier }), images),
  ),
  (tf) => run(tf, tf.layers.separableConv2d({ filters: 2, kernelSize: 2, strides: 2 }), images),
  (tf) => run(tf, tf.layers.separableConv2d({ filters: 2, kernelSize: 2, useBias: false }), images),

  each(['maxPooling1d', 'averagePooling1d'], (tf, pool) => [
    run(tf, tf.layers[pool]({}), [2, 6, 3]),
    run(tf, tf.layers[pool]({ poolSize: 3 }), [2, 7, 3]),
    run(tf, tf.layers[pool]({ poolSize: [3], strides: [1] }), [2, 7, 3]),
    run(tf, tf.layers[pool]({ poolSize: 2, padding: 'same' }), [2, 7, 3]),
  ]),
  each(['maxPooling2d', 'averagePooling2d', 'avgPool2d', 'maxPool2d'], (tf, pool) => [
    run(tf, tf.layers[pool]({}), images),
    run(tf, tf.layers[pool]({ poolSize: 3 }), images),
    run(tf, tf.layers[pool]({ poolSize: [3, 2], strides: [1, 2] }), images),
    run(tf, tf.layers[pool]({ poolSize: 2, padding: 'same' }), images),
    run(tf, tf.layers[pool]({ poolSize: 3, strides: 1, padding: 'same' }), images),
    run(tf, tf.layers[pool]({ poolSize: 2, dataFormat: 'channelsFirst' }), images),
  ]),
  each(['maxPooling3d', 'averagePooling3d'], (tf, pool) => [
    run(tf, tf.layers[pool]({}), [1, 4, 4, 5, 2]),
    run(tf, tf.layers[pool]({ poolSize: [1, 2, 3], strides: 1 }), [1, 4, 4, 5, 2]),
    run(tf, tf.layers[pool]({ poolSize: 2, padding: 'same' }), [1, 3, 4, 5, 2]),
    run(tf, tf.layers[pool]({ poolSize: 2, dataFormat: 'channelsFirst' }), [1, 2, 4, 4, 5]),
  ]),
  each(
    ['globalMaxPooling1d', 'globalAveragePooling1d', 'globalMaxPool1d', 'globalAvgPool1d'],
    (tf, pool) => run(tf, tf.layers[pool]({}), steps),
  ),
  each(
    ['globalMaxPooling2d', 'globalAveragePooling2d', 'globalMaxPool2d', 'globalAvgPool2d'],
    (tf, pool) => [
      run(tf, tf.layers[pool]({}), images),
      run(tf, tf.layers[pool]({ dataFormat: 'channelsFirst' }), images),
    ],
  ),

  (tf) => run(tf, tf.layers.batchNormalization(), [3, 4]),
  (tf) => run(tf, tf.layers.batchNormalization({ axis: 2 }), [3, 4, 5]),
  (tf) => run(tf, tf.layers.batchNormalization({ axis: -1 }), images),
  (tf) => run(tf, tf.layers.batchNormalization({ epsilon: 0.1 }), images),
  (tf) => run(tf, tf.layers.batchNormalization({ center: false }), [3, 4]),
  (tf) => run(tf, tf.layers.batchNormalization({ scale: false }), [3, 4]),
  (tf) => run(tf, tf.layers.layerNormalization(), [3, 4]),
  (tf) => run(tf, tf.layers.layerNormalization({ axis: 1 }), [3, 4, 5]),
  (tf) => run(tf, tf.layers.layerNormalization({ axis: [1, 2] }), [3, 4, 5]),
  (tf) => run(tf, tf.layers.layerNormalization({ epsilon: 0.5 }), [3, 4, 5]),

  (tf) => run(tf, tf.layers.flatten(), images),
  (tf) => run(tf, tf.layers.flatten({ dataFormat: 'channelsFirst' }), images),
  (tf) => run(tf, tf.layers.flatten({ dataFormat: 'channelsLast' }), images),
  (tf) => run(tf, tf.layers.reshape({ targetShape: [6, 15] }), images),
  (tf) => run(tf, tf.layers.reshape({ targetShape: [-1, 15] }), images),
  (tf) => run(tf, tf.layers.reshape({ targetShape: [90] }), images),
  (tf) => run(tf, tf.layers.permute({ dims: [2, 1] }), steps),
  (tf) => run(tf, tf.layers.permute({ dims: [3, 1, 2] }), images),
  (tf) => run(tf, tf.layers.permute({ dims: [1, 2, 3] }), images),
  (tf) => run(tf, tf.layers.repeatVector({ n: 3 }), [2, 4]),
  (tf) => run(tf, tf.layers.zeroPadding2d(), images),
  (tf) => run(tf, tf.layers.zeroPadding2d({ padding: 2 }), images),
  (tf) => run(tf, tf.layers.zeroPadding2d({ padding: [1, 2] }), images),
  (tf) =>
    run(
      tf,
      tf.layers.zeroPadding2d({
        padding: [
          [1, 0],
          [0, 2],
        ],
      }),
      images,
    ),
  (tf) => run(tf, tf.layers.zeroPadding2d({ padding: 1, dataFormat: 'channelsFirst' }), images),
  (tf) => run(tf, tf.layers.cropping2D({ cropping: 1 }), images),
  (tf) => run(tf, tf.layers.cropping2D({ cropping: [1, 2] }), images),
  (tf) =>
    run(
      tf,
      tf.layers.cropping2D({
        cropping: [
          [1, 0],
          [0, 2],
        ],
      }),
      images,
    ),
  (tf) => run(tf, tf.layers.cropping2D({ cropping: 1, dataFormat: 'channelsFirst' }), images),
  (tf) => run(tf, tf.layers.upSampling2d({}), images),
  (tf) => run(tf, tf.layers.upSampling2d({ size: [3, 1] }), images),
  (tf) => run(tf, tf.layers.upSampling2d({ size: [2, 2], interpolation: 'bilinear' }), images),
  (tf) => run(tf, tf.layers.upSampling2d({ size: [2, 2], dataFormat: 'channelsFirst' }), images),

  (tf) => run(tf, tf.layers.embedding({ inputDim: 5, outputDim: 3 }), [2, 4], counts(tf, [2, 4])),
  (tf) => run(tf, tf.layers.embedding({ inputDim: 5, outputDim: 3 }), [2, 1], counts(tf, [2, 1])),
  (tf) =>
    run(
      tf,
      tf.layers.embedding({ inputDim: 5, outputDim: 3, maskZero: true }),
      [2, 4],
      counts(tf, [2, 4]),
    ),
  (tf) => run(tf, tf.layers.masking(), steps),
  (tf) => run(tf, tf.layers.masking({ maskValue: 3 }), steps),

  each(['add', 'multiply', 'average', 'maximum', 'minimum'], (tf, how) => [
    runAll(tf, tf.layers[how](), [2, 3], [2, 3]),
    runAll(tf, tf.layers[how](), [2, 3], [2, 3], [2, 3]),
    runAll(tf, tf.layers[how](), [2, 3, 4], [2, 3, 4]),
    runAll(tf, tf.layers[how](), [2, 3, 4], [2, 1, 4]),
    runAll(tf, tf.layers[how](), [2, 3, 4], [2, 4]),
  ]),
  each([-1, 1, 2, undefined], (tf, axis) =>
    runAll(tf, tf.layers.concatenate({ axis }), [2, 3, 4], [2, 3, 4]),
  ),
  (tf) => runAll(tf, tf.layers.concatenate(), [2, 3], [2, 5], [2, 1]),
  each([1, -1, [1, 1], [-1, -1]], (tf, axes) =>
    runAll(tf, tf.layers.dot({ axes }), [2, 3], [2, 3]),
  ),
  each([1, 2, [1, 1], [2, 1], [1, 2], [2, 2], -1], (tf, axes) =>
    runAll(tf, tf.layers.dot({ axes }), [2, 3, 3], [2, 3, 3]),
  ),
  (tf) => runAll(tf, tf.layers.dot({ axes: [1, 1] }), [2, 3, 4], [2, 3]),
  (tf) => runAll(tf, tf.layers.dot({ axes: -1, normalize: true }), [2, 3], [2, 3]),

  (tf) => run(tf, tf.layers.reLU(), [2, 5]),
  (tf) => run(tf, tf.layers.reLU({ maxValue: 0.5 }), [2, 5]),
  (tf) => run(tf, tf.layers.reLU({ maxValue: 6 }), [2, 5]),
  (tf) => run(tf, tf.layers.leakyReLU(), [2, 5]),
  (tf) => run(tf, tf.layers.leakyReLU({ alpha: 0.1 }), [2, 5]),
  (tf) => run(tf, tf.layers.leakyReLU({ alpha: 0 }), [2, 5]),
  (tf) => run(tf, tf.layers.prelu(), [2, 5]),
  (tf) => run(tf, tf.layers.prelu({ sharedAxes: [1] }), [2, 5, 3]),
  (tf) => run(tf, tf.layers.prelu({ sharedAxes: 1 }), [2, 5, 3]),
  (tf) => run(tf, tf.layers.prelu({ sharedAxes: [1, 2] }), images),
  (tf) => run(tf, tf.layers.elu(), [2, 5]),
  (tf) => run(tf, tf.layers.elu({ alpha: 1 }), [2, 5]),
  (tf) => run(tf, tf.layers.thresholdedReLU(), [2, 5]),
  (tf) => run(tf, tf.layers.thresholdedReLU({ theta: 0.2 }), [2, 5]),
  (tf) => run(tf, tf.layers.softmax(), [2, 5]),
  (tf) => run(tf, tf.layers.softmax({ axis: 1 }), [2, 5]),
  (tf) => run(tf, tf.layers.softmax({ axis: -1 }), [2, 5, 3]),
  (tf) => run(tf, tf.layers.softmax({ axis: 2 }), [2, 5, 3]),

  (tf) => run(tf, tf.layers.rescaling({ scale: 2 }), images),
  (tf) => run(tf, tf.layers.rescaling({ scale: 2, offset: 1 }), images),
  (tf) => run(tf, tf.layers.rescaling({ scale: 1 / 255, offset: -1 }), [2, 3]),
  (tf) => run(tf, tf.layers.centerCrop({ height: 5, width: 6 }), images),

  each(['dropout', 'spatialDropout1d', 'gaussianDropout', 'alphaDropout'], (tf, noise) =>
    run(tf, tf.layers[noise]({ rate: 0.5 }), steps),
  ),
  (tf) => run(tf, tf.layers.gaussianNoise({ stddev: 0.5 }), steps),
  (tf) => run(tf, tf.layers.timeDistributed({ layer: tf.layers.dense({ units: 2 }) }), steps),
  (tf) =>
    run(
      tf,
      tf.layers.timeDistributed({ layer: tf.layers.activation({ activation: 'tanh' }) }),
      steps,
    ),
  (tf) =>
    run(
      tf,
      tf.layers.timeDistributed({ layer: tf.layers.conv2d({ filters: 2, kernelSize: 2 }) }),
      [2, 3, 4, 4, 2],
    ),
  (tf) => run(tf, tf.layers.timeDistributed({ layer: tf.layers.flatten() }), [2, 3, 4, 2]),
  (tf) => run(tf, tf.layers.timeDistributed({ layer: tf.layers.lstm({ units: 2 }) }), [2, 3, 4, 2]),

  each([[3], [3, 4], [null, 4], [null, null, 3], [1]], (tf, dims) =>
    shape(tf, tf.layers.dense({ units: 2 }), dims),
  ),
  each(
    [
      [8, 8, 3],
      [null, null, 3],
      [null, 8, 3],
    ],
    (tf, dims) => shape(tf, tf.layers.conv2d({ filters: 2, kernelSize: 3 }), dims),
  ),
  each(
    [
      [8, 3],
      [null, 3],
      [3, 1],
    ],
    (tf, dims) => shape(tf, tf.layers.conv1d({ filters: 2, kernelSize: 3 }), dims),
  ),
  each(
    [
      [null, 3],
      [5, 3],
    ],
    (tf, dims) => shape(tf, tf.layers.lstm({ units: 2 }), dims),
  ),
  each(
    [
      [null, 3],
      [5, 3],
    ],
    (tf, dims) => shape(tf, tf.layers.lstm({ units: 2, returnSequences: true }), dims),
  ),
  each(
    [
      [5, 3],
      [2, 3, 4],
    ],
    (tf, dims) => shape(tf, tf.layers.flatten(), dims),
  ),
  each([[4, 3], [12], [2, 3, 2]], (tf, dims) =>
    shape(tf, tf.layers.reshape({ targetShape: [6, 2] }), dims),
  ),
  each(
    [
      [null, null, 3],
      [6, 7, 3],
    ],
    (tf, dims) => shape(tf, tf.layers.maxPooling2d({ poolSize: 2 }), dims),
  ),
  each([[null], [4], [4, 5]], (tf, dims) =>
    shape(tf, tf.layers.embedding({ inputDim: 3, outputDim: 2 }), dims),
  ),
  (tf) => row(tf, tf.layers.dense({ units: 2, inputShape: [3] })).outputShape,
  (tf) =>
    row(
      tf,
      tf.layers.conv2d({ filters: 2, kernelSize: 3, inputShape: [8, 8, 1] }),
      tf.layers.flatten(),
      tf.layers.dense({ units: 4 }),
    ).outputShape,
  (tf) => numbers(tf, [2, 2]),
  differs('TensorFlow.js has no causal convolution with a bias', (tf) =>
    run(tf, tf.layers.conv1d({ filters: 2, kernelSize: 3, padding: 'causal' }), steps),
  ),
  differs(
    'TensorFlow.js cpu misapplies statistics of other axes to the last axis',
    (tf) => run(tf, tf.layers.batchNormalization({ axis: 1 }), [3, 4, 5]),
    (tf) => run(tf, tf.layers.batchNormalization({ axis: 1 }), images),
  ),
  differs('TensorFlow.js requires an object; here it is optional', (tf) =>
    run(tf, tf.layers.upSampling2d(), images),
  ),
  differs('TensorFlow.js knows no other alpha', (tf) =>
    run(tf, tf.layers.elu({ alpha: 0.5 }), [2, 5]),
  ),
  differs(
    'TensorFlow.js cannot have it in a model: it confuses the list of inputs with an image',
    (tf) => run(tf, tf.layers.resizing({ height: 3, width: 4 }), images),
    (tf) => run(tf, tf.layers.resizing({ height: 8, width: 7 }), images),
    (tf) => run(tf, tf.layers.resizing({ height: 8, width: 7, interpolation: 'nearest' }), images),
    (tf) => run(tf, tf.layers.resizing({ height: 3, width: 4, interpolation: 'bilinear' }), images),
    (tf) => run(tf, tf.layers.resizing({ height: 3, width: 4, cropToAspectRatio: true }), images),
  ),
  differs(
    'TensorFlow.js overwrites the input shape with the output shape',
    (tf) => run(tf, tf.layers.centerCrop({ height: 3, width: 4 }), images),
    (tf) => run(tf, tf.layers.centerCrop({ height: 2, width: 3 }), images),
    (tf) => run(tf, tf.layers.centerCrop({ height: 8, width: 9 }), images),
    each(['multiHot', 'oneHot', 'count'], (tf, outputMode) =>
      run(tf, tf.layers.categoryEncoding({ numTokens: 5, outputMode }), [3, 1], counts(tf, [3, 1])),
    ),
    each(['multiHot', 'count', undefined], (tf, outputMode) =>
      run(tf, tf.layers.categoryEncoding({ numTokens: 5, outputMode }), [3, 4], counts(tf, [3, 4])),
    ),
  ),
  differs('results without elements are rejected here', (tf) =>
    shape(tf, tf.layers.conv2d({ filters: 2, kernelSize: 3 }), [2, 2, 3]),
  ),
  differs('sizes may be unknown here', (tf) => shape(tf, tf.layers.flatten(), [null, 3])),
];
