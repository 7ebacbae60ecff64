// A thousand models come and go: nothing of them is left.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as tl from 'tensorlathe';
import { measureMemory } from '../memory_run.mjs';
import { blobs, rejects, smallModel } from '../lib.mjs';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

/** Bytes of buffers that garbage collection leaves. */
async function bufferBytes() {
  for (let round = 0; round < 5; ++round) {
    collect();
    await new Promise((done) => setTimeout(done, 10));
  }
  return process.memoryUsage().arrayBuffers;
}

test('a thousand models leave no object, module, thread or byte behind', async () => {
  await measureMemory(tl, 1);
  const bytes = await bufferBytes();
  const { before, after } = await measureMemory(tl, 1000);
  assert.deepEqual(after, before);
  assert.deepEqual(
    [after.liveObjects, after.modules, after.moduleBytes, after.threads],
    [0, 0, 0, 0],
  );
  const grown = (await bufferBytes()) - bytes;
  assert.ok(grown < 100_000, `${grown} bytes of buffers`);
});

/** What is alive, whatever the core has grown to. */
function counts() {
  const { coreBytes: _, ...rest } = tl.memory();
  return rest;
}

test('counts follow what is alive, failures included', async () => {
  const start = counts();
  const model = smallModel();
  model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'sgd' });
  const one = counts();
  assert.equal(one.modules, start.modules + 1);
  assert.ok(one.moduleBytes >= start.moduleBytes + 65536);
  await model.fit(...blobs(30), { batchSize: 7 });
  assert.equal(counts().modules, one.modules, 'another batch size takes the place');
  await rejects(model.fit([[1]], [0]), /x has shape/);
  assert.equal(counts().modules, one.modules);
  model.dispose();
  model.dispose();
  assert.deepEqual(counts(), start);
});
