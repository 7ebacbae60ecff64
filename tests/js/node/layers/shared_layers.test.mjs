// Models that share a layer, trained concurrently or alternately: no step of either is lost, as in TensorFlow.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as tf from 'tensorlathe/tfjs';

await tf.ready();

/** Two models of one layer; a step of the first adds 1 to the first weight, one of the second to the second weight. */
async function trained(how) {
  const layer = tf.layers.dense({
    units: 1,
    inputShape: [2],
    useBias: false,
    kernelInitializer: 'zeros',
  });
  const models = [1, 2].map(() => {
    const model = tf.sequential({ layers: [layer] });
    model.compile({ optimizer: tf.train.sgd(1), loss: 'meanAbsoluteError' });
    return model;
  });
  const y = tf.tensor2d([[1e4]]);
  const [a, b] = models.map((model, at) => {
    const x = tf.tensor2d([at === 0 ? [1, 0] : [0, 1]]);
    const step = () => model.trainOnBatch(x, y);
    const fit = (args) => model.fit(x, y, { epochs: 5, ...args });
    const rows = tf.data.array([0]).map(() => ({ xs: x.clone(), ys: y.clone() }));
    const fitDataset = (args) => model.fitDataset(rows, { epochs: 5, ...args });
    return { model, step, fit, fitDataset };
  });
  await how(a, b, layer);
  const found = models.map((model) => [...model.getWeights()[0].dataSync()]);
  for (const model of models) model.dispose();
  assert.deepEqual(found[0], found[1]);
  return found[0];
}

for (const fit of ['fit', 'fitDataset']) {
  test(`${fit} of both at the same time`, async () => {
    assert.deepEqual(await trained((a, b) => Promise.all([a[fit](), b[fit]()])), [5, 5]);
  });

  test(`steps of the other in callbacks of ${fit}`, async () => {
    for (const name of ['onTrainBegin', 'onBatchBegin', 'onBatchEnd', 'onEpochEnd', 'onTrainEnd']) {
      const found = await trained((a, b) => a[fit]({ callbacks: { [name]: () => b.step() } }));
      assert.deepEqual(found, [5, name.startsWith('onTrain') ? 1 : 5], name);
    }
  });

  test(`weights set through the other, the layer or its variable in callbacks of ${fit}`, async () => {
    const value = tf.tensor2d([[0], [7]]);
    const ways = [
      ({ model }) => model.setWeights([value]),
      (_, layer) => layer.setWeights([value]),
      (_, layer) => layer.weights[0].val.assign(value),
    ];
    for (const [at, set] of ways.entries()) {
      const found = await trained((a, b, layer) =>
        a[fit]({ callbacks: { onBatchBegin: async () => void set(b, layer) } }),
      );
      assert.deepEqual(found, [1, 7], `way ${at}`);
    }
  });
}

test('trainOnBatch of both, not awaited', async () => {
  const found = await trained((a, b) => Promise.all([a.step(), b.step(), b.step(), a.step()]));
  assert.deepEqual(found, [2, 2]);
});

test('a model retains the assigned variable of a shared layer when another model with the layer is disposed', async () => {
  const before = tf.memory().numTensors;
  const layer = tf.layers.dense({ units: 1, inputShape: [1], useBias: false });
  const models = [1, 2].map(() => tf.sequential({ layers: [layer] }));
  const predicted = (model) => tf.tidy(() => model.predict(tf.ones([1, 1])).dataSync()[0]);
  for (const model of models) predicted(model);
  tf.tidy(() => layer.weights[0].val.assign(tf.tensor2d([[7]])));
  models[0].dispose();
  assert.equal(predicted(models[1]), 7);
  tf.tidy(() => layer.weights[0].val.assign(tf.tensor2d([[8]])));
  assert.equal(predicted(models[1]), 8);
  models[1].dispose();
  assert.equal(tf.memory().numTensors, before);
});
