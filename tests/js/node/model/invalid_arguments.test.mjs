// Each misuse by a caller throws one LatheError that names it and leaves the model usable.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import * as tl from 'tensorlathe';
import { tables } from 'tensorlathe/tables';
import { blobs, throws, rejects, smallModel } from '../../lib.mjs';

const [x, y] = blobs(12);
const model = smallModel();
model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'adam', metrics: ['accuracy'] });
const weights = model.getWeights().map((weight) => weight.dataSync());

after(async () => {
  model.getWeights().forEach((weight, at) => assert.deepEqual(weight.dataSync(), weights[at]));
  const { history } = await model.fit(x, y, { epochs: 2 });
  assert.ok(history.loss.every(Number.isFinite));
});

test('layers', () => {
  const { dense, activation } = tl.layers;
  const add = (make) => () => tl.sequential().add(make());
  throws(
    add(() => dense({ units: 3 })),
    /the first layer needs an input shape/,
  );
  throws(
    add(() => dense({ units: 0, inputShape: [2] })),
    /units:? must be a positive integer, got 0/,
  );
  throws(
    add(() => dense({ units: NaN, inputShape: [2] })),
    /units must be an integer, got NaN/,
  );
  throws(
    add(() => dense({ units: 2.5, inputShape: [2] })),
    /units.*positive integer/,
  );
  throws(
    add(() => dense({ units: 3, inputShape: [-1] })),
    /inputShape|input shape/,
  );
  throws(
    add(() => dense({ units: 3, inputShape: [2], unit: 3 })),
    /there is no option unit/,
  );
  throws(
    add(() => dense({ units: 3, inputShape: [2], activation: 'rellu' })),
    /"rellu"; did you mean "relu"/,
  );
  throws(
    add(() => dense({ units: 3, inputShape: [2], kernelInitializer: 'x' })),
    /unknown initiali[sz]er "x".*glorotUniform/,
  );
  throws(
    add(() => ({ class: 'Dence', config: {} })),
    /unknown layer class "Dence"/,
  );
  throws(
    add(() => activation({ activation: 3, inputShape: [2] })),
    /activation must be a name/,
  );
  throws(() => dense({ units: -1 }), 'layers.dense: units must be a positive integer, got -1.');
  throws(() => tl.sequential({ seed: -1 }), /seed must be an integer ≥ 0, got -1/);
});

test('a rejected layer leaves the model unchanged', () => {
  const small = smallModel();
  throws(() => small.add(tl.layers.dense({ units: -1 })), /units/);
  assert.deepEqual(small.outputShape, [null, 3]);
  assert.deepEqual(small.predict(x).shape, [12, 3]);
});

test('compile', () => {
  const loss = 'softmaxCrossEntropy';
  throws(
    () => model.compile({ loss, optimizer: tl.train.sgd(NaN) }),
    /learningRate: must be a finite number, got NaN/,
  );
  throws(() => model.compile({ loss, optimizer: tl.train.sgd(-1) }), /learningRate must be .*-1/);
  throws(() => model.compile({ loss, optimizer: 'adamm' }), /unknown optimizer "adamm".*adam/);
  throws(
    () => model.compile({ loss, optimizer: { name: 'sgd', rate: 1 } }),
    /unknown parameter of optimizer sgd "rate"/,
  );
  for (const metrics of [7, [null], [['accuracy']], [{}]]) {
    throws(() => model.compile({ loss, optimizer: 'sgd', metrics }), /^compile: a metric must be/);
  }
  throws(
    () => model.compile({ loss: 'crossEntropy', optimizer: 'sgd' }),
    /unknown loss "crossEntropy".*softmaxCrossEntropy/,
  );
  throws(
    () => model.compile({ loss: 'sigmoidCrossEntropy', optimizer: 'sgd' }),
    /requires a model that ends with sigmoid/,
  );
  throws(() => model.compile({ optimizer: 'sgd' }), 'compile: a loss is needed');
  throws(
    () => model.compile({ loss, optimizer: 'sgd', metrics: ['f1'] }),
    /unknown metric "f1"; known: accuracy, binaryAccuracy/,
  );
  throws(() => model.setLearningRate(-0.1), /must be a finite number ≥ 0, got -0.1/);
});

test('errors about unknown names list the valid names, exact texts', () => {
  const names = (table) => tables[table].map(({ name }) => name).join(', ');
  const layer = (options) => () =>
    tl.sequential({ layers: [tl.layers.dense({ units: 1, inputShape: [2], ...options })] });
  const start = 'layers.dense: ';
  const classes = tables.layers.map((each) => each.class);
  throws(
    () => tl.sequential({ layers: [{ class: 'Dence', config: { inputShape: [2] } }] }),
    `layers[0].class: unknown layer class "Dence"; did you mean "Dense"? known: ${classes.join(', ')}`,
  );
  throws(
    layer({ activation: 'rellu' }),
    `${start}activation: unknown activation "rellu"; did you mean "relu"? known: ${names('activations')}`,
  );
  throws(
    layer({ kernelInitializer: 'one' }),
    `${start}kernelInitializer: unknown initializer "one"; did you mean "ones"? known: ${names('initializers')}`,
  );
  throws(
    layer({ kernelRegularizer: 'l3' }),
    `${start}kernelRegularizer: unknown regularizer "l3"; did you mean "l1"? known: l1, l2, l1l2`,
  );
  throws(
    layer({ kernelConstraint: 'norm' }),
    `${start}kernelConstraint: unknown constraint "norm"; known: maxNorm, minMaxNorm, unitNorm, nonNeg`,
  );
  const compile = (options) => () => smallModel().compile({ loss: 'mse', ...options });
  throws(compile({ loss: 'mee' }), `unknown loss "mee"; known: ${names('losses')}`);
  throws(
    compile({ optimizer: 'adm' }),
    `unknown optimizer "adm"; did you mean "adam"? known: ${names('optimizers')}`,
  );
  throws(
    compile({ metrics: ['acuracy'] }),
    `unknown metric "acuracy"; did you mean "accuracy"? known: ${names('metrics')}`,
  );
  throws(
    compile({ loss: { other: 'mse' } }),
    'compile: loss names "other", but the outputs are dense_Dense2',
  );
  throws(
    compile({ metrics: { other: 'mse' } }),
    'compile: metrics names "other", but the outputs are dense_Dense2',
  );
  const precisions = [0.3, 0.7].map((threshold) => ({ name: 'precision', threshold }));
  throws(compile({ metrics: precisions }), 'two metrics are called "precision"');
});

test('data that are empty or of another shape, exact texts', async () => {
  const zeros = (...shape) => tl.tensor(new Float32Array(shape.reduce((a, b) => a * b)), shape);
  const labels = (y) => model.fit(x, y);
  const expected = 'but the labels are [batch,3], or class numbers [batch]';
  await rejects(labels(zeros(12, 2)), `fit: y has shape [12,2], ${expected}`);
  await rejects(labels(zeros(12, 3, 1)), `fit: y has shape [12,3,1], ${expected}`);
  await rejects(labels(zeros(11, 3)), 'fit: x has 12 rows, but y has 11');
  await rejects(model.fit(zeros(0, 2), zeros(0, 3)), 'fit: x has no rows');
  throws(
    () => model.evaluate(zeros(0, 2), zeros(0, 3), { asObject: true }),
    'evaluate: x has no rows',
  );
  await rejects(model.trainOnBatch(zeros(0, 2), zeros(0, 3)), 'trainOnBatch: x has no rows');
  const { array } = tl.data;
  for (const nothing of [array([]), array([{ xs: x, ys: y }]).filter(() => false)]) {
    await rejects(model.fitDataset(nothing), 'fitDataset: the dataset has no batches');
    await rejects(
      model.evaluateDataset(nothing, { asObject: true }),
      'evaluateDataset: the dataset has no batches',
    );
  }
  await rejects(
    model.fitDataset(array([1])),
    'fitDataset: the elements of the dataset must be batches {xs, ys}',
  );
});

test('calls in the wrong order', async () => {
  throws(() => tl.sequential().predict([[1]]), 'predict: the model has no layers');
  await rejects(smallModel().fit(x, y), 'fit: call compile first');
  throws(() => smallModel().evaluate(x, y, { asObject: true }), 'evaluate: call compile first');
  const untrained = smallModel();
  untrained.compile({ loss: 'softmaxCrossEntropy' });
  await rejects(untrained.fit(x, y), 'fit: compile with an optimizer first');
  assert.ok(untrained.evaluate(x, y, { asObject: true }).loss > 0);
});

test('x', async () => {
  const wrong = tl.tensor(new Float32Array(36), [12, 3]);
  await rejects(model.fit(wrong, y), 'fit: x has shape [12,3], but the model expects [batch,2]');
  throws(
    () => model.predict([1, 2]),
    'predict: x has shape [2], but the model expects [batch,2]; expandDims(0) makes a batch',
  );
  throws(() => model.predict(new Float32Array(5)), /x has 5 values, which is no multiple of the 2/);
  throws(
    () => model.predict(tl.tensor([[1, 2]], undefined, 'float64')),
    /x has dtype float64.*float32/,
  );
  throws(() => model.predict(tl.tensor([], [0, 2])), 'predict: x has no rows');
  throws(() => model.predict(), 'predict: x is missing');
  throws(() => model.predict(x, { batchSize: 0 }), /batchSize must be a positive integer, got 0/);
});

test('y', async () => {
  const labels = (...values) =>
    model.fit(x, tl.tensor([...values, ...new Array(12 - values.length).fill(0)]));
  await rejects(labels(0, 1, 3), 'fit: y: the label 3 in row 2 is no class number from 0 to 2');
  await rejects(labels(-1), /the label -1 in row 0/);
  await rejects(labels(0.5), /the label 0.5 in row 0/);
  await rejects(labels(NaN), /the label NaN in row 0/);
  await rejects(model.fit(x, tl.tensor([0, 1])), 'fit: x has 12 rows, but y has 2');
  await rejects(
    model.fit(x, tl.tensor(new Float32Array(24), [12, 2])),
    /y has shape \[12,2\].*\[batch,3\]/,
  );
  await rejects(model.fit(x, tl.tensor(new Array(12).fill('a'))), /y has dtype string/);
  await rejects(model.fit(x), 'fit: y is missing');
});

test('fit options', async () => {
  const fails = (args, message) => rejects(model.fit(x, y, args), message);
  await fails({ epochs: -1 }, 'epochs must be an integer ≥ 0, got -1');
  await fails({ epochs: NaN }, /epochs/);
  await fails({ seed: 'abc' }, 'seed must be an integer, got abc');
  await fails({ seed: NaN }, /^seed must be an integer/);
  await fails({ batchSize: 1.5 }, 'batchSize must be a positive integer, got 1.5');
  await fails({ validationSplit: 1 }, /validationSplit must be at least 0 and less than 1/);
  await fails({ validationSplit: 0.999 }, /leaves one part empty/);
  await fails({ validationData: [x] }, 'fit: validationData: y is missing');
  await fails({ yieldEvery: 'sometimes' }, /yieldEvery must be auto, batch, epoch, never/);
});

test('an exception in a callback ends training with it', async () => {
  const trained = smallModel();
  trained.compile({ loss: 'softmaxCrossEntropy', optimizer: 'sgd' });
  const onBatchEnd = () => {
    throw new RangeError('enough');
  };
  await assert.rejects(trained.fit(x, y, { callbacks: { onBatchEnd } }), { message: 'enough' });
  await trained.fit(x, y);
});

test('one fit at a time', async () => {
  const busy = smallModel();
  busy.compile({ loss: 'softmaxCrossEntropy', optimizer: 'sgd' });
  const first = busy.fit(x, y, { epochs: 1000 });
  await rejects(busy.fit(x, y), 'fit: fit is running; await it, or set stopTraining first');
  await rejects(busy.trainOnBatch(x, y), /fit is running/);
  throws(() => busy.compile({ loss: 'softmaxCrossEntropy' }), /fit is running/);
  throws(() => busy.dispose(), /fit is running/);
  busy.stopTraining = true;
  await first;
  await busy.fit(x, y);
});

test('a disposed model', async () => {
  const disposed = smallModel();
  disposed.dispose();
  throws(() => disposed.dispose(), /^dispose: Container ".*" is already disposed$/);
  throws(() => disposed.predict(x), /^predict: Container ".*" is already disposed$/);
  throws(() => disposed.getWeights(), /disposed/);
  await rejects(disposed.fit(x, y), /disposed/);
});

test('a model larger than memory is rejected; other models still work', async () => {
  const predict = (units) => {
    const huge = tl.sequential();
    huge.add(tl.layers.dense({ units, inputShape: [30000] }));
    huge.predict(new Float32Array(30000), { batchSize: 1 });
  };
  const other = smallModel();
  const { modules, moduleBytes } = tl.memory();
  throws(() => predict(40000), /kernel \[30000,40000\] does not fit the 4294967296 bytes/);
  throws(() => predict(30000), /^out of memory: the weights have \d+ bytes$/);
  const left = tl.memory();
  assert.deepEqual([left.modules, left.moduleBytes], [modules, moduleBytes]);
  other.compile({ loss: 'softmaxCrossEntropy', optimizer: 'sgd' });
  await other.fit(x, y);
  assert.ok(other.toWasm().length > 0);
});

test('moduleText rejects a corrupt module', async () => {
  const corrupt = Uint8Array.of(0, 97, 115, 109, 2);
  await assert.rejects(tl.moduleText(corrupt), { name: 'LatheError' });
});

test('missing options where some are required, and null for no options', async () => {
  const small = smallModel();
  const needed = (what, actual) => `${what}: an object of options is needed, got ${actual}`;
  throws(() => small.compile(null), needed('compile', null));
  throws(() => tl.input(), needed('input', undefined));
  throws(() => model.predict(x, null), needed('predict', null));
  throws(() => model.evaluate(x, y, null), needed('evaluate', null));
  assert.equal(tl.sequential({ layers: null }).layers.length, 0);
  assert.equal(tl.sequential(null).layers.length, 0);
  small.compile({ loss: 'softmaxCrossEntropy', optimizer: 'sgd' });
  assert.deepEqual((await small.fit(x, y, null)).epoch, [0]);
  const dataset = tl.data.array([{ xs: x, ys: y }]);
  assert.deepEqual((await small.fitDataset(dataset, null)).epoch, [0]);
  assert.ok((await small.evaluateDataset(dataset, null)).dataSync()[0] > 0);
});
