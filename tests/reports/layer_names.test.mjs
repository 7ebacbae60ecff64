// @epfml/discojs names layers "gpt/h0/attn/c_attn", and longer than 100 characters: TensorFlow.js accepts any name of letters, digits, _ - . and /.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as reference from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import * as tf from 'tensorlathe/tfjs';

const names = ['gpt/h0/attn/c_attn', 'gpt/h0', 'a//b', 'long_'.repeat(40)];

test('models with slashes and long names train, save and load, here and there', async () => {
  const layers = names.map((name, at) =>
    tl.layers.dense({ name, units: 2, ...(at === 0 && { inputShape: [2] }) }),
  );
  const model = tl.sequential({ name: 'm', layers });
  model.compile({ loss: 'meanSquaredError', optimizer: 'adam' });
  const x = tl.tensor([
    [1, 2],
    [3, 4],
  ]);
  await model.fit(x, x, { epochs: 1, verbose: 0 });
  assert.deepEqual(
    model.layers.map(({ name }) => name),
    names,
  );
  const artifacts = await tl.io.toArtifacts(model, { includeOptimizer: true });
  assert.equal(artifacts.weightSpecs[0].name, 'gpt/h0/attn/c_attn/kernel');
  const right = [...model.predict(x).dataSync()];
  for (const api of [tl, tf]) {
    const loaded = await api.loadLayersModel(api.io.fromMemory(artifacts));
    assert.deepEqual([...loaded.predict(x).dataSync()], right);
    assert.equal(loaded.getLayer(names[0]).name, names[0]);
  }
  const { weightSpecs, weightData, ...rest } = await tl.io.toArtifacts(model);
  const theirs = await reference.loadLayersModel(
    reference.io.fromMemory({ ...rest, weightSpecs, weightData }),
  );
  const found = theirs
    .predict(
      reference.tensor2d([
        [1, 2],
        [3, 4],
      ]),
    )
    .dataSync();
  found.forEach((value, at) => assert.ok(Math.abs(value - right[at]) < 1e-5));
  const file = await tl.io.toSafetensors(model);
  await model.loadWeights(file);
  assert.deepEqual([...model.predict(x).dataSync()], right);
});

test('several outputs with slashes: losses and histories by name', async () => {
  const x = tl.input({ shape: [2], name: 'in/x' });
  const outputs = ['head/a', 'head/b'].map((name) => tl.layers.dense({ name, units: 2 }).apply(x));
  const model = tl.model({ name: 'm', inputs: x, outputs });
  model.compile({ loss: 'meanSquaredError', optimizer: 'sgd', metrics: ['mae'] });
  const rows = tl.tensor([
    [1, 2],
    [3, 4],
  ]);
  const { history } = await model.fit(rows, [rows, rows], { epochs: 1, verbose: 0 });
  const theirModel = () => {
    const input = reference.input({ shape: [2], name: 'in/x' });
    const made = reference.model({
      inputs: input,
      outputs: ['head/a', 'head/b'].map((name) =>
        reference.layers.dense({ name, units: 2 }).apply(input),
      ),
    });
    made.compile({ loss: 'meanSquaredError', optimizer: 'sgd', metrics: ['mae'] });
    return made;
  };
  const y = reference.tensor2d([
    [1, 2],
    [3, 4],
  ]);
  const theirs = await theirModel().fit(y, [y, y], { epochs: 1, verbose: 0 });
  assert.deepEqual(
    Object.keys(history)
      .filter((key) => key in theirs.history)
      .sort(),
    Object.keys(theirs.history).sort(),
  );
});

test('rejects names that would collide in weight names, and empty names', () => {
  const inner = () =>
    tl.sequential({
      name: 'a',
      layers: [tl.layers.dense({ name: 'b', units: 2, inputShape: [2] })],
    });
  assert.throws(
    () =>
      tl.sequential({ name: 'm', layers: [inner(), tl.layers.dense({ name: 'a/b', units: 2 })] }),
    { name: 'LatheError', message: /a weight of layer "a" is called a\/b\/kernel, too/ },
  );
  for (const name of ['/a', 'a b', 'a:0', 'é']) {
    assert.throws(
      () =>
        tl.sequential({
          name: 'm',
          layers: [tl.layers.dense({ name, units: 2, inputShape: [2] })],
        }),
      /layer name ".*" must be of the characters/,
    );
  }
  for (const name of ['optimizer/x', 'states']) {
    assert.throws(
      () =>
        tl.sequential({
          name: 'm',
          layers: [tl.layers.dense({ name, units: 2, inputShape: [2] })],
        }),
      /is reserved/,
    );
  }
});
