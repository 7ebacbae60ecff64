// The optimizer of a model used on variables, compared with TensorFlow.js.
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

/** Asserts that the program has equal numbers with both libraries. */
async function near(run) {
  const [found, expected] = [await run(tl), await run(tf)];
  assert.equal(found.length, expected.length);
  found.forEach((each, at) =>
    assert.ok(Math.abs(each - expected[at]) < 1e-4, `${found}, ${expected}`),
  );
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

test('a model gets another optimizer', () =>
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
    const sgd = lib.train.sgd(0.5);
    const graph = lib.model({ inputs: model.inputs, outputs: model.outputs });
    graph.optimizer = sgd;
    const isStored = graph.optimizer === sgd;
    graph.compile({ loss: 'meanSquaredError', optimizer: lib.train.sgd(0.1) });
    await graph.fit(...data(lib), { epochs: 2, shuffle: false, verbose: 0 });
    return [Number(isStored), ...numbers(graph)];
  }));

test('compile of a subclass may set only the optimizer', () =>
  near(async (lib) => {
    class Custom extends lib.LayersModel {
      compile() {
        if (this.optimizer === undefined) this.optimizer = lib.train.sgd(0.1);
      }
    }
    const inputs = lib.input({ shape: [2] });
    const outputs = lib.layers.dense({ units: 1, kernelInitializer: 'ones' }).apply(inputs);
    const model = new Custom({ inputs, outputs });
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
    class Custom extends lib.LayersModel {
      compile(args) {
        calls += 1;
        super.compile({ loss: 'meanSquaredError', optimizer: 'sgd', ...args });
        this.optimizer = lib.train.sgd(0.1);
      }
    }
    const inputs = lib.input({ shape: [2] });
    const outputs = lib.layers.dense({ units: 1, kernelInitializer: 'ones' }).apply(inputs);
    const model = new Custom({ inputs, outputs });
    model.compile({});
    await model.fit(...data(lib), { epochs: 2, shuffle: false, verbose: 0 });
    return [calls, ...numbers(model)];
  }));

test('a layer with one result for all rows of a batch: position embeddings', () =>
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
      const positionEmbedding = embedding(4);
      const at = positionEmbedding.apply(new Positions({}).apply(inputs));
      positionEmbedding.setWeights([lib.tensor2d([0, 1, 2, 3, 4, 5, 6, 7], [4, 2])]);
      const outputs = lib.layers.add().apply([embedding(5).apply(inputs), at]);
      const model = lib.model({ inputs, outputs });
      const x = lib.tensor2d([1, 2, 3, 0, 1, 4], [2, 3], 'int32');
      const found = [model.predict(x), model.apply(x), model.predict(x.slice([0], [1]))];
      return found.flatMap((each) => [each.shape[0], ...each.dataSync()]);
    });
  }));

test('an unknown name is an error of compile', () => {
  assert.throws(() => compiled(tl, 'adm'), {
    name: 'LatheError',
    message: /unknown optimizer "adm"/,
  });
});

for (const name of ['momentum', 'adam', 'rmsprop']) {
  test(`${name} accepts the weights that it returned`, () =>
    near(async (lib) => {
      const optimizer = lib.train[name](0.1, 0.9);
      const x = lib.variable(lib.tensor1d([1, -2]));
      const step = () => optimizer.minimize(() => x.square().sum(), true, [x]).dataSync()[0];
      const first = step();
      await optimizer.setWeights(await optimizer.getWeights());
      return [first, step(), step(), ...x.dataSync()];
    }));
}

test('train.sgd ignores further arguments', () => {
  const stepped = (lib) => {
    const x = lib.variable(lib.scalar(2));
    lib.train.sgd(0.25, 0.9).minimize(() => x.square());
    return [...x.dataSync()];
  };
  assert.deepEqual(stepped(tl), stepped(tf));
});
