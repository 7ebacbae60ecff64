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

test('a model that is not compiled can have an optimizer, which compile replaces', () =>
  near(async (lib) => {
    const dense = lib.layers.dense({ units: 1, kernelInitializer: 'ones', inputShape: [2] });
    const model = lib.sequential({ layers: [dense] });
    const own = lib.train.sgd(0.5);
    const graph = lib.model({ inputs: model.inputs, outputs: model.outputs });
    graph.optimizer = own;
    const isKept = graph.optimizer === own;
    graph.compile({ loss: 'meanSquaredError', optimizer: lib.train.sgd(0.1) });
    await graph.fit(...data(lib), { epochs: 2, shuffle: false, verbose: 0 });
    return [Number(isKept), ...numbers(graph)];
  }));

test('compile of a subclass may set the optimizer alone', () =>
  near(async (lib) => {
    class Own extends lib.LayersModel {
      compile() {
        if (this.optimizer === undefined) this.optimizer = lib.train.sgd(0.1);
      }
    }
    const inputs = lib.input({ shape: [2] });
    const outputs = lib.layers.dense({ units: 1, kernelInitializer: 'ones' }).apply(inputs);
    const model = new Own({ inputs, outputs });
    model.compile();
    const [x, y] = data(lib);
    for (let step = 0; step < 3; ++step) {
      const loss = () => lib.losses.meanSquaredError(y, model.apply(x));
      const { grads } = model.optimizer.computeGradients(loss);
      model.optimizer.applyGradients(grads);
    }
    return numbers(model);
  }));

test('a compile of a subclass that sets the optimizer and goes on is called once', () =>
  near(async (lib) => {
    let calls = 0;
    class Own extends lib.LayersModel {
      compile(args) {
        calls += 1;
        super.compile({ loss: 'meanSquaredError', optimizer: 'sgd', ...args });
        this.optimizer = lib.train.sgd(0.1);
      }
    }
    const inputs = lib.input({ shape: [2] });
    const outputs = lib.layers.dense({ units: 1, kernelInitializer: 'ones' }).apply(inputs);
    const model = new Own({ inputs, outputs });
    model.compile({});
    await model.fit(...data(lib), { epochs: 2, shuffle: false, verbose: 0 });
    return [calls, ...numbers(model)];
  }));

test('a layer that gives one result for the whole batch: position embeddings', () =>
  near(async (lib) => {
    class Positions extends lib.layers.Layer {
      computeOutputShape(shape) {
        return shape;
      }
      call(input) {
        return lib.tidy(() => {
          const x = Array.isArray(input) ? input[0] : input;
          return lib.range(0, x.shape[1], 1, 'int32').reshape([1, x.shape[1]]);
        });
      }
    }
    Object.defineProperty(Positions, 'className', { value: 'Positions' });
    const embedding = (inputDim) =>
      lib.layers.embedding({ inputDim, outputDim: 2, embeddingsInitializer: 'ones' });
    return [null, 3].flatMap((steps) => {
      const inputs = lib.input({ shape: [steps] });
      const place = embedding(4);
      const at = place.apply(new Positions({}).apply(inputs));
      place.setWeights([lib.tensor2d([0, 1, 2, 3, 4, 5, 6, 7], [4, 2])]);
      const outputs = lib.layers.add().apply([embedding(5).apply(inputs), at]);
      const model = lib.model({ inputs, outputs });
      const x = lib.tensor2d([1, 2, 3, 0, 1, 4], [2, 3], 'int32');
      const found = [model.predict(x), model.apply(x), model.predict(x.slice([0], [1]))];
      return found.flatMap((each) => [each.shape[0], ...each.dataSync()]);
    });
  }));

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
