// Extensions of tensorlathe/tfjs: custom operations, registered callbacks, custom window functions.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as there from '@tensorflow/tfjs';
import * as here from 'tensorlathe/tfjs';

before(() => there.setBackend('cpu'));

test('op retains the result of a function, and nothing else', () => {
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

test('op is differentiated through its operations', () => {
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

test('cosine windows', () => {
  for (const length of [1, 2, 5, 8]) {
    const [ours, theirs] = [here, there].map((lib) => lib.cosineWindow(length, 0.54, 0.46));
    assert.equal(ours.dtype, theirs.dtype);
    assert.deepEqual([...ours.dataSync()], [...theirs.dataSync()]);
  }
});

/** Events that registered callbacks receive, with the names of their classes. */
async function receivedEvents(lib) {
  const events = [];
  const listener = (name) =>
    class extends lib.CustomCallback {
      constructor() {
        super({
          onTrainBegin: () => void events.push(`${name} begins, verbose ${this.params.verbose}`),
          onEpochEnd: (epoch) => void events.push(`${name} ends ${epoch}`),
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
  const passed = { onTrainBegin: () => void events.push('passed begins') };
  await model.fit(x, y, { epochs: 2, callbacks: passed });
  await model.fit(x, y, { epochs: 1, verbose: 0 });
  await model.fit(x, y, { epochs: 1, verbose: 2 });
  const rows = lib.data.array([{ xs: x, ys: y }]);
  await model.fitDataset(rows, { epochs: 1, callbacks: passed });
  return events;
}

test('registered callbacks receive events of every training, before those passed to it', async () => {
  const events = await receivedEvents(here);
  assert.deepEqual(events, await receivedEvents(there));
  assert.deepEqual(events.slice(0, 4), [
    ...['quiet begins, verbose 1', 'passed begins', 'quiet ends 0', 'quiet ends 1'],
  ]);
});

test('the alias of train', () => assert.equal(here.OptimizerConstructors, here.train));

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
        computeOutputShape = (inputShape) => inputShape;
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

test('InputSpec stores its arguments', () => {
  const [ours, theirs] = [here, there].map(
    (lib) => new lib.InputSpec({ shape: [null, 3], axes: { 1: 3 }, dtype: 'float32' }),
  );
  assert.deepEqual({ ...ours }, { ...theirs });
});

test('optimizers are registered by their class names', () => {
  for (const lib of [there, here]) {
    class Custom extends lib.Optimizer {
      static className = 'Custom';
    }
    class Calm extends lib.SGDOptimizer {
      static className = 'Calm';
    }
    assert.equal(new Custom().getClassName(), 'Custom');
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

test('a promise within tidy is returned, with a console error', async (context) => {
  const log = context.mock.method(console, 'error', () => {});
  for (const lib of [there, here]) {
    const { numTensors } = lib.memory();
    const [before, created, value] = await lib.tidy(async () => {
      const x = lib.scalar(3);
      const [read] = await x.square().data();
      return [x.isDisposed, lib.scalar(1), read];
    });
    assert.deepEqual([before, created.isDisposed, value], [true, false, 9]);
    created.dispose();
    assert.equal(lib.memory().numTensors, numTensors);
  }
  const printed = log.mock.calls.map((each) => each.arguments[0]);
  assert.deepEqual(printed, new Array(2).fill('Cannot return a Promise inside of tidy.'));
});

test('routers create handlers for custom URL schemes', async () => {
  const saved = {};
  const memoryHandler = (address) => ({
    save: async (artifacts) => ({ path: (saved[address] = artifacts) && address }),
    load: async () => saved[address],
  });
  const router = (address) =>
    String(address).startsWith('memo://') ? memoryHandler(address) : null;
  for (const lib of [there, here]) {
    lib.io.registerSaveRouter(router);
    lib.io.registerLoadRouter(router);
    const layer = lib.layers.dense({ units: 1, inputShape: [2], kernelInitializer: 'ones' });
    const model = lib.sequential({ layers: [layer] });
    assert.deepEqual(await model.save('memo://model'), { path: 'memo://model' });
    await lib.io.copyModel('memo://model', 'memo://copy');
    const loaded = await lib.loadLayersModel('memo://copy');
    assert.deepEqual(loaded.predict(lib.ones([1, 2])).arraySync(), [[2]]);
  }
  await assert.rejects(here.loadLayersModel('memo:/model'), /is not a model address/);
});
