// Options of layers one by one, compared with TensorFlow.js.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { assertSameResult, assertBothThrow, waves } from '../../compare_tfjs.mjs';
import { smallModel } from '../../lib.mjs';

before(() => tf.setBackend('cpu'));

/** The output of a layer for inputs of these shapes. */
const through =
  (make, ...shapes) =>
  (lib) => {
    const inputs = shapes.map((shape) => lib.input({ shape }));
    const outputs = make(lib.layers, lib).apply(inputs.length === 1 ? inputs[0] : inputs);
    const x = shapes.map((shape, at) => waves(lib, [2, ...shape], at + 1));
    return lib.model({ inputs, outputs }).predict(x.length === 1 ? x[0] : x);
  };
const ones = { kernelInitializer: 'ones' };

const accepted = {
  'reshape with null': through((l) => l.reshape({ targetShape: [null, 2] }), [4, 3]),
  'reshape with -1': through((l) => l.reshape({ targetShape: [3, -1] }), [4, 3]),
  'noiseShape with null': through((l) => l.dropout({ rate: 0.5, noiseShape: [null, 4] }), [4]),
  'noiseShape with the batch': through((l) => l.dropout({ rate: 0.5, noiseShape: [2, 1] }), [4]),
  'activation of nothing': through((l) => l.activation({}), [4]),
  'activation null': through((l) => l.activation({ activation: null }), [4]),
  'embedding of lists': through(
    (l) =>
      l.embedding({ inputDim: 5, outputDim: 2, inputLength: [4], embeddingsInitializer: 'ones' }),
    [4],
  ),
  'kernels of depthwise convolutions': through(
    (l) =>
      l.depthwiseConv2d({
        kernelSize: 2,
        depthwiseInitializer: 'ones',
        kernelInitializer: 'zeros',
        kernelRegularizer: 'l1l2',
      }),
    [4, 5, 2],
  ),
  'batchNormalization with epsilon 0': through((l) => l.batchNormalization({ epsilon: 0 }), [4]),
  'layerNormalization with epsilon 0': through((l) => l.layerNormalization({ epsilon: 0 }), [4]),
  'bidirectional, separate outputs': through(
    (l) =>
      l.bidirectional({
        layer: l.gru({ units: 2, ...ones, recurrentInitializer: 'ones' }),
        mergeMode: null,
      }),
    [4, 2],
  ),
};
for (const [name, run] of Object.entries(accepted)) test(name, () => assertSameResult(run));

const rejected = {
  'one size for height and width': [
    through((l) => l.conv2d({ filters: 1, kernelSize: [2] }), [4, 4, 1]),
    'layers.conv2d: kernelSize argument must be an integer or tuple of 2 integers, expected to have a length of 2, got [2]',
  ],
  'one stride for height and width': [
    through((l) => l.maxPooling2d({ strides: [1] }), [4, 4, 1]),
    /^layers.maxPooling2d: strides argument must be an integer or tuple of 2/,
  ],
  'one input to join': [
    through((l) => l.concatenate(), [4]),
    /\(Concatenate\): expects at least two inputs, got one/,
  ],
};
for (const [name, [run, message]] of Object.entries(rejected)) {
  test(`rejected: ${name}`, () => assertBothThrow(run, message));
}

test('centerCrop begins where TensorFlow.js does', async () => {
  const imageSizes = [
    [5, 6],
    [4, 7],
    [9, 8],
    [6, 6],
  ];
  for (const [height, width] of [
    [2, 2],
    [3, 3],
    [4, 5],
    [1, 1],
    [5, 6],
    [6, 2],
  ]) {
    for (const imageSize of imageSizes) {
      const layer = tf.layers.centerCrop({ height, width });
      const expected = layer.apply(waves(tf, [2, ...imageSize, 3])).dataSync();
      const model = tl.sequential({
        layers: [tl.layers.centerCrop({ height, width, inputShape: [...imageSize, 3] })],
      });
      const actual = model.predict(waves(tl, [2, ...imageSize, 3])).dataSync();
      const worst = Math.max(...actual.map((value, at) => Math.abs(value - expected[at])));
      assert.ok(
        actual.length === expected.length && worst < 1e-5,
        `${[height, width]} of ${imageSize}`,
      );
    }
  }
});

test('metrics by their short names', () => {
  assert.equal(tl.metrics.MSE, tl.metrics.mse);
  assert.equal(tl.metrics.MAPE, tl.metrics.mape);
});

for (const [units, activation, loss] of [
  [3, 'softmax', 'categoricalCrossentropy'],
  [3, 'softmax', 'sparseCategoricalCrossentropy'],
  [3, 'sigmoid', 'binaryCrossentropy'],
  [1, 'sigmoid', 'meanSquaredError'],
]) {
  test(`crossentropy as a metric of ${units} numbers and ${loss}`, async () => {
    const scores = async (lib, name) => {
      const model = lib.sequential();
      const ones = 'ones';
      model.add(lib.layers.dense({ units: 4, inputShape: [2], kernelInitializer: ones }));
      model.add(lib.layers.dense({ units, activation, kernelInitializer: ones, name: 'last' }));
      model.compile({ loss, optimizer: 'sgd', metrics: [name] });
      const [x, row] = [lib.tensor2d([0.1, 0.2, -0.3, 0.1], [2, 2]), [0, 1, 0]];
      const numbers = loss.startsWith('sparse') || units === 1;
      const y = lib.tensor2d(numbers ? [[1], [0]] : [row, [1, 0, 0]]);
      const { history } = await model.fit(x, y, { epochs: 2, shuffle: false, verbose: 0 });
      return [model.metricsNames, history.ce.map((each) => each.toFixed(4))];
    };
    for (const name of ['ce', 'crossentropy']) {
      assert.deepEqual(await scores(tl, name), await scores(tf, name));
    }
  });
}

test('a linear activation with a slope', async () => {
  const activation = tl.activations.linear({ slope: 0.25 });
  const model = tl.sequential({
    layers: [tl.layers.dense({ units: 1, inputShape: [2], activation, ...ones })],
  });
  assert.deepEqual(model.predict(tl.tensor([[3, 5]])).arraySync(), [[2]]);
  model.compile({ loss: 'meanSquaredError', optimizer: tl.train.sgd(1) });
  await model.trainOnBatch(tl.tensor([[1, 0]]), tl.tensor([[0]]));
  // d loss = 2 · 0.25 · 0.25 · x
  assert.deepEqual(model.getWeights()[0].arraySync(), [[0.875], [1]]);
});

test('a NaN loss suggests checkNumerics, once', async (t) => {
  const warn = t.mock.method(console, 'warn', () => {});
  const model = smallModel();
  model.compile({ loss: 'meanSquaredError', optimizer: tl.train.sgd(1e30) });
  const x = tl.tensor([
    [1e20, 1],
    [1, -1e20],
  ]);
  await model.fit(
    x,
    tl.tensor([
      [1e30, 0, 0],
      [0, 1e30, 0],
    ]),
    { epochs: 4 },
  );
  const warnings = warn.mock.calls.map(({ arguments: [text] }) => text);
  assert.equal(warnings.length, 1);
  assert.match(
    warnings[0],
    /^tensorlathe: the loss of epoch 1 is (NaN|Infinity); compile with checkNumerics: true/,
  );
});

/** Outputs of a recurrent layer after `through(layers, x)` of embedded indices, where index 0 is masked. */
const masked = (lib, through, { returnSequences = false } = {}) => {
  const indices = lib.input({ shape: [4] });
  const embedding = lib.layers.embedding({ inputDim: 5, outputDim: 3, maskZero: true });
  const x = through(lib.layers, embedding.apply(indices));
  const rnn = lib.layers.simpleRNN({ units: 2, returnSequences });
  const model = lib.model({ inputs: indices, outputs: rnn.apply(x) });
  model.setWeights(model.getWeights().map(({ shape }, at) => waves(lib, shape, 5 * at + 1)));
  const rows = [
    [1, 2, 0, 0],
    [3, 4, 1, 2],
    [1, 0, 2, 0],
  ];
  return model.predict(lib.tensor2d(rows));
};

const passesMasks = {
  dense: (l, x) => l.dense({ units: 3, activation: 'relu' }).apply(x),
  activation: (l, x) => l.activation({ activation: 'tanh' }).apply(x),
  batchNormalization: (l, x) => l.batchNormalization().apply(x),
  layerNormalization: (l, x) => l.layerNormalization({ epsilon: 0.5 }).apply(x),
  dropout: (l, x) => l.dropout({ rate: 0.5 }).apply(x),
  gaussianNoise: (l, x) => l.gaussianNoise({ stddev: 1 }).apply(x),
  reLU: (l, x) => l.reLU().apply(x),
  leakyReLU: (l, x) => l.leakyReLU().apply(x),
  prelu: (l, x) => l.prelu().apply(x),
  timeDistributed: (l, x) => l.timeDistributed({ layer: l.dense({ units: 2 }) }).apply(x),
  lstm: (l, x) => l.lstm({ units: 2, returnSequences: true }).apply(x),
  bidirectional: (l, x) =>
    l.bidirectional({ layer: l.gru({ units: 2, returnSequences: true }) }).apply(x),
  'concatenate of elements': (l, x) => l.concatenate().apply([x, x]),
  'concatenate of steps': (l, x) => l.concatenate({ axis: 1 }).apply([x, x]),
  'several in a row': (l, x) =>
    l
      .batchNormalization()
      .apply(l.activation({ activation: 'elu' }).apply(l.dense({ units: 2 }).apply(x))),
};
for (const [name, through] of Object.entries(passesMasks)) {
  test(`masks pass ${name}`, async () => {
    await assertSameResult((lib) => masked(lib, through));
    await assertSameResult((lib) => masked(lib, through, { returnSequences: true }));
  });
}

// TensorFlow.js makes a mask of three axes of these, on which recurrent layers fail. Here it is that of Keras.
for (const name of ['add', 'multiply', 'average', 'maximum', 'minimum']) {
  test(`masks pass ${name}`, () => {
    const numbers = masked(tl, (l, x) => l[name]().apply([x, x])).arraySync();
    assert.deepEqual(numbers[0], numbers[2]);
    const one = masked(tl, (l, x) =>
      l[name]().apply(
        [x, l.flatten().apply(x)].map((each, at) =>
          at === 0 ? each : l.reshape({ targetShape: [4, 3] }).apply(each),
        ),
      ),
    ).arraySync();
    assert.deepEqual(one, numbers);
  });
}

test('layers with masks, called on tensors', async () => {
  await assertSameResult((lib) => {
    const [x, y] = [waves(lib, [2, 3, 2]), waves(lib, [2, 3, 2], 5)];
    const mask = lib.tensor2d([1, 0, 1, 1, 1, 0], [2, 3], 'bool');
    const rnn = lib.layers.simpleRNN({
      units: 2,
      kernelInitializer: 'ones',
      recurrentInitializer: 'ones',
    });
    const dense = lib.layers.dense({ units: 2, kernelInitializer: 'ones' });
    return [rnn.apply(x, { mask }), dense.apply(y, { mask })];
  });
});

const begun = (lib) =>
  lib.sequential({
    layers: [
      lib.layers.inputLayer({ inputShape: [3], name: 'inp' }),
      lib.layers.dense({ units: 4, ...ones }),
      lib.layers.dense({ units: 2, ...ones }),
    ],
  });
const learns = (model) => {
  model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
  return model;
};

test('a Sequential that begins with an inputLayer has it as its first layer', () =>
  assertSameResult((lib) => {
    const row = begun(lib);
    const modelTo = (layer) => lib.model({ inputs: row.inputs, outputs: layer.output });
    const lines = [];
    row.summary(90, undefined, (line) => lines.push(line.replace(/_Dense\d+|\s+/g, ' ')));
    return {
      classes: row.layers.map((each) => each.getClassName()),
      names: [row.inputs[0].name, row.layers[0].name, ...row.inputNames],
      first: modelTo(row.getLayer(null, 1)).predict(waves(lib, [2, 3])),
      count: lines.length,
    };
  }));

test('x may be an object with the input name of a Sequential', () =>
  assertSameResult(async (lib) => {
    const x = waves(lib, [2, 3]);
    const named = learns(begun(lib));
    const plain = learns(
      lib.sequential({
        layers: [lib.layers.dense({ units: 2, inputShape: [3], name: 'dd', ...ones })],
      }),
    );
    const losses = [
      await named.fit({ inp: x }, lib.ones([2, 2]), { verbose: 0 }),
      await plain.fit({ dd_input: x }, lib.ones([2, 2]), { verbose: 0 }),
    ];
    return losses.map(({ history }) => history.loss);
  }));

test('Sequentials that begin with an inputLayer are saved and loaded by either library', async () => {
  for (const [from, to] of [
    [tl, tf],
    [tf, tl],
    [tl, tl],
  ]) {
    const model = begun(from);
    let saved;
    await model.save(from.io.withSaveHandler(async (artifacts) => ((saved = artifacts), {})));
    const loaded = await to.loadLayersModel(to.io.fromMemory(saved));
    const classes = loaded.layers.map((each) => each.getClassName());
    assert.deepEqual(classes, ['InputLayer', 'Dense', 'Dense']);
    assert.match(loaded.inputs[0].name, /^inp/);
    const json = model.toJSON(null, false);
    const reloaded = await to.models.modelFromJSON(JSON.parse(JSON.stringify(json)));
    assert.match(reloaded.layers[0].name, /^inp/);
    const [expected, found] = [
      [model, from],
      [loaded, to],
    ].map(([each, lib]) => [...each.predict(waves(lib, [2, 3])).dataSync()]);
    found.forEach((each, at) => assert.ok(Math.abs(each - expected[at]) < 1e-5));
  }
});

test('layers and models are instances of Layer, and have their options', () =>
  assertSameResult((lib) => {
    const { Layer } = lib.layers;
    class Custom extends Layer {
      static className = 'CustomOfTwo';
    }
    const layer = lib.layers.dense({ units: 3, inputShape: [2] });
    const cell = lib.layers.gruCell({ units: 2 });
    return {
      layers: [layer, lib.sequential({ layers: [layer] }), new Custom({}), {}, lib].map(
        (each) => each instanceof Layer,
      ),
      custom: [layer, new Custom({})].map((each) => each instanceof Custom),
      units: layer.units,
      conv: lib.layers.conv2d({ filters: 2, kernelSize: 3 }).filters,
      rate: lib.layers.dropout({ rate: 0.2 }).rate,
      lstm: lib.layers.lstm({ units: 2, returnSequences: true }).returnSequences,
      momentum: lib.layers.batchNormalization({}).momentum,
      inner: lib.layers.timeDistributed({ layer: lib.layers.dense({ units: 4 }) }).layer.units,
      cell: lib.layers.rnn({ cell }).cell === cell,
    };
  }));
