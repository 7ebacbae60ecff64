// Layers within wrappers, and cells: their weights and whether they are trained, compared with TensorFlow.js.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe/tfjs';
import { dense, same } from './lib.mjs';

const ones = { kernelInitializer: 'ones', recurrentInitializer: 'ones' };
const cell = (lib) => lib.layers.simpleRNNCell({ units: 2, ...ones });
const row = (lib, ...layers) => lib.sequential({ layers });
const steps = (lib, layer) =>
  row(lib, layer, lib.layers.flatten(), dense(lib, { units: 1, name: 'last' }));
const numbers = (list) => list.map((each) => Array.from(each.dataSync(), (x) => x.toFixed(4)));

/** A model, and the layers in it that are frozen one after the other. */
const makes = {
  'a layer at each step': (lib) => {
    const layer = dense(lib);
    return [steps(lib, lib.layers.timeDistributed({ layer, inputShape: [3, 2] })), layer];
  },
  'a model at each step': (lib) => {
    const parts = [dense(lib, { inputShape: [2] }), dense(lib)];
    const layer = row(lib, ...parts);
    return [steps(lib, lib.layers.timeDistributed({ layer, inputShape: [3, 2] })), ...parts];
  },
  'a cell': (lib) => {
    const inner = cell(lib);
    const args = { cell: inner, inputShape: [3, 2], returnSequences: true };
    return [steps(lib, lib.layers.rnn(args)), inner];
  },
  'stacked cells': (lib) => {
    const cells = [cell(lib), cell(lib)];
    const args = { cell: cells, inputShape: [3, 2], returnSequences: true };
    return [steps(lib, lib.layers.rnn(args)), ...cells];
  },
};

for (const [name, make] of Object.entries(makes)) {
  for (const way of ['fit', 'fit of a recompiled model', 'minimize']) {
    test(`${name} is frozen by itself: ${way}`, () =>
      same(async (lib) => {
        lib.disposeVariables();
        const [model, ...inner] = make(lib);
        const x = lib.linspace(-0.5, 0.4, 12).reshape([2, 3, 2]);
        const by = lib.train.sgd(0.01);
        const compile = () => model.compile({ loss: 'meanSquaredError', optimizer: by });
        const step = () =>
          way === 'minimize'
            ? by.minimize(() => model.apply(x).square().mean())
            : model.fit(x, lib.zeros([2, 1]), { verbose: 0 });
        compile();
        await step();
        const found = [];
        for (const each of [...inner, ...inner]) {
          each.trainable = !each.trainable;
          const counts = [model.trainableWeights.length, each.trainableWeights.length];
          if (way.includes('recompiled') || each.trainable) compile();
          await step();
          found.push(counts, numbers(model.getWeights()));
        }
        return found;
      }));
  }

  test(`${name} has the weights that the program sees in it`, () =>
    same(async (lib) => {
      const [model, ...inner] = make(lib);
      const x = lib.linspace(-0.5, 0.4, 12).reshape([2, 3, 2]);
      model.compile({ loss: 'meanSquaredError', optimizer: lib.train.sgd(0.01) });
      await model.fit(x, lib.zeros([2, 1]), { verbose: 0 });
      const found = inner.map((each) => numbers(each.getWeights()));
      inner[0].setWeights(inner[0].getWeights().map((each) => lib.fill(each.shape, 0.2)));
      return [...found, numbers([model.predict(x), model.apply(x), ...model.getWeights()])];
    }));
}

test('a trained model that another one applies at each step retains and shares its weights', () =>
  same(async (lib) => {
    const layer = row(lib, dense(lib, { inputShape: [2] }));
    layer.setWeights([lib.tensor([0.1, 0.2, 0.3, 0.4], [2, 2])]);
    const model = steps(lib, lib.layers.timeDistributed({ layer, inputShape: [3, 2] }));
    const [x, one] = [lib.ones([2, 3, 2]), lib.ones([2, 2])];
    const found = [];
    const look = () => found.push(numbers([model.predict(x), layer.predict(one)]));
    look();
    model.compile({ loss: 'meanSquaredError', optimizer: lib.train.sgd(0.01) });
    await model.fit(x, lib.zeros([2, 1]), { verbose: 0 });
    look();
    lib.train.sgd(0.1).minimize(() => layer.apply(one).square().mean());
    look();
    model.layers[0].setWeights([lib.fill([2, 2], 0.5)]);
    look();
    return found;
  }));

test('a cell of two models shares its weights', () => {
  const inner = cell(tl);
  const [first, second] = [false, true].map((goBackwards) =>
    row(tl, tl.layers.rnn({ cell: inner, inputShape: [3, 2], goBackwards })),
  );
  first.setWeights(first.getWeights().map((each) => tl.fill(each.shape, 0.3)));
  const x = tl.linspace(-0.5, 0.4, 12).reshape([2, 3, 2]);
  const reversed = x.reverse(1);
  const [expected, ...found] = [first.predict(reversed), second.predict(x), second.apply(x)];
  for (const each of found) assert.deepEqual(numbers([each]), numbers([expected]));
});

test('a model cannot contain a layer both inside a wrapper and directly', () => {
  const layer = dense(tl);
  const [a, b] = [tl.input({ shape: [3, 2] }), tl.input({ shape: [2] })];
  const outputs = [tl.layers.timeDistributed({ layer }).apply(a), layer.apply(b)];
  assert.throws(() => tl.model({ inputs: [a, b], outputs }), /is in it twice, as /);
});

test('layers of loaded models show their options, and what is within them is frozen', () =>
  same(async (lib) => {
    const layers = [
      lib.layers.timeDistributed({ layer: dense(lib, { units: 3 }), inputShape: [3, 2] }),
      lib.layers.rnn({ cell: [cell(lib), cell(lib)], returnSequences: true }),
      dense(lib, { units: 4 }),
    ];
    const model = await lib.models.modelFromJSON(lib.sequential({ layers }).toJSON(null, false));
    const [wrapper, recurrent, last] = model.layers;
    const found = [wrapper.layer.units, recurrent.cell.cells.length, last.units];
    for (const each of [wrapper.layer, recurrent.cell.cells[0], last]) {
      each.trainable = false;
      found.push(model.trainableWeights.length);
    }
    return found;
  }));
