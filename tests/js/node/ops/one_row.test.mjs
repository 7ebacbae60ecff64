// One row times large constants, read at several offsets at once: float32 and float16 of all sizes, on threads too.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { random } from '../../onnx/write.mjs';

/** Odd sizes up to `max`. */
const oddSizes = (count, max, seed) =>
  Array.from({ length: count }, (_, k) => 1 + 2 * (((k + 1) * seed) % (max >> 1)));

/** float16 numbers of all exponents and both signs. */
const float16s = (shape) => {
  const count = shape[0] * shape[1];
  return Float32Array.from({ length: count }, (_, k) => {
    const sign = k % 3 === 0 ? -1 : 1;
    return sign * ((k * 389) % 1024) * 2 ** ((k % 19) - 14);
  });
};

const constants = { floats: (shape) => random(5, shape).data, float16s };

for (const threads of [1, 2, 3]) {
  for (const [kind, constant] of Object.entries(constants)) {
    test(`one row times ${kind} on ${threads} threads`, async () => {
      tl.env().set('THREADS_COUNT', threads);
      tl.env().set('THREADS_MIN_WORK', 0);
      const depths = oddSizes(8, 400, 37);
      for (const [at, columns] of oddSizes(8, 500, 61).entries()) {
        const depth = depths[at];
        const [x, w] = [random(3, [1, depth]).data, constant([depth, columns])];
        const f = tl.compile({ x: [1, depth], s: [1, columns] }, ({ x, s }, g) => ({
          y: x
            .matMul(g.constant(tl.tensor(w, [depth, columns])))
            .add(s)
            .relu(),
        }));
        const s = random(9, [1, columns]).data;
        const feeds = { x: tl.tensor(x, [1, depth]), s: tl.tensor(s, [1, columns]) };
        const y = (await f.runAsync(feeds)).y.dataSync();
        for (let j = 0; j < columns; j++) {
          let [sum, size] = [s[j], Math.abs(s[j])];
          for (let k = 0; k < depth; k++) {
            sum += x[k] * w[k * columns + j];
            size += Math.abs(x[k] * w[k * columns + j]);
          }
          const off = Math.abs(y[j] - Math.max(sum, 0));
          assert.ok(
            off <= 1e-5 * size,
            `[1,${depth}] x [${depth},${columns}], column ${j}: ${off}`,
          );
        }
        f.dispose();
      }
    });
  }
}
