// Keras files (.h5): topology and weights of real models, errors, damaged files.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import { File as File5 } from 'jsfive';
import * as tl from 'tensorlathe';
import { fromKeras } from 'tensorlathe/keras';
import { largestDifference, rejects } from '../../lib.mjs';
import { loadOrSkip, modelsAbsent, modelsFolder } from '../../models.mjs';
import { mutations } from '../../mutate.mjs';

const pathOf = (name) => join(modelsFolder, 'keras/mlperf-tiny', name);
const names = ['pretrainedResnet.h5', 'vww_96.h5', 'str_ww_ref_model.h5', 'model_ToyCar.hdf5'];

for (const name of names) {
  test(`${name}: topology and weights are read`, { skip: modelsAbsent }, async () => {
    const artifacts = await fromKeras(`file://${pathOf(name)}`).load();
    assert.ok(artifacts.modelTopology.config.layers.length > 5);
    const { weightData } = artifacts;
    const weightSpecs = artifacts.weightSpecs.filter(({ group }) => group === undefined);
    const layers = new Set(artifacts.modelTopology.config.layers.map(({ config }) => config.name));
    assert.ok(weightSpecs.length > 10);
    for (const spec of weightSpecs) assert.ok(layers.has(spec.name.split('/')[0]), spec.name);
    const count = weightSpecs.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0);
    assert.ok(weightData.byteLength >= 4 * count);
    const values = new Float32Array(weightData, 0, count);
    assert.ok(values.every(Number.isFinite));
    assert.ok(values.some((value) => value !== 0));
  });
}

for (const name of names) {
  const what = `${name}: predicts what TensorFlow.js predicts, also after saving`;
  test(what, { skip: modelsAbsent }, async (context) => {
    const handler = fromKeras(`file://${pathOf(name)}`);
    const model = await loadOrSkip(context, handler);
    if (model === undefined) return;
    const shape = [3, ...model.inputs[0].shape.slice(1)];
    const count = shape.reduce((a, b) => a * b);
    const x = Float32Array.from({ length: count }, (_, at) => Math.sin(0.37 * at) + 0.2);
    const theirInput = tf.tensor(x, shape);
    const [first, ...rest] = await Promise.all([
      model.predict(tl.tensor(x, shape)).data(),
      tl
        .loadLayersModel(tl.io.fromMemory(await tl.io.toArtifacts(model)))
        .then((copy) => copy.predict(tl.tensor(x, shape)).data()),
      tf
        .loadLayersModel(forTheirs(await handler.load()))
        .then((each) => each.predict(theirInput).data()),
      tf
        .loadLayersModel(tf.io.fromMemory(await tl.io.toArtifacts(model)))
        .then((each) => each.predict(theirInput).data()),
    ]);
    for (const each of rest) assert.ok(largestDifference(first, each) < 1e-4);
  });
}

/** Tensors of an HDF5 file by their Keras names. */
function gatheredIn(name) {
  const file = new File5(Uint8Array.from(readFileSync(pathOf(name))).buffer, name);
  const group = file.get('optimizer_weights');
  const paths = group.attrs.weight_names.map((each) => each.replace(/\0+$/, ''));
  return new Map(paths.map((path) => [path.replace(/:0$/, ''), [...group.get(path).value]]));
}

for (const [name, pathOfSlot] of [
  ['model_ToyCar.hdf5', (weight, slot) => `Adam/${weight}/${slot}`],
  ['vww_96.h5', (weight, slot) => `Adam/${weight}/${slot}`],
  ['str_ww_ref_model.h5', (weight, slot) => `Adam/${slot}/${weight}`],
]) {
  test(`${name}: the optimizer state is read`, { skip: modelsAbsent }, async (context) => {
    const gathered = gatheredIn(name);
    const model = await loadOrSkip(context, fromKeras(`file://${pathOf(name)}`));
    if (model === undefined) return;
    const { weightSpecs, weightData } = await tl.io.toArtifacts(model, {
      includeOptimizer: true,
    });
    let at = 0;
    const arrays = weightSpecs.map(({ name, shape, dtype, group }) => {
      const bytes = weightData.slice(at, (at += 4 * shape.reduce((a, b) => a * b, 1)));
      const data = dtype === 'int32' ? new Int32Array(bytes) : new Float32Array(bytes);
      return { name, group, data };
    });
    const [steps, ...slots] = arrays.filter(({ group }) => group === 'optimizer');
    assert.equal(
      steps.data[0],
      Number((gathered.get('Adam/iter') ?? gathered.get('iteration'))[0]),
    );
    assert.equal(slots.length, gathered.size - 1);
    for (const { name: slotName, data } of slots) {
      const [weight, slot] = slotName.match(/^(.*)\/(\w+)$/).slice(1);
      assert.deepEqual([...data], gathered.get(pathOfSlot(weight, slot)), slotName);
    }
  });
}

/** Changes artifacts for TensorFlow.js, which requires a single number for `axis`, and has no class L2 and no Keras training. */
function forTheirs(artifacts) {
  for (const { config } of artifacts.modelTopology.config.layers) {
    if (Array.isArray(config.axis)) [config.axis] = config.axis;
    for (const key of Object.keys(config)) if (key.endsWith('_regularizer')) config[key] = null;
  }
  return tf.io.fromMemory({ ...artifacts, trainingConfig: undefined });
}

test('a Keras file may be passed as a Blob or an ArrayBuffer', { skip: modelsAbsent }, async () => {
  const bytes = readFileSync(pathOf('pretrainedResnet.h5'));
  const expected = await fromKeras(bytes).load();
  for (const source of [new Blob([bytes]), Uint8Array.from(bytes).buffer]) {
    assert.deepEqual(await fromKeras(source).load(), expected);
  }
});

test('errors name the file', { skip: modelsAbsent }, async () => {
  await rejects(fromKeras('file:///none.h5').load(), /cannot read file:\/\/\/none\.h5: ENOENT/);
  await rejects(
    fromKeras(new File([new Uint8Array(99)], 'a.h5')).load(),
    /^a\.h5: no Keras file that can be read: /,
  );
});

test('damaged files yield a model or a LatheError', { skip: modelsAbsent }, async () => {
  const bytes = readFileSync(pathOf('pretrainedResnet.h5'));
  // The HDF5 metadata are in the first 16 KiB.
  const head = bytes.subarray(0, 1 << 14);
  let rejected = 0;
  for (const mutated of mutations(head, 60)) {
    const file = Buffer.concat([mutated, bytes.subarray(1 << 14)]);
    try {
      await tl.loadLayersModel(fromKeras(file));
    } catch (error) {
      assert.equal(error.name, 'LatheError', error.stack);
      ++rejected;
    }
  }
  assert.ok(rejected > 5, String(rejected));
});

test('loadModel reports the progress of Keras files, too', async () => {
  const { routers } = await import('../../../../js/dist/io/routers.js');
  const { keras } = routers;
  const model = tl.sequential({ layers: [tl.layers.dense({ units: 1, inputShape: [2] })] });
  let artifacts;
  routers.keras = () => ({ load: async () => artifacts });
  try {
    await model.save({ save: (saved) => ((artifacts = saved), saved) });
    const seen = [];
    const copy = await tl.loadModel('a.keras', { onProgress: (...args) => seen.push(args) });
    assert.deepEqual(seen, [[1, 'a.keras']]);
    assert.equal(copy.countParams(), 3);
  } finally {
    routers.keras = keras;
  }
});
