// Unreachable tensors are freed where a program waits, without `dispose`.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import * as tf from 'tensorlathe/tfjs';

await tf.ready();
afterEach(() => tf.env().set('MEMORY_BUDGET', Infinity));

const size = 2 ** 20; // 4 MiB
const inUse = () => tf.memory().heapBytes;
const x = tf.tensor(new Float32Array(size)).square();
await x.data();

/** The maximum of bytes in use in a loop that disposes of nothing. */
async function loop(count, wait) {
  let peak = 0;
  for (let at = 0; at < count; at += 1) {
    const y = x.add(at).mul(2);
    y.sum().dataSync();
    peak = Math.max(peak, inUse());
    await wait(y);
  }
  return peak;
}

test('a loop that awaits nextFrame has less than 512 MiB', async () => {
  const peak = await loop(300, tf.nextFrame);
  assert.ok(peak < 2 ** 29, `${peak} bytes`);
});

test('a loop that awaits data stays in a budget', async () => {
  tf.env().set('MEMORY_BUDGET', inUse() + 16 * 4 * size);
  await loop(100, () => tf.scalar(1).add(1).data());
});

test('what is reachable is an error, beyond the budget only', async () => {
  const budget = inUse() + 32 * 4 * size;
  tf.env().set('MEMORY_BUDGET', budget);
  const all = [];
  const grow = async () => {
    for (;;) {
      const y = x.add(all.length);
      await y.data();
      all.push(y);
    }
  };
  await assert.rejects(grow(), { name: 'OutOfMemoryError' });
  assert.ok(all.length >= 31, `${all.length} tensors`);
  tf.dispose(all);
  await x.add(1).data();
});
