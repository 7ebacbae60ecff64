// Arguments and results of model methods compared with TensorFlow.js: scores, histories, kinds of data, optimizers.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { throws, rejects } from '../../lib.mjs';

before(() => tf.setBackend('cpu'));

const features = Array.from({ length: 20 }, (_, at) => [Math.sin(at), Math.cos(3 * at)]);
const classes = features.map(([a, b]) => (a > b ? 1 : 0));

/** A model of either library, always with the same weights. */
function small(lib, { units = 2, activation = 'softmax', inputs = 2 } = {}) {
  const model = lib.sequential();
  const numbers = (count) => Array.from({ length: count }, (_, at) => Math.sin(at + 1));
  model.add(lib.layers.dense({ units: 3, activation: 'tanh', inputShape: [inputs] }));
  model.add(lib.layers.dense({ units, activation }));
  model.setWeights([
    lib.tensor(numbers(3 * inputs), [inputs, 3]),
    lib.tensor([0, 0.1, 0.2]),
    lib.tensor(numbers(3 * units), [3, units]),
    lib.tensor(numbers(units)),
  ]);
  return model;
}

/** A model of two inputs and outputs. */
function double(lib) {
  const a = lib.input({ shape: [2], name: 'a' });
  const kernelInitializer = 'ones';
  const args = { activation: 'softmax', kernelInitializer };
  const first = lib.layers.dense({ units: 2, name: 'first', ...args }).apply(a);
  const second = lib.layers.dense({ units: 1, name: 'second', kernelInitializer }).apply(a);
  return lib.model({ inputs: a, outputs: [first, second] });
}

/** Asserts that a program has equal numbers in both libraries, up to `within`. */
async function same(run, within = 1e-5) {
  const [ours, theirs] = [await run(tl), await run(tf)];
  const check = (mine, expected, path) => {
    if (typeof expected === 'number') {
      assert.ok(
        Math.abs(mine - expected) <= within * Math.max(1, Math.abs(expected)),
        `${path}: ${mine}, TensorFlow.js ${expected}`,
      );
    } else if (expected !== null && typeof expected === 'object') {
      assert.deepEqual(Object.keys(mine), Object.keys(expected), path);
      for (const key of Object.keys(expected)) check(mine[key], expected[key], `${path}.${key}`);
    } else assert.equal(mine, expected, path);
  };
  check(ours, theirs, 'result');
}

const oneHot = (lib) => lib.tensor(classes.map((each) => [1 - each, each]));
const values = (scores) => [scores].flat().map((each) => [each.shape, each.dataSync()[0]]);

test('evaluate returns a scalar, or scalars in the order of metricsNames', async () => {
  for (const metrics of [undefined, null, [], ['accuracy'], ['mse', 'acc', 'mae'], 'acc']) {
    await same((lib) => {
      const model = small(lib);
      const optimizer = lib.train.sgd(0.1);
      model.compile({ loss: 'categoricalCrossentropy', optimizer, metrics });
      const result = model.evaluate(lib.tensor(features), oneHot(lib), { batchSize: 8 });
      return [Array.isArray(result), model.metricsNames, values(result)];
    });
  }
});

test('repeated metrics are numbered in history', async () => {
  const twice = (yTrue, yPred) => yPred.sub(yTrue).abs().mean();
  const lists = [
    ['mae', 'mae'],
    ['acc', 'accuracy'],
    ['mse', 'mae', 'mse', 'mse'],
    [twice, 'mae', twice],
  ];
  for (const metrics of lists) {
    await same(async (lib) => {
      const model = lib.sequential();
      const kernelInitializer = 'ones';
      model.add(lib.layers.dense({ units: 2, inputShape: [1], kernelInitializer }));
      model.compile({ loss: 'meanSquaredError', optimizer: 'sgd', metrics });
      const [x, y] = [lib.ones([4, 1]), lib.zeros([4, 2])];
      const args = { epochs: 2, validationSplit: 0.5, verbose: 0 };
      const { history, params } = await model.fit(x, y, args);
      const logs = Object.keys(history)
        .sort()
        .map((name) => [name, history[name]]);
      return [model.metricsNames, logs, values(model.evaluate(x, y)), params.metrics];
    });
  }
});

test('several outputs have consecutive losses and metrics', async () => {
  await same(async (lib) => {
    const model = double(lib);
    const loss = ['categoricalCrossentropy', 'meanSquaredError'];
    const metrics = { first: ['accuracy'], second: ['mae', 'mse'] };
    model.compile({ loss, optimizer: 'sgd', metrics });
    const y = [oneHot(lib), lib.tensor(classes, [20, 1])];
    // With several outputs TensorFlow.js returns the sum of the losses twice, unlike metricsNames.
    const scores = lib === tl && model.evaluate(lib.tensor(features), y);
    const step = await model.trainOnBatch(lib.tensor(features), y);
    if (lib === tl) {
      scores.forEach((score, at) => assert.ok(Math.abs(score.dataSync()[0] - step[at]) < 1e-5));
    }
    return [model.metricsNames, step];
  });
});

test('asObject returns numbers by name', async () => {
  const model = small(tl);
  model.compile({ loss: 'categoricalCrossentropy', metrics: ['mse'] });
  const [x, y] = [tl.tensor(features), oneHot(tl)];
  const scores = model.evaluate(x, y, { asObject: true });
  assert.deepEqual(Object.keys(scores).sort(), ['acc', 'loss', 'mse']);
  const [loss, mse] = model.evaluate(x, y);
  assert.ok(Math.abs(loss.dataSync()[0] - scores.loss) < 1e-6);
  assert.ok(Math.abs(mse.dataSync()[0] - scores.mse) < 1e-6);
  const batches = tl.data.array([{ xs: x, ys: y }]);
  assert.deepEqual(await model.evaluateDataset(batches, { asObject: true }), scores);
  const [ofBatches] = await model.evaluateDataset(batches, { verbose: 0 });
  assert.deepEqual(ofBatches.dataSync(), loss.dataSync());
});

test('evaluate is limited to a number of batches', () => {
  const model = small(tl);
  model.compile({ loss: 'categoricalCrossentropy' });
  const [x, y] = [tl.tensor(features), oneHot(tl)];
  const part = model.evaluate(
    tl.tensor(features.slice(0, 12)),
    tl.tensor(y.arraySync().slice(0, 12)),
  );
  const steps = model.evaluate(x, y, { steps: 3, batchSize: 4 });
  assert.ok(Math.abs(steps.dataSync()[0] - part.dataSync()[0]) < 1e-6);
  throws(() => model.evaluate(x, y, { steps: 0 }), /steps must be a positive integer, got 0/);
});

test('fit resolves with the history and its parameters', async () => {
  for (const metrics of [undefined, ['accuracy']]) {
    await same(async (lib) => {
      const model = small(lib);
      model.compile({ loss: 'categoricalCrossentropy', optimizer: lib.train.sgd(0.1), metrics });
      const args = { epochs: 3, batchSize: 8, shuffle: false, validationSplit: 0.25, verbose: 0 };
      const info = await model.fit(lib.tensor(features), oneHot(lib), args);
      if (lib === tl) assert.equal(model.history, info);
      const { steps: _, ...params } = info.params;
      const sorted = (object) => Object.fromEntries(Object.entries(object).sort());
      return [info.epoch, sorted(info.history), sorted(params)];
    });
  }
});

test('class weights of each output', async () => {
  const loss = ['categoricalCrossentropy', 'meanSquaredError'];
  const fit = async (lib, classWeight) => {
    const model = double(lib);
    model.compile({ loss, optimizer: lib.train.sgd(0.1) });
    const y = [oneHot(lib), lib.tensor(classes, [20, 1])];
    await model.fit(lib.tensor(features), y, {
      shuffle: false,
      batchSize: 5,
      classWeight,
      verbose: 0,
    });
    return model.getWeights().map((each) => [...each.dataSync()]);
  };
  await same((lib) =>
    fit(lib, [
      { 0: 3, 1: 0.5 },
      { 0: 1, 1: 2 },
    ]),
  );
  const byName = await fit(tl, { second: { 1: 2 }, first: { 0: 3, 1: 0.5 } });
  assert.deepEqual(byName, await fit(tl, [{ 0: 3, 1: 0.5 }, { 1: 2 }]));
  assert.deepEqual(await fit(tl, { first: { 0: 3 } }), await fit(tl, [{ 0: 3 }, null]));
  await rejects(
    fit(tl, { third: { 0: 3 } }),
    'fit: classWeight names "third", but the outputs are first, second',
  );
  await rejects(
    fit(tl, [{ 0: 3 }]),
    'fit: classWeight has 1 values, but the outputs are first, second',
  );
});

test('x may be integers or booleans, and x and y one-dimensional where a row is one number', async () => {
  await same((lib) => {
    const model = lib.sequential();
    model.add(
      lib.layers.embedding({
        inputDim: 9,
        outputDim: 2,
        inputLength: 3,
        embeddingsInitializer: 'ones',
      }),
    );
    return model.predict(lib.tensor([[1, 2, 3]], [1, 3], 'int32')).arraySync();
  });
  await same(async (lib) => {
    const model = small(lib, { inputs: 1, units: 1, activation: 'linear' });
    model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
    const [x, y] = [lib.tensor([1, 2, 3, 4]), lib.tensor([1, 3, 5, 7])];
    const { history } = await model.fit(x, y, { epochs: 2, shuffle: false, verbose: 0 });
    const truths = lib.tensor([true, false], [2, 1], 'bool');
    return [
      history.loss,
      model.predict(x).arraySync(),
      model.predict(truths).arraySync(),
      values(model.evaluate(x, y)),
    ];
  });
});

test('optimizers are objects, and each model has one', async () => {
  const parameters = {
    sgd: [0.1],
    momentum: [0.1, 0.9],
    adagrad: [0.1],
    adadelta: [],
    adam: [],
    adamax: [],
    rmsprop: [0.1],
  };
  for (const [name, args] of Object.entries(parameters)) {
    const [ours, theirs] = [tl.train[name](...args), tf.train[name](...args)];
    assert.ok(ours instanceof tl.Optimizer);
    assert.equal(ours.getClassName(), theirs.getClassName());
    const expected = theirs.getConfig();
    for (const [key, value] of Object.entries(expected)) {
      if (value !== null && value !== undefined)
        assert.equal(ours.getConfig()[key], value, `${name}: ${key}`);
    }
  }
  const model = small(tl);
  assert.equal(model.optimizer, undefined);
  const optimizer = tl.train.sgd(0.1);
  model.compile({ loss: 'categoricalCrossentropy', optimizer });
  assert.equal(model.optimizer, optimizer);
  throws(() => optimizer.minimize(() => 0), /^minimize: optimizers work within models/);
});

test('the learning rate of an optimizer may change between steps', async () => {
  const steps = (change) => async (lib) => {
    const model = small(lib);
    const optimizer = lib.train.sgd(0.1);
    model.compile({ loss: 'categoricalCrossentropy', optimizer });
    const [x, y] = [lib.tensor(features), oneHot(lib)];
    const first = await model.trainOnBatch(x, y);
    change(optimizer, model);
    const more = [await model.trainOnBatch(x, y), await model.trainOnBatch(x, y)];
    return [first, ...more, optimizer.learningRate];
  };
  await same(steps((optimizer) => optimizer.setLearningRate(0.5)));
  await same(steps((_, model) => model.optimizer.setLearningRate(0.5)));
  const property = await steps((optimizer) => (optimizer.learningRate = 0.5))(tl);
  assert.deepEqual(property, await steps((_, model) => model.setLearningRate(0.5))(tl));
  throws(() => tl.train.sgd(1).setLearningRate(-1), /must be a finite number ≥ 0, got -1/);
});

test('optimizers by name learn at the rates of TensorFlow.js', async () => {
  for (const optimizer of [
    'sgd',
    'SGD',
    'adam',
    'Adam',
    'adamax',
    'adagrad',
    'adadelta',
    'Adadelta',
    'rmsprop',
    'RMSProp',
  ]) {
    await same(async (lib) => {
      const model = small(lib);
      model.compile({ loss: 'categoricalCrossentropy', optimizer });
      const [x, y] = [lib.tensor(features), oneHot(lib)];
      return [
        await model.trainOnBatch(x, y),
        await model.trainOnBatch(x, y),
        await model.trainOnBatch(x, y),
      ];
    }, 1e-4);
  }
});

test('accuracy of several independent classes is that of each number', async () => {
  await same((lib) => {
    const model = small(lib, { units: 3, activation: 'sigmoid' });
    model.compile({ loss: 'binaryCrossentropy', optimizer: 'sgd', metrics: ['accuracy'] });
    const y = lib.tensor(features.map(([a, b]) => [Number(a > 0), Number(b > 0), Number(a > b)]));
    return values(model.evaluate(lib.tensor(features), y));
  });
});
