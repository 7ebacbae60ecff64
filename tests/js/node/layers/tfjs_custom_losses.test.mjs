// Losses and metrics that are functions of labels and predictions, compared with TensorFlow.js.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { assertSameResult, assertBothThrow, waves } from '../../compare_tfjs.mjs';
import { throws } from '../../lib.mjs';

before(() => tf.setBackend('cpu'));

const ofRows = (labels, predictions) => predictions.sub(labels).square().mean(-1);
const ofElements = (labels, predictions) => predictions.sub(labels).square();
const ofBatch = (labels, predictions) => predictions.sub(labels).abs().mean();
// Its value for a batch is not the mean of its values for the rows.
const ofSums = (labels, predictions) => predictions.sub(labels).sum(0).square().sum().mul(0.01);
const oneOutput = (lib) =>
  lib.sequential({
    layers: [
      lib.layers.dense({
        units: 4,
        inputShape: [3],
        kernelInitializer: 'ones',
        activation: 'tanh',
      }),
      lib.layers.dense({
        units: 2,
        name: 'last',
        kernelInitializer: 'ones',
        biasInitializer: 'ones',
      }),
    ],
  });
function twoOutputs(lib) {
  const inputs = lib.input({ shape: [3] });
  const dense = (name, units) =>
    lib.layers.dense({ units, name, kernelInitializer: 'ones' }).apply(inputs);
  return lib.model({ inputs, outputs: [dense('a', 2), dense('b', 1)] });
}
const examples = (lib, rows, units = 2) => [waves(lib, [rows, 3]), waves(lib, [rows, units], 5)];

for (const loss of [ofRows, ofElements, ofBatch, ofSums]) {
  for (const batchSize of [4, 5, 32]) {
    test(`loss ${loss.name}, batches of ${batchSize}`, () =>
      assertSameResult(async (lib) => {
        const model = oneOutput(lib);
        const metrics = [ofBatch, 'mse', ofRows];
        model.compile({ loss, metrics, optimizer: lib.train.momentum(0.05, 0.9) });
        const [x, y] = examples(lib, 10);
        const { history } = await model.fit(x, y, {
          batchSize,
          epochs: 2,
          shuffle: false,
          validationData: examples(lib, 7),
          verbose: 0,
        });
        const scores = model.evaluate(x, y, { batchSize });
        return { names: model.metricsNames, history, scores, result: model.predict(x) };
      }));
  }
}

test('steps on batches of any size', () =>
  assertSameResult(async (lib) => {
    const model = oneOutput(lib);
    model.compile({ loss: ofSums, metrics: [ofBatch], optimizer: 'sgd' });
    const losses = [];
    for (const rows of [8, 4, 8, 3, 3])
      losses.push(await model.trainOnBatch(...examples(lib, rows)));
    return { losses, result: model.predict(waves(lib, [2, 3])) };
  }));

test('for each output, mixed with names', async () => {
  const losses = [ofRows, [ofSums, 'meanSquaredError'], { a: ofBatch, b: 'meanAbsoluteError' }];
  const metrics = [undefined, ofBatch, [ofBatch, 'mae'], { a: ofBatch, b: ['mse', ofRows] }];
  for (const loss of losses) {
    for (const each of metrics) {
      await assertSameResult(async (lib) => {
        const model = twoOutputs(lib);
        model.compile({ loss, metrics: each, optimizer: 'sgd' });
        const [x, a] = examples(lib, 10);
        const y = [a, waves(lib, [10, 1], 3)];
        const { history } = await model.fit(x, y, { batchSize: 4, shuffle: false, verbose: 0 });
        return { names: model.metricsNames, history };
      });
    }
  }
});

test('functions of the package itself', () =>
  assertSameResult(async (lib) => {
    const model = oneOutput(lib);
    const metrics = [lib.metrics.meanAbsoluteError, lib.metrics.meanAbsolutePercentageError];
    model.compile({ loss: 'meanSquaredError', metrics, optimizer: 'sgd' });
    const { history } = await model.fit(...examples(lib, 10), { shuffle: false, verbose: 0 });
    return { names: model.metricsNames, history };
  }));

test('functions by names of the package, and by one name', async () => {
  const named = (name, f) =>
    Object.defineProperty((...args) => f(...args), 'name', { value: name });
  const nameless = [named('', ofRows), named('', ofBatch)];
  for (const metrics of [
    [named('accuracy', ofBatch)],
    [named('acc', ofBatch), 'accuracy'],
    ['mae', named('acc', ofRows)],
    [named('loss', ofBatch), 'mae'],
    nameless,
    [nameless[0], 'mae', nameless[0]],
    [ofRows, named('ofRows', ofBatch)],
    [nameless[0]],
  ]) {
    for (const make of metrics.includes('accuracy') ? [oneOutput] : [oneOutput, twoOutputs]) {
      await assertSameResult(async (lib) => {
        const model = make(lib);
        model.compile({ loss: 'meanSquaredError', metrics, optimizer: 'sgd' });
        const [x, first] = examples(lib, 10);
        const y = make === oneOutput ? first : [first, waves(lib, [10, 1], 3)];
        const { history } = await model.fit(x, y, { batchSize: 4, shuffle: false, verbose: 0 });
        const scores = make === oneOutput && model.evaluate(x, y);
        return { logs: Object.values(history), scores };
      });
    }
  }
  const valid = [nameless, [named('loss', ofRows)], [named('acc', ofRows), 'acc']];
  for (const metrics of [...valid, [named('accuracy', ofRows)]]) {
    const namesIn = (lib) => {
      const model = oneOutput(lib);
      const loss = named('binaryCrossentropy', ofRows);
      model.compile({ loss, metrics, optimizer: 'sgd' });
      return model.metricsNames;
    };
    assert.deepEqual(namesIn(tl), namesIn(tf));
  }
});

test('gradients agree with differences', async () => {
  const loss = (labels, predictions) =>
    predictions.sub(labels).square().add(1).log().mean(-1).mul(predictions.exp().sum(-1));
  const model = tl.sequential({
    layers: [tl.layers.dense({ units: 2, inputShape: [3] })],
    seed: 5,
  });
  model.compile({ loss, optimizer: tl.train.sgd(1) });
  const [x, y] = examples(tl, 6);
  const start = model.getWeights().map((each) => each.dataSync().slice());
  const shapes = model.getWeights().map(({ shape }) => shape);
  const write = (values) => model.setWeights(values.map((each, at) => tl.tensor(each, shapes[at])));
  await model.trainOnBatch(x, y);
  const stepped = model.getWeights().map((each) => each.dataSync().slice());
  for (const [at, values] of start.entries()) {
    for (const index of values.keys()) {
      const scores = [1e-2, -1e-2].map((step) => {
        const moved = start.map((each) => each.slice());
        moved[at][index] += step;
        write(moved);
        return model.evaluate(x, y).dataSync()[0];
      });
      const difference = (scores[0] - scores[1]) / 2e-2;
      const gradient = values[index] - stepped[at][index];
      assert.ok(Math.abs(difference - gradient) < 2e-3 * Math.max(1, Math.abs(gradient)));
    }
  }
});

test('weights of rows, and data that stay in memory', async () => {
  const fit = async (loss, args) => {
    const model = oneOutput(tl);
    model.compile({ loss, optimizer: 'sgd' });
    const { history } = await model.fit(...examples(tl, 10), { epochs: 2, seed: 1, ...args });
    return history.loss;
  };
  for (const args of [
    { sampleWeight: tl.tensor([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), batchSize: 5 },
    { batchesInMemory: 3, batchSize: 4 },
  ]) {
    const [ours, named] = [await fit(ofRows, args), await fit('meanSquaredError', args)];
    for (const [epoch, loss] of named.entries()) assert.ok(Math.abs(ours[epoch] - loss) < 1e-5);
  }
});

test('errors of functions are reported', async () => {
  const compile = (loss) => (lib) => {
    const model = oneOutput(lib);
    model.compile({ loss, optimizer: 'sgd' });
    return model.fit(...examples(lib, 10), { verbose: 0 });
  };
  await assertBothThrow(
    compile(function three() {
      return 3;
    }),
    /^three: its result: a tensor of the graph is needed, got 3/,
  );
  await assertBothThrow(
    compile(function broken() {
      throw new Error('no luck');
    }),
    'broken: no luck',
  );
  await assertBothThrow(
    compile(function product(labels, predictions) {
      return labels.matMul(predictions);
    }),
    /^product: matMul: /,
  );
  for (const { meanSquaredError: square } of [tl.losses, tl.metrics]) {
    const custom = (labels, predictions) => square(labels, predictions.mul(2));
    throws(
      () => compile(custom)(tl),
      /custom: meanSquaredError: inside a custom loss .* a\.sub\(b\)/,
    );
  }
  throws(() => compile([ofRows, ofRows])(tl), /compile: loss has 2 values/);
});

test('saving warns which functions it omits', async (t) => {
  const warn = t.mock.method(console, 'warn', () => {});
  const save = async (args) => {
    const model = oneOutput(tl);
    model.compile({ optimizer: 'adam', ...args });
    let saved;
    const handler = { save: (artifacts) => ((saved = artifacts), {}) };
    await model.save(handler, { includeOptimizer: true });
    const loaded = await tl.loadLayersModel({ load: async () => saved });
    const warnings = warn.mock.calls.map(({ arguments: [text] }) => text);
    warn.mock.resetCalls();
    return { saved, loaded, warnings };
  };
  const custom = await save({ loss: ofRows, metrics: { last: [ofBatch, 'mae'] } });
  assert.equal(custom.saved.trainingConfig, undefined);
  assert.match(
    custom.warnings[0],
    /functions \(ofRows, ofBatch\) are not saved, nor what the optimizer/,
  );
  throws(() => custom.loaded.evaluate(...examples(tl, 4)), 'evaluate: call compile first');
  const named = await save({ loss: 'meanSquaredError', metrics: [ofBatch, 'mae'] });
  assert.match(named.warnings[0], /functions \(ofBatch\) are not saved: compile/);
  assert.deepEqual(named.loaded.metricsNames, ['loss', 'mae']);
  const mse = { loss: 'meanSquaredError' };
  const options = await save({ ...mse, regularizer: 'l2', trainMetrics: false, testMetrics: true });
  assert.equal(options.warnings.length, 1);
  assert.match(
    options.warnings[0],
    /save: regularizer, trainMetrics of compile is not saved: compile/,
  );
  assert.notEqual(options.saved.trainingConfig, undefined);
  assert.deepEqual((await save({ ...mse, trainMetrics: true })).warnings, []);
});

test('standalone modules accept only functions of rows', async () => {
  const module = (args) => {
    const model = oneOutput(tl);
    model.compile({ optimizer: 'sgd', loss: 'meanSquaredError', ...args });
    return model.toWasm({ training: true, batchSize: { train: 4, evaluate: 4 } });
  };
  for (const custom of [ofBatch, ofSums]) {
    const message = `^toWasm: ${custom.name} returns one value per batch, .*per row`;
    throws(() => module({ loss: custom }), new RegExp(message));
    throws(() => module({ metrics: { last: ['mae', custom] } }), new RegExp(message));
  }
  const { loadTrainingModule } = await import('tensorlathe/training-module');
  const net = await loadTrainingModule(module({ loss: ofElements, metrics: [ofRows] }));
  await assertSameResult(async (lib) => {
    const [x, y] = examples(lib, 10);
    if (lib === tl) {
      const { loss, ofRows: metric } = net.test(x.dataSync(), y.dataSync());
      return [loss, metric];
    }
    const model = oneOutput(lib);
    model.compile({ loss: ofElements, metrics: [ofRows], optimizer: 'sgd' });
    return model.evaluate(x, y).map((each) => each.dataSync()[0]);
  });
  const model = oneOutput(tl);
  model.compile({ loss: ofBatch, optimizer: 'sgd' });
  assert.ok(WebAssembly.validate(model.toWasm()));
});

test('metrics of training and of testing are switched separately', async () => {
  for (const [args, train, test] of [
    [{ trainMetrics: false }, [], ['mae', 'acc']],
    [{ testMetrics: false }, ['mae', 'acc'], []],
  ]) {
    const model = oneOutput(tl);
    model.compile({ loss: 'meanSquaredError', metrics: ['mae', 'acc'], optimizer: 'sgd', ...args });
    const { history } = await model.fit(...examples(tl, 10), { validationSplit: 0.2 });
    const expected = [...['loss', ...test].map((name) => `val_${name}`), 'loss', ...train];
    assert.deepEqual(Object.keys(history), expected);
    assert.equal([model.evaluate(...examples(tl, 10))].flat().length, 1 + test.length);
  }
});

test('a regularizer of the model applies to every kernel', async () => {
  const weightsAfter = async (custom, modelArgs) => {
    const model = tl.sequential({
      layers: [
        tl.layers.dense({ units: 4, inputShape: [3], activation: 'tanh', ...custom }),
        tl.layers.dense({ units: 2, ...custom }),
      ],
      seed: 2,
    });
    model.compile({ loss: 'meanSquaredError', optimizer: tl.train.sgd(0.1), ...modelArgs });
    const loss = await model.trainOnBatch(...examples(tl, 6));
    return [loss, ...model.getWeights().flatMap((each) => [...each.dataSync()])];
  };
  const regularizer = tl.regularizers.l1l2({ l1: 0.1, l2: 0.2 });
  const each = await weightsAfter({ kernelRegularizer: regularizer }, {});
  assert.deepEqual(await weightsAfter({}, { regularizer }), each);
  throws(() => oneOutput(tl).compile({ loss: 'mse', regularizer: 'l3' }), /regularizer/);
});
