// `setDevice` with a GPUDevice of the program's own; classes of errors, the budget and what `env` says.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, test } from 'node:test';
import * as tl from 'tensorlathe/tfjs';

const gpu = createRequire(new URL('../../../js/dist/index.js', import.meta.url))('webgpu').create(
  [],
);
const requestDevice = async () => (await gpu.requestAdapter()).requestDevice();

after(() => tl.setDevice('wasm'));

test('options that are wrong', async () => {
  await assert.rejects(tl.setDevice('wasm', {}), /device "wasm" has no options/);
  await assert.rejects(tl.setDevice('webgpu', { power: 1 }), /there is no option power/);
});

test("the program's own device is used; another one after its loss", async () => {
  const own = await requestDevice();
  let submissions = 0;
  const { submit } = own.queue;
  own.queue.submit = (...buffers) => {
    submissions += 1;
    return submit.apply(own.queue, buffers);
  };
  await tl.setDevice('webgpu', { device: own });
  assert.equal(tl.env().report().WEBGPU.value, true);
  assert.deepEqual(Array.from(await tl.tensor([1, 2]).mul(2).data()), [2, 4]);
  assert.ok(submissions > 0);

  const other = await requestDevice();
  await assert.rejects(tl.setDevice('webgpu', { device: other }), /in use with another GPUDevice/);
  await tl.setDevice('webgpu', { device: own });
  await tl.setDevice('webgpu', { powerPreference: 'low-power', device: own });

  own.destroy();
  await own.lost;
  await assert.rejects(tl.tensor([1, 2]).mul(2).data(), (error) => {
    assert.ok(error instanceof tl.DeviceLostError && error instanceof tl.LatheError);
    return true;
  });
  await tl.setDevice('webgpu', { device: other });
  assert.deepEqual(Array.from(await tl.tensor([1, 2]).mul(3).data()), [3, 6]);
});

test('the budget is one of each device', async () => {
  for (const device of ['wasm', 'webgpu']) {
    await tl.setDevice(device);
    const ones = tl.tensor(new Float32Array(1000).fill(1));
    const large = ones.square();
    await large.data();
    tl.env().set('MEMORY_BUDGET', 7999); // whatever else is collected
    assert.equal(tl.memory().budget, 7999);
    const more = large.add(1);
    await assert.rejects(more.data(), (error) => {
      assert.ok(error instanceof tl.OutOfMemoryError, String(error));
      assert.match(
        error.message,
        /bytes .* than the budget of \d+ allows, of which \d+ are in use/,
      );
      return true;
    });
    tl.env().reset();
    assert.equal((await more.data())[0], 2);
    ones.dispose(); // reachable until here
  }
  assert.throws(() => tl.env().set('MEMORY_BUDGET', -1), /bytes, or Infinity, got -1/);
  tl.env().set('MEMORY_BUDGET', Infinity);
});

test('more than the GPU allows', async () => {
  await tl.setDevice('webgpu');
  const { maxBufferSize } = (await requestDevice()).limits; // default
  const data = () =>
    tl
      .scalar(1)
      .mul(tl.ones([2 * maxBufferSize]))
      .data();
  await assert.rejects(data(), (error) => error instanceof tl.LimitError);
});
