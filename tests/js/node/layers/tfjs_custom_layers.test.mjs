// Custom layers with the arguments of TensorFlow.js, and layers that call other layers; compared with TensorFlow.js.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe/tfjs';

before(async () => {
  await tf.setBackend('cpu');
  await tl.ready();
});

const near = (found, expected) => {
  assert.equal(found.length, expected.length);
  found.forEach((each, at) => {
    assert.ok(
      Math.abs(each - expected[at]) < 1e-4,
      `${at}: ${each}, TensorFlow.js ${expected[at]}`,
    );
  });
};
const numbers = (tensors) => [tensors].flat().flatMap((each) => [...each.dataSync()]);

/** Asserts that the numbers are the same in either. */
async function assertSame(run) {
  near(numbers(await run(tl)), numbers(await run(tf)));
}

/** A class of custom layers with these members. */
const classOf = (lib, members) => {
  class Custom extends lib.layers.Layer {
    static className = 'Custom';
  }
  Object.assign(Custom.prototype, members);
  return Custom;
};

for (const [name, call] of Object.entries({
  'the first of an array': (inputs) => inputs[0].mul(2),
  'a destructured array': ([x]) => x.mul(2),
  'an array or a tensor': (inputs) => (Array.isArray(inputs) ? inputs[0] : inputs).mul(2),
  'the last of as many': (inputs) => inputs[inputs.length - 1].mul(2),
})) {
  test(`call receives ${name}`, () =>
    assertSame((lib) => {
      const Custom = classOf(lib, { call });
      const model = lib.sequential({ layers: [new Custom({ inputShape: [3] }), new Custom({})] });
      return [model.predict(lib.ones([1, 3])), model.apply(lib.ones([1, 3]))];
    }));
}

test('call receives a tensor, and apply returns its result', () => {
  const Custom = classOf(tl, { call: (x) => x.mul(2) });
  near(numbers(new Custom({}).apply(tl.ones([1, 2]))), [2, 2]);
  near(
    numbers(tl.sequential({ layers: [new Custom({ inputShape: [2] })] }).predict(tl.ones([1, 2]))),
    [2, 2],
  );
});

const only = (x) => (Array.isArray(x) ? x[0] : x);

test('call returns positions, masks, and tensors that do not depend on its inputs', () =>
  assertSame(async (lib) => {
    const make = (call) => new (classOf(lib, { call, computeOutputShape: (shape) => shape }))({});
    const input = lib.input({ shape: [4] });
    // Positions, as in language models.
    const positions = make((inputs) => {
      const [batch, time] = only(inputs).shape;
      return lib.tile(lib.reshape(lib.range(0, time, 1, 'int32'), [1, time]), [batch, 1]);
    }).apply(input);
    const isLarge = make((inputs) => only(inputs).greater(1)).apply(input);
    const embeddingsInitializer = lib.initializers.constant({ value: 0.5 });
    const embedding = { inputDim: 4, outputDim: 2, embeddingsInitializer };
    const embedded = lib.layers.flatten().apply(lib.layers.embedding(embedding).apply(positions));
    const concatenated = lib.layers.concatenate().apply([embedded, positions, isLarge]);
    const kernelInitializer = 'ones';
    const outputs = lib.layers.dense({ units: 1, kernelInitializer }).apply(concatenated);
    const model = lib.model({ inputs: input, outputs });
    model.compile({ loss: 'meanSquaredError', optimizer: lib.train.sgd(0.01) });
    const x = lib.tensor2d([0, 1, 2, 3, 4, 5, 0, 1, 2, 0, 1, 7], [3, 4]);
    await model.fit(x, lib.ones([3, 1]), { epochs: 2, batchSize: 2, shuffle: false });
    return [model.predict(x), ...model.getWeights()];
  }));
const x = (lib) => lib.tensor2d([1, 2, 3, 0.5, 4, -1, 2, -2, 1, 0, 0.3, 1], [4, 3]);
const y = (lib) => lib.tensor2d([1, 2, 0, 1, 3, -1, 1, 1], [4, 2]);
const dense = (lib, args) => lib.layers.dense({ units: 2, kernelInitializer: 'ones', ...args });

/** Trains a model with such a layer between two others: loss, then all weights. */
const learned = (members, layersOf) => async (lib) => {
  const Block = classOf(lib, {
    computeOutputShape: (shape) => [shape[0], 2],
    ...members,
  });
  const block = new Block({});
  Object.assign(block, layersOf(lib));
  const model = lib.sequential({ layers: [dense(lib, { units: 3, inputShape: [3] }), block] });
  model.compile({ loss: 'meanSquaredError', optimizer: lib.train.sgd(0.01) });
  const { history } = await model.fit(x(lib), y(lib), { epochs: 3, shuffle: false, verbose: 0 });
  const counts = [model.getWeights(), model.trainableWeights, block.trainableWeights];
  return [
    lib.tensor1d(history.loss),
    lib.tensor1d(counts.map(({ length }) => length)),
    ...Object.values(layersOf.made(block)).flatMap((each) => each.getWeights()),
    model.predict(x(lib)),
    ...model.getWeights(),
  ];
};
const makes = (make) =>
  Object.assign(make, { made: (block) => [block.inner, block.other].filter(Boolean) });
const one = makes((lib) => ({ inner: dense(lib) }));

for (const [name, build] of Object.entries({
  'set as _trainableWeights'(shape) {
    this.inner.build(shape);
    this._trainableWeights = this.inner.trainableWeights;
    this.built = true;
  },
  pushed(shape) {
    this.inner.build(shape);
    this._trainableWeights.push(...this.inner.trainableWeights);
    this.built = true;
  },
  assigned(shape) {
    this.inner.build(shape);
    this.trainableWeights = this.inner.trainableWeights;
    this.built = true;
  },
  'not registered'(shape) {
    this.inner.build(shape);
    this.built = true;
  },
})) {
  test(`weights of a layer within another: ${name}`, () =>
    assertSame(
      learned(
        {
          build,
          call(inputs) {
            return this.inner.apply(only(inputs));
          },
        },
        one,
      ),
    ));
}

/** The second layer's input is the first one's output. */
function buildBoth(shape) {
  this.inner.build(shape);
  this.other.build([null, 2]);
  this._trainableWeights = [...this.inner.trainableWeights, ...this.other.trainableWeights];
  this.built = true;
}

test('an inner layer is called by `call`, and after operations', () =>
  assertSame(
    learned(
      {
        build: buildBoth,
        call(inputs) {
          const hidden = this.inner.call(only(inputs).mul(0.5), {}).tanh();
          return this.other.apply(hidden).add(hidden);
        },
      },
      makes((lib) => ({ inner: dense(lib), other: dense(lib, { activation: 'relu' }) })),
    ),
  ));

test('batchNormalization within another layer follows its averages', () =>
  assertSame(
    learned(
      {
        build(shape) {
          buildBoth.call(this, shape);
          this._nonTrainableWeights = this.other.nonTrainableWeights;
        },
        call(inputs, kwargs) {
          return this.other.apply(this.inner.apply(only(inputs)), kwargs);
        },
      },
      makes((lib) => ({
        inner: dense(lib),
        other: lib.layers.batchNormalization({ momentum: 0.5 }),
      })),
    ),
  ));

test('a layer made in call', () =>
  assertSame((lib) => {
    const Custom = classOf(lib, {
      call: (inputs) => lib.layers.activation({ activation: 'relu' }).apply(only(inputs)),
    });
    return lib
      .sequential({ layers: [dense(lib, { inputShape: [3] }), new Custom({})] })
      .predict(x(lib));
  }));

test('weights of layers within others are saved and loaded', async () => {
  class Nest extends tl.layers.Layer {
    static className = 'NestOfTwo';
    inner = tl.layers.dense({ units: 2 });
    build(shape) {
      this.inner.build(shape);
      this._trainableWeights = this.inner.trainableWeights;
    }
    call(inputs) {
      return this.inner.apply(inputs);
    }
  }
  tl.serialization.registerClass(Nest);
  const model = tl.sequential({ layers: [new Nest({ inputShape: [3] })] });
  let saved;
  await model.save(tl.io.withSaveHandler(async (artifacts) => ((saved = artifacts), {})));
  const loaded = await tl.loadLayersModel(tl.io.fromMemory(saved));
  near(numbers(loaded.predict(x(tl))), numbers(model.predict(x(tl))));
  loaded.layers[0].inner.setWeights([tl.zeros([3, 2]), tl.ones([2])]);
  near(numbers(loaded.predict(x(tl))), Array(8).fill(1));
});

test('stateful layers are rejected within others', () => {
  const Custom = classOf(tl, {
    call: (inputs) => tl.layers.gru({ units: 2, stateful: true }).apply(only(inputs)),
  });
  assert.throws(() => tl.sequential({ layers: [new Custom({ inputShape: [4, 3] })] }), {
    name: 'LatheError',
    message: /is stateful; other layers cannot call it/,
  });
});

for (const [name, loss] of Object.entries({
  'indices as an array': (lib, labels, results) => results.gather([0, 2], 1).square().mean(-1),
  'floats times integers': (lib, labels, results) =>
    results
      .mul(lib.oneHot(labels.argMax(-1), 3))
      .square()
      .sum(-1),
  'integers and floats': (lib, labels, results) =>
    lib.range(0, 3, 1, 'int32').sub(results).square().mean(-1),
  'types that meet in functions': (lib, labels, results) =>
    lib.add(results, lib.range(0, 3, 1, 'int32')).mean(-1),
})) {
  test(`losses convert types: ${name}`, () =>
    assertSame(async (lib) => {
      const model = lib.sequential({ layers: [dense(lib, { units: 3, inputShape: [3] })] });
      const lossFunction = (labels, results) => loss(lib, labels, results);
      model.compile({ loss: lossFunction, optimizer: lib.train.sgd(0.1) });
      const labels = lib.tensor2d([0, 1, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0], [4, 3]);
      const { history } = await model.fit(x(lib), labels, {
        epochs: 2,
        shuffle: false,
        verbose: 0,
      });
      return [lib.tensor1d(history.loss), ...model.getWeights()];
    }));
}
