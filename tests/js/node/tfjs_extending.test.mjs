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
