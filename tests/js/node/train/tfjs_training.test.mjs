// Training options compared with TensorFlow.js: class weights, regularization, labels, options that are null.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { assertSameResult, waves } from '../../compare_tfjs.mjs';
import { throws, rejects } from '../../lib.mjs';

before(() => tf.setBackend('cpu'));

/** One dense layer, always with the same weights. */
function compiled(lib, loss, { units = 2, inputs = 2, optimizer = lib.train.sgd(0.1), ...args }) {
  const layer = lib.layers.dense({ units, inputShape: [inputs], ...args });
  const model = lib.sequential({ layers: [layer] });
  model.setWeights([waves(lib, [inputs, units]), waves(lib, [units], 7)]);
  model.compile({ loss, optimizer });
  return model;
}

const classLabels = (lib) => lib.tensor([0, 1, 1, 0, 1, 0, 0, 0].map((each) => [1 - each, each]));

test('class weights do not affect validation', async () => {
  for (const split of [{ validationSplit: 0.5 }, { validationSplit: 0.5, batchSize: 3 }]) {
    await assertSameResult(async (lib) => {
      const model = compiled(lib, 'categoricalCrossentropy', { activation: 'softmax' });
      const options = { epochs: 3, shuffle: false, verbose: 0, classWeight: { 0: 10, 1: 2 } };
      const data = [waves(lib, [8, 2], 3), classLabels(lib)];
      const { history } = await model.fit(...data, { ...options, ...split });
      return [history.loss, history.val_loss];
    });
  }
});

test('sample weights apply to validation rows, without class weights', async () => {
  const x = waves(tl, [8, 2], 3);
  const y = classLabels(tl);
  const sampleWeight = Float32Array.from([1, 1, 1, 1, 3, 0, 2, 1]);
  const make = () => compiled(tl, 'categoricalCrossentropy', { activation: 'softmax' });
  const fit = async (more) => {
    const options = { shuffle: false, sampleWeight, validationSplit: 0.5 };
    const { history } = await make().fit(x, y, { ...options, ...more });
    return history.val_loss;
  };
  assert.deepEqual(await fit({ classWeight: { 0: 1, 1: 1 } }), await fit({}));
});

test('penalties are only in the training loss', async () => {
  for (const rule of ['l1', 'l2', 'l1l2']) {
    await assertSameResult(async (lib) => {
      const kernelRegularizer = lib.regularizers[rule]();
      const model = compiled(lib, 'meanSquaredError', { kernelRegularizer });
      const [x, y] = [waves(lib, [6, 2], 3), waves(lib, [6, 2], 9)];
      const options = { epochs: 2, shuffle: false, verbose: 0, validationData: [x, y] };
      const { history } = await model.fit(x, y, options);
      return [history.loss, history.val_loss, model.evaluate(x, y)];
    });
  }
});

test('labels may be booleans', async () => {
  await assertSameResult(async (lib) => {
    const model = compiled(lib, 'binaryCrossentropy', { units: 1, activation: 'sigmoid' });
    const x = waves(lib, [6, 2], 3);
    const y = x.sum(1, true).greater(0);
    const { history } = await model.fit(x, y, { epochs: 2, shuffle: false, verbose: 0 });
    return [history.loss, model.evaluate(x, y), await model.trainOnBatch(x, y)];
  });
  await assertSameResult(async (lib) => {
    const model = compiled(lib, 'binaryCrossentropy', { units: 1, activation: 'sigmoid' });
    const rows = [
      { xs: [1, 2], ys: [true] },
      { xs: [2, 1], ys: [false] },
    ];
    const data = lib.data.array(rows).batch(2);
    return (await model.fitDataset(data, { epochs: 2, verbose: 0 })).history.loss;
  });
});

test('labels may be NaN, which a custom loss ignores', async () => {
  await assertSameResult(async (lib) => {
    const loss = (y, p) => {
      const valid = y.equal(y);
      const error = y.where(valid, p.mul(0)).sub(p);
      return error.square().mul(valid.cast('float32')).mean(-1);
    };
    const model = compiled(lib, loss, {});
    const y = lib.tensor2d([
      [NaN, 1],
      [1, NaN],
    ]);
    const x = waves(lib, [2, 2], 3);
    const { history } = await model.fit(x, y, { epochs: 3, shuffle: false, verbose: 0 });
    return [history.loss, model.getWeights()];
  });
});

const short = async (lib, args) => {
  const model = compiled(lib, 'meanSquaredError', { optimizer: 'sgd' });
  const [x, y] = [waves(lib, [6, 2], 3), waves(lib, [6, 2], 9)];
  const { epoch, params } = await model.fit(x, y, { verbose: 0, ...args });
  return [epoch, params.epochs, params.initialEpoch];
};

test('null options are ignored', async () => {
  for (const name of ['batchSize', 'epochs', 'initialEpoch', 'shuffle', 'validationSplit']) {
    await assertSameResult(async (lib) => (await short(lib, { [name]: null }))[0]);
  }
  await assertSameResult(async (lib) => {
    const model = compiled(lib, 'meanSquaredError', {});
    const data = lib.data.array([{ xs: [1, 2], ys: [1, 0] }]).batch(1);
    const options = { epochs: 2, batchesPerEpoch: null, validationBatches: null, verbose: 0 };
    return (await model.fitDataset(data, options)).epoch;
  });
});

test('epochs may be a string, or omitted', async () => {
  for (const args of [
    { epochs: '2' },
    { epochs: '3', initialEpoch: '1' },
    { epochs: 0 },
    { epochs: 3, initialEpoch: 3 },
    { epochs: 3, initialEpoch: 5 },
  ]) {
    await assertSameResult(async (lib) => (await short(lib, args))[0].map(Number));
  }
  await rejects(short(tl, { epochs: 'two' }), 'epochs must be an integer ≥ 0, got NaN');
  await rejects(short(tl, { initialEpoch: -1 }), /initialEpoch must be an integer ≥ 0, got -1/);
  assert.deepEqual((await short(tl, { epochs: '2' })).slice(1), [2, 0]);
});

test('earlyStopping warns once where there is nothing to monitor', async (t) => {
  const warn = t.mock.method(console, 'warn', () => undefined);
  const callbacks = tl.callbacks.earlyStopping();
  const [epochs] = await short(tl, { epochs: 3, callbacks });
  assert.deepEqual(epochs, [0, 1, 2]);
  assert.deepEqual(
    warn.mock.calls.map((call) => call.arguments[0]),
    [
      'tensorlathe: earlyStopping: there is no number "val_loss" at the end of an epoch; available: loss, ' +
        'imagesPerSecond; training continues',
    ],
  );
});

test('trainable weights only', async () => {
  await assertSameResult((lib) => {
    const layers = [
      lib.layers.dense({ units: 3, inputShape: [2], kernelInitializer: 'ones' }),
      lib.layers.batchNormalization(),
      lib.layers.dense({ units: 1, kernelInitializer: 'ones', trainable: false }),
    ];
    const model = lib.sequential({ layers });
    const shapes = (weights) => weights.map(({ shape }) => shape);
    const first = [model, ...layers].map((each) => shapes(each.getWeights(true)));
    layers[0].trainable = false;
    return [first, [model, ...layers].map((each) => shapes(each.getWeights(true)))];
  });
});

test('countWeights are the values that categories add', async () => {
  const categories = (lib) => lib.tensor2d([0, 1, 3, 1], [2, 2], 'int32');
  const weights = (lib) => lib.tensor2d([1, 2.5, 1, 3], [2, 2]);
  await assertSameResult((lib) => {
    const layer = lib.layers.categoryEncoding({ numTokens: 4, outputMode: 'count' });
    return [
      layer.apply(categories(lib), { countWeights: weights(lib) }),
      layer.apply(categories(lib), { countWeights: [weights(lib)] }),
      layer.apply(categories(lib), {}),
    ];
  });
  const apply = (outputMode, countWeights) =>
    tl.layers
      .categoryEncoding({ numTokens: 4, outputMode })
      .apply(categories(tl), { countWeights });
  throws(() => apply('multiHot', weights(tl)), /countWeights require the outputMode count/);
  throws(() => apply('count', tl.tensor([1])), /countWeights of shape \[1\] do not fit \[2,2\]/);
});

test('layers that only move elements retain their dtype', async () => {
  const made = {
    flatten: {},
    reshape: { targetShape: [4] },
    permute: { dims: [2, 1, 3] },
    maxPooling2d: {},
    concatenate: {},
  };
  for (const [name, args] of Object.entries(made)) {
    await assertSameResult((lib) => {
      const x = lib.tensor([5, -3, 7, 2, 1, 0, 4, 9], [2, 2, 2, 1], 'int32');
      const y = lib.layers[name](args).apply(name === 'concatenate' ? [x, x] : x);
      return [y.dtype, y];
    });
  }
  await assertSameResult((lib) => {
    const y = lib.layers.repeatVector({ n: 2 }).apply(lib.tensor2d([[1, 2]], [1, 2], 'int32'));
    return [y.dtype, y];
  });
});
