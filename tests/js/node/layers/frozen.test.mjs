// Layers frozen after compile, compared with TensorFlow.js.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe/tfjs';
import { compiled, dense, same } from './lib.mjs';

test('a layer frozen after compile is no longer trained', () =>
  same(async (lib) => {
    const layers = [dense(lib, { inputShape: [2] }), dense(lib)];
    const model = compiled(lib, ...layers);
    const [x, y] = [lib.ones([2, 2]), lib.zeros([2, 2])];
    const learned = async (action) => {
      const before = layers.map((each) => each.getWeights()[0].dataSync()[0]);
      await action();
      return layers.map((each, at) => each.getWeights()[0].dataSync()[0] !== before[at]);
    };
    const fit = () => model.fit(x, y, { verbose: 0 });
    const found = [await learned(fit)];
    layers[0].trainable = false;
    const lines = [];
    model.summary(undefined, undefined, (line) => lines.push(line));
    found.push(lines.filter((line) => line.includes('rainable params')));
    found.push(await learned(fit), await learned(() => model.trainOnBatch(x, y)));
    model.compile({ loss: 'meanSquaredError', optimizer: lib.train.sgd(0.1) });
    layers[0].trainable = true;
    found.push(await learned(fit));
    model.compile({ loss: 'meanSquaredError', optimizer: lib.train.sgd(0.1) });
    found.push(await learned(fit));
    return found;
  }));

test('a discriminator frozen after compile is trained by itself, but not within the outer model', async () => {
  const inner = tl.sequential({ layers: [dense(tl, { inputShape: [2] })] });
  for (const parts of [[dense(tl, { inputShape: [2] })], [inner]]) {
    const discriminator = compiled(tl, ...parts, dense(tl));
    discriminator.trainable = false;
    const generator = tl.sequential({ layers: [dense(tl, { inputShape: [2] })] });
    const both = compiled(tl, generator, discriminator);
    const [x, y] = [tl.ones([2, 2]), tl.zeros([2, 2])];
    const weights = () =>
      [discriminator, generator].map((each) =>
        each.getWeights().map((weight) => weight.dataSync()[0]),
      );
    const learned = async (model) => {
      const before = weights();
      await model.trainOnBatch(x, y);
      return weights().map((each, at) => each.every((value, k) => value !== before[at][k]));
    };
    assert.deepEqual(await learned(discriminator), [true, false]);
    assert.deepEqual(await learned(both), [false, true]);
    assert.deepEqual(await learned(discriminator), [true, false]);
    assert.equal(discriminator.trainableWeights.length, 0);
  }
});

test('weights are ordered by which layers are frozen now', () =>
  same((lib) => {
    const layers = [
      dense(lib, { units: 1, inputShape: [2] }),
      lib.layers.batchNormalization(),
      dense(lib, { units: 3 }),
    ];
    const model = lib.sequential({ layers });
    const found = [];
    const look = () => {
      const lists = [model.weights, model.trainableWeights, model.nonTrainableWeights];
      found.push(lists.map((list) => list.map(({ shape }) => shape)));
      found.push(model.getWeights().map(({ shape }) => shape));
    };
    look();
    layers[0].trainable = false;
    look();
    model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
    look();
    [layers[0].trainable, layers[1].trainable] = [true, false];
    look();
    model.setWeights(model.getWeights().map((each, at) => lib.fill(each.shape, at)));
    found.push(model.predict(lib.ones([1, 2])).shape, [
      ...layers.map((layer) => layer.getWeights().map((each) => each.dataSync()[0])),
    ]);
    model.trainable = false;
    look();
    return found;
  }));

test('training where nothing is trainable is an error, as in TensorFlow.js', async () => {
  const args = [tl.ones([2, 2]), tl.zeros([2, 2])];
  const hint = 'no weight is trainable; set trainable = true, then compile';
  const model = compiled(tl, dense(tl, { inputShape: [2], trainable: false }));
  await assert.rejects(model.fit(...args), { message: `fit: ${hint}` });
  await assert.rejects(model.trainOnBatch(...args), { message: `trainOnBatch: ${hint}` });
  model.layers[0].trainable = true;
  model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
  await model.fit(...args);
});

test('weights of an entirely frozen model are in the order of its layers', () =>
  same((lib) => {
    const layers = [dense(lib, { inputShape: [2] }), lib.layers.batchNormalization(), dense(lib)];
    const model = lib.sequential({ layers });
    return [true, false, true].map((trainable) => {
      model.trainable = trainable;
      return [model.weights, model.getWeights()].map((all) => all.map(({ shape }) => [...shape]));
    });
  }));

for (const way of ['fit', 'fitDataset']) {
  test(`a layer that is frozen in a callback of ${way} learns no more from then on`, () =>
    same(async (lib) => {
      const layers = [dense(lib, { inputShape: [2] }), dense(lib)];
      const model = compiled(lib, ...layers);
      const [x, y] = [lib.ones([2, 2]), lib.zeros([2, 2])];
      const found = [];
      const onEpochEnd = (epoch) => {
        if (epoch === 1) layers[0].trainable = false;
        found.push(layers.map((each) => each.getWeights()[0].dataSync()[0].toFixed(4)));
      };
      const args = { epochs: 4, verbose: 0, callbacks: { onEpochEnd } };
      const rows = lib.data.array([0]).map(() => ({ xs: x.clone(), ys: y.clone() }));
      await (way === 'fit' ? model.fit(x, y, args) : model.fitDataset(rows, args));
      return found;
    }));
}
