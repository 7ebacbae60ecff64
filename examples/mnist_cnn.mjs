// Trains a convolutional network on MNIST or Fashion-MNIST: see --help.
import * as tl from 'tensorlathe';
import { toFloats } from './lib/digits.mjs';
import { dataPathIfAny, defaultData, plotPath, runExample } from './lib/example.mjs';
import { drawnDigits, idxDigits } from './lib/load.mjs';
import { writePlot } from './lib/plot.mjs';
import { progress } from './lib/progress.mjs';

const usage = `usage: node examples/mnist_cnn.mjs [OPTIONS]
  --set NAME    mnist (default) or fashion-mnist: the folder of idx files
  --data DIR    the folder above it (default: train in the folder of LATHE_DATA, or else drawn digits)
  --epochs N    rounds over the data (default 5)
  --rows N      train on the first N pictures only, test on as many at most
  --seed N      of weights and order (default 1)
  --plot FILE   where the curves go (default build/examples/NAME.svg)`;

const defaults = {
  set: 'mnist',
  data: defaultData,
  epochs: 5,
  rows: 60000,
  seed: 1,
  plot: undefined,
};

/** Where the idx files are. */
const sources = {
  mnist: 'https://github.com/cvdfoundation/mnist',
  'fashion-mnist': 'https://github.com/zalandoresearch/fashion-mnist',
};

/** Adam's learning rate falls from epoch to epoch, to almost nothing. */
const learningRate = (epoch, epochs) => 0.003 * (1 - epoch / epochs) ** 2;

function buildModel(seed) {
  const { conv2d, maxPooling2d, flatten, dense } = tl.layers;
  const window = { kernelSize: 3, activation: 'relu' };
  const model = tl.sequential({
    name: 'cnn',
    seed,
    layers: [
      conv2d({ ...window, filters: 8, inputShape: [28, 28, 1] }),
      conv2d({ ...window, filters: 16 }),
      maxPooling2d(),
      conv2d({ ...window, filters: 32 }),
      maxPooling2d(),
      flatten(),
      dense({ units: 64, activation: 'relu' }),
      dense({ units: 10, activation: 'softmax' }),
    ],
  });
  model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'adam', metrics: ['accuracy'] });
  return model;
}

function tensors({ images, labels, count }, rows) {
  const first = Math.min(rows, count);
  return [
    tl.tensor(toFloats(images.subarray(0, first * 784)), [first, 28, 28, 1]),
    tl.tensor(labels.subarray(0, first), [first]),
  ];
}

await runExample('mnist_cnn', usage, defaults, async (options) => {
  const { set, data, epochs, rows, seed, plot = plotPath(`${set}_cnn`) } = options;
  const source = `the idx files of ${sources[set] ?? set}`;
  const folder = dataPathIfAny(data, set, 'drawn digits', source);
  const pictures =
    folder === undefined ? drawnDigits(seed, Math.min(rows, 10000)) : await idxDigits(folder);
  const [x, y] = tensors(pictures.train, rows);
  const validationData = tensors(pictures.test, rows);
  const model = buildModel(seed);
  model.summary();
  const start = performance.now();
  const { history } = await model.fit(x, y, {
    epochs,
    batchSize: 64,
    verbose: 0,
    validationData,
    callbacks: [
      { onEpochBegin: (epoch) => model.setLearningRate(learningRate(epoch, epochs)) },
      progress(epochs, x.shape[0]),
    ],
  });
  const seconds = (performance.now() - start) / 1000;
  const accuracy = (100 * history.val_acc.at(-1)).toFixed(2);
  console.log(`test accuracy ${accuracy} % after ${epochs} epochs in ${seconds.toFixed(0)} s`);
  const curves = (name) => [
    { name: 'training', values: history[name] },
    { name: 'test', values: history[`val_${name}`] },
  ];
  writePlot(plot, `${set}: a convolutional network`, [
    { title: 'loss', lines: curves('loss') },
    { title: 'accuracy', lines: curves('acc') },
  ]);
  model.dispose();
});
