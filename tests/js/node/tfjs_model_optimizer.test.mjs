// The optimiser of a model as one of variables, beside TensorFlow.js.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe/tfjs';

before(async () => {
  await tf.setBackend('cpu');
  await tl.ready();
});

function compiled(lib, optimizer) {
  const dense = lib.layers.dense({ units: 1, kernelInitializer: 'ones', inputShape: [2] });
  const model = lib.sequential({ layers: [dense] });
  model.compile({ loss: 'meanSquaredError', optimizer });
  return model;
}
const data = (lib) => [lib.tensor2d([1, 2, 3, 1], [2, 2]), lib.tensor2d([1, 2], [2, 1])];
const numbers = (model) => model.getWeights().flatMap((each) => [...each.dataSync()]);

/** Asserts that the program gives the same numbers with either. */
async function near(run) {
  const [found, wanted] = [await run(tl), await run(tf)];
  assert.equal(found.length, wanted.length);
  found.forEach((each, at) => assert.ok(Math.abs(each - wanted[at]) < 1e-4, `${found}, ${wanted}`));
}

for (const name of ['sgd', 'adam', 'adagrad', 'rmsprop', 'adamax', 'adadelta']) {
  test(`${name} by name changes variables`, () =>
    near(async (lib) => {
      const model = compiled(lib, name);
      const [x, y] = data(lib);
      assert.ok(model.optimizer instanceof lib.Optimizer);
      const loss = () => lib.losses.meanSquaredError(y, model.apply(x));
      const variables = model.trainableWeights.map((each) => each.read());
      const cost = model.optimizer.minimize(loss, true, variables);
      const { value, grads } = model.optimizer.computeGradients(loss);
      model.optimizer.applyGradients(grads);
      assert.equal(model.optimizer.iterations, 2);
      model.optimizer.dispose();
      return [cost.dataSync()[0], value.dataSync()[0], ...numbers(model)];
    }));
}

test('a model gets another optimiser', () =>
  near(async (lib) => {
    const model = compiled(lib, 'sgd');
    model.optimizer = lib.train.sgd(0.05);
    await model.fit(...data(lib), { epochs: 3, shuffle: false, verbose: 0 });
    return [model.optimizer.learningRate, ...numbers(model)];
  }));

test('a model has no optimiser to replace before compile', () => {
  const model = tl.sequential({ layers: [tl.layers.dense({ units: 1, inputShape: [2] })] });
  assert.throws(() => (model.optimizer = tl.train.sgd(0.5)), {
    name: 'LatheError',
    message: /a loss is needed/,
  });
});

test('a name that there is not is an error of compile', () => {
  assert.throws(() => compiled(tl, 'adm'), {
    name: 'LatheError',
    message: /unknown optimizer "adm"/,
  });
});

for (const name of ['momentum', 'adam', 'rmsprop']) {
  test(`${name} takes back what it gave itself`, () =>
    near(async (lib) => {
      const optimizer = lib.train[name](0.1, 0.9);
      const x = lib.variable(lib.tensor1d([1, -2]));
      const step = () => optimizer.minimize(() => x.square().sum(), true, [x]).dataSync()[0];
      const first = step();
      await optimizer.setWeights(await optimizer.getWeights());
      return [first, step(), step(), ...x.dataSync()];
    }));
}

test('train.sgd takes the learning rate alone', () => {
  const stepped = (lib) => {
    const x = lib.variable(lib.scalar(2));
    lib.train.sgd(0.25, 0.9).minimize(() => x.square());
    return [...x.dataSync()];
  };
  assert.deepEqual(stepped(tl), stepped(tf));
});
