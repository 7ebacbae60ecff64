// Recurrent cells as objects and as custom JavaScript classes, compared with TensorFlow.js.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { assertSameResult, assertBothThrow, waves } from '../../compare_tfjs.mjs';
import { throws } from '../../lib.mjs';

before(() => tf.setBackend('cpu'));

const weights = () => ({
  kernelInitializer: { className: 'Constant', config: { value: 0.2 } },
  recurrentInitializer: { className: 'Constant', config: { value: -0.1 } },
});
const cells = {
  simple: (lib) => lib.layers.simpleRNNCell({ units: 3, ...weights() }),
  lstm: (lib) => lib.layers.lstmCell({ units: 3, ...weights() }),
  gru: (lib) => lib.layers.gruCell({ units: 3, ...weights() }),
};

/** A cell whose output is not a state, with two states of different sizes. */
const customCell = (lib) =>
  class CustomCell extends lib.layers.RNNCell {
    static className = 'CustomCell';

    constructor(config = {}) {
      super(config);
      this.units = config.units ?? 3;
      this.stateSize = [this.units, 2];
    }

    build([, features]) {
      const shapes = { kernel: [features, this.units], recurrent: [this.units, 2] };
      for (const [name, shape] of Object.entries(shapes)) {
        const initializer = lib.initializers.constant({ value: 0.3 });
        this[name] = this.addWeight(name, shape, 'float32', initializer);
      }
      this.built = true;
    }

    call([x, a, b]) {
      const next = x.matMul(this.kernel.read()).add(a.mul(0.5)).tanh();
      const other = a.matMul(this.recurrent.read()).add(b).sigmoid();
      return [next.mul(2).add(other.sum(-1, true)), next, other];
    }
  };

const model = (lib, ...layers) => lib.sequential({ layers });

/** Predictions of a model before and after two training steps. */
async function learns(lib, make, shape = [4, 5, 2]) {
  const net = make();
  const x = waves(lib, shape);
  const before = net.predict(x);
  const outputs = [before].flat().map((each, at) => waves(lib, each.shape, at + 3));
  net.compile({ loss: 'meanSquaredError', optimizer: lib.train.sgd(0.1) });
  const y = outputs.length === 1 ? outputs[0] : outputs;
  const { history } = await net.fit(x, y, { epochs: 2, batchSize: 2, shuffle: false, verbose: 0 });
  return { before, loss: history.loss, after: net.predict(x) };
}

for (const [name, cell] of Object.entries({ ...cells, custom: (lib) => new (customCell(lib))() })) {
  for (const options of [{}, { returnSequences: true }, { goBackwards: true }]) {
    test(`rnn of ${name} ${JSON.stringify(options)}`, () =>
      assertSameResult((lib) =>
        learns(lib, () =>
          model(lib, lib.layers.rnn({ cell: cell(lib), inputShape: [5, 2], ...options })),
        ),
      ));
  }
}

test('cells as a list, stacked', () =>
  assertSameResult((lib) =>
    learns(lib, () => {
      const cell = [cells.simple(lib), cells.gru(lib), cells.lstm(lib)];
      return model(
        lib,
        lib.layers.rnn({ cell, inputShape: [5, 2] }),
        lib.layers.dense({ units: 1, kernelInitializer: 'ones' }),
      );
    }),
  ));

test('a stack, of cells in JavaScript too', () =>
  assertSameResult((lib) =>
    learns(lib, () => {
      const custom = () => new (customCell(lib))();
      const cell = lib.layers.stackedRNNCells({ cells: [custom(), cells.simple(lib), custom()] });
      return model(lib, lib.layers.rnn({ cell, inputShape: [5, 2], returnSequences: true }));
    }),
  ));

test('initial and final states', () =>
  assertSameResult((lib) => {
    const inputs = [
      lib.input({ shape: [5, 2] }),
      lib.input({ shape: [3] }),
      lib.input({ shape: [2] }),
    ];
    const layer = lib.layers.rnn({ cell: new (customCell(lib))(), returnState: true });
    const outputs = layer.apply(inputs[0], { initialState: inputs.slice(1) });
    const net = lib.model({ inputs, outputs });
    return net.predict([waves(lib, [4, 5, 2]), waves(lib, [4, 3]), waves(lib, [4, 2])]);
  }));

test('masked steps', () =>
  assertSameResult((lib) => {
    const x = [1, 2, 0, 0, 3, 0, 0, 0].flatMap((each) => [each, each]);
    const net = model(
      lib,
      lib.layers.masking({ inputShape: [4, 2] }),
      lib.layers.rnn({ cell: new (customCell(lib))(), returnSequences: true }),
    );
    return net.predict(lib.tensor(x, [2, 4, 2]));
  }));

test('the class RNN itself', () =>
  assertSameResult((lib) =>
    learns(lib, () => model(lib, new lib.layers.RNN({ cell: cells.gru(lib), inputShape: [5, 2] }))),
  ));

test('layers of cells that TensorFlow.js saved are loaded, cells in JavaScript too', async () => {
  const several = (lib) => [cells.simple(lib), cells.lstm(lib)];
  for (const cell of [cells.lstm, cells.gru, several]) {
    const make = (lib) => lib.layers.rnn({ cell: cell(lib), inputShape: [5, 2] });
    await assertSameResult(async (lib) => {
      let saved;
      const handler = tf.io.withSaveHandler(async (artifacts) => ((saved = artifacts), {}));
      await model(tf, make(tf)).save(handler);
      const loaded = await lib.loadLayersModel(lib.io.fromMemory(saved));
      return loaded.predict(waves(lib, [3, 5, 2]));
    });
  }
  const Custom = customCell(tl);
  tl.serialization.registerClass(Custom);
  const net = model(tl, tl.layers.rnn({ cell: [new Custom(), new Custom()], inputShape: [5, 2] }));
  const saved = await tl.io.toArtifacts(net);
  const loaded = await tl.loadLayersModel(tl.io.fromMemory(saved));
  const x = waves(tl, [3, 5, 2]);
  assert.deepEqual(loaded.predict(x).arraySync(), net.predict(x).arraySync());
});

test('invalid cells are rejected', async () => {
  await assertBothThrow((lib) => lib.layers.rnn({}), /cell must be a recurrent cell/);
  await assertBothThrow((lib) => {
    class Stateless extends lib.layers.RNNCell {}
    return lib.layers.rnn({ cell: new Stateless({}), inputShape: [5, 2] });
  }, 'layers.rnn: the cell needs stateSize, the numbers of each state');
  class Wrong extends customCell(tl) {
    static className = 'Wrong';

    call([x, a, b]) {
      return [a, b];
    }
  }
  throws(
    () =>
      model(tl, tl.layers.rnn({ cell: new Wrong(), inputShape: [5, 2] })).predict(
        tl.ones([1, 5, 2]),
      ),
    /Wrong: call must return the output, float32 \[\d+,3\], and 2 states/,
  );
});

/** A cell that doubles the output of another one. */
const wrapping = (lib, inner) =>
  class Wrapping extends lib.layers.RNNCell {
    static className = 'Wrapping';

    constructor(config = {}) {
      super(config);
      this.inner = inner;
      this.stateSize = inner.stateSize;
    }

    build(shape) {
      this.inner.build(shape);
      this.built = true;
    }

    call(inputs, kwargs) {
      const [output, ...states] = this.inner.call(inputs, kwargs);
      return [output.mul(2), ...states];
    }

    get trainableWeights() {
      return this.inner.trainableWeights;
    }
  };

for (const [name, make] of Object.entries(cells)) {
  test(`a cell of the program builds and calls a cell of kind ${name}`, () =>
    assertSameResult(async (lib) => {
      const cell = make(lib);
      const rnn = lib.layers.rnn({ cell: new (wrapping(lib, cell))() });
      return [[cell.stateSize].flat(), rnn.apply(waves(lib, [2, 4, 3])), cell.getWeights()];
    }));
}

test('a convolutional cell is built for its input only', () =>
  assertSameResult(async (lib) => {
    const cell = lib.layers.convLstm2dCell({ filters: 2, kernelSize: 3, ...weights() });
    cell.build([1, 5, 4, 1]);
    const states = [waves(lib, [1, 3, 2, 2], 1), waves(lib, [1, 3, 2, 2], 2)];
    return [cell.stateSize, cell.call([waves(lib, [1, 5, 4, 1]), ...states], {})];
  }));
