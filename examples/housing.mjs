// Predicts house prices in Californian districts with a dense network: see --help.
import * as tl from 'tensorlathe';
import { dataPathIfAny, defaultData, plotPath, runExample } from './lib/example.mjs';
import { writePlot } from './lib/plot.mjs';
import { progress } from './lib/progress.mjs';
import { Random } from './lib/random.mjs';

const usage = `usage: node examples/housing.mjs [OPTIONS]
  --data DIR    the folder of tabular/california_housing.csv (default: train in the folder of LATHE_DATA,
                or else generated districts)
  --epochs N    rounds over the data (default 15)
  --rows N      take N districts only; a fifth of them tests
  --seed N      of split and weights (default 1)
  --compare     train the same network in TensorFlow.js on the same batches
  --plot FILE   where the curves go (default build/examples/housing.svg)`;

const defaults = {
  data: defaultData,
  epochs: 15,
  rows: 20640,
  seed: 1,
  compare: false,
  plot: plotPath('housing'),
};

const price = 'median_house_value';
const places = ['<1H OCEAN', 'INLAND', 'ISLAND', 'NEAR BAY', 'NEAR OCEAN'];
const batchSize = 128;
const learningRate = 0.001;

/** Districts without gaps in random order: xs, eight numbers and the place as one of five; ys, the price in 100,000 dollars. */
async function readDistricts(path, rows, seed) {
  if (path === undefined) return generatedDistricts(Math.min(rows, 5000), seed);
  const table = tl.data.csv(path, { columnConfigs: { [price]: { isLabel: true } } });
  return table
    .filter(({ xs }) => !Object.values(xs).includes(undefined))
    .map(({ xs: { ocean_proximity: place, ...numbers }, ys }) => ({
      xs: [...Object.values(numbers), ...places.map((each) => Number(each === place))],
      ys: [ys[price] / 100000],
    }))
    .shuffle(20640, seed)
    .take(rows)
    .toArray();
}

/** Districts of the same columns: the price grows with income, near the ocean, and falls with crowding; a tenth of it is noise. */
function generatedDistricts(rows, seed) {
  return Array.from({ length: rows }, (_, row) => {
    const random = new Random(seed, row);
    const place = Math.floor(random.between(0, places.length));
    const [longitude, latitude] = [random.between(-124, -114), random.between(32, 42)];
    const [age, income] = [random.between(1, 52), random.between(0.5, 10)];
    const households = random.between(50, 1500);
    const [rooms, people] = [
      households * random.between(3, 8),
      households * random.between(1.5, 5),
    ];
    const bedrooms = rooms * random.between(0.15, 0.3);
    const numbers = [longitude, latitude, age, rooms, bedrooms, people, households, income];
    const value = 0.5 + 0.4 * income * (place === 1 ? 0.6 : 1) + 0.08 * (rooms / people) ** 2;
    return {
      xs: [...numbers, ...places.map((_, at) => Number(at === place))],
      ys: [value * (1 + 0.1 * random.bell())],
    };
  });
}

/** Four fifths to train on and one to test, with features of mean 0 and deviation 1 over those to train on. */
function split(districts) {
  const count = Math.floor(0.8 * districts.length);
  const train = districts.slice(0, count);
  const scales = train[0].xs.map((_, column) => {
    const mean = train.reduce((sum, { xs }) => sum + xs[column], 0) / count;
    const variance = train.reduce((sum, { xs }) => sum + (xs[column] - mean) ** 2, 0) / count;
    return [mean, Math.sqrt(variance) || 1];
  });
  const arrays = (part) => [
    part.map(({ xs }) => xs.map((value, at) => (value - scales[at][0]) / scales[at][1])),
    part.map(({ ys }) => ys),
  ];
  return { train: arrays(train), test: arrays(districts.slice(count)) };
}

/** The network in either library. */
function buildModel(lib, features, seed) {
  const model = lib.sequential({ name: 'housing', seed });
  model.add(lib.layers.dense({ units: 64, activation: 'relu', inputShape: [features] }));
  model.add(lib.layers.dense({ units: 32, activation: 'relu' }));
  model.add(lib.layers.dense({ units: 1 }));
  model.compile({ loss: 'meanSquaredError', optimizer: lib.train.adam(learningRate) });
  return model;
}

/** Test errors by epoch of TensorFlow.js, from these weights and in the same order of batches. */
async function trainTensorFlow({ train, test }, weights, epochs) {
  const tf = await import('@tensorflow/tfjs');
  await tf.setBackend('cpu');
  const model = buildModel(tf, train[0][0].length);
  model.setWeights(weights.map((each) => tf.tensor(each.dataSync(), [...each.shape])));
  const [x, y, ...validationData] = [...train, ...test].map((rows) => tf.tensor2d(rows));
  const options = { epochs, batchSize, shuffle: false, verbose: 0, validationData };
  const { history } = await model.fit(x, y, options);
  return history.val_loss;
}

await runExample('housing', usage, defaults, async (options) => {
  const { data, epochs, rows, seed, compare, plot } = options;
  const name = 'tabular/california_housing.csv';
  const source = 'https://github.com/ageron/handson-ml2/tree/master/datasets/housing';
  const path = dataPathIfAny(data, name, 'generated districts', source);
  const parts = split(await readDistricts(path, rows, seed));
  const { train, test } = parts;
  console.log(`${train[0].length} districts to train on, ${test[0].length} to test`);
  const model = buildModel(tl, train[0][0].length, seed);
  const weights = model.getWeights();
  const { history } = await model.fit(...train, {
    epochs,
    batchSize,
    shuffle: false,
    validationData: test,
    callbacks: progress(epochs, train[0].length),
    verbose: 0,
  });
  const error = history.val_loss.at(-1);
  console.log(`test error ${error.toFixed(4)} (squared, in 100,000 dollars)`);
  const lines = [
    { name: 'training', values: history.loss },
    { name: 'test', values: history.val_loss },
  ];
  if (compare) {
    const values = await trainTensorFlow(parts, weights, epochs);
    lines.push({ name: 'test, TensorFlow.js', values });
    console.log(`TensorFlow.js ${values.at(-1).toFixed(4)}`);
  }
  writePlot(plot, 'California housing', [{ title: 'mean squared error', lines }]);
  model.dispose();
});
