// Elements of 8 and 16 bits on the device `webgpu`, several of which share a word.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tl from 'tensorlathe';
import { create } from 'webgpu';
import { CoreGraph } from '../../../js/dist/core/handles.js';
import { loadWebGpu } from '../../../js/dist/runtime/webgpu/load_webgpu.js';
import { traceInto } from '../../../js/dist/trace/trace_graph.js';
import { Value } from './executables.mjs';

let webgpu;

before(async () => {
  await tl.ready();
  webgpu = await loadWebGpu();
});

const bytesEach = {
  int8: 1,
  uint8: 1,
  int16: 2,
  uint16: 2,
  float16: 2,
  bfloat16: 2,
  bool: 4,
  float32: 4,
};
const numbers = (count, first = 0) => Array.from({ length: count }, (_, at) => (first + at) % 101);

test('a tensor takes the bytes of its elements, rounded up to words', () => {
  for (const [dtype, bytes] of Object.entries(bytesEach)) {
    for (const size of [0, 1, 2, 3, 5, 1001]) {
      const before = webgpu.memory().bytes;
      const storage = webgpu.allocate(dtype, size);
      const expected = Math.max(4, Math.ceil((size * bytes) / 4) * 4);
      assert.deepEqual([storage.bytes, webgpu.memory().bytes - before], [expected, expected]);
      webgpu.free(storage);
    }
  }
});

test('parts of any size are copied to any place, and nothing else', async () => {
  for (const dtype of ['int8', 'uint16', 'float32']) {
    for (const [from, to, count] of [
      [0, 0, 40],
      [4, 8, 12],
      [0, 0, 3],
      [1, 2, 1],
      [3, 1, 2],
      [1, 0, 39],
      [5, 10, 25],
      [7, 7, 0],
    ]) {
      const source = Value.of(webgpu, dtype, numbers(40));
      const target = Value.of(webgpu, dtype, numbers(41, 50));
      webgpu.copy(dtype, source.materialize(), from, target.materialize(), to, count);
      const expected = numbers(41, 50);
      expected.splice(to, count, ...numbers(40).slice(from, from + count));
      const what = `${dtype} ${from} ${to} ${count}`;
      assert.deepEqual(Array.from(await target.read()), expected, what);
      for (const each of [source, target]) each.deallocate();
    }
  }
});

/** Compiles a function; the graph is freed. */
function compiled(specs, build, device = webgpu) {
  const graph = new CoreGraph();
  traceInto(graph, specs, build);
  const program = device.compile(graph);
  graph.free();
  return program;
}

async function outputOf(program, inputs, dtype, shape) {
  const output = new Value(webgpu, dtype, shape);
  program.run(inputs, [output]);
  const read = Array.from(await output.read());
  output.deallocate();
  return read;
}

test('threads write neighbors in one word, none of which is lost', async () => {
  const size = 20011;
  for (const [dtype, expected] of [
    ['int8', (x) => ((3 * x + 128) & 255) - 128],
    ['uint8', (x) => (3 * x) & 255],
    ['int16', (x) => 3 * x],
    ['uint16', (x) => 3 * x],
  ]) {
    const program = compiled({ x: { shape: [size], dtype } }, ({ x }) => ({ y: x.add(x).add(x) }));
    const x = Value.of(webgpu, dtype, numbers(size));
    for (let run = 0; run < 3; run += 1) {
      const y = await outputOf(program, [x], dtype, [size]);
      assert.deepEqual(y, numbers(size).map(expected), dtype);
    }
    x.deallocate();
    program.dispose();
  }
});

test('constants and temporaries are packed', async () => {
  const size = 5000; // more than is folded
  const bytes = tl.tensor(numbers(size), [size], 'uint8');
  const program = compiled({ x: { shape: [size] } }, ({ x }, g) => ({
    y: x.add(g.constant(bytes).cast('float32')).cast('uint8').cumsum(),
  }));
  assert.equal(program.metadata.constantBytes, 5120, 'a multiple of 256');
  assert.ok(
    program.metadata.entries[0].scratchBytes % 256 === 0 &&
      program.metadata.entries[0].scratchBytes < 4 * size,
  );
  const x = Value.of(webgpu, 'float32', numbers(size, 7));
  let sum = 0;
  const expected = numbers(size).map((each, at) => (sum = (sum + each + ((7 + at) % 101)) & 255));
  assert.deepEqual(await outputOf(program, [x], 'uint8', [size]), expected);
  x.deallocate();
  program.dispose();
});

test('states are packed, and changed in place', async () => {
  await tl.setDevice('webgpu');
  for (const dtype of ['uint8', 'int16', 'float16']) {
    const counter = tl.compile(
      { x: { shape: [3], dtype } },
      ({ x }, g) => {
        const total = g.variable('total', tl.tensor([1, 2, 3], [3], dtype));
        g.assign(total, total.add(x));
        return { before: total.add(0) };
      },
      { device: 'webgpu' },
    );
    const x = tl.tensor([10, 20, 30], [3], dtype);
    for (const count of [1, 2]) {
      const { before } = counter.run({ x });
      const after = counter.variable('total');
      const sums = (runs) => [1, 2, 3].map((each) => each * (1 + 10 * runs));
      assert.deepEqual(await before.array(), sums(count - 1));
      assert.deepEqual(await after.array(), sums(count));
    }
    counter.dispose();
  }
  await tl.setDevice('wasm');
});

// SwiftShader has no float16. Dawn without a GPU has all features, but computes nothing.
test('a device with shader-f16 gets f16, and constants as they are', async () => {
  const [rows, columns] = [80, 100];
  const halves = tl.tensor(numbers(rows * columns), [rows, columns], 'float16');
  const specs = { x: { shape: [3, rows], dtype: 'float16' } };
  const build = ({ x }, g) => ({ y: x.matMul(g.constant(halves)) });
  const without = compiled(specs, build).metadata;
  assert.equal(without.features, undefined);
  assert.ok(without.constantBytes >= 4 * halves.size);

  const dawn = create(['backend=null']);
  const adapter = await dawn.requestAdapter();
  const own = await adapter.requestDevice({ requiredFeatures: ['shader-f16'] });
  const { metadata } = compiled(specs, build, await loadWebGpu({ device: own }));
  assert.deepEqual(metadata.features, ['shader-f16']);
  assert.ok(metadata.constantBytes < 2 * halves.size + 256);
  const [shader] = metadata.shaders.filter((each) => each.includes('array<f16>'));
  assert.match(shader, /^enable f16;/);
  own.pushErrorScope('validation');
  for (const code of metadata.shaders) own.createShaderModule({ code });
  assert.equal(await own.popErrorScope(), null);
  own.destroy();
});
