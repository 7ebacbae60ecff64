// Graphs of layers in the topology of Keras: shared layers, nested models, several inputs and outputs, to the core and back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import { readTopology, writeTopology } from '../../../../js/dist/io/topology.js';
import { CoreModel } from '../../../../js/dist/core/handles.js';
import 'tensorlathe';
import { throws } from '../../lib.mjs';
import { jsonMutations, mutations } from '../../mutate.mjs';

/** A model of TensorFlow.js: a shared layer, a nested model called twice, two outputs. */
function theirGraph() {
  const inner = tf.sequential({
    name: 'inner',
    layers: [tf.layers.dense({ units: 3, inputShape: [4], activation: 'relu', name: 'deep' })],
  });
  const [a, b] = ['a', 'b'].map((name) => tf.input({ shape: [4], name }));
  const shared = tf.layers.dense({ units: 4, name: 'shared' });
  const [u, v] = [a, b].map((each) => inner.apply(shared.apply(each)));
  const both = tf.layers.concatenate({ name: 'both' }).apply([u, v]);
  return tf.model({ inputs: [a, b], outputs: [both, v], name: 'graph' });
}

async function savedBy(model) {
  let artifacts;
  await model.save({ save: async (saved) => ((artifacts = saved), {}) });
  return artifacts;
}

const { modelTopology } = await savedBy(theirGraph());
const read = (topology) => readTopology(topology, 'model.json').network;
const make = (network) => new CoreModel({ seed: 1, ...network });

test('a graph of TensorFlow.js is one of the core', () => {
  const network = read(modelTopology);
  assert.deepEqual(network.inputs, [
    { name: 'a', shape: [4] },
    { name: 'b', shape: [4] },
  ]);
  const calls = Object.fromEntries(
    network.layers.map(({ config, inputs }) => [config.name, inputs]),
  );
  assert.deepEqual(calls, {
    shared: [[['a', 0, 0]], [['b', 0, 0]]],
    inner: [[['shared', 0, 0]], [['shared', 1, 0]]],
    both: [
      [
        ['inner', 0, 0],
        ['inner', 1, 0],
      ],
    ],
  });
  assert.deepEqual(network.outputs, [
    ['both', 0, 0],
    ['inner', 1, 0],
  ]);
  const core = make(network);
  assert.equal(core.summary.totalParams, 4 * 4 + 4 + 4 * 3 + 3);
  core.free();
});

test('a graph is saved as TensorFlow.js loads it', async () => {
  const network = read(modelTopology);
  const core = make(network);
  const rewritten = writeTopology(network, core.summary);
  assert.deepEqual(read(rewritten), network);
  const load = async () => ({
    modelTopology: rewritten,
    weightSpecs: [],
    weightData: new ArrayBuffer(),
  });
  const model = await tf.loadLayersModel({ load }, { strict: false });
  const theirs = theirGraph();
  const names = (each) => each.weights.map(({ originalName, shape }) => [originalName, ...shape]);
  assert.deepEqual(names(model), names(theirs));
  model.setWeights(theirs.getWeights());
  const inputs = [tf.tensor2d([[1, 2, 3, 4]]), tf.tensor2d([[-1, 0.5, 2, 1]])];
  const values = (each) => each.predict(inputs).map((output) => [...output.dataSync()]);
  assert.deepEqual(values(model), values(theirs));
  core.free();
});

test('a frozen nested model is saved as frozen layers', () => {
  const network = read(modelTopology);
  const inner = network.layers.find(({ config }) => config.name === 'inner');
  inner.config.trainable = false;
  const core = make(network);
  const { layers } = writeTopology(network, core.summary).config;
  const frozen = layers.flatMap(({ config }) => config.layers ?? []);
  assert.deepEqual(
    frozen.map(({ config }) => [config.name, config.trainable]),
    [['deep', false]],
  );
  core.free();
});

test('errors of broken graphs', () => {
  const change = (edit) => {
    const copy = structuredClone(modelTopology);
    edit(copy.config, copy.config.layers);
    return () => make(read(copy));
  };
  throws(
    change((_, all) => (all[2].inbound_nodes = 3)),
    /inbound_nodes of layer "shared" must be/,
  );
  throws(
    change((_, all) => (all[2].inbound_nodes = [[['a', -1, 0]]])),
    /must be \[name, call, output\]/,
  );
  throws(
    change((_, all) => (all[2].inbound_nodes = [[['z', 0, 0]]])),
    /call 0 of "z" does not exist/,
  );
  throws(
    change((_, all) => (all[2].inbound_nodes[0][0][3] = { mask: 'm' })),
    /a call with mask = "m"/,
  );
  throws(
    change((config) => delete config.output_layers),
    /output_layers must be an array/,
  );
  throws(
    change((config) => (config.input_layers = [['shared', 0, 0]])),
    /the input "shared" has no shape/,
  );
  throws(
    change((_, all) => (all[0].config.batch_input_shape = [null, 'x'])),
    /input "a": sizes must be numbers or null, but the shape is \[null,"x"\]/,
  );
});

test('odd values anywhere in a graph yield a model or a LatheError', () => {
  let [made, rejected] = [0, 0];
  for (const topology of jsonMutations(modelTopology, 1500)) {
    try {
      make(read(topology)).free();
      ++made;
    } catch (error) {
      assert.equal(error.name, 'LatheError', error.stack);
      ++rejected;
    }
  }
  assert.ok(made > 100 && rejected > 500, `${made} made, ${rejected} rejected`);
});

test('damaged graphs yield a model or a LatheError', () => {
  const bytes = Buffer.from(JSON.stringify(modelTopology));
  let [made, rejected] = [0, 0];
  for (const mutated of mutations(bytes, 1500)) {
    let topology;
    try {
      topology = JSON.parse(Buffer.from(mutated).toString());
    } catch {
      continue;
    }
    try {
      make(read(topology)).free();
      ++made;
    } catch (error) {
      assert.equal(error.name, 'LatheError', error.stack);
      ++rejected;
    }
  }
  assert.ok(made > 10 && rejected > 50, `${made} made, ${rejected} rejected`);
});

test('numbers may be those of NumPy, as Keras once wrote them', () => {
  const layer = {
    class_name: 'ReLU',
    config: {
      name: 'relu',
      max_value: { type: 'ndarray', value: 6 },
      batch_input_shape: [null, 2],
    },
  };
  const topology = { class_name: 'Sequential', config: { name: 'row', layers: [layer] } };
  assert.equal(read(topology).layers[0].config.maxValue, 6);
});
