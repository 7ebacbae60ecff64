// Layers of random sizes compared with TensorFlow.js: equal results, losses and weights. LATHE_SEED and LATHE_DRAWS set seed and count.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { Random } from '../../../../examples/lib/random.mjs';
import { Sizes } from '../../../../bench/sizes.mjs';

const seed = Number(process.env.LATHE_SEED ?? 1);
const draws = Number(process.env.LATHE_DRAWS ?? 4);
const trained = 2;

before(() => tf.setBackend('cpu'));

/** At least two steps: TensorFlow.js fails to stack one. */
const sequence = (of) => [1 + of.size(9), of.size()];
const image = (of, min = 1) => [min + of.size(9), min + of.size(9), of.size(20)];
const volume = (of, min = 1) => [
  ...Array.from({ length: 3 }, () => min + of.size(4)),
  of.pick([1, of.size(9)]),
];
const padding = (of) => of.pick(['same', 'valid']);
const activation = (of) => of.pick(['linear', 'relu', 'tanh', 'sigmoid']);
/** In three dimensions TensorFlow.js computes strides larger than the window wrongly, so these stay within it. */
const steps = (of, max = 3) => ({ strides: of.between(1, max), padding: padding(of) });
const kernel = (of, max) => ({ kernelSize: of.between(1, max), ...steps(of) });
const pool = (of, max) => ({ poolSize: of.between(1, max), ...steps(of) });
const kernel3d = (of) => {
  const kernelSize = of.between(1, 2);
  return { kernelSize, ...steps(of, kernelSize) };
};
const pool3d = (of) => {
  const poolSize = of.between(1, 3);
  return { poolSize, ...steps(of, poolSize) };
};
/** Layers whose gradient TensorFlow.js 4.22 does not have or computes wrongly: padded average pooling, resized images. */
const predictsOnly = true;

const recurrent = (name) => (of) => {
  const args = {
    units: of.size(),
    useBias: of.pick([true, false]),
    returnSequences: of.pick([true, false]),
    goBackwards: of.pick([true, false]),
  };
  return [sequence(of), (on) => on[name](args)];
};

/** By layer: the shape of an example, a constructor from the layers of either library, and whether only predict is compared. */
const cases = {
  dense(of) {
    const args = { units: of.size(), useBias: of.pick([true, false]), activation: activation(of) };
    return [of.pick([[of.size()], sequence(of)]), (on) => on.dense(args)];
  },
  conv1d(of) {
    const args = { filters: of.size(), ...kernel(of, 5), activation: activation(of) };
    return [[5 + of.size(20), of.size()], (on) => on.conv1d(args)];
  },
  conv2d(of) {
    const args = { filters: of.size(), ...kernel(of, 4), activation: activation(of) };
    return [image(of, 3), (on) => on.conv2d(args)];
  },
  conv3d(of) {
    const args = { filters: of.size(9), ...kernel3d(of) };
    return [volume(of), (on) => on.conv3d(args)];
  },
  conv2dTranspose(of) {
    const args = { filters: of.size(20), ...kernel(of, 4) };
    return [image(of, 3), (on) => on.conv2dTranspose(args)];
  },
  depthwiseConv2d(of) {
    const args = { ...kernel(of, 4), depthMultiplier: of.between(1, 3) };
    return [image(of, 3), (on) => on.depthwiseConv2d(args)];
  },
  separableConv2d(of) {
    const args = { filters: of.size(), ...kernel(of, 4), depthMultiplier: of.between(1, 3) };
    return [image(of, 3), (on) => on.separableConv2d(args)];
  },
  maxPooling1d(of) {
    const args = pool(of, 4);
    return [[4 + of.size(20), of.size()], (on) => on.maxPooling1d(args)];
  },
  maxPooling2d(of) {
    const args = pool(of, 4);
    return [image(of, 3), (on) => on.maxPooling2d(args)];
  },
  maxPooling3d(of) {
    const args = pool3d(of);
    return [volume(of, 2), (on) => on.maxPooling3d(args)];
  },
  averagePooling1d(of) {
    const args = pool(of, 4);
    return [[4 + of.size(20), of.size()], (on) => on.averagePooling1d(args), predictsOnly];
  },
  averagePooling2d(of) {
    const args = pool(of, 4);
    return [image(of, 3), (on) => on.averagePooling2d(args), predictsOnly];
  },
  averagePooling3d(of) {
    const args = pool3d(of);
    return [volume(of, 2), (on) => on.averagePooling3d(args), predictsOnly];
  },
  globalAveragePooling1d: (of) => [sequence(of), (on) => on.globalAveragePooling1d()],
  globalAveragePooling2d: (of) => [image(of), (on) => on.globalAveragePooling2d({})],
  globalMaxPooling1d: (of) => [sequence(of), (on) => on.globalMaxPooling1d()],
  globalMaxPooling2d: (of) => [image(of), (on) => on.globalMaxPooling2d({})],
  batchNormalization: (of) => [
    of.pick([[of.size()], image(of)]),
    (on) => on.batchNormalization({ momentum: 0.9 }),
  ],
  layerNormalization: (of) => [[of.size(9), 1 + of.size()], (on) => on.layerNormalization({})],
  softmax: (of) => [sequence(of), (on) => on.activation({ activation: 'softmax' })],
  zeroPadding2d(of) {
    const args = { padding: [1, 2].map(() => [of.between(0, 3), of.between(0, 3)]) };
    return [image(of), (on) => on.zeroPadding2d(args)];
  },
  'zeroPadding2d and layerNormalization'(of) {
    const args = { padding: [1, 2].map(() => [of.between(0, 2), of.between(0, 2)]) };
    const axis = of.pick([[1, 2, 3], [2, 3], [3]]);
    return [image(of), (on) => [on.zeroPadding2d(args), on.layerNormalization({ axis })]];
  },
  cropping2D(of) {
    const args = { cropping: [1, 2].map(() => [of.between(0, 2), of.between(0, 2)]) };
    return [image(of, 4), (on) => on.cropping2D(args)];
  },
  upSampling2d(of) {
    const args = { size: [of.between(1, 3), of.between(1, 3)] };
    return [image(of), (on) => on.upSampling2d(args), predictsOnly];
  },
  permute: (of) => [image(of), (on) => on.permute({ dims: [3, 1, 2] })],
  repeatVector(of) {
    const n = of.size(9);
    return [[of.size()], (on) => on.repeatVector({ n })];
  },
  timeDistributed(of) {
    const args = { units: of.size(), activation: activation(of) };
    return [sequence(of), (on) => on.timeDistributed({ layer: on.dense(args) })];
  },
  simpleRNN: recurrent('simpleRNN'),
  lstm: recurrent('lstm'),
  gru: recurrent('gru'),
  bidirectional(of) {
    const name = of.pick(['simpleRNN', 'lstm', 'gru']);
    const args = { units: of.size(), returnSequences: of.pick([true, false]) };
    const mergeMode = of.pick(['concat', 'sum', 'mul', 'ave']);
    return [sequence(of), (on) => on.bidirectional({ layer: on[name](args), mergeMode })];
  },
  'stacked cells'(of) {
    const names = [1, 2].map(() => of.pick(['simpleRNNCell', 'lstmCell', 'gruCell']));
    const units = of.sizes(2);
    const make = (on) => {
      const cells = names.map((name, at) => on[name]({ units: units[at] }));
      return on.rnn({ cell: on.stackedRNNCells({ cells }) });
    };
    return [sequence(of), make];
  },
  convLstm2d(of) {
    const args = { filters: of.size(7), kernelSize: of.between(1, 3), padding: padding(of) };
    return [[of.between(2, 4), ...image(of, 2)], (on) => on.convLstm2d(args)];
  },
};

function modelPair(make, inputShape) {
  const build = (library, args) => {
    const model = library.sequential(args);
    // A trained layer before the tested one checks the gradient of its input.
    const before = { units: inputShape.at(-1), activation: 'tanh', inputShape };
    model.add(library.layers.dense(before));
    for (const layer of [make(library.layers)].flat()) model.add(layer);
    if (model.outputShape.length > 2) model.add(library.layers.flatten());
    model.add(library.layers.dense({ units: 2 }));
    return model;
  };
  const [ours, theirs] = [build(tl, { seed: 5 }), build(tf)];
  // Distinct values reveal weights in a wrong order.
  const weights = ours.getWeights().map((each, at) => {
    const values = each
      .dataSync()
      .map((value, i) => value + 0.05 * Math.sin(7 * (i + 1) + at) ** 2);
    return tl.tensor(values, each.shape);
  });
  ours.setWeights(weights);
  theirs.setWeights(weights.map((each) => tf.tensor(each.dataSync(), [...each.shape])));
  return [ours, theirs];
}

function expectClose(actual, expected, tolerance, what) {
  assert.equal(actual.length, expected.length, what);
  const scale = Math.max(1, ...expected.map(Math.abs));
  actual.forEach((value, at) => {
    const isClose = Math.abs(value - expected[at]) <= tolerance * scale;
    assert.ok(isClose, `${what}[${at}]: ${value}, TensorFlow.js ${expected[at]}`);
  });
}

async function compare([inputShape, make, isFixed = false], rows, random) {
  const [ours, theirs] = modelPair(make, inputShape);
  const numbers = (shape) => {
    const length = shape.reduce((product, size) => product * size, 1);
    const values = Float32Array.from({ length }, () => random.between(-1, 1));
    return [tl.tensor(values, shape), tf.tensor(values, shape)];
  };
  const [x, theirX] = numbers([rows, ...inputShape]);
  const [y, theirY] = numbers([rows, 2]);
  const expectSame = (tolerance, what) =>
    expectClose(ours.predict(x).dataSync(), theirs.predict(theirX).dataSync(), tolerance, what);
  expectSame(1e-5, 'predict');
  if (!isFixed) {
    ours.compile({ loss: 'meanSquaredError', optimizer: tl.train.sgd(0.02) });
    theirs.compile({ loss: 'meanSquaredError', optimizer: tf.train.sgd(0.02) });
    for (let step = 0; step < trained; ++step) {
      const actual = await ours.trainOnBatch(x, y);
      expectClose([actual], [await theirs.trainOnBatch(theirX, theirY)], 1e-4, `step ${step}`);
    }
    const weights = theirs.getWeights();
    for (const [at, each] of ours.getWeights().entries()) {
      expectClose(each.dataSync(), weights[at].dataSync(), 1e-4, `weight ${at}`);
    }
  }
  ours.dispose();
  theirs.dispose();
  tf.dispose([theirX, theirY]);
}

for (const [number, [name, draw]] of Object.entries(cases).entries()) {
  test(`${name} of random sizes equals that of TensorFlow.js (LATHE_SEED=${seed})`, async () => {
    for (let at = 0; at < draws; ++at) {
      const sizes = new Sizes(1000 * seed + 50 * at + number);
      const [chosen, rows] = [draw(sizes), sizes.size(20)];
      const layers = [chosen[1](tl.layers)].flat();
      const config = layers.map((layer) => JSON.stringify(layer.getConfig())).join();
      await compare(chosen, rows, new Random(seed, at)).catch((error) => {
        error.message = `[${rows},${chosen[0]}] ${config}: ${error.message}`;
        throw error;
      });
    }
  });
}
