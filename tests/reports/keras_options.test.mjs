// tfjs#8321, #8328, #8178: options, classes and calls that Keras 2.6 to 3 write and TensorFlow.js does not read: those of a meaning that is ours compute
// what the same layers made by hand do, others are errors that name them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';

const L = tl.layers;
const policy = {
  module: 'keras',
  class_name: 'DTypePolicy',
  config: { name: 'float32' },
  registered_name: null,
};
const input = (shape, name = 'in') => ({
  module: 'keras.layers',
  class_name: 'InputLayer',
  config: {
    batch_shape: [null, ...shape],
    dtype: 'float32',
    sparse: false,
    ragged: false,
    optional: false,
    name,
  },
  registered_name: null,
});
const layer = (class_name, config) => ({
  module: 'keras.layers',
  class_name,
  config: { name: class_name.toLowerCase(), trainable: true, dtype: policy, ...config },
  registered_name: null,
});
const row = (...layers) => ({
  module: 'keras',
  class_name: 'Sequential',
  config: { name: 'm', trainable: true, dtype: policy, layers },
});
const topology = (model_config) => ({
  keras_version: '3.8.0',
  backend: 'tensorflow',
  model_config,
});
const load = (config, weights = {}) =>
  tl.loadLayersModel(
    tl.io.fromMemory({
      modelTopology: topology(config),
      weightSpecs: Object.entries(weights).map(([name, { shape }]) => ({
        name,
        shape,
        dtype: 'float32',
      })),
      weightData: Float32Array.from(
        Object.values(weights).flatMap(({ shape }, i) =>
          Array.from(
            { length: shape.reduce((a, b) => a * b) },
            (_, at) => 0.5 + 0.4 * Math.sin(at + 5 * i),
          ),
        ),
      ).buffer,
    }),
  );
const numbers = (...shape) =>
  tl.tensor(
    Float32Array.from({ length: shape.reduce((a, b) => a * b) }, (_, at) => Math.cos(at)),
    shape,
  );

/** Loads a model and compares it with one made by hand that has the same weights. */
async function same(config, byHand, shapes, x) {
  const loaded = await load(
    config,
    Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, { shape }])),
  );
  const made = byHand();
  made.setWeights(loaded.getWeights());
  const [found, right] = [await loaded.predict(x).data(), await made.predict(x).data()];
  assert.deepEqual([...found], [...right]);
  assert.ok(right.some((value) => value !== 0));
}

test('GRU with the options of Keras 3', () =>
  same(
    row(
      input([3, 2]),
      layer('GRU', {
        units: 2,
        activation: {
          module: 'builtins',
          class_name: 'function',
          config: 'tanh',
          registered_name: 'function',
        },
        recurrent_activation: 'sigmoid',
        kernel_initializer: {
          module: 'keras.initializers',
          class_name: 'GlorotUniform',
          config: { seed: null },
          registered_name: null,
        },
        kernel_regularizer: null,
        return_sequences: false,
        return_state: false,
        go_backwards: false,
        stateful: false,
        unroll: false,
        zero_output_for_mask: false,
        use_cudnn: 'auto',
        reset_after: true,
        seed: null,
        time_major: false,
      }),
    ),
    () =>
      tl.sequential({
        layers: [
          L.gru({ units: 2, recurrentActivation: 'sigmoid', resetAfter: true, inputShape: [3, 2] }),
        ],
      }),
    {
      'gru/gru_cell/kernel': [2, 6],
      'gru/gru_cell/recurrent_kernel': [2, 6],
      'gru/gru_cell/bias': [2, 6],
    },
    numbers(2, 3, 2),
  ));

test('layers that only training notices, Identity, pools and slopes', async (context) => {
  context.mock.method(console, 'warn', () => {});
  await same(
    row(
      input([4, 4, 2]),
      layer('RandomFlip', { mode: 'horizontal', seed: null, data_format: 'channels_last' }),
      layer('Rescaling', { scale: 0.5, offset: 1 }),
      layer('SpatialDropout2D', {
        rate: 0.5,
        seed: null,
        noise_shape: null,
        data_format: 'channels_last',
      }),
      layer('Identity', {}),
      layer('BatchNormalization', {
        axis: -1,
        momentum: 0.9,
        epsilon: 0.001,
        center: true,
        scale: true,
        synchronized: false,
        renorm: false,
      }),
      layer('LeakyReLU', { negative_slope: 0.25 }),
      layer('GlobalAveragePooling2D', { data_format: 'channels_last', keepdims: false }),
      layer('ActivityRegularization', { l1: 0.1, l2: 0 }),
    ),
    () =>
      tl.sequential({
        layers: [
          L.rescaling({ scale: 0.5, offset: 1, inputShape: [4, 4, 2] }),
          L.batchNormalization({ momentum: 0.9, epsilon: 0.001 }),
          L.leakyReLU({ alpha: 0.25 }),
          L.globalAveragePooling2d(),
        ],
      }),
    {
      'batchnormalization/gamma': [2],
      'batchnormalization/beta': [2],
      'batchnormalization/moving_mean': [2],
      'batchnormalization/moving_variance': [2],
    },
    numbers(2, 4, 4, 2),
  );
  assert.match(
    String(console.warn.mock.calls[0].arguments[0]),
    /training will go without layer "randomflip" \(RandomFlip\)/,
  );
});

test('named inputs, arguments by name, and calls as Keras 2 and 3 write them', async () => {
  const attention = {
    num_heads: 2,
    key_dim: 2,
    value_dim: 2,
    use_bias: true,
    output_shape: null,
    attention_axes: null,
    flash_attention: null,
    seed: null,
    dropout: 0,
  };
  const history = (name) => ({
    class_name: '__keras_tensor__',
    config: { shape: [null, 3, 4], dtype: 'float32', keras_history: [name, 0, 0] },
  });
  const shapes = {};
  for (const part of ['query', 'key', 'value'])
    Object.assign(shapes, { [`m/a/${part}/kernel`]: [4, 2, 2], [`m/a/${part}/bias`]: [2, 2] });
  Object.assign(shapes, {
    'm/a/attention_output/kernel': [2, 2, 4],
    'm/a/attention_output/bias': [4],
  });
  const calls = {
    'Keras 3, by name': {
      args: [history('q')],
      kwargs: {
        value: history('v'),
        key: null,
        attention_mask: null,
        training: false,
        use_causal_mask: false,
      },
    },
    'Keras 3, in order': { args: [history('q'), history('v')], kwargs: {} },
    'Keras 2': [['q', 0, 0, { value: ['v', 0, 0] }]],
  };
  const results = [];
  for (const [style, node] of Object.entries(calls)) {
    const weights = Object.fromEntries(
      Object.entries(shapes).map(([name, shape]) => [name, { shape }]),
    );
    const model = await load(
      {
        class_name: 'Functional',
        config: {
          name: 'm',
          layers: [
            { ...input([3, 4], 'q'), name: 'q', inbound_nodes: [] },
            { ...input([3, 4], 'v'), name: 'v', inbound_nodes: [] },
            {
              ...layer('MultiHeadAttention', { ...attention, name: 'a' }),
              name: 'a',
              inbound_nodes: [node],
            },
          ],
          input_layers:
            style === 'Keras 2'
              ? [
                  ['q', 0, 0],
                  ['v', 0, 0],
                ]
              : { q: ['q', 0, 0], v: ['v', 0, 0] },
          output_layers: style === 'Keras 2' ? [['a', 0, 0]] : ['a', 0, 0],
        },
      },
      weights,
    );
    results.push([...(await model.predict([numbers(2, 3, 4), numbers(2, 3, 4)]).data())]);
  }
  assert.deepEqual(results[1], results[0]);
  assert.deepEqual(results[2], results[0]);
});

test('a Sequential without an input shape has that of its first call', async () => {
  const { class_name, config } = row(layer('Dense', { units: 2 }));
  const model = await load(
    { class_name, config: { ...config, build_input_shape: [null, 3] } },
    { 'dense/kernel': { shape: [3, 2] }, 'dense/bias': { shape: [2] } },
  );
  assert.deepEqual(model.inputs[0].shape, [null, 3]);
});

test('an unknown option is an error that names layer and option', async () => {
  await assert.rejects(
    load(row(input([4, 4, 2]), layer('GlobalAveragePooling2D', { keepdims: true }))),
    /layer "globalaveragepooling2d" \(GlobalAveragePooling2D\) has the option keepdims = true, which is not supported/,
  );
  await assert.rejects(
    load(row(input([4]), layer('GroupNormalization', { groups: 2 }))),
    /layer "groupnormalization" \(GroupNormalization\) is of an unknown class/,
  );
  const masked = {
    args: [{ class_name: '__keras_tensor__', config: { keras_history: ['in', 0, 0] } }],
    kwargs: { mask: { class_name: '__keras_tensor__', config: { keras_history: ['in', 0, 0] } } },
  };
  const graph = (node) => ({
    class_name: 'Functional',
    config: {
      name: 'f',
      layers: [
        { ...input([4]), name: 'in', inbound_nodes: [] },
        { ...layer('Dense', { name: 'd', units: 2 }), name: 'd', inbound_nodes: [node] },
      ],
      input_layers: [['in', 0, 0]],
      output_layers: [['d', 0, 0]],
    },
  });
  await assert.rejects(load(graph(masked)), /a call with mask = .* is not supported/);
  await assert.rejects(load(graph({ args: [3], kwargs: {} })), /the argument 3 is no tensor/);
});
