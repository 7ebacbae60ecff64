// Memory of large ONNX models: bytes of WebAssembly memories, by content; and the threads of a model.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as tl from 'tensorlathe';
import { compiled, largestDifference } from '../../lib.mjs';
import { model, node, random, value } from '../../onnx/write.mjs';

await tl.ready();
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

const [layers, width] = [9, 1024];
const folder = mkdtempSync(join(tmpdir(), 'lathe-'));
after(() => rmSync(folder, { recursive: true }));

const names = Array.from({ length: layers }, (_, at) => `w${at}`);
const bytes = model({
  inputs: [value('x0', 'float32', ['rows', width])],
  outputs: [value(`x${layers}`, 'float32', ['rows', width])],
  nodes: names.map((name, at) => node('MatMul', [`x${at}`, name], [`x${at + 1}`])),
  initializers: Object.fromEntries(
    names.map((name, at) => [name, random(at + 1, [width, width], 1 / 32)]),
  ),
});
const path = join(folder, 'products.onnx');
writeFileSync(path, bytes);
const x = (rows) => tl.tensor(random(7, [rows, width]).data, [rows, width]);

/** While active, tracks the memories of new instances, by kind, and their sum whenever one is created. */
function watched() {
  const { Instance } = WebAssembly;
  const memories = { reader: [], core: [], module: [] };
  let peakBytes = 0;
  const bytesOf = (kind) => memories[kind].at(-1)?.deref()?.buffer.byteLength ?? 0;
  WebAssembly.Instance = function (...args) {
    const instance = new Instance(...args);
    const { exports } = instance;
    if (exports.memory !== undefined) {
      const kind = exports.lathe_onnx_open
        ? 'reader'
        : exports.lathe_graph_compile
          ? 'core'
          : 'module';
      memories[kind].push(new WeakRef(exports.memory));
      if (kind === 'module') peakBytes = Math.max(peakBytes, bytesOf('core') + bytesOf('module'));
    }
    return instance;
  };
  return {
    end: () => (WebAssembly.Instance = Instance),
    peakRatio: () => peakBytes / bytes.length,
    /** Live bytes after garbage collection, as multiples of the file size. */
    async left() {
      for (let round = 0; round < 5; ++round) {
        await new Promise((done) => setTimeout(done, 10));
        collect();
      }
      const sum = (all) =>
        all.reduce((total, each) => total + (each.deref()?.buffer.byteLength ?? 0), 0);
      const entries = Object.entries(memories);
      return Object.fromEntries(entries.map(([kind, all]) => [kind, sum(all) / bytes.length]));
    },
  };
}

for (const [how, source, reader] of [
  ['a path', path, 0],
  ['bytes', bytes, 1.1],
]) {
  test(`a large model from ${how} has few copies of its weights`, async () => {
    const watch = watched();
    try {
      const loaded = await tl.loadModel(source);
      const one = await loaded.run({ x0: x(1) });
      assert.ok(watch.peakRatio() <= 2.2, `core and module: ${watch.peakRatio()}`);
      const left = await watch.left();
      assert.equal(left.core, 0);
      assert.ok(left.reader <= reader, `reader: ${left.reader}`);
      assert.ok(left.module <= 1.1, `module: ${left.module}`);
      const two = await loaded.run({ x0: x(2) });
      const [first] = [one, two].map((each) => each[`x${layers}`].dataSync().subarray(0, width));
      assert.ok(largestDifference(first, two[`x${layers}`].dataSync().subarray(0, width)) < 1e-4);
      loaded.dispose();
      assert.deepEqual(await watch.left(), { reader: 0, core: 0, module: 0 });
    } finally {
      watch.end();
    }
  });
}

test('a large model whose file has changed is not compiled for other sizes', async () => {
  const loaded = await tl.loadModel(path);
  await loaded.run({ x0: x(1) });
  utimesSync(path, 1, 1);
  await loaded.run({ x0: x(1) });
  await assert.rejects(
    loaded.run({ x0: x(3) }),
    /products\.onnx has changed since .* reload the model/,
  );
  loaded.dispose();
});

test('a model uses the requested number of threads', async () => {
  tl.env().set('THREADS_COUNT', 2);
  const before = tl.memory().sharedModules;
  const results = [];
  for (const [threads, shared] of [
    [undefined, 1],
    [2, 1],
    [1, 0],
  ]) {
    const loaded = await tl.loadModel(bytes, { threads });
    results.push((await loaded.run({ x0: x(8) }))[`x${layers}`].dataSync());
    assert.equal(tl.memory().sharedModules - before, shared, `${threads}`);
    loaded.dispose();
  }
  assert.deepEqual(results[1], results[0]);
  assert.deepEqual(results[2], results[0]);
  for (const threads of [0, 1.5, 'two']) {
    const expected = {
      name: 'LatheError',
      message: `loadModel: threads must be a positive integer, got ${threads}`,
    };
    await assert.rejects(tl.loadModel(bytes, { threads }), expected);
  }
  tl.env().reset();
});

test('a network for images of six widths in turn is compiled once for each, and leaks nothing in the core', async () => {
  const channels = 384;
  const kernels = ['k0', 'k1', 'k2'];
  const before = tl.memory().liveObjects;
  const network = await tl.loadModel(
    model({
      inputs: [value('x0', 'float32', [1, channels, 2, 'width'])],
      outputs: [value('x3', 'float32')],
      nodes: kernels.map((kernel, at) =>
        node('Conv', [`x${at}`, kernel], [`x${at + 1}`], { pads: [1, 1, 1, 1] }),
      ),
      initializers: Object.fromEntries(
        kernels.map((name, at) => [name, random(at, [channels, channels, 3, 3], 1 / 64)]),
      ),
    }),
  );
  const round = async () => {
    for (const width of [1, 2, 3, 4, 5, 6]) {
      const { x3 } = await network.run({ x0: tl.zeros([1, channels, 2, width]) });
      x3.dispose();
    }
  };
  await round();
  // Graph and executable of the first width, which can be tuned.
  assert.equal(tl.memory().liveObjects - before, 2);
  assert.equal(await compiled(round), 0);
  network.dispose();
});

test('the first compiled module can be tuned, also if the model reads values to size outputs', async () => {
  const before = tl.memory().liveObjects;
  const reshaping = await tl.loadModel(
    model({
      inputs: [value('x', 'float32', ['n']), value('shape', 'int64', [2])],
      outputs: [value('y', 'float32')],
      nodes: [node('Reshape', ['x', 'shape'], ['z']), node('Relu', ['z'], ['y'])],
    }),
  );
  for (const shape of [
    [2, 3],
    [3, 2],
  ]) {
    const { y } = await reshaping.run({ x: tl.ones([6]), shape });
    assert.deepEqual(y.shape, shape);
    assert.equal(tl.memory().liveObjects - before, 2);
  }
  reshaping.dispose();
});
