// Teaches a network the digits 0 to 4, freezes its features and trains a new head on 5 to 9: see --help.
import * as tl from 'tensorlathe';
import { toFloats } from './lib/digits.mjs';
import { dataPathIfAny, defaultData, plotPath, runExample } from './lib/example.mjs';
import { drawnDigits, idxDigits } from './lib/load.mjs';
import { writePlot } from './lib/plot.mjs';
import { progress } from './lib/progress.mjs';

const usage = `usage: node examples/transfer.mjs [OPTIONS]
  --data DIR      the folder above mnist (default: train in the folder of LATHE_DATA, or else drawn digits)
  --rows N        how many digits 0 to 4 the features learn from (default 10000)
  --few N         how many digits 5 to 9 the new head learns from (default 500)
  --epochs N      rounds over the digits 0 to 4 (default 3)
  --headEpochs N  rounds over the digits 5 to 9 (default 10)
  --seed N        of weights and order (default 1)
  --plot FILE     where the curves go (default build/examples/transfer.svg)`;

const defaults = {
  data: defaultData,
  rows: 10000,
  few: 500,
  epochs: 3,
  headEpochs: 10,
  seed: 1,
  plot: plotPath('transfer'),
};

/** The first `rows` digits of the five classes from `first` on; classes count from 0. */
function fiveClasses({ images, labels }, first, rows) {
  const chosen = [...labels.keys()].filter((at) => labels[at] >= first && labels[at] < first + 5);
  const count = Math.min(rows, chosen.length);
  const pixels = new Uint8Array(count * 784);
  const classes = new Int32Array(count);
  chosen.slice(0, count).forEach((at, row) => {
    pixels.set(images.subarray(at * 784, (at + 1) * 784), row * 784);
    classes[row] = labels[at] - first;
  });
  return [tl.tensor(toFloats(pixels), [count, 28, 28, 1]), tl.tensor(classes)];
}

/** Pictures in, 64 features out. */
function buildFeatures(name, seed) {
  const { conv2d, maxPooling2d, flatten, dense } = tl.layers;
  const window = { kernelSize: 3, activation: 'relu' };
  const layers = [
    conv2d({ ...window, filters: 8, inputShape: [28, 28, 1] }),
    maxPooling2d(),
    conv2d({ ...window, filters: 16 }),
    maxPooling2d(),
    flatten(),
    dense({ units: 64, activation: 'relu' }),
  ];
  return tl.sequential({ name, seed, layers });
}

/** The features with a new head on them that tells five classes apart. */
function withHead(features, name, { seed, learningRate }) {
  const input = tl.input({ shape: [28, 28, 1] });
  const head = tl.layers.dense({ units: 5, activation: 'softmax', name: `${name}_head` });
  const outputs = head.apply(features.apply(input));
  const model = tl.model({ inputs: input, outputs, name, seed });
  const optimizer = tl.train.adam(learningRate);
  model.compile({ loss: 'softmaxCrossEntropy', optimizer, metrics: ['accuracy'] });
  return model;
}

/** Trains and gives the accuracy on the test digits after every epoch. */
async function train(model, title, data, validationData, epochs) {
  console.log(`\n${title}`);
  const [x, y] = data;
  const callbacks = progress(epochs, x.shape[0]);
  const { history } = await model.fit(x, y, {
    epochs,
    batchSize: 32,
    validationData,
    callbacks,
    verbose: 0,
  });
  return history.val_acc;
}

await runExample('transfer', usage, defaults, async (options) => {
  const { data, rows, few, epochs, headEpochs, seed, plot } = options;
  const files = 'the idx files of https://github.com/cvdfoundation/mnist';
  const folder = dataPathIfAny(data, 'mnist', 'drawn digits', files);
  const digits = folder === undefined ? drawnDigits(seed) : await idxDigits(folder);
  const test = (first) => fiveClasses(digits.test, first, Infinity);
  const [low, high] = [fiveClasses(digits.train, 0, rows), fiveClasses(digits.train, 5, few)];

  const features = buildFeatures('features', seed);
  const source = withHead(features, 'source', { seed, learningRate: 0.001 });
  const first = await train(source, 'digits 0 to 4, all layers', low, test(0), epochs);

  features.trainable = false;
  const model = withHead(features, 'transfer', { seed, learningRate: 0.01 });
  model.summary();
  const title = `digits 5 to 9, ${few} of them, a new head on frozen features`;
  const learnt = await train(model, title, high, test(5), headEpochs);

  const untrained = buildFeatures('untrained', seed + 1);
  untrained.trainable = false;
  const control = withHead(untrained, 'control', { seed, learningRate: 0.01 });
  const random = await train(
    control,
    'the same on features that never learnt',
    high,
    test(5),
    headEpochs,
  );

  const kept = source.evaluate(...test(0), { asObject: true }).acc;
  const percent = (share) => `${(100 * share).toFixed(2)} %`;
  console.log(`
digits 0 to 4               ${percent(first.at(-1))}
still, after the transfer   ${percent(kept)}
digits 5 to 9               ${percent(learnt.at(-1))}
on features never trained   ${percent(random.at(-1))}`);
  writePlot(plot, 'Test accuracy on digits 5 to 9', [
    {
      title: 'new head',
      lines: [
        { name: 'transfer', values: learnt },
        { name: 'untrained', values: random },
      ],
    },
  ]);
  for (const each of [source, model, control, features, untrained]) each.dispose();
});
