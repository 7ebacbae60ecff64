// Custom layers in JavaScript: traced into the module of the model, trained, shared, nested, frozen, saved and loaded.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { tables } from 'tensorlathe/tables';
import { blobs, largestDifference, throws, rejects } from '../../lib.mjs';

class CustomDense extends tl.layers.Layer {
  static className = 'CustomDense';

  constructor({ units, ...args }) {
    super(args);
    this.units = units;
  }

  build(inputShape) {
    const width = inputShape.at(-1);
    this.kernel = this.addWeight('kernel', [width, this.units], 'float32', 'glorotUniform');
    this.bias = this.addWeight('bias', [this.units], 'float32', 'zeros');
  }

  call(x) {
    return x.matMul(this.kernel.read()).add(this.bias.read());
  }

  getConfig() {
    return { ...super.getConfig(), units: this.units };
  }
}
tl.serialization.registerClass(CustomDense);

/** [x, y] -> [relu(x - mean), relu(mean - x)] along the last axis. */
class Antirectifier extends tl.layers.Layer {
  static className = 'Antirectifier';

  call(x) {
    const centered = x.sub(x.mean(-1, true));
    return centered.relu().concat(centered.neg().relu(), -1);
  }
}
tl.serialization.registerClass(Antirectifier);

const compiled = (model, options = {}) => {
  model.compile({ loss: 'categoricalCrossentropy', optimizer: tl.train.adam(0.02), ...options });
  return model;
};

/** The same network of custom layers and of built-in layers, with equal weights. */
function pair(options = {}) {
  const network = (dense) =>
    compiled(
      tl.sequential({
        seed: 3,
        layers: [
          dense({ units: 8, inputShape: [2], name: 'first', ...options }),
          tl.layers.activation({ activation: 'tanh' }),
          dense({ units: 3, name: 'second' }),
          tl.layers.softmax(),
        ],
      }),
    );
  const usual = { kernelInitializer: 'glorotUniform' };
  return [
    network((args) => new CustomDense(args)),
    network((args) => tl.layers.dense({ ...usual, ...args })),
  ];
}

test('the error of a layer after a lambda that removed the axis suggests keepDims', () => {
  const model = tl.sequential();
  model.add(tl.layers.lambda((x) => x.sum(-1), { inputShape: [4] }));
  throws(
    () => model.add(tl.layers.dense({ units: 2 })),
    /layer "dense_Dense1" \(Dense\): expects examples of one axis or more, got \[\].*retain an axis/,
  );
  const withAxis = tl.sequential();
  withAxis.add(tl.layers.lambda((x) => x.sum(-1, true), { inputShape: [4] }));
  withAxis.add(tl.layers.dense({ units: 2, kernelInitializer: 'ones' }));
  assert.deepEqual([...withAxis.predict([[1, 2, 3, 4]]).dataSync()], [10, 10]);
});

test('a custom layer equals the built-in layer of the same definition', async () => {
  const [custom, core] = pair();
  assert.deepEqual(custom.getWeights()[0].shape, [2, 8]);
  assert.deepEqual(custom.getWeights().map(String), core.getWeights().map(String));
  assert.deepEqual(custom.getWeights()[0].dataSync(), core.getWeights()[0].dataSync());
  const [x, y] = blobs(70);
  for (const model of [custom, core]) await model.fit(x, y, { epochs: 3, batchSize: 32, seed: 1 });
  for (const [at, weight] of custom.getWeights().entries()) {
    assert.ok(largestDifference(weight.dataSync(), core.getWeights()[at].dataSync()) < 1e-6);
  }
  assert.equal(
    custom.evaluate(x, y, { asObject: true }).loss.toFixed(5),
    core.evaluate(x, y, { asObject: true }).loss.toFixed(5),
  );
  assert.equal(custom.stats().moduleBytes, core.stats().moduleBytes);
});

test('output shapes are inferred by tracing, for every batch size', () => {
  const model = tl.sequential({ layers: [new Antirectifier({ inputShape: [4] })] });
  assert.deepEqual(model.outputShape, [null, 8]);
  const x = tl.tensor([
    [1, 2, 3, 6],
    [0, 0, 0, 4],
    [5, 5, 5, 5],
  ]);
  const all = [
    [0, 0, 0, 3, 2, 1, 0, 0],
    [0, 0, 0, 3, 1, 1, 1, 0],
    [0, 0, 0, 0, 0, 0, 0, 0],
  ];
  assert.deepEqual(model.predict(x).arraySync(), all);
  assert.deepEqual(model.predict(x, { batchSize: 2 }).arraySync(), all);
  assert.deepEqual(model.predict(tl.tensor([[1, 2, 3, 6]])).arraySync(), [all[0]]);
});

test('a custom layer has several inputs and outputs', () => {
  class Ends extends tl.layers.Layer {
    build(shapes) {
      this.shapes = shapes;
    }
    call([a, b]) {
      return [a.add(b), a.mul(b)];
    }
  }
  const [a, b] = [tl.input({ shape: [2] }), tl.input({ shape: [2] })];
  const layer = new Ends();
  const model = tl.model({ inputs: [a, b], outputs: layer.apply([a, b]) });
  assert.deepEqual(layer.shapes, [
    [null, 2],
    [null, 2],
  ]);
  const results = model.predict([tl.tensor([[2, 3]]), tl.tensor([[4, 5]])]);
  assert.deepEqual(
    results.map((each) => each.arraySync()),
    [[[6, 8]], [[8, 15]]],
  );
});

test('a shared layer has one set of weights and learns from both calls', async () => {
  const x = tl.input({ shape: [2] });
  const layer = new CustomDense({ units: 2, name: 'shared' });
  const model = tl.model({ inputs: x, outputs: layer.apply(layer.apply(x)), seed: 1 });
  assert.equal(model.countParams(), 6);
  assert.equal(layer.countParams(), 6);
  layer.setWeights([
    tl.tensor([
      [1, 2],
      [3, 4],
    ]),
    tl.tensor([0, 1]),
  ]);
  assert.deepEqual(model.predict(tl.tensor([[1, 1]])).arraySync(), [[25, 37]]);
  model.compile({ loss: 'meanSquaredError', optimizer: tl.train.sgd(0.001) });
  await model.trainOnBatch(tl.tensor([[1, 1]]), tl.tensor([[24, 37]]));
  // loss = mean of (1, 0)², so d/dy = (1, 0); the bias gets that, and through the second call kernel · (1, 0).
  const bias = layer.getWeights()[1].dataSync();
  assert.ok(largestDifference(bias, [0 - 0.001 * (1 + 1), 1 - 0.001 * 3]) < 1e-6);
});

test('a layer within a nested model and around time steps', () => {
  const inner = tl.sequential({
    layers: [new CustomDense({ units: 3, inputShape: [2] })],
    seed: 2,
  });
  const x = tl.input({ shape: [2] });
  const outer = tl.model({ inputs: x, outputs: new Antirectifier().apply(inner.apply(x)) });
  assert.deepEqual(outer.outputShape, [null, 6]);
  const rows = tl.tensor([
    [1, 2],
    [3, 4],
  ]);
  const [first, second] = inner.predict(rows).arraySync();
  const predictions = outer.predict(rows).arraySync();
  const mean = (first[0] + first[1] + first[2]) / 3;
  assert.ok(Math.abs(predictions[0][0] - Math.max(first[0] - mean, 0)) < 1e-6);
  assert.equal(second.length, 3);

  const steps = tl.sequential({
    layers: [
      tl.layers.timeDistributed({ layer: new CustomDense({ units: 3 }), inputShape: [5, 2] }),
    ],
  });
  assert.deepEqual(steps.outputShape, [null, 5, 3]);
  assert.equal(steps.predict(tl.tensor(new Float32Array(20), [2, 5, 2])).size, 30);
});

test('a frozen layer does not learn', async () => {
  const [custom] = pair({ trainable: false });
  const before = custom.getWeights().map((each) => each.dataSync());
  const [x, y] = blobs(32);
  await custom.trainOnBatch(x, y);
  // Weights that are trained come first.
  const after = custom.getLayer('first').getWeights();
  assert.deepEqual(after[0].dataSync(), before[2]);
  assert.notDeepEqual(custom.getLayer('second').getWeights()[0].dataSync(), before[0]);
});

test('regularizers and constraints of custom weights are applied', async () => {
  class Scale extends tl.layers.Layer {
    build() {
      this.factor = this.addWeight('factor', [2], null, 'ones', 'l2', true, 'nonNeg');
    }
    call(x) {
      return x.mul(this.factor.read());
    }
  }
  const model = tl.sequential({ layers: [new Scale({ inputShape: [2] })] });
  model.compile({ loss: 'meanSquaredError', optimizer: tl.train.sgd(10) });
  const x = tl.tensor([[1, 1]]);
  assert.ok(Math.abs((await model.trainOnBatch(x, x)) - 0.02) < 1e-6);
  model.setWeights([tl.tensor([1, 1])]);
  await model.trainOnBatch(x, tl.tensor([[-1, -1]]));
  assert.deepEqual([...model.getWeights()[0].dataSync()], [0, 0]);
});

test('call receives `training`, and may then write weights that are not trainable', async () => {
  class Mean extends tl.layers.Layer {
    build(inputShape) {
      this.mean = this.addWeight('mean', [inputShape[1]], 'float32', 'zeros', null, false);
      this.scale = this.addWeight('scale', [1], 'float32', 'ones');
    }
    call(x, { training }) {
      if (training) this.mean.write(this.mean.read().mul(0.5).add(x.mean(0).mul(0.5)));
      return x.sub(this.mean.read()).mul(this.scale.read());
    }
  }
  const layer = new Mean({ inputShape: [1] });
  const model = tl.sequential({ layers: [layer] });
  model.compile({ loss: 'meanSquaredError', optimizer: tl.train.sgd(0) });
  const x = tl.tensor([[2], [6]]);
  const mean = () => layer.getWeights()[1].dataSync()[0];
  assert.equal(await model.trainOnBatch(x, tl.tensor([[0], [0]])), (0 + 16) / 2);
  assert.equal(mean(), 2);
  model.evaluate(x, x, { asObject: true });
  model.predict(x);
  assert.equal(mean(), 2);
  await model.trainOnBatch(x, x);
  assert.equal(mean(), 3);
  layer.trainable = false;
  model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
  assert.equal(layer.mean.read().dataSync()[0], 3);
  layer.mean.write(tl.tensor([5]));
  assert.equal(layer.getWeights()[0].dataSync()[0], 5);
});

class Counter extends tl.layers.Layer {
  static className = 'Counter';

  build() {
    this.steps = this.addWeight('steps', [1], 'float32', 'zeros', null, false);
    this.idle = this.addWeight('idle', [2], 'float32', 'ones', 'l2');
  }

  call(x, { training }) {
    if (training) this.steps.write(this.steps.read().add(1));
    return x.mul(2);
  }
}
tl.serialization.registerClass(Counter);

test('weights that prediction or every entry leaves unread are stored, saved and loaded', async () => {
  const layer = new Counter({ inputShape: [2], name: 'counter' });
  const model = tl.sequential({ layers: [layer], seed: 1 });
  const values = (of = layer) => of.getWeights().map((each) => [...each.dataSync()]);
  const saved = async (args) => {
    let artifacts;
    await model.save({ save: async (parts) => ((artifacts = parts), {}) }, args);
    return { load: async () => artifacts };
  };
  assert.deepEqual(values(), [[1, 1], [0]]);
  assert.equal(layer.countParams(), 3);
  layer.setWeights([tl.tensor([1, 1]), tl.tensor([5])]);
  assert.deepEqual(values(await tl.loadLayersModel(await saved())), [[1, 1], [5]]);

  const x = tl.tensor([[1, 2]]);
  const loss = 'meanSquaredError';
  model.compile({ loss, optimizer: tl.train.adam(0.5) });
  for (let step = 0; step < 3; ++step) await model.trainOnBatch(x, x);
  const [[idle], [steps]] = values();
  assert.equal(steps, 8);
  assert.ok(idle < 0.1, 'the regularizer decays it');
  const copy = await tl.loadLayersModel(await saved({ includeOptimizer: true }));
  assert.deepEqual(values(copy), values());
  assert.equal(await copy.trainOnBatch(x, x), await model.trainOnBatch(x, x));
  assert.deepEqual(values(copy), values());
  for (const optimizer of [undefined, 'sgd']) {
    model.compile({ loss, optimizer });
    model.evaluate(x, x, { asObject: true });
    assert.deepEqual(values(), values(copy), 'a module that does not read them preserves them');
  }
  const names = WebAssembly.Module.exports(new WebAssembly.Module(model.toWasm()));
  assert.ok(names.some(({ name }) => name === 'counter/steps'));

  const other = tl.sequential({ layers: [new Counter({ inputShape: [2], name: 'counter' })] });
  await other.loadWeights(await saved());
  assert.deepEqual(values(other), values());
});

test('masks propagate through layers with supportsMasking', () => {
  class Last extends tl.layers.Layer {
    call(x, { mask }) {
      // The mask is undefined during shape inference.
      if (mask === undefined) return x.sum(1);
      assert.deepEqual([mask.dtype, mask.shape], ['bool', x.shape.slice(0, 2)]);
      return x.mul(mask.cast('float32').expandDims(-1)).sum(1);
    }
  }
  class Twice extends tl.layers.Layer {
    supportsMasking = true;
    call(x) {
      return x.mul(2);
    }
  }
  const model = tl.sequential({
    layers: [tl.layers.masking({ maskValue: 9, inputShape: [3, 1] }), new Twice(), new Last()],
  });
  assert.deepEqual(model.predict(tl.tensor([[[1], [9], [4]]])).arraySync(), [[10]]);
});

test('a function is a layer', async () => {
  const model = tl.sequential({
    layers: [tl.layers.lambda((x, { g }) => g.concat([x, x.square()], -1), { inputShape: [1] })],
  });
  assert.deepEqual(model.predict(tl.tensor([[3]])).arraySync(), [[3, 9]]);
  await rejects(
    model.save({ save: () => ({}) }),
    'save: layer "lambda_Lambda1" is a function, which cannot be saved; make it a class that extends tl.layers.Layer',
  );
});

test('models with custom layers are saved and loaded', async () => {
  class Named extends tl.layers.Layer {
    static className = 'Named';
    constructor({ text, ...args }) {
      super(args);
      this.text = text;
    }
    getConfig() {
      return { ...super.getConfig(), text: this.text };
    }
  }
  tl.serialization.registerClass(Named);
  const x = tl.input({ shape: [4, 2] });
  const steps = tl.layers.timeDistributed({ layer: new CustomDense({ units: 3 }) }).apply(x);
  const y = new Named({ text: 'A_text of mine' }).apply(new Antirectifier().apply(steps));
  const model = tl.model({ inputs: x, outputs: y, seed: 4 });
  const data = tl.tensor(
    Float32Array.from({ length: 16 }, (_, at) => Math.sin(at)),
    [2, 4, 2],
  );
  const folder = await mkdtemp(join(tmpdir(), 'lathe-'));
  try {
    await model.save(`file://${folder}`);
    const loaded = await tl.loadLayersModel(`file://${folder}/model.json`);
    assert.deepEqual(loaded.predict(data).dataSync(), model.predict(data).dataSync());
    assert.ok(loaded.layers.at(-1) instanceof Named);
    assert.equal(loaded.layers.at(-1).text, 'A_text of mine');
    assert.deepEqual(
      loaded.getConfig().layers.at(-1).config,
      model.getConfig().layers.at(-1).config,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the error names a saved class that is not registered', async () => {
  class Secret extends tl.layers.Layer {
    static className = 'Secret';
  }
  const model = tl.sequential({ layers: [new Secret({ inputShape: [2], name: 'hidden' })] });
  let saved;
  await model.save({ save: (artifacts) => ((saved = artifacts), {}) });
  await assert.rejects(
    tl.loadLayersModel({ load: () => saved }),
    /layer "hidden" \(Secret\) is of an unknown class; tl.serialization.registerClass registers custom classes; built-in ones: Dense,/,
  );
  throws(
    () =>
      tl.serialization.registerClass(
        class Dense extends tl.layers.Layer {
          static className = 'Dense';
        },
      ),
    'registerClass: "Dense" is a layer of the package; choose another name',
  );
  throws(
    () => tl.serialization.registerClass(class Nameless extends tl.layers.Layer {}),
    'registerClass: Nameless needs a static className',
  );
});

test('errors in call and build name the layer', () => {
  const refusal = (members, message, shape = [2]) => {
    class Wrong extends tl.layers.Layer {}
    Object.assign(Wrong.prototype, members);
    const make = () => tl.sequential({ layers: [new Wrong({ inputShape: shape, name: 'wrong' })] });
    assert.throws(make, {
      name: 'LatheError',
      message: `model "sequential": layer "wrong" (Wrong): ${message}`,
    });
    return make;
  };
  const make = refusal(
    {
      call() {
        throw new RangeError('of mine');
      },
    },
    'of mine',
  );
  assert.throws(make, (error) => error.cause instanceof RangeError);
  refusal(
    { call: (x) => x.matMul(x) },
    'matMul: matmul: inner dimensions differ: [2,3] x [2,3] (3 is not 2)',
    [3],
  );
  refusal({ call: () => undefined }, 'call: a tensor of the graph is needed, got undefined');
  refusal({ call: () => 5 }, 'call: a tensor of the graph is needed, got 5');
  refusal({ call: () => [] }, 'call must return a tensor, or an array of them');
  refusal(
    { call: (x) => x.sum() },
    'call must return the batch as first axis: for inputs of 2 rows it returned []',
  );
  refusal(
    { call: (x, { g }) => x.add(g.variable('w', [2])) },
    'variable: not in the call of a layer, whose operands are its inputs and the weights that addWeight made, and which returns its outputs',
  );
  refusal(
    {
      build() {
        this.addWeight('w', [2]);
        this.addWeight('w', [2]);
      },
    },
    'addWeight: there is a weight "w" already',
  );
  refusal(
    {
      build() {
        this.addWeight('w', [2], 'ones');
      },
    },
    'addWeight: the third argument is the dtype float32, got "ones"',
  );
  refusal(
    {
      build() {
        this.addWeight('w', [0]);
      },
    },
    'w [0]: every axis must be ≥ 1',
  );
  refusal(
    {
      build() {
        this.addWeight('w', [2], null, 'one');
      },
    },
    'w: unknown initializer "one"; did you mean "ones"? known: ' +
      tables.initializers.map(({ name }) => name).join(', '),
  );
  refusal(
    {
      build() {
        this.w = this.addWeight('w', [2]);
      },
      call(x) {
        this.w.write(x);
        return x;
      },
    },
    'weight "w": write: the optimizer updates it; add it with trainable = false',
  );
  refusal(
    {
      build() {
        this.w = this.addWeight('w', [2], null, 'ones', null, false);
      },
      call(x) {
        this.w.write(x);
        return x;
      },
    },
    'weight "w": write: only if `training` is true',
  );
  class Caching extends tl.layers.Layer {
    call(x) {
      return (this.cached ??= x);
    }
  }
  throws(
    () => tl.sequential({ layers: [new Caching({ inputShape: [1] })] }).predict(tl.tensor([[1]])),
    'layer "caching_Caching1" (Caching): call: TracedTensor float32 [2,1] belongs to another function',
  );
  class Fickle extends tl.layers.Layer {
    call(x) {
      return x.shape[0] === 3 ? x.concat(x, -1) : x;
    }
  }
  const fickle = tl.sequential({ layers: [new Fickle({ inputShape: [1] })] });
  throws(
    () => fickle.predict(tl.tensor([[1], [2], [3]]), { batchSize: 3 }),
    'layer "fickle_Fickle1" (Fickle): returns [3,2], but its plan has [3,1]',
  );
  assert.deepEqual(fickle.predict(tl.tensor([[1], [2]])).arraySync(), [[1], [2]]);
});

test('a layer whose call threw can be used with another shape', () => {
  const layer = new CustomDense({ units: 2 });
  const model = tl.sequential();
  class NoFour extends CustomDense {
    call(x) {
      if (x.shape[1] === 4) throw new Error('four');
      return super.call(x);
    }
  }
  const strict = new NoFour({ units: 2 });
  assert.throws(() => strict.apply(tl.input({ shape: [4] })), /four/);
  assert.deepEqual(strict.apply(tl.input({ shape: [5] })).shape, [null, 2]);
  model.add(tl.layers.dense({ units: 3, inputShape: [2] }));
  model.add(layer);
  assert.deepEqual(layer.getWeights()[0].shape, [3, 2]);
});

test('standalone modules and dumps contain no references to JavaScript', () => {
  const [custom] = pair();
  const module = new WebAssembly.Module(custom.toWasm());
  assert.deepEqual(WebAssembly.Module.imports(module), []);
  custom.dispose();
});

test('disposed custom layers leave no objects in the core', async () => {
  const x = tl.tensor([[1, 2]]);
  const { liveObjects } = tl.memory();
  for (let trial = 0; trial < 20; ++trial) {
    const model = tl.sequential({ layers: [new CustomDense({ units: 2, inputShape: [2] })] });
    model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
    await model.trainOnBatch(x, x);
    assert.throws(() => model.add(tl.layers.lambda(() => 1)), { name: 'LatheError' });
    model.dispose();
  }
  assert.equal(tl.memory().liveObjects, liveObjects);
});
