// The driver of training modules, tensorlathe/training-module: the same losses as model.fit, errors before anything changes,
// and no other file of the package is needed.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import * as tl from 'tensorlathe';
import { loadTrainingModule } from '../../../../js/dist/standalone/training_module.js';
import { blobs, largestDifference, throws, rejects, smallModel } from '../../lib.mjs';

const [x, y] = blobs(45);
const [points, labels] = [x.dataSync(), y.dataSync()];
const training = { loss: 'softmaxCrossEntropy', optimizer: 'adam', metrics: ['confusionMatrix'] };
const features = { relaxedSimd: false };
const batchSize = { train: 8, evaluate: 16, predict: 10 };
const folder = mkdtempSync(join(tmpdir(), 'tensorlathe-'));
after(() => rmSync(folder, { recursive: true }));

function compiled(model = smallModel()) {
  model.compile(training);
  return model;
}

const bytesOf = (args, model = compiled()) =>
  model.toWasm({ training: true, labels: 'sparse', batchSize, features, ...args });
const load = (args, model) => loadTrainingModule(bytesOf(args, model));

/** Result of a function with the instruction set of exported modules. */
async function withoutRelaxed(run) {
  const saved = tl.env().get('RELAXED_SIMD');
  tl.env().set('RELAXED_SIMD', false);
  try {
    return await run();
  } finally {
    tl.env().set('RELAXED_SIMD', saved);
  }
}

for (const batchesInMemory of [1, 3, 20]) {
  test(`training is that of model.fit, ${batchesInMemory} batches in memory`, async () => {
    const net = await load({
      batchesInMemory: { train: batchesInMemory, predict: batchesInMemory },
    });
    const epochs = [];
    const history = await net.train(points, labels, {
      epochs: 3,
      seed: 5,
      validationData: [points.subarray(0, 40), labels.subarray(0, 20)],
      onEpochEnd: (epoch, { loss }) => void epochs.push([epoch, loss]),
    });
    const { model, expected } = await withoutRelaxed(async () => {
      const model = compiled();
      const part = [tl.tensor(points.slice(0, 40), [20, 2]), tl.tensor(labels.slice(0, 20))];
      const args = { batchSize: 8, epochs: 3, seed: 5, validationData: part };
      return { model, expected: (await model.fit(x, y, args)).history };
    });
    assert.deepEqual(history.loss, expected.loss);
    assert.deepEqual(history.confusionMatrix, expected.confusionMatrix);
    assert.ok(largestDifference(history.val_loss, expected.val_loss) < 1e-6);
    assert.deepEqual(epochs, [...expected.loss.entries()]);
    assert.equal(net.epochsTrained, 3);
    const weights = model.getWeights().map((each) => [...each.dataSync()]);
    assert.deepEqual(
      Object.values(net.getWeights()).map(({ values }) => [...values]),
      weights,
    );
    const theirs = await withoutRelaxed(() => model.predict(x).dataSync());
    assert.ok(largestDifference(net.predict(points), theirs) < 1e-6);
    const scores = model.evaluate(x, y, { asObject: true });
    const tested = net.test(points, labels);
    assert.ok(Math.abs(tested.loss - scores.loss) < 1e-5);
    assert.deepEqual(tested.confusionMatrix, scores.confusionMatrix);
    assert.deepEqual(net.confusionMatrix(points, labels), scores.confusionMatrix);
  });
}

test('rows may be flat, nested and typed arrays', async () => {
  const net = await load();
  const nested = Array.from({ length: 45 }, (_, row) => [points[2 * row], points[2 * row + 1]]);
  const expected = [...net.predict(points)];
  for (const form of [[...points], nested, nested.map((row) => Float32Array.from(row))]) {
    assert.deepEqual([...net.predict(form)], expected);
  }
  assert.equal(net.test(nested, [...labels]).loss, net.test(points, labels).loss);
});

test('wrong shapes and labels are rejected before anything is trained', async () => {
  const net = await load();
  const before = JSON.stringify(net);
  const cases = [
    [
      points.subarray(0, 7),
      labels,
      /^train: x: 7 numbers are not a multiple of a row of shape \[2\]$/,
    ],
    [points.subarray(0, 8), labels, /^train: x has 4 rows, y 45; expected class indices, one/],
    [[[1, 2, 3]], [0], /^train: x\[0\]: must have the shape \[2\], got 3 values$/],
    [[[1, '2']], [0], /^train: x\[0\]\[1\]: must be a number, got "2"$/],
    [[], labels, /^train: x: there are no rows$/],
    [points, undefined, /^train: y is missing$/],
    [points, labels.map((label) => label + 1), /^train: y\[\d+\] is 3; the classes are 0 … 2$/],
    [points, Array.from(labels, (label) => label + 0.5), /^train: y\[0\] is [\d.]+, no integer$/],
  ];
  for (const [wrongX, wrongY, message] of cases) await rejects(net.train(wrongX, wrongY), message);
  await rejects(net.train(points, labels, { epoch: 2 }), /no option epoch; did you mean epochs/);
  await rejects(net.train(points, labels, { epochs: 0 }), /^train: epochs must be a positive/);
  for (const seed of ['abc', NaN, 0.5]) {
    await rejects(net.train(points, labels, { seed }), /^train: seed must be an integer, got /);
  }
  const dense = await load({ labels: 'dense' });
  await rejects(dense.train(points, labels), /x has 45 rows, y 15; expected the shape \[3\] per/);
  const notFinite = new Float32Array(135).fill(NaN);
  await rejects(dense.train(points, notFinite), /^train: y\[0\] is NaN, no finite number$/);
  throws(
    () => net.predict([1]),
    /^predict: x: 1 numbers are not a multiple of a row of shape \[2\]$/,
  );
  assert.equal(JSON.stringify(net), before);
});

test('weights are saved and loaded as safetensors and JSON, with or without the optimizer', async () => {
  const net = await load();
  const fresh = net.toSafetensors();
  const json = JSON.stringify(net);
  await net.train(points, labels, { epochs: 2 });
  const trained = net.toSafetensors({ optimizer: true });
  const next = async (from) => (await from.train(points, labels)).loss;
  const expected = await next(net);
  const other = await load({}, compiled(smallModel()));
  other.fromSafetensors(trained);
  other.epochsTrained = 2;
  assert.deepEqual(await next(other), expected);

  const model = compiled();
  await model.loadWeights(net.toSafetensors());
  const weights = net.getWeights();
  assert.deepEqual(
    [...model.getWeights()[0].dataSync()],
    [...weights['dense_Dense1/kernel'].values],
  );
  net.fromJSON(json);
  assert.deepEqual([...net.toSafetensors()], [...fresh]);
  assert.deepEqual([...weights['dense_Dense1/kernel'].shape], [2, 8]);

  const broken = { ...JSON.parse(json), 'dense_Dense2/bias': { shape: [2], values: [1, 2] } };
  throws(
    () => net.fromJSON(broken),
    /^setWeights: dense_Dense2\/bias has the shape \[3\], got \[2\]/,
  );
  throws(() => net.setWeights({}), /^setWeights: dense_Dense1\/kernel is missing$/);
  const more = { ...JSON.parse(json), other: { shape: [], values: [1] } };
  throws(() => net.setWeights(more), /^setWeights: the module has no other$/);
  throws(() => net.fromJSON('{'), /^fromJSON: /);
  throws(() => net.fromSafetensors(fresh.subarray(0, 9)), /^fromSafetensors: /);
  assert.equal(JSON.stringify(net), json);
});

test('the learning rate is read and set, and training is stopped', async () => {
  const net = await load();
  assert.equal(net.learningRate, Math.fround(0.001));
  net.learningRate = 0;
  const before = JSON.stringify(net);
  await net.train(points, labels);
  assert.equal(JSON.stringify(net), before);
  throws(() => (net.learningRate = -1), /^learningRate: must be a finite number ≥ 0, got -1$/);
  throws(() => net.setSeed(1), /^setSeed: no layer draws random numbers$/);
  const stop = new AbortController();
  const batches = [];
  const history = await net.train(points, labels, {
    epochs: 5,
    signal: stop.signal,
    onBatchEnd(batch) {
      batches.push(batch);
      if (batches.length === 8) stop.abort();
    },
  });
  assert.deepEqual(batches, [0, 1, 2, 3, 4, 5, 0, 1]);
  assert.equal(history.loss.length, 1);
});

test('several inputs and outputs are matched by name', async () => {
  const inputs = ['a', 'b'].map((name) => tl.input({ shape: [2], name }));
  const both = tl.layers.concatenate({}).apply(inputs);
  const outputs = ['c', 'd'].map((name) =>
    tl.layers.dense({ units: 3, activation: 'softmax', name }).apply(both),
  );
  const model = tl.model({ inputs, outputs, seed: 4 });
  const loss = 'softmaxCrossEntropy';
  model.compile({ loss: { c: loss, d: loss }, optimizer: 'sgd' });
  const net = await load({}, model);
  const [xs, ys] = [
    { a: points, b: points },
    { c: labels, d: labels },
  ];
  const { loss: losses } = await net.train(xs, ys, { epochs: 2, shuffle: false });
  const expected = await withoutRelaxed(() =>
    model.fit([x, x], [y, y], { batchSize: 8, epochs: 2, shuffle: false }),
  );
  assert.deepEqual(losses, expected.history.loss);
  assert.deepEqual(Object.keys(net.predict(xs)), ['c', 'd']);
  await rejects(net.train({ a: points }, ys), /^train: x\/b is missing$/);
  throws(() => net.confusionMatrix(xs, ys), /^confusionMatrix: the module has several outputs/);
});

test('other modules are rejected by name', async () => {
  await rejects(loadTrainingModule(new Uint8Array([1, 2])), /^loadTrainingModule: /);
  const empty = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
  await rejects(loadTrainingModule(empty), /^loadTrainingModule: this module is not of Tensorl/);
  const predicts = await loadTrainingModule(compiled().toWasm({ features }));
  await rejects(predicts.train(points, labels), /^the module has no entry train; it has predict/);
  const response = new Response(bytesOf(), { headers: { 'content-type': 'application/wasm' } });
  assert.equal((await loadTrainingModule(response)).batchSize('train'), 8);
  await rejects(
    loadTrainingModule(new Response('', { status: 404 })),
    /^loadTrainingModule: .*404/,
  );
});

test('the driver is one small file without imports', async () => {
  const [from, to] = [
    'build/package/dist/standalone/training_module.js',
    join(folder, 'standalone.mjs'),
  ];
  copyFileSync(from, to);
  assert.doesNotMatch(readFileSync(to, 'utf8'), /\bimport\b(?!\.meta)/);
  const standalone = await import(pathToFileURL(to));
  const net = await standalone.loadTrainingModule(bytesOf());
  assert.equal((await net.train(points, labels)).loss.length, 1);
});

const lathe = 'build/native/tools/lathe';
const skip = existsSync(lathe) ? false : `${lathe} is not built`;

test(
  'lathe compile --js writes a file that trains the module in one command',
  { skip },
  async () => {
    const [json, options, out, csv] = ['m.json', 'o.json', 'net 1.wasm', 'd.csv'].map((name) =>
      join(folder, name),
    );
    const run = (command, ...args) => spawnSync(command, args, { encoding: 'utf8' });
    writeFileSync(json, JSON.stringify(compiled().coreConfig));
    writeFileSync(options, JSON.stringify({ ...training, labels: 'sparse', batch: batchSize }));
    const compile = run(lathe, 'compile', json, options, '-o', out, '--js');
    assert.equal(compile.status, 0, compile.stderr);
    const driver = join(folder, 'net 1.mjs');
    const line = (row) => `${points[2 * row]},${points[2 * row + 1]},${labels[row]}`;
    writeFileSync(
      csv,
      ['a,b,class', ...Array.from({ length: 45 }, (_, row) => line(row))].join('\n'),
    );
    const weights = join(folder, 'w.safetensors');
    const flags = [`--test=${csv}`, '--epochs=3', '--rate=0.05', `--out=${weights}`, '--matrix'];
    const trained = run(process.execPath, driver, csv, ...flags);
    assert.equal(trained.status, 0, trained.stderr);
    assert.equal(
      trained.stdout.match(/^epoch \d  loss [\d.]+  [\d.]+ %  test loss [\d.]+/gm).length,
      3,
    );
    assert.equal(trained.stdout.trim().split('\n').at(-1).trim().split(/ +/).length, 3);

    const { load: loadDriver } = await import(pathToFileURL(driver));
    const net = await loadDriver();
    net.learningRate = 0.05;
    const { loss } = await net.train(points, labels, { epochs: 3 });
    assert.match(trained.stdout, new RegExp(`^epoch 3  loss ${loss[2].toFixed(4)}`, 'm'));
    assert.deepEqual([...readFileSync(weights)], [...net.toSafetensors()]);

    const noSeed = run(process.execPath, driver, csv, '--seed=abc');
    assert.equal(noSeed.status, 1);
    assert.match(noSeed.stderr, /^train: seed must be an integer, got NaN/);
    for (const [flag, expected] of [
      ['--rate', /^--rate needs a value, --rate=…/],
      ['--epochs=', /^--epochs needs a value/],
      ['--matrix=no', /^--matrix accepts no value/],
    ]) {
      const rejected = run(process.execPath, driver, csv, flag);
      assert.equal(rejected.status, 1, flag);
      assert.match(rejected.stderr, expected);
    }
    writeFileSync(csv, '1,2,0\n1,b,1\n');
    const wrong = run(process.execPath, driver, csv);
    assert.equal(wrong.status, 1);
    assert.match(wrong.stderr, /d\.csv:2: b is no number/);
    const nowhere = run(lathe, 'compile', json, options, '--js');
    assert.equal(nowhere.status, 2);
    assert.match(nowhere.stderr, /--js requires the name of the module/);
  },
);
