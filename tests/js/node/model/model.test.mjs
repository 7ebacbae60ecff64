// Building and inspecting a model: shapes, summary, weights, exported module, freed memory.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { tables } from 'tensorlathe/tables';
import { blobs, largestDifference, throws, smallModel } from '../../lib.mjs';

test('a model has shapes and weights', () => {
  const model = smallModel();
  assert.deepEqual(model.inputShape, [null, 2]);
  assert.deepEqual(model.outputShape, [null, 3]);
  assert.equal(model.countParams(), 2 * 8 + 8 + 8 * 3 + 3);
  const shapes = model.getWeights().map(({ shape }) => [...shape]);
  assert.deepEqual(shapes, [[2, 8], [8], [8, 3], [3]]);
  const lines = [];
  model.summary(undefined, undefined, (line) => lines.push(line));
  assert.match(
    lines.join('\n'),
    /dense_Dense1 \(Dense\) +\[\[null,2\]\] +\[null,8\] +24 +\n[^]*\n=+\nTotal params: 51\n/,
  );
  model.dispose();
});

test('the seed determines the initial weights', () => {
  const [a, b, c] = [1, 1, 2].map((seed) => smallModel({ seed }).getWeights()[0].dataSync());
  assert.deepEqual(a, b);
  assert.notDeepEqual(a, c);
});

test('predict is independent of the number of rows and the batch size', () => {
  const model = smallModel();
  const [x] = blobs(71);
  const all = model.predict(x);
  assert.deepEqual(all.shape, [71, 3]);
  assert.ok(
    largestDifference(all.dataSync(), model.predict(x, { batchSize: 7 }).dataSync()) < 1e-6,
  );
  const last = tl.tensor(x.dataSync().subarray(140), [1, 2]);
  assert.ok(largestDifference(all.dataSync().subarray(210), model.predict(last).dataSync()) < 1e-6);
  const sums = all.arraySync().map((row) => row.reduce((total, value) => total + value));
  assert.ok(sums.every((sum) => Math.abs(sum - 1) < 1e-5));
});

test('weights are copied from one model to another', () => {
  const [from, to] = [smallModel({ seed: 1 }), smallModel({ seed: 2 })];
  const [x] = blobs(10);
  to.setWeights(from.getWeights());
  assert.deepEqual(to.predict(x).dataSync(), from.predict(x).dataSync());
});

test('rejected weights change nothing', () => {
  const model = smallModel();
  const before = model.getWeights();
  const wrong = model.getWeights();
  wrong[0] = tl.tensor(new Float32Array(16).fill(9), [2, 8]);
  wrong[3] = tl.tensor([1, 2]);
  throws(() => model.setWeights(wrong), 'setWeights: dense_Dense2/bias has shape [3], got [2]');
  throws(() => model.setWeights([]), 'setWeights: the model has 4 weights, got 0');
  model.getWeights().forEach((weight, at) => {
    assert.deepEqual(weight.dataSync(), before[at].dataSync());
  });
});

test('every activation equals its definition', () => {
  const expected = {
    linear: (x) => x,
    sigmoid: (x) => 1 / (1 + Math.exp(-x)),
    tanh: Math.tanh,
    relu: (x) => Math.max(x, 0),
    relu6: (x) => Math.min(Math.max(x, 0), 6),
    leakyRelu: (x) => (x < 0 ? 0.3 * x : x),
    elu: (x) => (x < 0 ? Math.expm1(x) : x),
    hardSigmoid: (x) => Math.min(Math.max(0.2 * x + 0.5, 0), 1),
    selu: (x) => 1.0507009873554805 * (x < 0 ? 1.6732632423543772 * Math.expm1(x) : x),
    softplus: (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))),
    softsign: (x) => x / (1 + Math.abs(x)),
    swish: (x) => x / (1 + Math.exp(-x)),
    mish: (x) => x * Math.tanh(Math.log1p(Math.exp(x))),
  };
  // Activations over rows or without a function in Math: layers/parity.test.mjs compares them with TensorFlow.js.
  const elsewhere = ['softmax', 'logSoftmax', 'gelu', 'gelu_new'];
  const values = [-30, -3.5, -1, -0.1, 0, 0.1, 1, 3.5, 30];
  const names = tables.activations.map(({ name }) => name);
  assert.deepEqual(names.sort(), [...Object.keys(expected), ...elsewhere].sort());
  for (const [name, definition] of Object.entries(expected)) {
    const model = tl.sequential();
    model.add(tl.layers.activation({ activation: name, inputShape: [values.length] }));
    const actual = model.predict([values]).dataSync();
    values.forEach((x, at) => {
      const y = definition(x);
      const near = Math.abs(actual[at] - y) <= 1e-5 * Math.max(1, Math.abs(y));
      assert.ok(near, `${name}(${x}) is ${y}, got ${actual[at]}`);
    });
    model.dispose();
  }
});

test('the exported module predicts without the package', () => {
  const model = smallModel();
  const [x] = blobs(1);
  const module = new WebAssembly.Module(model.toWasm());
  assert.deepEqual(WebAssembly.Module.imports(module), []);
  const { exports } = new WebAssembly.Instance(module);
  const { buffer } = exports.memory;
  new Float32Array(buffer, exports['predict_1.x'].value, 2).set(x.dataSync());
  exports.predict_1();
  const y = new Float32Array(buffer, exports['predict_1.y'].value, 3);
  assert.deepEqual([...y], [...model.predict(x).dataSync()]);
});

test('the module prints as text, and its compilation as intermediate forms', async () => {
  const model = smallModel();
  model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'sgd' });
  assert.match(await model.toWat(), /^\(module/);
  assert.match(await model.toWat(), /\(export "train"/);
  const pass = tables.passes[0];
  const [dump] = model.dumps([`after:${pass}`]);
  assert.equal(dump.when, `after:${pass}`);
  assert.ok(dump.text.length > 100);
  const { compileMs, instantiateMs, moduleBytes, memoryBytes, temporaryBytes } = model.stats();
  assert.ok(compileMs > 0 && instantiateMs > 0 && moduleBytes > 1000 && memoryBytes > 400);
  assert.ok(temporaryBytes > 0 && temporaryBytes < memoryBytes);
});

test('200 models leak nothing', () => {
  const round = () => {
    const model = smallModel();
    model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'adam' });
    model.predict([[1, 2]]);
    model.toWasm();
    model.dispose();
  };
  for (let i = 0; i < 10; ++i) round();
  const before = tl.memory();
  for (let i = 0; i < 200; ++i) round();
  const after = tl.memory();
  assert.equal(after.liveObjects, before.liveObjects);
  assert.ok(
    after.coreBytes <= before.coreBytes + 65536,
    `${before.coreBytes} → ${after.coreBytes}`,
  );
});
