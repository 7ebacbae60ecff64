// Models as layers of other models, and custom layers that call layers within built-in ones, compared with TensorFlow.js.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe/tfjs';
import { dense, same } from './lib.mjs';

test('a nested model accepts inputs of other shapes that its weights fit', () =>
  same(async (lib) => {
    const inner = lib.sequential({
      layers: [
        dense(lib, { units: 6, inputShape: [3] }),
        lib.layers.reshape({ targetShape: [2, 3] }),
      ],
    });
    const [x, token] = [lib.input({ shape: [3] }), lib.input({ shape: [1] })];
    const scale = lib.layers
      .embedding({ inputDim: 4, outputDim: 3, embeddingsInitializer: 'ones' })
      .apply(token);
    const mixed = lib.layers.multiply().apply([x, scale]);
    const model = lib.model({ inputs: [x, token], outputs: inner.apply(mixed) });
    model.compile({ loss: 'meanSquaredError', optimizer: lib.train.sgd(0.5) });
    const data = [
      lib.tensor2d([
        [1, 2, 3],
        [4, 5, 6],
      ]),
      lib.tensor2d([[0], [3]]),
    ];
    const loss = await model.trainOnBatch(data, lib.ones([2, 2, 3]));
    const found = model.predict(data);
    return [
      model.outputs[0].shape,
      found.shape,
      loss.toPrecision(5),
      Array.from(found.dataSync(), (value) => value.toPrecision(5)),
    ];
  }));

/** A layer that doubles the output of another one. */
const doubled = (lib) =>
  class Doubled extends lib.layers.Layer {
    static className = 'Doubled';
    inner = dense(lib, { units: 3 });

    build(shape) {
      this.inner.build(shape);
      this.built = true;
    }

    computeOutputShape([rows]) {
      return [rows, 3];
    }

    call(x, kwargs) {
      return lib.mul(this.inner.call(x, kwargs), 2);
    }

    get trainableWeights() {
      return this.inner.trainableWeights;
    }
  };

/** A cell that adds the output of another layer to its state. */
const adding = (lib) =>
  class Adding extends lib.layers.RNNCell {
    static className = 'Adding';
    inner = dense(lib, { units: 3, activation: 'tanh' });
    stateSize = 3;

    build(shape) {
      this.inner.build(shape);
      this.built = true;
    }

    call([x, state], kwargs) {
      const next = lib.add(this.inner.call(x, kwargs), state);
      return [next, next];
    }

    get trainableWeights() {
      return this.inner.trainableWeights;
    }
  };

const wrapped = {
  timeDistributed: (lib) => lib.layers.timeDistributed({ layer: new (doubled(lib))() }),
  rnn: (lib) => lib.layers.rnn({ cell: new (adding(lib))(), returnSequences: true }),
  'rnn of two cells': (lib) =>
    lib.layers.rnn({
      cell: [new (adding(lib))(), new (adding(lib))()],
      returnSequences: true,
    }),
};

for (const [name, make] of Object.entries(wrapped)) {
  test(`${name} of a layer that calls another has the weights of that one`, () =>
    same(async (lib) => {
      const x = lib.linspace(-0.4, 0.7, 24).reshape([2, 4, 3]);
      const layer = make(lib);
      const before = layer.apply(x);
      const input = lib.input({ shape: [4, 3] });
      const model = lib.model({ inputs: input, outputs: layer.apply(input) });
      model.compile({ loss: 'meanSquaredError', optimizer: lib.train.sgd(0.1) });
      const predicted = model.predict(x);
      const y = lib.ones([2, 4, 3]);
      const { history } = await model.fit(x, y, { epochs: 3, shuffle: false, verbose: 0 });
      const numbers = [before, predicted, model.predict(x)].flatMap((each) => [...each.dataSync()]);
      return [...numbers, ...history.loss].map((each) => each.toFixed(4));
    }));
}

test('layers that call others are rejected where each direction has separate weights', () => {
  const layer = tl.layers.rnn({ cell: new (adding(tl))() });
  assert.throws(
    () => tl.layers.bidirectional({ layer }).apply(tl.ones([1, 2, 3])),
    /cannot be bidirectional over a layer that calls other layers/,
  );
});

const row = (...layers) => tl.sequential({ layers });
const inner = () =>
  row(dense(tl, { inputShape: [2] }), tl.layers.activation({ activation: 'tanh' }));
const withEqualNames = {
  'a model and a layer': () => row(inner(), dense(tl)),
  'two models': () => row(inner(), inner(), dense(tl, { name: 'last' })),
  'a model of a model': () => row(row(inner(), dense(tl)), dense(tl)),
  'a model at each step': () =>
    row(
      tl.layers.timeDistributed({ layer: inner(), inputShape: [3, 2] }),
      tl.layers.flatten(),
      dense(tl),
    ),
  'a graph': () => {
    const x = tl.input({ shape: [2] });
    const y = dense(tl).apply(x);
    const within = tl.model({ inputs: x, outputs: dense(tl).apply(y) });
    const z = tl.input({ shape: [2] });
    return tl.model({ inputs: z, outputs: dense(tl).apply(within.apply(within.apply(z))) });
  },
};

for (const [name, make] of Object.entries(withEqualNames)) {
  test(`layers with equal names, of ${name}, are saved with names that TensorFlow.js distinguishes`, async () => {
    const model = make();
    model.compile({ loss: 'meanSquaredError', optimizer: 'adam' });
    const shape = [2, ...model.inputs[0].shape.slice(1)];
    const train = (lib, each) => each.trainOnBatch(lib.ones(shape), lib.zeros([2, 2]));
    model.setWeights(model.getWeights().map((each, at) => tl.fill(each.shape, 0.1 * (at + 1))));
    await train(tl, model);
    const names = model.weights.map((each) => each.name);
    const found = [model];
    await model.save(
      tl.io.withSaveHandler(async (saved) => {
        const load = async () => saved;
        for (const lib of [tl, tf]) found.push(await lib.loadLayersModel({ load }));
        return {};
      }),
      { includeOptimizer: true },
    );
    assert.deepEqual(
      model.weights.map((each) => each.name),
      names,
    );
    const numbers = found.map((each, at) =>
      Array.from(each.predict((at < 2 ? tl : tf).ones(shape)).dataSync(), (y) => y.toPrecision(4)),
    );
    assert.deepEqual(numbers[1], numbers[0]);
    assert.deepEqual(numbers[2], numbers[0]);
    // The states of Adam continue, too.
    const steps = async (each) => [await train(tl, each), await train(tl, each)];
    assert.deepEqual(await steps(found[1]), await steps(model));
  });
}
