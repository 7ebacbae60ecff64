// Unknown options are errors, and so is arithmetic of JavaScript on tensors.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';

function line() {
  const model = tl.sequential({ seed: 1 });
  model.add(tl.layers.dense({ units: 2, inputShape: [1], activation: 'softmax' }));
  model.compile({ loss: 'categoricalCrossentropy', optimizer: tl.train.sgd(0.1) });
  return model;
}
const x = tl.tensor([[1], [2], [3], [4]]);
const y = tl.tensor([
  [1, 0],
  [0, 1],
  [1, 0],
  [0, 1],
]);

test('everything with options rejects unknown ones', async () => {
  const model = line();
  const handler = tl.io.withSaveHandler(async () => ({}));
  const csv = (config) => tl.data.csv(new Blob(['a\n1']), config).toArray();
  const cases = {
    'sequential: there is no option layer; did you mean layers?': () =>
      tl.sequential({ layer: [] }),
    'model: there is no option nam; did you mean name?': () =>
      tl.model({ inputs: model.inputs, outputs: model.outputs, nam: 'a' }),
    'input: there is no option shapes; did you mean shape?': () =>
      tl.input({ shape: [1], shapes: 1 }),
    'inputLayer: there is no option inputShap; did you mean inputShape?': () =>
      tl.layers.inputLayer({ inputShape: [1], inputShap: [1] }),
    'layers.dense: there is no option unit; did you mean units?': () =>
      tl.layers.dense({ unit: 3 }),
    'layers.lstm: there is no option return_sequences; did you mean returnSequences?': () =>
      tl.layers.lstm({ units: 3, return_sequences: true }),
    'layers.rnn: there is no option returnSequence; did you mean returnSequences?': () =>
      tl.layers.rnn({ cell: tl.layers.gruCell({ units: 3 }), returnSequence: true }),
    'layers.elu: there is no option rate; known: alpha, inputShape, name, trainable, activityRegularizer':
      () => tl.layers.elu({ rate: 1 }),
    'layers.dense: units is needed': () => tl.layers.dense({}),
    'randomNormal: there is no option std; known: mean, stddev, seed': () =>
      tl.initializers.randomNormal({ std: 1 }),
    'l2: there is no option l1; did you mean l2?': () => tl.regularizers.l2({ l1: 1 }),
    'maxNorm: there is no option maxvalue; did you mean maxValue?': () =>
      tl.constraints.maxNorm({ maxvalue: 1 }),
    'leakyRelu: there is no option alfa; did you mean alpha?': () =>
      tl.activations.leakyRelu({ alfa: 1 }),
    'earlyStopping: there is no option patiance; did you mean patience?': () =>
      tl.callbacks.earlyStopping({ patiance: 3 }),
    'modelCheckpoint: there is no option saveBest; did you mean saveBestOnly?': () =>
      tl.callbacks.modelCheckpoint(handler, { saveBest: true }),
    'callbacks: there is no option onEpochEnds; did you mean onEpochEnd?': () =>
      model.fit(x, y, { callbacks: { onEpochEnds() {} } }),
    'tune: there is no option budgetMS; did you mean budgetMs?': () =>
      tl.tune(model, { budgetMS: 1 }),
    'loadLayersModel: there is no option strickt; did you mean strict?': () =>
      tl.loadLayersModel(tl.io.fromMemory({}), { strickt: true }),
    'http: there is no option fetchFunk; did you mean fetchFunc?': () =>
      tl.io.http('http://localhost/', { fetchFunk: fetch }).load(),
    'save: there is no option quantise; did you mean quantize?': () =>
      tl.io.toArtifacts(model, { quantise: 'uint8' }),
    'csv: there is no option hasHeaders; did you mean hasHeader?': () => csv({ hasHeaders: true }),
    'csv: column a: there is no option label; did you mean isLabel?': () =>
      csv({ columnConfigs: { a: { label: true } } }),
  };
  for (const [message, act] of Object.entries(cases)) {
    await assert.rejects(async () => act(), { name: 'LatheError', message });
  }
});

test('an unknown option is an error that names the one that may be meant', async () => {
  const model = line();
  const errorOf = (message) => ({ name: 'LatheError', message });
  await assert.rejects(
    model.fit(x, y, { epoch: 3 }),
    errorOf('fit: there is no option epoch; did you mean epochs?'),
  );
  await assert.rejects(
    model.fit(x, y, { batch_size: 2 }),
    errorOf('fit: there is no option batch_size; did you mean batchSize?'),
  );
  await assert.rejects(
    model.fit(x, y, { stepsPerEpoch: 2 }),
    errorOf(
      'fit: stepsPerEpoch is for data that come in batches: fitDataset accepts batchesPerEpoch and ' +
        'validationBatches',
    ),
  );
  await assert.rejects(
    model.fit(x, y, { workers: 2 }),
    errorOf(/^fit: there is no option workers; known: epochs, initialEpoch, batchSize, /),
  );
  assert.throws(
    () => model.evaluate(x, y, { batchsize: 2 }),
    errorOf('evaluate: there is no option batchsize; did you mean batchSize?'),
  );
  assert.throws(
    () => model.predict(x, { batch: 2 }),
    errorOf('predict: there is no option batch; known: batchSize, batchesInMemory, verbose'),
  );
  assert.throws(
    () => model.toWasm({ trainin: true }),
    errorOf('toWasm: there is no option trainin; did you mean training?'),
  );
  await assert.rejects(
    model.trainOnBatch(x, y, { sampleWeights: [1, 1, 1, 1] }),
    errorOf('trainOnBatch: there is no option sampleWeights; did you mean sampleWeight?'),
  );
  await assert.rejects(
    model.loadWeights(new Uint8Array(8), { strickt: false }),
    errorOf('loadWeights: there is no option strickt; did you mean strict?'),
  );
  const dataset = tl.data.array([{ xs: [1], ys: [1, 0] }]).batch(1);
  await assert.rejects(
    model.fitDataset(dataset, { batchPerEpoch: 2 }),
    errorOf('fitDataset: there is no option batchPerEpoch; did you mean batchesPerEpoch?'),
  );
  await assert.rejects(
    model.evaluateDataset(dataset, { steps: 2 }),
    errorOf('evaluateDataset: there is no option steps; known: batches, verbose, asObject'),
  );
  await assert.rejects(
    model.save({ save: () => ({}) }, { includeOptimiser: true }),
    errorOf('save: there is no option includeOptimiser; did you mean includeOptimizer?'),
  );
  assert.throws(
    () => model.compile({ loss: 'meanSquaredError', optimiser: 'sgd' }),
    errorOf('compile: there is no option optimiser; did you mean optimizer?'),
  );
  assert.throws(
    () => tl.compile({ x: [1] }, ({ x }) => ({ y: x }), { haep: true }),
    errorOf('compile: there is no option haep; did you mean heap?'),
  );
  await model.fit(x, y, { verbose: 0 });
  model.dispose();
});

test('fitDataset weighs classes as fit does', async () => {
  const weights = [];
  const classWeight = { 0: 0.25, 1: 3 };
  for (const train of [
    (model) => model.fit(x, y, { batchSize: 2, shuffle: false, epochs: 3, classWeight }),
    (model) => {
      const rows = [1, 2, 3, 4].map((value, at) => ({ xs: [value], ys: [1 - (at % 2), at % 2] }));
      return model.fitDataset(tl.data.array(rows).batch(2), { epochs: 3, classWeight });
    },
    (model) => model.fit(x, y, { batchSize: 2, shuffle: false, epochs: 3 }),
  ]) {
    const model = line();
    await train(model);
    weights.push(model.getWeights().map((each) => [...each.dataSync()]));
    model.dispose();
  }
  assert.deepEqual(weights[1], weights[0]);
  assert.notDeepEqual(weights[2], weights[0]);
});

test('undefined options are ignored, whatever their names', async () => {
  const model = line();
  model.compile({ loss: 'categoricalCrossentropy', optimizer: 'sgd', classWeight: undefined });
  const { history } = await model.fit(x, y, { epochs: 2, gpu: undefined });
  assert.equal(history.loss.length, 2);
  assert.deepEqual(model.predict(x, { gpu: undefined }).shape, [4, 2]);
});

test('tensors are no numbers', () => {
  const wrong = {
    name: 'LatheError',
    message: /^Tensor float32 \[4,1\] is no number: .*x\.mul\(2\)/,
  };
  assert.throws(() => x * 2, wrong);
  assert.throws(() => x > 1, wrong);
  assert.throws(() => x - 1, wrong);
  assert.equal(`${x}`, 'Tensor\n    [[1],\n     [2],\n     [3],\n     [4]]');
  const traced = { name: 'LatheError', message: /^TracedTensor float32 \[2\] is no number: / };
  assert.throws(() => tl.compile({ x: [2] }, ({ x }) => ({ y: x * 2 })), traced);
  assert.throws(() => tl.compile({ x: [2] }, ({ x }) => ({ y: x > 1 ? x : x.neg() })), traced);
  assert.throws(() => tl.compile({ x: [2] }, ({ x }) => ({ y: x + 1 })), traced);
});
