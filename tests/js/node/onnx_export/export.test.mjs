// Models and functions exported to ONNX: ONNX Runtime Web computes the same results from the files.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as ort from 'onnxruntime-web';
import * as tl from 'tensorlathe';
import { inFolder, run, skip as noCommand } from '../../command.mjs';
import { missingData } from '../../../../tools/data.mjs';
import { build, drawLayers } from '../../layers_random.mjs';
import { modelsFolder } from '../../models.mjs';

ort.env.wasm.numThreads = 1;
const options = { executionProviders: ['wasm'], logSeverityLevel: 4 };

const random = (shape, spread = 1) => {
  const size = shape.reduce((product, each) => product * each, 1);
  return tl.tensor(
    Float32Array.from({ length: size }, () => spread * (2 * Math.random() - 1)),
    shape,
  );
};

/** Outputs of a session for Tensorlathe's tensors, by name. */
async function outputsOf(session, inputs) {
  const feeds = Object.entries(inputs).map(([name, x]) => [
    name,
    new ort.Tensor(x.dtype, x.dataSync(), x.shape),
  ]);
  return session.run(Object.fromEntries(feeds));
}

/** Asserts equality up to rounding. */
function agree(actual, expected, what, within = 1e-5) {
  assert.deepEqual([...actual.dims], [...expected.shape], what);
  const values = expected.dataSync();
  const scale = Math.max(1, ...values.map(Math.abs).filter(Number.isFinite));
  values.forEach((value, at) => {
    const near = Math.abs(actual.data[at] - value) <= within * scale;
    assert.ok(near || !Number.isFinite(value), `${what}[${at}]: ${actual.data[at]} for ${value}`);
  });
}

/** Asserts that a model predicts the same from its file. */
async function checkModel(model, calls, what, within) {
  const session = await ort.InferenceSession.create(await tl.toOnnx(model), options);
  try {
    assert.equal(session.inputNames.length, model.inputs.length, what);
    for (const inputs of calls) {
      const results = [model.predict(inputs.length === 1 ? inputs[0] : inputs)].flat();
      const named = session.inputNames.map((name, at) => [name, inputs[at]]);
      const outputs = await outputsOf(session, Object.fromEntries(named));
      session.outputNames.forEach((name, at) => {
        agree(outputs[name], results[at], `${what}: ${name}`, within);
      });
    }
  } finally {
    await session.release();
  }
}

for (let first = 0; first < 120; first += 40) {
  test(`random models of layers, seeds ${first} to ${first + 39}`, async () => {
    for (let seed = first; seed < first + 40; ++seed) {
      const drawn = drawLayers(seed);
      if (drawn.rows !== undefined) continue;
      const model = build(tl, drawn);
      model.setWeights(
        model.weights.map(({ name, shape }) => {
          const isPositive = /variance|gamma/.test(name);
          return isPositive ? tl.ones(shape) : random(shape, 0.5);
        }),
      );
      const calls = [1, 3].map((rows) => {
        const x = random([rows, ...drawn.shape]);
        if (drawn.tokens === 0) return [x];
        const tokens = x.dataSync().map((each) => Math.floor(((each + 1) / 2) * drawn.tokens));
        return [tl.tensor(tokens, x.shape)];
      });
      const layers = drawn.chosen.map(([name, args]) => `${name} ${JSON.stringify(args)}`);
      await checkModel(model, calls, `seed ${seed}: ${layers.join(', ')}`);
      model.dispose();
    }
  });
}

test('a model of several inputs and outputs retains their names', async () => {
  const image = tl.input({ shape: [9, 7, 3], name: 'image' });
  const facts = tl.input({ shape: [5], name: 'facts' });
  const seen = tl.layers
    .globalAveragePooling2d()
    .apply(tl.layers.conv2d({ filters: 6, kernelSize: 3, activation: 'relu' }).apply(image));
  const both = tl.layers.concatenate().apply([seen, facts]);
  const outputs = [
    tl.layers.dense({ units: 4, activation: 'softmax', name: 'class' }).apply(both),
    tl.layers.dense({ units: 1, name: 'score' }).apply(both),
  ];
  const model = tl.model({ inputs: [image, facts], outputs });
  const calls = [1, 5].map((rows) => [random([rows, 9, 7, 3]), random([rows, 5])]);
  await checkModel(model, calls, 'two inputs');
  const session = await ort.InferenceSession.create(await tl.toOnnx(model), options);
  assert.deepEqual(session.outputNames, ['class', 'score']);
  const shapes = session.inputMetadata.map(({ shape }) => shape);
  assert.deepEqual(shapes, [
    ['batch', 9, 7, 3],
    ['batch', 5],
  ]);
  await session.release();
});

test('null axes are named in the file', async () => {
  const model = tl.sequential();
  model.add(tl.layers.conv1d({ filters: 4, kernelSize: 3, inputShape: [null, 2] }));
  model.add(tl.layers.lstm({ units: 3, returnSequences: true }));
  model.add(tl.layers.globalMaxPooling1d());
  const steps = await tl.toOnnx(model, { sizes: [7] });
  const fixed = await ort.InferenceSession.create(steps, options);
  const [{ name, shape }] = fixed.inputMetadata;
  assert.deepEqual(shape, ['batch', 7, 2]);
  const x = random([3, 7, 2]);
  const result = await outputsOf(fixed, { [name]: x });
  agree(result[fixed.outputNames[0]], model.predict(x), 'seven steps');
  await fixed.release();
});

test('any image size', async () => {
  const model = tl.sequential();
  const conv = { filters: 4, kernelSize: 3, padding: 'same', activation: 'relu' };
  model.add(tl.layers.conv2d({ ...conv, inputShape: [null, null, 3] }));
  model.add(tl.layers.maxPooling2d({ poolSize: 2, strides: 1 }));
  model.add(tl.layers.conv2d({ ...conv, filters: 2 }));
  await checkModel(model, [[random([1, 8, 5, 3])], [random([3, 17, 12, 3])]], 'sizes');
});

test('a stateful model with a fixed batch size', async () => {
  const model = tl.sequential();
  model.add(tl.layers.gru({ units: 3, stateful: true, batchInputShape: [2, 4, 5] }));
  const session = await ort.InferenceSession.create(await tl.toOnnx(model), options);
  const stateName = session.inputNames.find((name) => name.includes('/'));
  const [x, y] = [random([2, 4, 5]), random([2, 4, 5])];
  const [input, output] = [session.inputNames[0], session.outputNames[0]];
  const first = await outputsOf(session, { [input]: x, [stateName]: tl.zeros([2, 3]) });
  agree(first[output], model.predict(x), 'first');
  const state = first[`${stateName}/next`];
  const feeds = { [input]: new ort.Tensor('float32', y.dataSync(), y.shape), [stateName]: state };
  agree((await session.run(feeds))[output], model.predict(y), 'second');
  await session.release();
});

const published = {
  abalone: [[9]],
  'darknet-tiny': [[224, 224, 3]],
  'rn-mnist-cnn': [[28, 28, 1]],
};
for (const [name, shapes] of Object.entries(published)) {
  const file = `${modelsFolder}/tfjs/${name}/model.json`;
  const skip = missingData('models/tfjs', name, 'model.json');
  test(`${name} as it was published`, { skip }, async () => {
    const model = await tl.loadLayersModel(`file://${file}`);
    const inputs = model.inputs.map(({ shape }) => shape.slice(1));
    const calls = [1, 3].map((rows) => inputs.map((shape) => random([rows, ...shape])));
    assert.equal(inputs.length, shapes.length);
    await checkModel(model, calls, name, 1e-4);
    model.dispose();
  });
}

test('lathe convert writes an equivalent model', { skip: noCommand }, async () => {
  const model = tl.sequential({ name: 'net' });
  const conv = { filters: 3, kernelSize: 3, activation: 'relu', inputShape: [7, 5, 2] };
  model.add(tl.layers.conv2d(conv));
  model.add(tl.layers.flatten());
  model.add(tl.layers.dense({ units: 4, activation: 'softmax' }));
  await inFolder(async (folder) => {
    await model.save(`file://${folder}/saved`);
    const file = join(folder, 'net.onnx');
    for (const [flags, size, rows] of [
      [[], 'batch', 3],
      [['--batch=2'], 2, 2],
    ]) {
      run('convert', join(folder, 'saved'), '-o', file, ...flags);
      const session = await ort.InferenceSession.create(readFileSync(file), options);
      const [{ name, shape }] = session.inputMetadata;
      assert.equal(shape[0], size);
      const x = random([rows, 7, 5, 2]);
      const outputs = await outputsOf(session, { [name]: x });
      agree(outputs[session.outputNames[0]], model.predict(x), flags.join());
      await session.release();
    }
  });
});

test('functions with symbolic sizes', async () => {
  const fn = tl.compile({ x: ['n', 'k'], w: ['k', 3] }, ({ x, w }) => ({
    y: x.matMul(w).softmax(),
    total: x.sum(0),
    flat: x.reshape([-1]),
  }));
  const session = await ort.InferenceSession.create(await tl.toOnnx(fn), options);
  for (const [n, k] of [
    [1, 4],
    [5, 2],
  ]) {
    const inputs = { x: random([n, k]), w: random([k, 3]) };
    const [expected, actual] = [fn.run(inputs), await outputsOf(session, inputs)];
    for (const name of ['y', 'total', 'flat']) agree(actual[name], expected[name], name);
  }
  await session.release();
  const fixed = await ort.InferenceSession.create(
    await tl.toOnnx(fn, { sizes: { k: 4 } }),
    options,
  );
  assert.deepEqual(fixed.inputMetadata[0].shape, ['n', 4]);
  await fixed.release();
  fn.dispose();
});

test('functions with variables: assigned ones are inputs and outputs', async () => {
  const fn = tl.compile({ x: [3] }, ({ x }, g) => {
    const scale = g.variable('scale', tl.tensor([1, 2, 3]));
    const sum = g.variable('sum', tl.zeros([3]));
    const next = sum.add(x.mul(scale));
    g.assign(sum, next);
    return { next };
  });
  const x = tl.tensor([1, -1, 0.5]);
  fn.run({ x });
  const session = await ort.InferenceSession.create(await tl.toOnnx(fn), options);
  assert.deepEqual([...session.inputNames].sort(), ['sum', 'x']);
  const actual = await outputsOf(session, { x, sum: fn.variable('sum') });
  agree(actual.next, fn.run({ x }).next, 'the second sum');
  agree(actual['sum/next'], fn.variable('sum'), 'sum');
  await session.release();
  fn.dispose();
});

test('models that cannot be exported are rejected with the reason', async () => {
  await assert.rejects(tl.toOnnx({}), { name: 'LatheError', message: /^toOnnx: expects a model/ });
  const batches = tl.compile({ x: ['n'] }, ({ x }) => ({ y: x.mul(1 / x.shape[0]) }));
  await assert.rejects(tl.toOnnx(batches), {
    name: 'LatheError',
    message: 'toOnnx: what is computed depends on n in more than shapes; fix them by sizes',
  });
  await tl.toOnnx(batches, { sizes: { n: 4 } });
  const model = tl.sequential({ layers: [tl.layers.dense({ units: 1, inputShape: [2] })] });
  await assert.rejects(tl.toOnnx(model, { sizes: [3] }), {
    message: 'toOnnx: the model has 0 axes that are null, sizes has 1',
  });
  await assert.rejects(tl.toOnnx(model, { size: 3 }), /toOnnx/);
});
