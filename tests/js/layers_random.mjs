// Random models of layers, here and in TensorFlow.js with equal weights: predict, evaluate and two training
// steps must agree. As a program it runs other seeds: node tests/js/layers_random.mjs --seeds=0..2000
// [--device=webgpu].
// Not drawn, because TensorFlow.js is wrong itself or fails: dilationRate of depthwise convolutions, softmax of more than
// one axis, normalizations without beta or gamma, recurrent layers and softmax after masks, whose steps it goes on counting
// where a layer has made other ones. TensorFlow.js has no layer of attention.
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { Draw } from './draw.mjs';

const activations = [
  'linear',
  'relu',
  'tanh',
  'sigmoid',
  'elu',
  'selu',
  'softplus',
  'softsign',
  'hardSigmoid',
  'relu6',
];
const window = (d, sizes) => sizes.map((size) => d.size(1, Math.min(size, 5)));
const common = (d) => ({ activation: d.pick(activations), useBias: d.chance(0.8) });

/** Strides and dilations are never combined. */
function convolution(d, sizes, mayDilate = true) {
  const kernelSize = window(d, sizes);
  const padding = d.pick(['valid', 'same']);
  const strides = d.chance(0.4) ? d.size(2, 3) : 1;
  const dilates = mayDilate && strides === 1 && d.chance(0.3);
  const fits = sizes.every((size, axis) => size > 2 * (kernelSize[axis] - 1));
  return { kernelSize, padding, strides, ...(dilates && fits ? { dilationRate: 2 } : {}) };
}
const pooling = (d, sizes) => ({
  poolSize: window(d, sizes),
  padding: d.pick(['valid', 'same']),
  strides: sizes.map(() => d.size(1, 3)),
});
const recurrent = (d) => ({
  units: d.size(1, 7),
  returnSequences: d.chance(0.5),
  goBackwards: d.chance(0.2),
  useBias: d.chance(0.8),
});

/** A recurrent layer that skips masked steps of zeros; later layers receive no mask. */
function masked(d) {
  const of = d.pick(['simpleRNN', 'lstm', 'gru']);
  return { of, ...recurrent(d), returnSequences: false };
}

/** Options of layers, by the shape of their input, such as [steps, channels]. */
const anywhere = {
  dense: (d) => ({ units: d.size(1, 17), ...common(d) }),
  activation: (d) => ({ activation: d.pick(activations) }),
  batchNormalization: () => ({ momentum: 0.9 }),
  layerNormalization: () => ({}),
  leakyReLU: (d) => ({ alpha: d.next() }),
  elu: () => ({}),
  reLU: (d) => ({ maxValue: d.size(1, 3) }),
  prelu: () => ({}),
  merge: (d) => ({
    how: d.pick(['add', 'multiply', 'average', 'maximum', 'minimum', 'concatenate']),
    units: d.size(1, 9),
  }),
};
const byRank = {
  1: {
    softmax: () => ({}),
    repeatVector: (d) => ({ n: d.size(1, 5) }),
    reshape: (d, [n]) => ({ targetShape: n % 2 === 0 ? [2, n / 2] : [n, 1] }),
  },
  2: {
    conv1d: (d, [steps]) => {
      const { kernelSize, ...rest } = convolution(d, [steps]);
      return { filters: d.size(1, 9), kernelSize: kernelSize[0], ...rest, ...common(d) };
    },
    maxPooling1d: (d, [steps]) => ({
      poolSize: d.size(1, Math.min(steps, 4)),
      strides: d.size(1, 3),
      padding: d.pick(['valid', 'same']),
    }),
    averagePooling1d: (d, [steps]) => ({
      poolSize: d.size(1, Math.min(steps, 4)),
      strides: d.size(1, 3),
    }),
    globalMaxPooling1d: () => ({}),
    globalAveragePooling1d: () => ({}),
    simpleRNN: recurrent,
    masked,
    lstm: recurrent,
    gru: recurrent,
    bidirectional: (d) => ({
      of: d.pick(['lstm', 'gru']),
      ...recurrent(d),
      goBackwards: false,
      mergeMode: d.pick(['concat', 'sum', 'mul', 'ave']),
    }),
    timeDistributed: (d) => ({ units: d.size(1, 7) }),
    permute: () => ({ dims: [2, 1] }),
    flatten: () => ({}),
  },
  3: {
    conv2d: (d, [h, w]) => ({ filters: d.size(1, 9), ...convolution(d, [h, w]), ...common(d) }),
    depthwiseConv2d: (d, [h, w]) => {
      const { strides, ...rest } = convolution(d, [h, w], false);
      return { depthMultiplier: d.size(1, 3), strides: [strides, strides], ...rest, ...common(d) };
    },
    separableConv2d: (d, [h, w]) => ({
      filters: d.size(1, 5),
      ...convolution(d, [h, w], false),
      ...common(d),
    }),
    conv2dTranspose: (d, [h, w]) => ({
      filters: d.size(1, 4),
      ...convolution(d, [h, w], false),
      ...common(d),
    }),
    channelsFirst: (d, [, h, w]) => ({
      ...convolution(d, [h, w]),
      filters: d.size(1, 9),
      dataFormat: 'channelsFirst',
      ...common(d),
    }),
    channelsFirstPooling: (d, [, h, w]) => ({
      of: d.pick(['maxPooling2d', 'averagePooling2d']),
      ...pooling(d, [h, w]),
      dataFormat: 'channelsFirst',
    }),
    maxPooling2d: (d, [h, w]) => pooling(d, [h, w]),
    averagePooling2d: (d, [h, w]) => pooling(d, [h, w]),
    globalMaxPooling2d: () => ({}),
    globalAveragePooling2d: () => ({}),
    zeroPadding2d: (d) => ({
      padding: [
        [d.size(0, 2), d.size(0, 2)],
        [d.size(0, 2), d.size(0, 2)],
      ],
    }),
    cropping2D: (d, [h, w]) => ({
      cropping: [
        [0, h > 1 ? 1 : 0],
        [w > 2 ? 1 : 0, 0],
      ],
    }),
    upSampling2d: (d) => ({ size: [d.size(1, 3), d.size(1, 3)] }),
    reshape: (d, [h, w, c]) => ({ targetShape: [h, w * c] }),
    permute: (d) => ({
      dims: d.pick([
        [2, 1, 3],
        [3, 1, 2],
      ]),
    }),
    flatten: () => ({}),
  },
  4: {
    convLstm2d: (d, [, h, w]) => ({
      filters: d.size(1, 4),
      kernelSize: window(d, [h, w]),
      padding: d.pick(['valid', 'same']),
      returnSequences: d.chance(0.3),
      useBias: d.chance(0.8),
    }),
    timeDistributedConv2d: (d, [, h, w]) => ({ filters: d.size(1, 4), ...convolution(d, [h, w]) }),
    flatten: () => ({}),
  },
};

function call(lib, name, args, x) {
  const { layers } = lib;
  if (name === 'merge') {
    const both = [0, 1].map(() => layers.dense({ units: args.units }).apply(x));
    return layers[args.how]().apply(both);
  }
  if (name === 'masked') {
    const { of, ...rest } = args;
    return layers[of](rest).apply(layers.masking().apply(x));
  }
  if (name === 'embedded') {
    const { inputDim, outputDim, of, ...rest } = args;
    const embedding = layers.embedding({ inputDim, outputDim, maskZero: true });
    return layers[of](rest).apply(embedding.apply(x));
  }
  if (name === 'channelsFirst') return layers.conv2d(args).apply(x);
  if (name === 'channelsFirstPooling') {
    const { of, ...rest } = args;
    return layers[of](rest).apply(x);
  }
  if (name === 'timeDistributedConv2d')
    return layers.timeDistributed({ layer: layers.conv2d(args) }).apply(x);
  if (name === 'bidirectional') {
    const { of, mergeMode, ...rest } = args;
    return layers.bidirectional({ layer: layers[of](rest), mergeMode }).apply(x);
  }
  if (name === 'timeDistributed')
    return layers.timeDistributed({ layer: layers.dense(args) }).apply(x);
  return layers[name](args).apply(x);
}

/** TensorFlow.js fails to train these on one step. */
const overSteps =
  'simpleRNN lstm gru bidirectional timeDistributed masked convLstm2d timeDistributedConv2d'.split(
    ' ',
  );

/** TensorFlow.js supports neither for five axes. */
const normalizations = ['batchNormalization', 'layerNormalization'];

const overlap = ({ poolSize, strides = poolSize }) =>
  [poolSize].flat().some((size, axis) => [strides].flat()[axis] < size);

/** Whether different numbers may become equal, or overlapping windows contain one number several times. */
const levels = ([name, args]) =>
  /repeatVector|reLU|layerNormalization/.test(name) ||
  /^(relu6?|hardSigmoid)$/.test(args.activation) ||
  (/^maxPooling/.test(name) && overlap(args));

/**
 * Where TensorFlow.js does not train as it should: it has no gradients of dilated convolutions, a wrong one of
 * upSampling2d and, at the border, of averages with padding, none of masks that depend on weights, and assigns to every one of
 * equal maxima the full gradient.
 */
const trainsDifferently = (chosen) =>
  chosen.some(([name, args], at) => {
    const isMax = /max/i.test(name) && chosen.slice(0, at).some(levels);
    const isMean = /average/i.test(name + args.of) && args.padding === 'same';
    const isMask = name === 'masked' && at > 0;
    return args.dilationRate !== undefined || name === 'upSampling2d' || isMax || isMean || isMask;
  });

const largest = 4000;

/** The layers of a seed: [[name, args], …], and the shape they read. */
export function drawLayers(seed) {
  const d = new Draw(seed);
  const rank = d.pick([1, 1, 2, 2, 2, 3, 3, 3, 4]);
  const shape = [
    [d.size(1, 40)],
    [d.size(1, 20), d.size(1, 9)],
    [d.size(1, 14), d.size(1, 14), d.size(1, 5)],
    [d.size(2, 4), d.size(1, 6), d.size(1, 6), d.size(1, 3)],
  ][rank - 1];
  const isStateful = rank === 2 && shape[0] > 1 && d.chance(0.2);
  const tokens = rank === 1 && shape[0] > 1 && d.chance(0.4) ? d.size(2, 9) : 0;
  let x = tf.input({ shape });
  const chosen = [];
  if (tokens > 0 || isStateful) {
    const args =
      tokens > 0 ? { inputDim: tokens, outputDim: d.size(1, 5), ...masked(d) } : recurrent(d);
    const name = tokens > 0 ? 'embedded' : d.pick(['simpleRNN', 'lstm', 'gru']);
    chosen.push([name, isStateful ? { ...args, stateful: true } : args]);
    x = tf.input({ shape: call(tf, name, args, x).shape.slice(1) });
  }
  for (let count = d.size(1, 6); count > 0; --count) {
    const sizes = x.shape.slice(1);
    const makers = { ...anywhere, ...byRank[sizes.length] };
    const few = Object.keys(anywhere).length - (sizes.length === 4 ? normalizations.length : 0);
    for (const name of sizes[0] === 1 ? overSteps : []) delete makers[name];
    const hasMask = chosen.some(([name]) => /masked|embedded/.test(name));
    for (const name of hasMask ? [...overSteps, 'softmax'] : []) delete makers[name];
    for (const name of sizes.length === 4 ? normalizations : []) delete makers[name];
    const name = d.pick(Object.keys(makers).slice(0, d.chance(0.3) ? few : undefined));
    const args = makers[name](d, sizes);
    const next = call(tf, name, structuredClone(args), x);
    const size = next.shape.slice(1).reduce((product, each) => product * each, 1);
    if (!(size >= 1 && size <= largest) || byRank[next.shape.length - 1] === undefined) continue;
    chosen.push([name, args]);
    x = next;
  }
  return { shape, chosen, tokens, rows: isStateful ? d.size(1, 9) : undefined, d };
}

export function build(lib, { shape, chosen, rows }) {
  const input = lib.input(rows === undefined ? { shape } : { batchShape: [rows, ...shape] });
  let x = input;
  for (const [name, args] of chosen) x = call(lib, name, structuredClone(args), x);
  const model = lib.model({ inputs: input, outputs: x });
  model.compile({ loss: 'meanSquaredError', optimizer: lib.train.sgd(0.01) });
  return model;
}

/** Sets the same random weights in both; variances are positive. */
function equalWeights(ours, theirs, d) {
  ours.layers.forEach((layer, at) => {
    if (layer.weights.length === 0) return;
    const values = layer.weights.map(({ name, shape }) => {
      const size = shape.reduce((product, each) => product * each, 1);
      const isVariance = /variance|gamma/.test(name);
      return Float32Array.from({ length: size }, () =>
        isVariance ? 0.5 + d.next() : d.next() - 0.5,
      );
    });
    const shapes = layer.weights.map(({ shape }) => [...shape]);
    layer.setWeights(values.map((each, i) => tl.tensor(each, shapes[i])));
    theirs.layers[at].setWeights(values.map((each, i) => tf.tensor(each, shapes[i])));
  });
}

/** Error: numbers differ by more than `within` of the largest one. */
function compare(what, mine, expected, within) {
  const scale = Math.max(1, ...expected.map(Math.abs).filter(Number.isFinite));
  const off = expected.findIndex(
    (each, at) => !(Math.abs(mine[at] - each) <= within * scale) && Number.isFinite(each),
  );
  if (mine.length !== expected.length)
    throw new Error(`${what}: ${mine.length} numbers for ${expected.length}`);
  if (off >= 0) throw new Error(`${what}: ${mine[off]} at ${off}, TensorFlow.js ${expected[off]}`);
}

/** Error: the model of the seed behaves differently in TensorFlow.js. */
export async function checkSeed(seed) {
  const drawn = drawLayers(seed);
  const { d } = drawn;
  try {
    const [ours, theirs] = [build(tl, drawn), build(tf, drawn)];
    equalWeights(ours, theirs, d);
    const { rows = d.size(1, 9), tokens, chosen } = drawn;
    const skips = chosen.some(([name]) => name === 'masked');
    const fill = (shape) => {
      const size = shape.reduce((product, each) => product * each, 1);
      return Float32Array.from({ length: size }, () => 2 * d.next() - 1);
    };
    const xShape = [rows, ...drawn.shape];
    const yShape = [rows, ...theirs.outputs[0].shape.slice(1)];
    const [x, y] = [fill(xShape), fill(yShape)];
    if (tokens > 0) x.forEach((each, at) => (x[at] = Math.floor(((each + 1) / 2) * tokens)));
    const width = xShape.at(-1);
    for (let at = 0; skips && at < x.length; at += width)
      if (d.chance(0.3)) x.fill(0, at, at + width);
    const data = (lib) => [lib.tensor(x, xShape), lib.tensor(y, yShape)];
    const batchSize = drawn.rows ?? d.size(1, 5);
    const predicted = async (lib, model) => [
      ...(await model.predict(data(lib)[0], { batchSize }).data()),
    ];
    const evaluated = async (lib, model) => {
      const evaluate = lib === tl ? 'evaluateAsync' : 'evaluate';
      return [...(await (await model[evaluate](...data(lib), { batchSize })).data())];
    };
    const times = drawn.rows === undefined ? 1 : 2;
    for (let time = 0; time < times; ++time)
      compare('predict', await predicted(tl, ours), await predicted(tf, theirs), 1e-4);
    compare('evaluate', await evaluated(tl, ours), await evaluated(tf, theirs), 1e-4);
    const learns = ours.trainableWeights.length > 0 && !trainsDifferently(drawn.chosen);
    const steps = learns ? [1, 2] : [];
    for (const step of steps) {
      const mine = await ours.trainOnBatch(...data(tl));
      compare(`loss of step ${step}`, [mine], [await theirs.trainOnBatch(...data(tf))], 1e-3);
    }
    for (const [at, layer] of ours.layers.entries()) {
      const expected = theirs.layers[at].getWeights();
      const names = layer.weights.map(({ name }) => name);
      for (const [i, each] of layer.getWeights().entries())
        compare(names[i], [...(await each.data())], [...expected[i].dataSync()], 1e-3);
    }
    ours.dispose();
  } catch (error) {
    const layers = drawn.chosen
      .map(([name, args]) => `${name} ${JSON.stringify(args)}`)
      .join('\n  ');
    throw new Error(`seed ${seed}, input [${drawn.shape}]: ${error.message}\n  ${layers}`, {
      cause: error,
    });
  }
}

const [, from, to] = /--seeds=(\d+)\.\.(\d+)/.exec(process.argv.join(' ')) ?? [];
if (from !== undefined) {
  await tf.setBackend('cpu');
  await tl.ready();
  const device = process.argv.find((each) => each.startsWith('--device='))?.slice(9);
  if (device !== undefined) await tl.setDevice(device);
  let failed = 0;
  for (let seed = Number(from); seed < Number(to); ++seed) {
    await checkSeed(seed).catch((error) => {
      failed += 1;
      console.log(error.message);
    });
  }
  console.log(`${Number(to) - Number(from) - failed} passed, ${failed} failed, 0 skipped`);
  process.exit(failed === 0 ? 0 : 1);
}
