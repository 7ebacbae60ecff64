// `lathe compile --target webgpu`: the loader runs models on a GPU as the same models as modules of WebAssembly.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import * as tl from 'tensorlathe';
import { create } from 'webgpu';
import { inFolder, instantiate, lathe, run, skip } from '../command.mjs';
import { largestDifference } from '../lib.mjs';
import { graph, model, node, random, tensor, value } from '../onnx/write.mjs';

const options = { skip };
const gpu = skip ? undefined : create(['backend=vulkan']);

/** Compiles a model both ways: what `load` resolves with, and the entries of the module. */
async function bothWays(folder, source, ...flags) {
  run('compile', source, '--target=webgpu', '-o', join(folder, 'net.mjs'), ...flags);
  run('compile', source, '-o', join(folder, 'net.wasm'), ...flags);
  const { load } = await import(pathToFileURL(join(folder, 'net.mjs')));
  return [await load({ gpu }), instantiate(readFileSync(join(folder, 'net.wasm')))];
}

const wave = (size, step) => Float32Array.from({ length: size }, (_, at) => Math.sin(step * at));

function near(actual, expected) {
  assert.equal(actual.length, expected.length);
  const largest = Math.max(...Array.from(expected, Math.abs));
  assert.ok(largestDifference(actual, expected) <= 1e-4 * largest, `${actual} ${expected}`);
}

test('an ONNX model has the entry run; integers of 64 bits have 32 on the GPU', options, () =>
  inFolder(async (folder) => {
    const source = join(folder, 'model.onnx');
    writeFileSync(
      source,
      model({
        nodes: [
          node('Conv', ['x', 'kernel'], ['a'], { pads: [1, 1, 1, 1] }),
          node('Relu', ['a'], ['y']),
          node('ArgMax', ['y'], ['best'], { axis: 3, keepdims: 0 }),
          node('Gather', ['y', 'rows'], ['some'], { axis: 2 }),
          node('TopK', ['rows', 'one'], ['last', 'where']),
        ],
        inputs: [value('x', 'float32', [2, 3, 5, 8]), value('rows', 'int64', [2])],
        outputs: [
          value('y', 'float32', [2, 4, 5, 8]),
          value('best', 'int64', [2, 4, 5]),
          value('some', 'float32', [2, 4, 2, 8]),
          value('last', 'int64', [1]),
          value('where', 'int64', [1]),
        ],
        initializers: {
          kernel: random(1, [4, 3, 3, 3]),
          one: tensor('int64', BigInt64Array.of(1n)),
        },
      }),
    );
    run('compile', source, '--target=webgpu', '-o', join(folder, 'net.mjs'));
    run('compile', source, '--js', '-o', join(folder, 'wasm.wasm'));
    const shaders = await (await import(pathToFileURL(join(folder, 'net.mjs')))).load({ gpu });
    const wasm = await (await import(pathToFileURL(join(folder, 'wasm.mjs')))).load();
    const values = { x: wave(240, 0.7), rows: BigInt64Array.of(3n, -1n) };
    const [actual, expected] = [await shaders.run(values), wasm.run(values)];
    assert.deepEqual(Object.keys(actual), Object.keys(expected));
    near(actual.y, expected.y);
    near(actual.some, expected.some);
    for (const name of ['best', 'last', 'where']) assert.deepEqual(actual[name], expected[name]);
    assert.throws(() => shaders.run({ ...values, x: wave(1, 1) }), /input x: expected 240 values/);
    assert.throws(() => shaders.run({ x: values.x }), /input rows: expected BigInt64Array/);
    const rows = BigInt64Array.of(0n, 2n ** 40n);
    assert.throws(() => shaders.run({ ...values, rows }), /rows: 1099511627776 has more than/);
    shaders.destroy();
  }),
);

test('a saved model predicts and trains as its module', options, () =>
  inFolder(async (folder) => {
    const network = tl.sequential({ seed: 3 });
    network.add(tl.layers.dense({ units: 8, activation: 'tanh', inputShape: [4] }));
    network.add(tl.layers.batchNormalization());
    network.add(tl.layers.dense({ units: 3, activation: 'softmax' }));
    network.compile({ loss: 'categoricalCrossentropy', optimizer: 'adam' });
    await network.save(`file://${folder}/saved`, { includeOptimizer: true });
    network.dispose();
    const flags = ['--training', '--batch=6'];
    const [shaders, module] = await bothWays(folder, join(folder, 'saved'), ...flags);
    const inputsOf = (entry) =>
      Object.fromEntries(
        shaders.inputs[entry].map(({ name, dtype, shape }, k) => {
          // The number of rows.
          if (dtype === 'i32') return [name, Int32Array.of(6)];
          return [
            name,
            wave(
              shape.reduce((a, b) => a * b, 1),
              1 + k,
            ).map(Math.abs),
          ];
        }),
      );
    const compare = async (entry) => {
      const values = inputsOf(entry);
      const expected = module[entry](Object.values(values));
      const actual = await shaders[entry](values);
      Object.values(actual).forEach((each, at) => near(each, expected[at]));
    };
    await compare('predict');
    for (let step = 0; step < 5; step++) await compare('train');
    await compare('predict_1');
    const states = await shaders.states();
    assert.ok(Object.values(states).some((each) => each.some((x) => x !== 0)));
    // Calls that overlap run one after the other.
    const values = inputsOf('predict_1');
    const [first, second] = await Promise.all([0, 1].map(() => shaders.predict_1(values)));
    assert.deepEqual(first, second);
    shaders.destroy();
  }),
);

test('a loop that data end stops, and copies its values', options, () =>
  inFolder(async (folder) => {
    const source = join(folder, 'model.onnx');
    const body = graph({
      name: 'body',
      nodes: [
        node('Add', ['sum', 'x'], ['next']),
        node('ReduceSum', ['next'], ['total'], { keepdims: 0 }),
        node('Less', ['total', 'limit'], ['again']),
      ],
      inputs: [value('step', 'int64', []), value('on', 'bool', []), value('sum', 'float32', [3])],
      outputs: [value('again', 'bool', []), value('next', 'float32', [3])],
    });
    writeFileSync(
      source,
      model({
        nodes: [node('Loop', ['', '', 'x'], ['y'], { body })],
        inputs: [value('x', 'float32', [3]), value('limit', 'float32', [])],
        outputs: [value('y', 'float32', [3])],
      }),
    );
    const [shaders, module] = await bothWays(folder, source);
    const x = Float32Array.of(1, 2, 3);
    for (const limit of [0, 20, 100, 1000]) {
      const values = { x, limit: Float32Array.of(limit) };
      const [expected] = module.run([x, values.limit]);
      assert.deepEqual((await shaders.run(values)).y, expected);
    }
    shaders.destroy();
  }),
);

test('what cannot be shaders is an error with its reason, and nothing is written', options, () =>
  inFolder((folder) => {
    const source = join(folder, 'model.onnx');
    const doubled = (dtype) =>
      model({
        nodes: [node('Add', ['x', 'x'], ['y'])],
        inputs: [value('x', dtype, [2])],
        outputs: [value('y', dtype, [2])],
      });
    const compile = (...flags) => lathe(['compile', source, '--target=webgpu', ...flags]);
    writeFileSync(source, doubled('float64'));
    const refused = compile('-o', join(folder, 'net.mjs'));
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /model\.onnx: shaders have no f64, the type of x; cast it to f32/);
    assert.throws(() => readFileSync(join(folder, 'net.mjs')));
    writeFileSync(source, doubled('float32'));
    const wrongUse = (pattern, ...flags) => {
      const { status, stderr } = compile(...flags);
      assert.equal(status, 2);
      assert.match(stderr, pattern);
    };
    wrongUse(/--js is for modules, not for shaders/, '--js');
    wrongUse(/--features is for modules/, '--features=simd');
    wrongUse(/--target=webgpu requires -o OUT\.mjs/, '-o', join(folder, 'net.wasm'));
    wrongUse(/--target must be wasm or webgpu, got gpu/, '--target=gpu');
    assert.match(compile().stdout.toString(), /^no output file \(no -o\): 1 shaders, entries run/);
    const { stdout } = compile('--dump=after:emit_wgsl');
    assert.match(stdout.toString(), /@compute @workgroup_size/);
  }),
);
