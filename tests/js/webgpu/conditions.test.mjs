// Branches and loops that depend on data, and integers of 64 bits, on the device `webgpu`.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tl from 'tensorlathe';
import { CoreGraph } from '../../../js/dist/core/handles.js';
import { loadWebGpu } from '../../../js/dist/runtime/webgpu/load_webgpu.js';
import { traceInto } from '../../../js/dist/trace/trace_graph.js';
import { Value } from './executables.mjs';

let webgpu;

before(async () => {
  await tl.ready();
  webgpu = await loadWebGpu();
});

/** The elements of the outputs of a traced function, for values of the device. */
async function run(specs, build, inputs, outputs) {
  const graph = new CoreGraph();
  traceInto(graph, specs, build);
  const program = webgpu.compile(graph);
  graph.free();
  const values = outputs.map(([dtype, shape]) => new Value(webgpu, dtype, shape));
  const given = inputs.map(([dtype, data]) => Value.of(webgpu, dtype, data));
  program.run(given, values);
  const read = await Promise.all(values.map((each) => each.read()));
  for (const each of [...values, ...given]) each.deallocate();
  program.dispose();
  return read.map((each) => Array.from(each));
}

/** Doubles x until it exceeds a limit. */
const doubled = ({ x, limit }, g) => {
  const condition = (x) => x.less(limit);
  const [y, steps] = g.whileLoop(
    (x) => condition(x),
    (x, steps) => [x.mul(2), steps.add(1)],
    [x, g.constant(tl.scalar(0, 'int32'))],
  );
  return { y, steps };
};

for (const [limit, steps] of [
  [0, 0],
  [2, 1],
  [100, 7],
  [1e30, 100],
]) {
  test(`a loop ends after ${steps} steps`, async () => {
    const specs = { x: { shape: [] }, limit: { shape: [] } };
    const inputs = [
      ['float32', [1]],
      ['float32', [limit]],
    ];
    const outputs = [
      ['float32', []],
      ['int32', []],
    ];
    const [y, count] = await run(specs, doubled, inputs, outputs);
    assert.deepEqual([y, count], [[2 ** steps], [steps]]);
  });
}

for (const chosen of [true, false]) {
  test(`a branch that ${chosen} chooses runs, and the loop in it`, async () => {
    const build = ({ on, x }, g) => ({
      y: g.cond(
        on,
        () => doubled({ x, limit: g.constant(50) }, g).y,
        () => x.neg(),
      ),
    });
    const specs = { on: { shape: [], dtype: 'bool' }, x: { shape: [] } };
    const inputs = [
      ['bool', [Number(chosen)]],
      ['float32', [3]],
    ];
    const [y] = await run(specs, build, inputs, [['float32', []]]);
    assert.deepEqual(y, [chosen ? 96 : -3]);
  });
}

test('what is queued after a long loop waits for it', async () => {
  const specs = { x: { shape: [] }, limit: { shape: [] } };
  const inputs = [
    ['float32', [1]],
    ['float32', [1e9]],
  ];
  const outputs = [
    ['float32', []],
    ['int32', []],
  ];
  const both = await Promise.all([1, 2].map(() => run(specs, doubled, inputs, outputs)));
  assert.deepEqual(both, [
    [[2 ** 30], [30]],
    [[2 ** 30], [30]],
  ]);
});

test('integers of 64 bits are 32 bits inside, and checked where they enter', async () => {
  const specs = { x: { shape: [3], dtype: 'int64' } };
  const build = ({ x }) => ({ y: x.add(x) });
  const [y] = await run(specs, build, [['int64', [1n, -2n, 2n ** 29n]]], [['int64', [3]]]);
  assert.deepEqual(y, [2n, -4n, 2n ** 30n]);
  assert.throws(
    () => Value.of(webgpu, 'int64', [2n ** 31n]),
    /2147483648 is no int64 that WebGPU has: its integers have 32 bits; compute it on wasm/,
  );
});

test('short integers and float16 keep their values', async () => {
  const specs = { a: { shape: [2], dtype: 'uint8' }, b: { shape: [2], dtype: 'int16' } };
  const build = ({ a, b }) => ({ y: a.add(a), z: b.neg(), h: b.cast('float16').cast('float32') });
  const inputs = [
    ['uint8', [200, 3]],
    ['int16', [-32768, 5]],
  ];
  const outputs = [
    ['uint8', [2]],
    ['int16', [2]],
    ['float32', [2]],
  ];
  const [y, z, h] = await run(specs, build, inputs, outputs);
  assert.deepEqual(
    [y, z, h],
    [
      [144, 6],
      [-32768, -5],
      [-32768, 5],
    ],
  );
});
