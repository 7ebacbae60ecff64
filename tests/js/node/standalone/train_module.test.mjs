// Standalone training modules: the same bytes from C++, JavaScript and the command line, the same numbers as the model
// they come from, without any imports: in the engine, or in the interpreter of WABT.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import * as tl from 'tensorlathe';
import { writeIdx } from '../../../../examples/lib/idx.mjs';
import { drawnDigits } from '../../../../examples/lib/load.mjs';
import { blobs, throws, smallModel } from '../../lib.mjs';

const [program, lathe] = ['build/native/examples/mnist', 'build/native/tools/lathe'];
const skip = existsSync(program) && existsSync(lathe) ? false : `${program} is not built`;
const folder = mkdtempSync(join(tmpdir(), 'tensorlathe-'));
after(() => rmSync(folder, { recursive: true }));

function run(command, ...args) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr + stdout);
  return stdout;
}

const types = { f32: Float32Array, i32: Int32Array };

/** An instance without imports: its exports, and typed-array views of its buffers. */
function host(bytes) {
  const module = new WebAssembly.Module(bytes);
  assert.deepEqual(WebAssembly.Module.imports(module), []);
  const { exports } = new WebAssembly.Instance(module);
  const [section] = WebAssembly.Module.customSections(module, 'tensorlathe');
  const { entries, states } = JSON.parse(new TextDecoder().decode(section));
  const windowOn = ({ dtype, shape, offset }) =>
    new types[dtype](
      exports.memory.buffer,
      offset,
      shape.reduce((a, b) => a * b, 1),
    );
  const named = (buffers) => Object.fromEntries(buffers.map((each) => [each.name, windowOn(each)]));
  for (const { name, inputs, outputs } of entries) {
    for (const each of [...inputs, ...outputs]) {
      assert.equal(exports[`${name}.${each.name}`].value, each.offset);
    }
  }
  const io = entries.map(({ name, inputs, outputs }) => [name, named([...inputs, ...outputs])]);
  return { exports, states: named(states), ...Object.fromEntries(io) };
}

const training = { loss: 'softmaxCrossEntropy', optimizer: 'adam', metrics: ['confusionMatrix'] };
const batchSize = { train: 10, evaluate: 8, predict: 4 };
const [x, y] = blobs(30);
const features = { relaxedSimd: false };

function compiled(model = smallModel()) {
  model.compile(training);
  return model;
}

const exported = (args) =>
  host(compiled().toWasm({ training: true, labels: 'sparse', batchSize, features, ...args }));

/** Writes the rows from `from` to the inputs of an entry. */
function fill(inputs, from, count) {
  inputs.x.set(x.dataSync().subarray(2 * from, 2 * (from + count)));
  inputs.y.set(y.dataSync().subarray(from, from + count));
  inputs.rows[0] = count;
}

test('C++, JavaScript and the command line produce the same bytes', { skip }, async () => {
  const { dense, conv2d, maxPooling2d, flatten } = tl.layers;
  const activation = 'relu';
  const output = { units: 10, activation: 'softmax', name: 'dense_2' };
  // The names that C++ generates.
  const networks = {
    '': [dense({ units: 128, activation, inputShape: [784], name: 'dense_1' }), dense(output)],
    cnn: [
      conv2d({ filters: 16, kernelSize: 3, activation, inputShape: [28, 28, 1], name: 'conv2d_1' }),
      maxPooling2d({ name: 'maxpooling2d_1' }),
      conv2d({ filters: 32, kernelSize: 3, activation, name: 'conv2d_2' }),
      maxPooling2d({ name: 'maxpooling2d_2' }),
      flatten({ name: 'flatten_1' }),
      dense({ units: 64, activation, name: 'dense_1' }),
      dense(output),
    ],
  };
  const batch = { train: 64, evaluate: 250, predict: 100 };
  for (const [kind, layers] of Object.entries(networks)) {
    run(program, folder, kind);
    const fromC = readFileSync(join(folder, 'mnist.wasm'));
    const model = tl.sequential({ name: 'mnist', seed: 42, layers });
    model.compile({ ...training, optimizer: tl.train.adam(0.001) });
    const args = { training: true, labels: 'sparse', batchSize: batch };
    const simd = { simd: true, relaxedSimd: false, wideLanes: false };
    assert.ok(fromC.equals(model.toWasm({ ...args, features: simd })), `${kind} JavaScript`);

    const [json, options, out] = ['m.json', 'o.json', 'o.wasm'].map((name) => join(folder, name));
    writeFileSync(json, JSON.stringify(model.coreConfig));
    const optimizer = { name: 'adam', learningRate: 0.001 };
    writeFileSync(options, JSON.stringify({ ...training, optimizer, labels: 'sparse', batch }));
    run(lathe, 'compile', json, options, '-o', out);
    assert.ok(fromC.equals(readFileSync(out)), `${kind} command line`);

    const weights = join(folder, 'w.safetensors');
    const other = tl.sequential({ name: 'mnist', seed: 7, layers });
    other.compile({ ...training, optimizer: tl.train.adam(0.001) });
    await other.saveWeights(`file://${weights}`);
    run(lathe, 'compile', json, options, '--weights', weights, '-o', out);
    assert.ok(readFileSync(out).equals(other.toWasm({ ...args, features: simd })), 'with weights');
  }
});

test('the module does what the model does, step by step', async () => {
  const model = compiled();
  const standalone = exported();
  const weights = () => model.getWeights().map((each) => [...each.dataSync()]);
  const names = [
    'dense_Dense1/kernel',
    'dense_Dense1/bias',
    'dense_Dense2/kernel',
    'dense_Dense2/bias',
  ];
  const theirs = () => names.map((name) => [...standalone.states[name]]);
  assert.deepEqual(theirs(), weights(), 'it starts with the weights');
  const saved = tl.env().get('RELAXED_SIMD');
  tl.env().set('RELAXED_SIMD', false);
  try {
    for (let step = 0; step < 6; ++step) {
      const from = (10 * step) % 30;
      const part = (rows, width) => rows.dataSync().slice(width * from, width * (from + 10));
      const loss = await model.trainOnBatch(tl.tensor(part(x, 2), [10, 2]), tl.tensor(part(y, 1)));
      fill(standalone.train, from, 10);
      standalone.exports.train();
      assert.equal(standalone.train.loss[0], loss, `step ${step}`);
    }
    assert.deepEqual(theirs(), weights());
    standalone.predict.x.set(x.dataSync().subarray(0, 8));
    standalone.exports.predict();
    const four = model.predict(tl.tensor(x.dataSync().slice(0, 8), [4, 2]), { batchSize: 4 });
    assert.deepEqual([...standalone.predict.y], [...four.dataSync()]);
  } finally {
    tl.env().set('RELAXED_SIMD', saved);
  }
});

test('totals contain loss, accuracy and confusion matrix of all batches until they are reset', () => {
  const model = compiled();
  const standalone = exported();
  const { loss, acc, confusionMatrix } = model.evaluate(x, y, { asObject: true });
  const totals = (name) => standalone.states[`totals/evaluate/${name}`];
  for (const round of [1, 2]) {
    standalone.exports.reset_evaluate();
    for (let from = 0; from < 30; from += 8) {
      fill(standalone.evaluate, from, Math.min(8, 30 - from));
      standalone.exports.evaluate();
    }
    assert.equal(totals('rows')[0], 30, `round ${round}`);
    assert.ok(Math.abs(totals('loss')[0] / 30 - loss) < 1e-5);
    assert.ok(Math.abs(totals('correct')[0] / 30 - acc) < 1e-6);
    assert.deepEqual([...totals('metric/confusionMatrix')], confusionMatrix.flat());
  }
  assert.equal(standalone.states['totals/train/rows'][0], 0, 'training has separate totals');
  fill(standalone.train, 0, 7);
  standalone.exports.train();
  standalone.exports.reset_evaluate();
  assert.equal(totals('rows')[0], 0);
  assert.equal(standalone.states['totals/train/rows'][0], 7);
  standalone.exports.reset_train();
  for (const [name, values] of Object.entries(standalone.states)) {
    if (name.startsWith('totals/'))
      assert.ok(
        values.every((each) => each === 0),
        name,
      );
  }
});

test('the host sets the learning rate, weights and the seed of dropout', () => {
  const standalone = exported();
  const kernel = standalone.states['dense_Dense1/kernel'];
  const before = [...kernel];
  standalone.states['optimizer/learning_rate'][0] = 0;
  fill(standalone.train, 0, 10);
  standalone.exports.train();
  assert.deepEqual([...kernel], before);
  kernel.fill(0);
  standalone.states['dense_Dense2/kernel'].fill(0);
  standalone.states['dense_Dense2/bias'].set([0, 9, 0]);
  standalone.predict_1.x.set([1, 2]);
  standalone.exports.predict_1();
  assert.ok(standalone.predict_1.y[1] > 0.99);

  const model = tl.sequential({ seed: 5 });
  model.add(tl.layers.dropout({ rate: 0.5, inputShape: [2] }));
  model.add(tl.layers.dense({ units: 3, activation: 'softmax' }));
  model.compile(training);
  const lossAt = (seed) => {
    const fresh = host(model.toWasm({ training: true, labels: 'sparse', batchSize, features }));
    if (seed !== undefined) fresh.states['random/seed'][0] = seed;
    fill(fresh.train, 0, 10);
    fresh.exports.train();
    return fresh.train.loss[0];
  };
  assert.equal(lossAt(0), lossAt());
  assert.equal(lossAt(11), lossAt(11));
  assert.notEqual(lossAt(11), lossAt(0));
});

test('data stay in memory for many batches', () => {
  const one = exported();
  const many = exported({ batchesInMemory: 3 });
  assert.equal(many.train.x.length, 3 * one.train.x.length);
  many.train.x.set(x.dataSync());
  many.train.y.set(y.dataSync());
  for (let step = 0; step < 6; ++step) {
    const from = (10 * step) % 30;
    fill(one.train, from, 10);
    one.exports.train();
    many.train.order.forEach((_, row) => (many.train.order[row] = from + row));
    many.train.rows[0] = 10;
    many.exports.train();
    assert.equal(many.train.loss[0], one.train.loss[0]);
  }
  assert.deepEqual([...many.states['dense_Dense2/kernel']], [...one.states['dense_Dense2/kernel']]);
});

test('a module continues training, and requires a compiled model', async () => {
  throws(() => smallModel().toWasm({ training: true }), /^toWasm: call compile before exporting/);
  const model = compiled();
  await model.fit(x, y, { batchSize: 10, epochs: 2 });
  const standalone = host(model.toWasm({ training: true, features }));
  assert.equal(standalone.states['optimizer/step'][0], 6);
  assert.deepEqual(
    [...standalone.states['dense_Dense2/bias']],
    [...model.getWeights()[3].dataSync()],
  );
  const loss = await model.trainOnBatch(x, y);
  const all = host(model.toWasm({ training: true, batchSize: { train: 30 }, features }));
  assert.ok(Number.isFinite(loss) && all.train.y.length === 30);
});

const interpreter = spawnSync('spectest-interp', ['--version']).status === 0;
const absent = interpreter ? false : 'spectest-interp of WABT is not installed';

test('another host, the interpreter of WABT, gets the same bits', { skip: absent }, () => {
  const bytes = compiled().toWasm({ training: true, labels: 'sparse', batchSize, features });
  const standalone = host(bytes);
  const at = (name) => standalone.exports[name].value;
  const hex = [...bytes].map((byte) => `\\${byte.toString(16).padStart(2, '0')}`).join('');
  const script = [
    `(module $m binary "${hex}")
(register "m" $m)
(module $peek (import "m" "memory" (memory 1))
  (func (export "put_f32") (param i32 f32) (f32.store (local.get 0) (local.get 1)))
  (func (export "put_i32") (param i32 i32) (i32.store (local.get 0) (local.get 1)))
  (func (export "bits") (param i32) (result i32) (i32.load (local.get 0))))`,
  ];
  const expectBits = (name, values) => {
    const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
    bits.forEach((each, i) => {
      const call = `(invoke $peek "bits" (i32.const ${at(name) + 4 * i}))`;
      script.push(`(assert_return ${call} (i32.const ${each}))`);
    });
  };
  for (let step = 0; step < 3; ++step) {
    fill(standalone.train, 10 * step, 10);
    for (const [name, type] of [
      ['x', 'f32'],
      ['y', 'i32'],
      ['rows', 'i32'],
    ]) {
      standalone.train[name].forEach((value, i) => {
        const address = `(i32.const ${at(`train.${name}`) + 4 * i})`;
        script.push(`(invoke $peek "put_${type}" ${address} (${type}.const ${value}))`);
      });
    }
    script.push('(invoke $m "train")');
    standalone.exports.train();
    expectBits('train.loss', standalone.train.loss);
  }
  expectBits('totals/train/correct', standalone.states['totals/train/correct']);
  expectBits(
    'totals/train/metric/confusionMatrix',
    standalone.states['totals/train/metric/confusionMatrix'],
  );
  expectBits('dense_Dense1/kernel', standalone.states['dense_Dense1/kernel']);
  const wast = join(folder, 'host.wast');
  writeFileSync(wast, script.join('\n'));
  run('wast2json', wast, '-o', join(folder, 'host.json'));
  const output = run('spectest-interp', join(folder, 'host.json'));
  const count = script.join('\n').match(/^\((module|assert_return|invoke)/gm).length;
  assert.match(output, new RegExp(`^${count}/${count} tests passed`, 'm'));
});

test('a training module from C++ trains without imports', { skip }, () => {
  const digits = drawnDigits(1, 2000, 500);
  for (const [set, { images, labels, count }] of [
    ['train', digits.train],
    ['t10k', digits.test],
  ]) {
    const write = (name, shape, data) =>
      writeFileSync(join(folder, `${set}-${name}-ubyte.gz`), gzipSync(writeIdx(shape, data)));
    write('images-idx3', [count, 28, 28], images);
    write('labels-idx1', [count], labels);
  }
  run(program, folder, 'cnn');
  const script = 'examples/train_module.mjs';
  const output = run(process.execPath, script, join(folder, 'mnist.wasm'), folder, '5');
  const accuracies = [...output.matchAll(/ accuracy ([\d.]+) %$/gm)].map(([, each]) =>
    Number(each),
  );
  assert.equal(accuracies.length, 5);
  assert.ok(accuracies.at(-1) > 85, output);
  assert.match(output, new RegExp(`^best accuracy ${Math.max(...accuracies).toFixed(2)} %`, 'm'));
  const counts = output
    .split('\n')
    .slice(-11, -1)
    .flatMap((line) => line.trim().split(/ +/));
  assert.equal(counts.length, 100);
  assert.equal(
    counts.reduce((sum, each) => sum + Number(each), 0),
    500,
  );
});
