// Matrix products with 4-bit and 8-bit weights of all sizes equal those of ONNX Runtime Web.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ort from 'onnxruntime-web';
import * as tl from 'tensorlathe';
import { model, node, random, tensor, value } from '../../onnx/write.mjs';

/** Pseudo-random bytes. */
const noise = (length, seed) =>
  Uint8Array.from({ length }, (_, k) => Math.imul(k + seed, 2654435761) >>> 24);

function product({ rows, depth, columns, bits, block, hasZeros }) {
  const blocks = Math.ceil(depth / block);
  const bytes = (block * bits) / 8;
  const initializers = {
    w: tensor('uint8', noise(columns * blocks * bytes, 3), [columns, blocks, bytes]),
    s: random(2, [columns, blocks]),
  };
  const perColumn = Math.ceil((blocks * bits) / 8);
  if (hasZeros)
    initializers.z = tensor('uint8', noise(columns * perColumn, 5), [columns * perColumn]);
  const attributes = { K: depth, N: columns, bits, block_size: block };
  return model({
    inputs: [value('x', 'float32', [rows, depth])],
    outputs: [value('y', 'float32', [rows, columns])],
    nodes: [
      node('MatMulNBits', ['x', ...Object.keys(initializers)], ['y'], attributes, {
        domain: 'com.microsoft',
      }),
    ],
    initializers,
    opsets: { 'com.microsoft': 1 },
  });
}

const allRows = [1, 2, 4, 5, 7, 16, 40];
const sizes = [
  [96, 72],
  [75, 19],
  [257, 33],
  [512, 5],
];
for (const threads of [1, 2, 3]) {
  test(`rows, blocks and zeros on ${threads} threads`, async () => {
    ort.env.wasm.numThreads = 1;
    tl.env().set('THREADS_COUNT', threads);
    tl.env().set('THREADS_MIN_WORK', 0);
    let at = threads;
    for (const bits of [4, 8]) {
      for (const block of [16, 32, 64, 128, 256]) {
        for (const hasZeros of [false, true]) {
          const rows = allRows[at % allRows.length];
          const [depth, columns] = sizes[at++ % sizes.length];
          const what = { rows, depth, columns, bits, block, hasZeros };
          const bytes = product(what);
          const x = random(7, [rows, depth]).data;
          const loaded = await tl.loadModel(bytes);
          const { y } = await loaded.run({ x: tl.tensor(x, [rows, depth]) });
          const options = { executionProviders: ['wasm'], logSeverityLevel: 4 };
          const session = await ort.InferenceSession.create(bytes, options);
          const expected = await session.run({ x: new ort.Tensor('float32', x, [rows, depth]) });
          const largest = expected.y.data.reduce((max, each) => Math.max(max, Math.abs(each)), 0);
          for (const [k, each] of y.dataSync().entries()) {
            const off = Math.abs(each - expected.y.data[k]) / largest;
            assert.ok(off < 1e-4, `${JSON.stringify(what)}: y[${k}] is off by ${off}`);
          }
          loaded.dispose();
          await session.release();
        }
      }
    }
    tl.env().reset();
  });
}

test('each block of a row is quantized by its largest magnitude', async () => {
  const [depth, columns, block] = [96, 40, 32];
  const bytes = noise(columns * depth, 3);
  const x = random(7, [1, depth]).data;
  for (let k = 0; k < block; k++) {
    x[k] *= 1e6;
    for (let column = 0; column < columns; column++) bytes[column * depth + k] = 128;
  }
  const scales = new Float32Array((columns * depth) / block).fill(0.01);
  const loaded = await tl.loadModel(
    model({
      inputs: [value('x', 'float32', [1, depth])],
      outputs: [value('y', 'float32', [1, columns])],
      nodes: [
        node(
          'MatMulNBits',
          ['x', 'w', 's'],
          ['y'],
          { K: depth, N: columns, bits: 8, block_size: block },
          { domain: 'com.microsoft' },
        ),
      ],
      initializers: {
        w: tensor('uint8', bytes, [columns, depth / block, block]),
        s: tensor('float32', scales, [columns, depth / block]),
      },
      opsets: { 'com.microsoft': 1 },
    }),
  );
  const { y } = await loaded.run({ x: tl.tensor(x, [1, depth]) });
  for (const [column, each] of y.dataSync().entries()) {
    let expected = 0;
    for (let k = block; k < depth; k++) expected += (bytes[column * depth + k] - 128) * x[k] * 0.01;
    assert.ok(Math.abs(each - expected) < 1e-3, `y[${column}]: ${each}, not ${expected}`);
  }
  loaded.dispose();
});
