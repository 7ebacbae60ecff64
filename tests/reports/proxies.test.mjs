// Vue and MobX put proxies around what they observe: tensors report that, instead of "Cannot read private member".
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import * as tf from 'tensorlathe/tfjs';

test('a tensor wrapped by a proxy is an error that names the fix', async () => {
  const x = new Proxy(tl.tensor([1, 2]), {});
  const error = { name: 'LatheError', message: /behind a proxy.*markRaw/ };
  assert.deepEqual(x.shape, [2]);
  for (const use of [
    () => x.dataSync(),
    () => x.arraySync(),
    () => x.mul(2),
    () => tf.add(x, 1),
    () => tf.tensor(x),
    () => x.dispose(),
  ]) {
    assert.throws(use, error);
  }
  await assert.rejects(async () => x.data(), error);
});
