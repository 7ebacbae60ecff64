// Models as graphs of layers: shared and nested layers, several inputs and outputs, freezing, weights shared by
// several models; values compared with TensorFlow.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';

await tf.setBackend('cpu');

const rows = (count, width, from = 0) =>
  Array.from({ length: count }, (_, row) =>
    Array.from({ length: width }, (_, at) => Math.sin(from + 3 * row + at) * 0.8),
  );
const near = (actual, expected, within = 1e-5) => {
  const [a, b] = [actual, expected].map((values) => [...values.dataSync()]);
  assert.equal(a.length, b.length);
  a.forEach((value, at) => assert.ok(Math.abs(value - b[at]) < within, `${at}: ${value} ${b[at]}`));
};
const throws = (action, pattern) =>
  assert.throws(action, (error) => error instanceof tl.LatheError && pattern.test(error.message));

/** The same network in either library: two inputs, a shared layer, a residual, two outputs. */
function network(lib) {
  const units = { units: 4, activation: 'tanh' };
  const a = lib.input({ shape: [3], name: 'a' });
  const b = lib.input({ shape: [3], name: 'b' });
  const shared = lib.layers.dense({ ...units, name: 'shared' });
  const [left, right] = [shared.apply(a), shared.apply(b)];
  const sum = lib.layers.add({ name: 'sum' }).apply([left, right]);
  const inner = lib.layers.dense({ ...units, name: 'inner' }).apply(sum);
  const residual = lib.layers.add({ name: 'residual' }).apply([sum, inner]);
  const wide = lib.layers.concatenate({ name: 'wide' }).apply([residual, left]);
  const kind = lib.layers.dense({ units: 3, activation: 'softmax', name: 'kind' }).apply(wide);
  const size = lib.layers.dense({ units: 1, name: 'size' }).apply(residual);
  return lib.model({ inputs: [a, b], outputs: [kind, size], name: 'net', seed: 3 });
}

const x = { a: rows(5, 3), b: rows(5, 3, 1) };
const y = {
  kind: [0, 2, 1, 1, 0].map((at) => [0, 1, 2].map((each) => (each === at ? 1 : 0))),
  size: rows(5, 1, 2),
};
const asTensors = (lib, data) =>
  Object.fromEntries(Object.entries(data).map(([name, values]) => [name, lib.tensor(values)]));

test('a graph of layers trains and predicts as in TensorFlow.js', async () => {
  const [ours, theirs] = [network(tl), network(tf)];
  assert.deepEqual(
    ours.layers.map(({ name }) => name),
    theirs.layers.map(({ name }) => name),
  );
  assert.deepEqual(ours.inputNames, theirs.inputNames);
  assert.deepEqual(ours.outputNames, theirs.outputNames);
  assert.deepEqual(ours.outputShape, theirs.outputShape);
  assert.equal(ours.countParams(), theirs.countParams());
  assert.deepEqual(
    ours.layers.map((layer) => layer.countParams()),
    theirs.layers.map((layer) => layer.countParams()),
  );
  theirs.setWeights(ours.getWeights().map((each) => tf.tensor(each.dataSync(), each.shape)));
  const losses = ['categoricalCrossentropy', 'meanSquaredError'];
  theirs.compile({ optimizer: tf.train.sgd(0.1), loss: losses });
  ours.compile({
    optimizer: tl.train.sgd(0.1),
    loss: { kind: 'softmaxCrossEntropy', size: 'meanSquaredError' },
  });
  for (let step = 0; step < 5; ++step) {
    const actual = await ours.trainOnBatch(x, y);
    const expected = await theirs.trainOnBatch(asTensors(tf, x), asTensors(tf, y));
    actual.forEach((loss, at) => assert.ok(Math.abs(loss - expected[at]) < 1e-4, `${step} ${at}`));
  }
  const actual = ours.predict([x.a, x.b]);
  theirs
    .predict([tf.tensor(x.a), tf.tensor(x.b)])
    .forEach((each, at) => near(actual[at], each, 1e-4));
});

test('fit and evaluate report every output', async () => {
  const model = network(tl);
  model.compile({
    optimizer: 'adam',
    loss: ['softmaxCrossEntropy', 'meanSquaredError'],
    lossWeights: { size: 0.5 },
    metrics: 'accuracy',
  });
  const classes = { kind: [0, 2, 1, 1, 0], size: y.size };
  const { history } = await model.fit(x, classes, { epochs: 3, validationSplit: 0.4 });
  const names = ['loss', 'kind_loss', 'size_loss', 'kind_acc', 'size_acc'];
  for (const name of names.flatMap((each) => [each, `val_${each}`])) {
    assert.equal(history[name]?.length, 3, name);
  }
  const scores = model.evaluate(x, classes, { asObject: true });
  assert.ok(Math.abs(scores.loss - scores.kind_loss - 0.5 * scores.size_loss) < 1e-5);
  assert.deepEqual(
    model.evaluate([x.a, x.b], [classes.kind, classes.size], { asObject: true }),
    scores,
  );
});

test('an output may have no loss', async () => {
  const model = network(tl);
  model.compile({ optimizer: tl.train.sgd(0.1), loss: { size: 'meanSquaredError' } });
  const kind = model.getLayer('kind');
  const before = kind.getWeights();
  const loss = await model.trainOnBatch(x, { size: y.size });
  assert.equal(loss.length, 2);
  kind.getWeights().forEach((each, at) => near(each, before[at], 1e-12));
});

test('models are layers of other models', async () => {
  const encoder = tl.sequential({ name: 'encoder', seed: 1 });
  encoder.add(tl.layers.dense({ units: 4, activation: 'tanh', inputShape: [3], name: 'e1' }));
  encoder.add(tl.layers.dense({ units: 2, name: 'e2' }));
  const decoder = tl.sequential({ name: 'decoder', seed: 2 });
  decoder.add(tl.layers.dense({ units: 3, inputShape: [2], name: 'd1' }));
  const data = rows(6, 3);
  const code = encoder.predict(data);

  const input = tl.input({ shape: [3] });
  const both = tl.model({ inputs: input, outputs: decoder.apply(encoder.apply(input)) });
  assert.equal(both.countParams(), encoder.countParams() + decoder.countParams());
  near(both.predict(data), decoder.predict(code));

  both.compile({ optimizer: tl.train.sgd(0.2), loss: 'meanSquaredError' });
  await both.fit(data, data, { epochs: 5 });
  assert.notDeepEqual(encoder.predict(data).dataSync(), code.dataSync());
  near(both.predict(data), decoder.predict(encoder.predict(data)));

  encoder.getLayer('e2').setWeights([rows(4, 2), [1, 2]]);
  near(both.predict(data), decoder.predict(encoder.predict(data)));
  const trained = both.predict(data);
  encoder.dispose();
  decoder.dispose();
  near(both.predict(data), trained);
});

test('graphs and nested models are saved and loaded', async () => {
  const tower = tl.sequential({ name: 'tower' });
  tower.add(tl.layers.dense({ units: 4, activation: 'relu', inputShape: [3] }));
  tower.add(tl.layers.dense({ units: 2 }));
  const inputs = ['a', 'b'].map((name) => tl.input({ shape: [3], name }));
  const both = tl.layers.concatenate().apply(inputs.map((each) => tower.apply(each)));
  const same = tl.layers.dense({ units: 1, activation: 'sigmoid', name: 'same' }).apply(both);
  const nested = tl.model({ inputs, outputs: same });
  for (const model of [network(tl), nested]) {
    let artifacts;
    await model.save({ save: async (saved) => ((artifacts = saved), {}) });
    const loaded = await tl.loadLayersModel(tl.io.fromMemory(artifacts));
    const [expected, actual] = [model.predict(x), loaded.predict(x)].map((each) => [each].flat());
    actual.forEach((each, at) => near(each, expected[at], 1e-12));
    const theirs = await tf.loadLayersModel(tf.io.fromMemory(artifacts));
    const others = [theirs.predict([tf.tensor(x.a), tf.tensor(x.b)])].flat();
    others.forEach((each, at) => near(each, expected[at]));
  }
});

test('a new head is trained on frozen features', async () => {
  const base = tl.sequential({ seed: 4 });
  base.add(tl.layers.dense({ units: 4, activation: 'relu', inputShape: [3] }));
  base.add(tl.layers.batchNormalization());
  base.add(tl.layers.dense({ units: 2, activation: 'softmax' }));
  const features = base.layers[1];
  for (const layer of base.layers) layer.trainable = false;
  const head = tl.layers.dense({ units: 1, name: 'head' });
  const model = tl.model({ inputs: base.inputs, outputs: head.apply(features.output) });
  model.compile({ optimizer: 'adam', loss: 'meanSquaredError' });
  const before = base.getWeights();
  const old = head.getWeights();
  await model.fit(rows(8, 3), rows(8, 1), { epochs: 2 });
  base.getWeights().forEach((each, at) => near(each, before[at], 1e-12));
  assert.notDeepEqual(head.getWeights()[0].dataSync(), old[0].dataSync());
  const lines = [];
  model.summary(undefined, undefined, (line) => lines.push(line));
  assert.match(
    lines.join('\n'),
    /Total params: 37\nTrainable params: 5\nNon-trainable params: 32\n_+$/,
  );

  features.trainable = true;
  base.layers[0].trainable = true;
  await model.fit(rows(8, 3), rows(8, 1));
  near(base.layers[0].getWeights()[0], before[0], 1e-12);
  const frozen = model.predict(rows(8, 3));
  model.compile({ optimizer: 'adam', loss: 'meanSquaredError' });
  near(model.predict(rows(8, 3)), frozen, 1e-12);
  await model.fit(rows(8, 3), rows(8, 1));
  assert.notDeepEqual(base.layers[0].getWeights()[0].dataSync(), before[0].dataSync());
});

test('losses are means over all positions of an output', () => {
  const input = tl.input({ shape: [4, 3] });
  const output = tl.layers.dense({ units: 5, activation: 'softmax' }).apply(input);
  const model = tl.model({ inputs: input, outputs: output, seed: 1 });
  model.compile({ loss: 'softmaxCrossEntropy', metrics: 'acc' });
  const data = [rows(4, 3), rows(4, 3, 5)];
  const classes = [
    [0, 1, 2, 3],
    [4, 3, 2, 1],
  ];
  const p = model.predict(data).dataSync();
  const probabilities = classes.flat().map((label, at) => p[at * 5 + label]);
  const loss = probabilities.reduce((total, each) => total - Math.log(each) / 8, 0);
  const scores = model.evaluate(data, classes, { asObject: true });
  assert.ok(Math.abs(scores.loss - loss) < 1e-5);
  const hot = classes.map((row) => row.map((at) => [0, 1, 2, 3, 4].map((k) => +(k === at))));
  assert.deepEqual(model.evaluate(data, hot, { asObject: true }), scores);
});

test('the summary lists the inputs of every layer', () => {
  const lines = [];
  network(tl).summary(undefined, undefined, (line) => lines.push(line));
  assert.match(
    lines.join('\n'),
    /residual \(Add\) .* \[null,4\] +0 +sum\[0\]\[0\] +\n +inner\[0\]\[0\] +\n/,
  );
  assert.match(
    lines.join('\n'),
    /shared \(Dense\) .* \[null,4\] +16 +a\[0\]\[0\] +\n +b\[0\]\[0\] +\n/,
  );
});

test('invalid graphs are rejected', () => {
  const a = tl.input({ shape: [2], name: 'a' });
  const b = tl.input({ shape: [3], name: 'b' });
  const dense = tl.layers.dense({ units: 2, name: 'd' });
  assert.deepEqual(dense.getWeights(), []);
  dense.apply(a);
  assert.deepEqual(
    dense.getWeights().map(({ shape }) => shape),
    [[2, 2], [2]],
  );
  throws(() => tl.layers.add().apply([a, b]), /Add.*\[2\], \[3\] do not broadcast/);
  throws(() => tl.layers.add().apply(a), /expects at least two inputs, got one/);
  throws(() => dense.apply([[1, 2]]), /apply expects symbolic tensors/);
  throws(() => tl.layers.dense({ unit: 2 }), /no option unit; did you mean units/);
  throws(() => tl.input({ shape: [0] }), /positive integers/);
  const output = dense.apply(a);
  throws(() => tl.model({ inputs: b, outputs: output }), /need the input "a", which is not among/);
  throws(() => tl.model({ outputs: output }), /inputs and outputs are needed/);
  throws(() => tl.model({ inputs: a, outputs: output, seed: -1 }), /seed must be an integer/);
  throws(() => dense.apply(b), /its weights fit inputs/);
  const inner = tl.model({ inputs: a, outputs: output });
  const twice = tl.layers.add().apply([inner.apply(a), output]);
  throws(() => tl.model({ inputs: a, outputs: twice }), /layer "d" is in it twice, as /);

  const model = network(tl);
  throws(() => model.getLayer('shred'), /no layer "shred"; the layers are a, b, shared/);
  throws(() => model.compile({ loss: ['meanSquaredError'] }), /loss has 1 values, but the outputs/);
  throws(() => model.compile({ loss: { sise: 'meanSquaredError' } }), /loss names "sise", but/);
  throws(
    () => model.compile({ loss: { kind: 'sigmoidCrossEntropy' } }),
    /output of layer "kind" ends with softmax/,
  );
  model.compile({ loss: { size: 'meanSquaredError' } });
  throws(() => model.predict(rows(3, 3)), /x must be an array of 2 \(a, b\) or an object/);
  throws(() => model.predict({ a: rows(2, 3) }), /needs "b"/);
  throws(() => model.predict({ ...x, c: 1 }), /does not have "c"/);
  throws(() => model.predict([rows(2, 3), rows(3, 3)]), /differ in their number of rows: 2, 3/);
  throws(
    () => model.evaluate(x, { kind: y.kind }, { asObject: true }),
    /y goes by name, and the model does not have/,
  );
  throws(() => model.predict({ a: rows(2, 4), b: rows(2, 3) }), /x of a has shape \[2,4\]/);
});

test('dispose frees everything', () => {
  const { liveObjects } = tl.memory();
  for (let round = 0; round < 20; ++round) {
    const model = network(tl);
    model.predict(x);
    model.dispose();
  }
  assert.equal(tl.memory().liveObjects, liveObjects);
});

test('names of properties of Object.prototype are valid layer names', async () => {
  const names = ['constructor', '__proto__', 'toString'];
  const inputs = names.map((name) => tl.input({ shape: [2], name }));
  const outputs = inputs.map((each, at) =>
    tl.layers.dense({ units: 1, name: `${names[at]}_` }).apply(each),
  );
  const model = tl.model({ inputs, outputs, seed: 1 });
  const byName = (suffix, value) => Object.fromEntries(names.map((n) => [`${n}${suffix}`, value]));
  const [x, y] = [byName('', rows(3, 2)), byName('_', rows(3, 1))];
  throws(
    () => model.predict({ ['__proto__']: rows(3, 2) }),
    /x goes by name, .* needs "constructor"/,
  );
  assert.deepEqual(
    model.predict(x).map(({ shape }) => shape),
    names.map(() => [3, 1]),
  );
  model.compile({ loss: byName('_', 'meanSquaredError'), optimizer: 'sgd' });
  await model.fit(x, y);
  assert.ok(
    names.every((name) =>
      Number.isFinite(model.evaluate(x, y, { asObject: true })[`${name}__loss`]),
    ),
  );
  const x0 = tl.input({ shape: [2] });
  const named = tl.layers.dense({ units: 1, name: 'constructor' }).apply(x0);
  assert.doesNotThrow(() => tl.model({ inputs: x0, outputs: named }).compile({ loss: {} }));
});
