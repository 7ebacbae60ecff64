// tfjs#8321, #8328, #8358, #8178: users of Keras 3 have .keras files, which TensorFlow.js does not read at all. Groups and datasets are those that
// keras.Model.save writes; the right values are those of the same model made by hand.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import * as tl from 'tensorlathe';
import * as tf from 'tensorlathe/tfjs';
import { fromKeras } from 'tensorlathe/keras';
import { archive, hdf5, zip } from './keras_files.mjs';
import { keras3 } from './keras_styles.mjs';

const folder = mkdtempSync(join(tmpdir(), 'tensorlathe-keras-'));
after(() => rmSync(folder, { recursive: true }));

const L = tl.layers;
const sequential = (...layers) => tl.sequential({ name: 'm', layers });
const vars = (path, names) => names.map((name, at) => [`${path}/vars/${at}`, name]);
const rnn = (path, name) =>
  vars(
    path,
    ['kernel', 'recurrent_kernel', 'bias'].map((end) => `${name}/${end}`),
  );
const dense = (path, name) => vars(path, [`${name}/kernel`, `${name}/bias`]);

/** Models, and where Keras has their weights. */
const models = {
  'two Dense, numbered by class, and BatchNormalization': [
    () =>
      sequential(
        L.dense({ name: 'z', units: 3, inputShape: [3] }),
        L.batchNormalization({ name: 'bn' }),
        L.dense({ name: 'a', units: 3 }),
      ),
    [
      ...dense('layers/dense', 'z'),
      ...vars('layers/batch_normalization', [
        'bn/gamma',
        'bn/beta',
        'bn/moving_mean',
        'bn/moving_variance',
      ]),
      ...dense('layers/dense_1', 'a'),
    ],
  ],
  'groups of Keras 2.12': [
    () =>
      sequential(
        L.dense({ name: 'z', units: 3, inputShape: [3] }),
        L.dense({ name: 'a', units: 3 }),
      ),
    [
      ...dense('_layer_checkpoint_dependencies/dense', 'z'),
      ...dense('_layer_checkpoint_dependencies/dense_2', 'a'),
    ],
  ],
  'eleven layers of a class': [
    () =>
      sequential(
        ...Array.from({ length: 11 }, (_, at) =>
          L.dense({ name: `d${at}`, units: 2, inputShape: [2] }),
        ),
      ),
    Array.from({ length: 11 }, (_, at) =>
      dense(`layers/dense${at ? `_${at}` : ''}`, `d${at}`),
    ).flat(),
  ],
  'LSTM, GRU, SimpleRNN': [
    () =>
      sequential(
        L.lstm({ name: 'l', units: 2, returnSequences: true, inputShape: [4, 2] }),
        L.gru({ name: 'g', units: 2, returnSequences: true }),
        L.simpleRNN({ name: 's', units: 2 }),
      ),
    [
      ...rnn('layers/lstm/cell', 'l'),
      ...rnn('layers/gru/cell', 'g'),
      ...rnn('layers/simple_rnn/cell', 's'),
    ],
  ],
  Bidirectional: [
    () =>
      sequential(
        L.bidirectional({ name: 'b', layer: L.lstm({ name: 'il', units: 2 }), inputShape: [4, 3] }),
      ),
    [
      ...rnn('layers/bidirectional/backward_layer/cell', 'b/backward_il'),
      ...rnn('layers/bidirectional/forward_layer/cell', 'b/forward_il'),
    ],
  ],
  'stacked cells': [
    () =>
      sequential(
        L.rnn({
          name: 'r',
          cell: [L.lstmCell({ units: 3 }), L.lstmCell({ units: 3 })],
          inputShape: [4, 3],
        }),
      ),
    [
      ...rnn('layers/rnn/cell/cells/lstm_cell', 'r/RNNCell_0'),
      ...rnn('layers/rnn/cell/cells/lstm_cell_1', 'r/RNNCell_1'),
    ],
  ],
  TimeDistributed: [
    () =>
      sequential(
        L.timeDistributed({
          name: 't',
          layer: L.dense({ name: 'd', units: 2 }),
          inputShape: [4, 3],
        }),
      ),
    dense('layers/time_distributed/layer', 't'),
  ],
  nested: [
    () => sequential(sequential2(), L.dense({ name: 'x', units: 3 })),
    [...dense('layers/sequential/layers/dense', 'in/x'), ...dense('layers/dense', 'x')],
  ],
  MultiHeadAttention: [
    () => {
      const x = tl.input({ shape: [3, 4], name: 'x' });
      return tl.model({
        name: 'm',
        inputs: x,
        outputs: L.multiHeadAttention({ name: 'a', numHeads: 2, keyDim: 2 }).apply([x, x]),
      });
    },
    ['query', 'key', 'value', 'output'].flatMap((part) =>
      dense(
        `layers/multi_head_attention/${part}_dense`,
        `a/${part === 'output' ? 'attention_output' : part}`,
      ),
    ),
  ],
  convolutions: [
    () =>
      sequential(
        L.conv2d({ name: 'c', filters: 2, kernelSize: 2, inputShape: [5, 5, 2] }),
        L.separableConv2d({ name: 's', filters: 2, kernelSize: 2 }),
        L.prelu({ name: 'p' }),
        L.dropout({ name: 'do', rate: 0.5 }),
      ),
    [
      ...dense('layers/conv2d', 'c'),
      ...vars('layers/separable_conv2d', ['s/depthwise_kernel', 's/pointwise_kernel', 's/bias']),
      ['layers/p_re_lu/vars/0', 'p/alpha'],
      ['layers/dropout/seed_generator/vars/0', undefined],
    ],
  ],
};
function sequential2() {
  return tl.sequential({ name: 'in', layers: [L.dense({ name: 'x', units: 3, inputShape: [3] })] });
}

const valuesOf = (model) =>
  new Map(
    model.weights.map(({ name, shape }, at) => [
      name,
      { shape, data: Float32Array.from(model.getWeights()[at].dataSync()) },
    ]),
  );
function fill(model) {
  let at = 0;
  model.setWeights(
    model.getWeights().map(({ shape, size }) =>
      tl.tensor(
        Float32Array.from({ length: size }, () => 0.5 + 0.4 * Math.sin((at += 1.7))),
        shape,
      ),
    ),
  );
  return model;
}
const inputOf = ({ inputs }) => {
  const shape = [2, ...inputs[0].shape.slice(1)];
  return tl.tensor(
    Float32Array.from({ length: shape.reduce((a, b) => a * b) }, (_, at) => Math.cos(at)),
    shape,
  );
};
const predict = async (model) => [...(await model.predict(inputOf(model)).data())];

/** Our model in the files of Keras. */
async function archiveOf(model, paths, { compile, extra = {}, groups = {}, ...options } = {}) {
  const { modelTopology } = await tl.io.toArtifacts(model);
  const values = valuesOf(model);
  const seed = { shape: [2], data: new Uint32Array([1, 2]) };
  const tensors = Object.fromEntries(
    paths.map(([path, name]) => [path, name === undefined ? seed : values.get(name)]),
  );
  assert.ok(
    Object.values(tensors).every((each) => each !== undefined),
    [...values.keys()].join(),
  );
  return archive(
    { ...keras3(modelTopology), compile_config: compile ?? null },
    await hdf5({ ...tensors, ...extra }, groups),
    options,
  );
}

for (const [name, [make, paths]] of Object.entries(models)) {
  test(`${name}: a .keras file computes what its model does`, async () => {
    const model = fill(make());
    const right = await predict(model);
    for (const deflated of [false, true]) {
      const bytes = await archiveOf(model, paths, { deflated });
      for (const api of [tl, tf]) {
        const loaded = await api.loadLayersModel(fromKeras(bytes));
        assert.deepEqual(await predict(loaded), right);
        assert.deepEqual(
          loaded.layers.map((layer) => layer.name).filter((each) => !/input/.test(each)).length > 0,
          true,
        );
      }
    }
  });
}

test('loadModel and loadLayersModel accept the address of a .keras file', async () => {
  const [make, paths] = models.Bidirectional;
  const model = fill(make());
  const path = join(folder, 'm.keras');
  writeFileSync(path, await archiveOf(model, paths));
  const right = await predict(model);
  for (const loaded of [
    await tl.loadModel(path),
    await tl.loadModel(pathToFileURL(path)),
    await tl.loadLayersModel(`file://${path}`),
  ]) {
    assert.deepEqual(await predict(loaded), right);
  }
});

test('training goes on where Keras stopped: loss, metrics, optimizer and what it had gathered', async () => {
  const [make] = models['two Dense, numbered by class, and BatchNormalization'];
  const paths = models['two Dense, numbered by class, and BatchNormalization'][1];
  const optimizers = {
    Adam: [{ learning_rate: 0.05, beta_1: 0.9, beta_2: 0.999, epsilon: 1e-7 }, ['m', 'v'], true],
    RMSprop: [
      { learning_rate: 0.05, rho: 0.9, momentum: 0.5, epsilon: 1e-7, centered: true },
      ['rms', 'momentum', 'mg'],
      false,
    ],
    SGD: [{ learning_rate: 0.05, momentum: 0.9, nesterov: false }, ['momentum'], true],
  };
  const x = tl.tensor(
    Float32Array.from({ length: 12 }, (_, at) => Math.sin(at)),
    [4, 3],
  );
  const y = tl.tensor(
    Float32Array.from({ length: 12 }, (_, at) => Math.cos(at)),
    [4, 3],
  );
  for (const [kind, [config, slots, isTogether]] of Object.entries(optimizers)) {
    const compile = {
      optimizer: {
        module: 'keras.optimizers',
        class_name: kind,
        config: { name: kind.toLowerCase(), weight_decay: null, use_ema: false, ...config },
        registered_name: null,
      },
      loss: 'mse',
      loss_weights: null,
      metrics: ['mae'],
      weighted_metrics: null,
      run_eagerly: false,
      steps_per_execution: 1,
      jit_compile: false,
    };
    // From a file without slots the model trains on; that is the right one.
    const first = await tl.loadLayersModel(
      fromKeras(await archiveOf(fill(make()), paths, { compile })),
    );
    await first.fit(x, y, { epochs: 3, batchSize: 4, verbose: 0, shuffle: false });
    const { weightSpecs, weightData } = await tl.io.toArtifacts(first, { includeOptimizer: true });
    const gathered = new Map();
    let at = 0;
    for (const { name, shape, dtype, group } of weightSpecs) {
      const size = shape.reduce((a, b) => a * b, 1);
      const data =
        dtype === 'int32'
          ? new Int32Array(weightData.slice(at, (at += 4 * size)))
          : new Float32Array(weightData.slice(at, (at += 4 * size)));
      if (group === 'optimizer') gathered.set(name, { shape, data });
    }
    const trained = first.weights.filter(({ trainable }) => trainable).map(({ name }) => name);
    const order = isTogether
      ? trained.flatMap((name) => slots.map((slot) => [name, slot]))
      : slots.flatMap((slot) => trained.map((name) => [name, slot]));
    const extra = {
      'optimizer/vars/0': { shape: [], data: new Int32Array([3]) },
      'optimizer/vars/1': { shape: [], data: new Float32Array([config.learning_rate]) },
    };
    order.forEach(([name, slot], index) => {
      const { shape, data } = gathered.get(`${name}/${slot}`);
      extra[`optimizer/vars/${index + 2}`] = {
        shape,
        data: kind === 'SGD' ? data.map((value) => -config.learning_rate * value) : data,
      };
    });
    const second = await tl.loadLayersModel(
      fromKeras(await archiveOf(first, paths, { compile, extra })),
    );
    const [one, two] = [
      await first.fit(x, y, { epochs: 2, batchSize: 4, verbose: 0, shuffle: false }),
      await second.fit(x, y, { epochs: 2, batchSize: 4, verbose: 0, shuffle: false }),
    ];
    for (const key of ['loss', 'mae']) {
      one.history[key].forEach((value, epoch) =>
        assert.ok(
          Math.abs(value - two.history[key][epoch]) < 1e-5,
          `${kind} ${key}: ${one.history[key]} and ${two.history[key]}`,
        ),
      );
    }
  }
});

test('HDF5 files of Keras 2 and 3: stacked cells, scopes and cells in the names of weights', async () => {
  const [make] = models['stacked cells'];
  const model = fill(make());
  const right = await predict(model);
  const { modelTopology } = await tl.io.toArtifacts(model);
  const values = valuesOf(model);
  const styles = {
    'Keras 2': [modelTopology, (cell) => `r/lstm_cell${cell ? `_${cell}` : ''}/`, ':0'],
    'Keras 3': [
      keras3(modelTopology),
      (cell) => `m/r/stacked_rnn_cells/lstm_cell${cell ? `_${cell}` : ''}/`,
      '',
    ],
  };
  for (const [config, prefix, end] of Object.values(styles)) {
    const names = [0, 1].flatMap((cell) =>
      ['kernel', 'recurrent_kernel', 'bias'].map((part) => [
        `${prefix(cell)}${part}${end}`,
        `r/RNNCell_${cell}/${part}`,
      ]),
    );
    const tensors = Object.fromEntries(
      names.map(([path, name]) => [`model_weights/r/${path}`, values.get(name)]),
    );
    const bytes = await hdf5(tensors, {
      '': { model_config: JSON.stringify(config), keras_version: '3.8.0', backend: 'tensorflow' },
      model_weights: { layer_names: ['r'] },
      'model_weights/r': { weight_names: names.map(([path]) => path) },
    });
    assert.deepEqual(await predict(await tl.loadLayersModel(fromKeras(bytes))), right);
  }
});

test('rejects damaged and foreign archives by name', async () => {
  const [make, paths] = models.TimeDistributed;
  const good = await archiveOf(fill(make()), paths, { deflated: true });
  const assertRejected = async (bytes, message) =>
    assert.rejects(tl.loadLayersModel(fromKeras(bytes)), { name: 'LatheError', message });
  await assertRejected(zip({ 'a.txt': Buffer.from('x') }), /config\.json is not in the archive/);
  await assertRejected(
    zip({
      'config.json': Buffer.from('{"class_name":"Sequential","config":{}}'),
      'model.weights.npz': Buffer.from('x'),
    }),
    /it has no model\.weights\.h5, but config\.json, model\.weights\.npz/,
  );
  await assertRejected(good.slice(0, good.length - 30), /no zip archive|damaged/);
  const flipped = Uint8Array.from(good);
  flipped[300] ^= 1;
  await assertRejected(flipped, /fromKeras|Keras file/);
  // A size that no deflated data of that length can have.
  const bomb = Uint8Array.from(good);
  const view = new DataView(bomb.buffer);
  const directory = view.getUint32(bomb.length - 6, true);
  view.setUint32(directory + 24, 0x7fffffff, true);
  await assertRejected(bomb, /cannot have 2147483647 bytes/);
  for (let at = 0; at < good.length; at += 97) {
    const truncated = good.slice(0, at);
    await assert.rejects(tl.loadLayersModel(fromKeras(truncated)), { name: 'LatheError' });
  }
});
