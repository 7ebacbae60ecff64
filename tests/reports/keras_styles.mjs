// Models in the styles of the converters of TensorFlow 1.15 to 2.19 and of Keras 2 and 3: names of weights, and topologies.

/** Weight names: of the recurrent layers here the last part but one is the layer, or a direction or cell of it. */
const cells = {
  l: 'lstm_cell',
  g: 'gru_cell_3',
  s: 'simple_rnn_cell',
  il: 'lstm_cell_1',
  ig: 'gru_cell',
};
const withCell = (name) => {
  const parts = name.split('/');
  const layer = parts.at(-2).replace(/^(forward|backward)_/, '');
  const cell = cells[layer];
  if (cell) parts.splice(-1, 0, cell);
  return parts.join('/');
};
const stacked = (name) =>
  name.replace(/RNNCell_0/, 'lstm_cell').replace(/RNNCell_(\d)/, 'lstm_cell_$1');

/** The name of a weight in the file, for its name in TensorFlow.js. */
export const weightStyles = {
  'TensorFlow 1.15': (name) => name,
  'Keras 2, with the output': (name) => `${name}:0`,
  'TensorFlow 2.2 and later': (name) => stacked(withCell(name)),
  'TensorFlow 2.9, a name scope': (name) => `scope/${stacked(withCell(name))}`,
  'Keras 3': (name) => `sequential/${stacked(withCell(name))}`,
  'a second load in one session': (name) => stacked(withCell(name)).replace('/', '_1/'),
};

const initializer = (value) =>
  value && typeof value === 'object'
    ? { module: 'keras.initializers', registered_name: null, ...value }
    : value;

/** Options as Keras 3 writes them, of a layer and of those in it. */
function configOf(config) {
  const made = {
    trainable: true,
    dtype: {
      module: 'keras',
      class_name: 'DTypePolicy',
      config: { name: 'float32' },
      registered_name: null,
    },
  };
  for (const [key, value] of Object.entries(config)) {
    if (key === 'dtype') continue;
    if (key === 'batch_input_shape') continue;
    if (/_initializer$/.test(key)) made[key] = initializer(value);
    else if (key === 'layer' || key === 'cell') made[key] = layerOf(value);
    else if (key === 'cells') made[key] = value.map(layerOf);
    else made[key] = value;
  }
  return made;
}

function layerOf(layer) {
  if (/^(Sequential|Functional|Model)$/.test(layer.class_name)) return keras3(layer);
  return {
    module: 'keras.layers',
    class_name: layer.class_name,
    config: configOf(layer.config),
    registered_name: null,
    build_config: { input_shape: [null, 3] },
  };
}

/** A topology of Keras 2 as Keras 3 writes it. */
export function keras3({ class_name: kind, config }) {
  const head = (name) => ({ module: 'keras', class_name: name, registered_name: name });
  if (kind === 'Sequential') {
    const shape = config.layers[0].config.batch_input_shape ?? [
      null,
      ...(config.layers[0].config.input_shape ?? []),
    ];
    const input = {
      module: 'keras.layers',
      class_name: 'InputLayer',
      config: {
        batch_shape: shape,
        dtype: 'float32',
        sparse: false,
        ragged: false,
        name: `input_${config.name}`,
      },
      registered_name: null,
    };
    const layers = [input, ...config.layers.map(layerOf)];
    return { ...head(kind), config: { name: config.name, trainable: true, layers } };
  }
  const tensor = ([name, call, output]) => ({
    class_name: '__keras_tensor__',
    config: { shape: [null, null], dtype: 'float32', keras_history: [name, call, output] },
  });
  const layers = config.layers.map((layer) => {
    const isInput = layer.class_name === 'InputLayer';
    const made = isInput
      ? {
          module: 'keras.layers',
          class_name: 'InputLayer',
          config: {
            batch_shape: layer.config.batch_input_shape,
            dtype: 'float32',
            sparse: false,
            name: layer.config.name,
          },
          registered_name: null,
        }
      : layerOf(layer);
    const nodes = layer.inbound_nodes.map((node) => {
      const tensors = node.map(tensor);
      return { args: tensors.length === 1 ? tensors : [tensors], kwargs: {} };
    });
    return { ...made, name: layer.name, inbound_nodes: nodes };
  });
  return { ...head('Functional'), config: { ...config, trainable: true, layers } };
}
