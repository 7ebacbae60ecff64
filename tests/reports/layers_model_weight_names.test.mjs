// tfjs#3460, #3458, #3314, #2989, #3102 (LSTM, GRU and Bidirectional of TensorFlow 2.2 and later), #8321, #8328, #8358, #8178 (Keras 3):
// models of layers in the styles of all converters compute what TensorFlow.js computes of the style it reads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as reference from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import * as tf from 'tensorlathe/tfjs';
import { keras3, weightStyles } from './keras_styles.mjs';

const L = tl.layers;
const sequential = (...layers) => tl.sequential({ name: 'm', layers });
const steps = { inputShape: [4, 3] };
const image = { inputShape: [5, 5, 2] };
const models = {
  dense: () =>
    sequential(
      L.dense({ name: 'd', units: 4, inputShape: [3], activation: 'relu' }),
      L.dense({ name: 'e', units: 4 }),
    ),
  normalization: () =>
    sequential(
      L.dense({ name: 'd', units: 4, inputShape: [3] }),
      L.batchNormalization({ name: 'bn' }),
      L.layerNormalization({ name: 'ln' }),
    ),
  convolutions: () =>
    sequential(
      L.conv2d({ name: 'c', filters: 2, kernelSize: 2, ...image }),
      L.depthwiseConv2d({ name: 'dw', kernelSize: 2 }),
      L.separableConv2d({ name: 'sc', filters: 2, kernelSize: 2 }),
      L.prelu({ name: 'p' }),
      L.flatten({ name: 'f' }),
    ),
  LSTM: () => sequential(L.lstm({ name: 'l', units: 2, ...steps })),
  GRU: () => sequential(L.gru({ name: 'g', units: 2, ...steps })),
  SimpleRNN: () => sequential(L.simpleRNN({ name: 's', units: 2, ...steps })),
  'several recurrent layers': () =>
    sequential(
      L.lstm({ name: 'l', units: 3, returnSequences: true, ...steps }),
      L.gru({ name: 'g', units: 3, returnSequences: true }),
      L.simpleRNN({ name: 's', units: 3 }),
    ),
  'Bidirectional LSTM': () =>
    sequential(L.bidirectional({ name: 'b', layer: L.lstm({ name: 'il', units: 2 }), ...steps })),
  'Bidirectional GRU, summed': () =>
    sequential(
      L.bidirectional({
        name: 'b',
        layer: L.gru({ name: 'ig', units: 3 }),
        mergeMode: 'sum',
        ...steps,
      }),
    ),
  'RNN of a cell': () =>
    sequential(L.rnn({ name: 'r', cell: L.lstmCell({ name: 'cc', units: 3 }), ...steps })),
  'stacked cells of one shape': () =>
    sequential(
      L.rnn({
        name: 'r',
        cell: [3, 3, 3].map((units, at) => L.lstmCell({ name: `c${at}`, units })),
        ...steps,
      }),
    ),
  TimeDistributed: () =>
    sequential(
      L.timeDistributed({ name: 't', layer: L.dense({ name: 'td', units: 2 }), ...steps }),
      L.flatten({ name: 'f' }),
    ),
  nested: () =>
    sequential(
      tl.sequential({
        name: 'in',
        layers: [
          L.dense({ name: 'x', units: 3, inputShape: [3] }),
          L.dense({ name: 'y', units: 3 }),
        ],
      }),
      L.dense({ name: 'z', units: 3 }),
    ),
  graph: () => {
    const a = tl.input({ shape: [3], name: 'a' });
    const b = tl.input({ shape: [3], name: 'b' });
    const shared = L.dense({ name: 'shared', units: 3 });
    const sum = L.add({ name: 'sum' }).apply([shared.apply(a), shared.apply(b)]);
    return tl.model({
      name: 'm',
      inputs: [a, b],
      outputs: L.concatenate({ name: 'cat' }).apply([sum, a]),
    });
  },
};

/** Weights that no two agree in. */
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
}

const dataOf = async (outputs) => [...(await [outputs].flat()[0].data())];
const inputsOf = (model, tensor) => {
  const tensors = model.inputs.map(({ shape }, at) => {
    const sizes = [2, ...shape.slice(1)];
    return tensor(
      Float32Array.from({ length: sizes.reduce((a, b) => a * b) }, (_, i) => Math.cos(i + at)),
      sizes,
    );
  });
  return tensors.length === 1 ? tensors[0] : tensors;
};

for (const [name, make] of Object.entries(models)) {
  const model = make();
  fill(model);
  const plain = await tl.io.toArtifacts(model);
  const theirs = await reference.loadLayersModel(reference.io.fromMemory(plain));
  const right = await dataOf(theirs.predict(inputsOf(model, reference.tensor)));
  for (const [style, rename] of Object.entries(weightStyles)) {
    for (const [version, topology] of [
      ['Keras 2', plain.modelTopology],
      [
        'Keras 3',
        {
          keras_version: '3.4.1',
          backend: 'tensorflow',
          model_config: keras3(plain.modelTopology),
        },
      ],
    ]) {
      test(`${name}: weights of ${style}, topology of ${version}`, async () => {
        const artifacts = {
          ...plain,
          modelTopology: topology,
          weightSpecs: plain.weightSpecs.map((spec) => ({ ...spec, name: rename(spec.name) })),
        };
        for (const api of [tl, tf]) {
          const loaded = await api.loadLayersModel(api.io.fromMemory(artifacts));
          const found = await dataOf(loaded.predict(inputsOf(model, tl.tensor)));
          assert.equal(found.length, right.length);
          found.forEach((value, at) =>
            assert.ok(Math.abs(value - right[at]) < 1e-5, `${at}: ${value}, not ${right[at]}`),
          );
        }
      });
    }
  }
}

test('rejects ambiguous names instead of guessing', async () => {
  const { layers } = tl;
  const pair = tl.sequential({
    name: 'm',
    layers: [
      layers.dense({ name: 'x', units: 3, inputShape: [3] }),
      layers.dense({ name: 'y', units: 3 }),
    ],
  });
  const plain = await tl.io.toArtifacts(pair);
  const load = (rename, api) =>
    api.loadLayersModel(
      api.io.fromMemory({
        ...plain,
        weightSpecs: plain.weightSpecs.map((spec) => ({ ...spec, name: rename(spec.name) })),
      }),
    );
  const crossed = (name) =>
    name.startsWith('x') ? name.replace('/', '/y/') : name.replace('/', '/x/');
  for (const api of [tl, tf]) {
    await assert.rejects(
      load(crossed, api),
      /names leave open which tensor is which weight: x\/kernel \(x\/y\/kernel or y\/x\/kernel\)/,
    );
    await assert.rejects(
      load((name) => name.replace(/^./, 'z'), api),
      /occurs twice/,
    );
    await assert.rejects(
      load((name) => name.replace(/^x/, 'u').replace(/^y/, 'v'), api),
      /the model needs x\/kernel.* unused: u\/kernel/,
    );
  }
});
