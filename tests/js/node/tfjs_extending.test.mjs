// What programs add to tensorlathe/tfjs: operations of their own, callbacks for every training; and windows of one's own.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as there from '@tensorflow/tfjs';
import * as here from 'tensorlathe/tfjs';

before(() => there.setBackend('cpu'));

test('op keeps what a function returns, and nothing else', () => {
  for (const lib of [there, here]) {
    const twice = lib.op({ twice_: (x, times) => x.add(x).mul(times).abs() });
    assert.equal(twice.name, 'twice__op');
    const x = lib.tensor1d([1, -2]);
    const { numTensors } = lib.memory();
    const y = twice(x, 3);
    assert.equal(lib.memory().numTensors, numTensors + 1);
    assert.deepEqual([...y.dataSync()], [6, 12]);
    const fails = lib.op({
      fails: () => {
        x.neg();
        throw new Error('no');
      },
    });
    assert.throws(fails, /no/);
    assert.equal(lib.memory().numTensors, numTensors + 1);
    assert.throws(() => lib.op({}), /single key/);
    assert.throws(() => lib.op({ a: () => x, b: () => x }), /single key/);
  }
});

test('op is differentiated as what it does', () => {
  const cube = here.op({ cube: (x) => x.mul(x).mul(x) });
  assert.deepEqual(
    [
      ...here
        .grad(cube)(here.tensor1d([1, 2]))
        .dataSync(),
    ],
    [3, 12],
  );
});

test('windows of cosines', () => {
  for (const length of [1, 2, 5, 8]) {
    const [ours, theirs] = [here, there].map((lib) => lib.cosineWindow(length, 0.54, 0.46));
    assert.equal(ours.dtype, theirs.dtype);
    assert.deepEqual([...ours.dataSync()], [...theirs.dataSync()]);
  }
});

/** What a registered callback hears of trainings, by the name of its class. */
async function heard(lib) {
  const told = [];
  const listener = (name) =>
    class extends lib.CustomCallback {
      constructor() {
        super({
          onTrainBegin: () => void told.push(`${name} begins, verbose ${this.params.verbose}`),
          onEpochEnd: (epoch) => void told.push(`${name} ends ${epoch}`),
        });
      }
    };
  const [quiet, loud] = [listener('quiet'), listener('loud')];
  lib.registerCallbackConstructor(2, loud);
  lib.registerCallbackConstructor(0, quiet);
  assert.throws(() => lib.registerCallbackConstructor(1, quiet), lib === here ? /already/ : /Dup/);
  assert.throws(() => lib.registerCallbackConstructor(-1, listener('never')), /integer/);
  const model = lib.sequential({ layers: [lib.layers.dense({ units: 1, inputShape: [2] })] });
  model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
  const [x, y] = [lib.ones([4, 2]), lib.ones([4, 1])];
  const given = { onTrainBegin: () => void told.push('given begins') };
  await model.fit(x, y, { epochs: 2, callbacks: given });
  await model.fit(x, y, { epochs: 1, verbose: 0 });
  await model.fit(x, y, { epochs: 1, verbose: 2 });
  const rows = lib.data.array([{ xs: x, ys: y }]);
  await model.fitDataset(rows, { epochs: 1, callbacks: given });
  return told;
}

test('registered callbacks hear of every training, before those that are given', async () => {
  const told = await heard(here);
  assert.deepEqual(told, await heard(there));
  assert.deepEqual(told.slice(0, 4), [
    ...['quiet begins, verbose 1', 'given begins', 'quiet ends 0', 'quiet ends 1'],
  ]);
});

test('train by its other name', () => assert.equal(here.OptimizerConstructors, here.train));

const rules = {
  'another number of axes': [{ ndim: 3 }, [4]],
  'too many axes': [{ maxNDim: 2 }, [4, 3]],
  'too few axes': [{ minNDim: 3 }, [4]],
  'another size': [{ axes: { '-1': 3 } }, [4]],
  'another shape': [{ shape: [null, 4, 2] }, [4, 3]],
  'another type': [{ dtype: 'int32' }, [4]],
  'what fits': [{ shape: [null, 4], axes: { 1: 4 } }, [4]],
  'what fits anything': [{}, [4, 3]],
};
for (const [name, [rule, shape]] of Object.entries(rules)) {
  test(`inputSpec of layers: ${name}`, () => {
    for (const lib of [there, here]) {
      class Same extends lib.layers.Layer {
        static className = 'Same';
        constructor(spec) {
          super({});
          this.inputSpec = spec;
        }
        call(x) {
          return [x].flat()[0].mul(1);
        }
        computeOutputShape = (given) => given;
        getClassName = () => 'Same';
      }
      const layer = () => new Same([new lib.InputSpec(rule)]);
      const calls = [
        () => layer().apply(lib.ones([2, ...shape])),
        () => layer().apply(lib.input({ shape })),
      ];
      for (const call of calls) {
        if (name.startsWith('what fits')) call();
        else
          assert.throws(
            call,
            lib === here ? { name: 'LatheError', message: /must have/ } : /expected/,
          );
      }
      assert.throws(() => layer().apply([lib.ones([2, 4]), lib.ones([2, 4])]));
    }
  });
}

test('InputSpec says what it was given', () => {
  const [ours, theirs] = [here, there].map(
    (lib) => new lib.InputSpec({ shape: [null, 3], axes: { 1: 3 }, dtype: 'float32' }),
  );
  assert.deepEqual({ ...ours }, { ...theirs });
});

test('optimisers are called as their classes say, and are registered by these names', () => {
  for (const lib of [there, here]) {
    class Own extends lib.Optimizer {
      static className = 'Own';
    }
    class Calm extends lib.SGDOptimizer {
      static className = 'Calm';
    }
    assert.equal(new Own().getClassName(), 'Own');
    assert.equal(new Calm(0.1).getClassName(), 'Calm');
    assert.equal(lib.train.adam().getClassName(), 'Adam');
    const { classNameMap } = lib.serialization.SerializationMap.getMap();
    for (const name of ['Adadelta', 'Adagrad', 'Adam', 'Adamax', 'Momentum', 'RMSProp', 'SGD']) {
      assert.equal(classNameMap[name][0].className, name);
    }
    const [cls, fromConfig] = classNameMap.SGD;
    assert.deepEqual(fromConfig(cls, { learningRate: 0.25 }).getConfig(), { learningRate: 0.25 });
  }
});

test('a promise within tidy is returned, and the console hears of it', async (context) => {
  const log = context.mock.method(console, 'error', () => {});
  for (const lib of [there, here]) {
    const { numTensors } = lib.memory();
    const [before, behind, value] = await lib.tidy(async () => {
      const x = lib.scalar(3);
      const [read] = await x.square().data();
      return [x.isDisposed, lib.scalar(1), read];
    });
    assert.deepEqual([before, behind.isDisposed, value], [true, false, 9]);
    behind.dispose();
    assert.equal(lib.memory().numTensors, numTensors);
  }
  const said = log.mock.calls.map((each) => each.arguments[0]);
  assert.deepEqual(said, new Array(2).fill('Cannot return a Promise inside of tidy.'));
});

test('routers make handlers of addresses whose schemes are their own', async () => {
  const places = {};
  const keptAt = (address) => ({
    save: async (artifacts) => ({ place: (places[address] = artifacts) && address }),
    load: async () => places[address],
  });
  const router = (address) => (String(address).startsWith('kept://') ? keptAt(address) : null);
  for (const lib of [there, here]) {
    lib.io.registerSaveRouter(router);
    lib.io.registerLoadRouter(router);
    const layer = lib.layers.dense({ units: 1, inputShape: [2], kernelInitializer: 'ones' });
    const model = lib.sequential({ layers: [layer] });
    assert.deepEqual(await model.save('kept://model'), { place: 'kept://model' });
    await lib.io.copyModel('kept://model', 'kept://copy');
    const loaded = await lib.loadLayersModel('kept://copy');
    assert.deepEqual(loaded.predict(lib.ones([1, 2])).arraySync(), [[2]]);
  }
  await assert.rejects(here.loadLayersModel('kept:/model'), /is no place for models/);
});
