// What programs ask the engine of TensorFlow.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as tl from 'tensorlathe/tfjs';

await tl.ready();

test('backends answer by their names', async () => {
  assert.equal(tl.getBackend(), 'lathe');
  assert.equal(await tl.setBackend('webgl'), false);
  assert.equal(tl.getBackend(), 'lathe');
  assert.equal(await tl.setBackend('wasm'), true);
  assert.equal(tl.getBackend(), 'wasm');
  await assert.rejects(tl.setBackend('abacus'), /Backend name 'abacus' not found in registry/);
  assert.equal(await tl.setBackend('lathe'), true);
  assert.equal(tl.backend().epsilon(), 1e-7);
});

test('memory counts tensors and what is ours', () => {
  const before = tl.memory();
  const x = tl.tensor([1, 2, 3]);
  const after = tl.memory();
  assert.equal(after.numTensors - before.numTensors, 1);
  assert.equal(after.numBytes - before.numBytes, 12);
  assert.equal(after.unreliable, false);
  assert.ok(after.coreBytes > 0);
  x.dispose();
});

test('a profile lists every operation', async () => {
  const x = tl.tensor([1, 2, 3]);
  const { kernels, newTensors, result } = await tl.profile(() => tl.tidy(() => x.square().abs()));
  assert.deepEqual(
    kernels.map(({ name, outputShapes }) => [name, outputShapes]),
    [
      ['Square', [[3]]],
      ['Abs', [[3]]],
    ],
  );
  assert.equal(newTensors, 1);
  tl.dispose([x, result]);
});

test('time counts what was written down', async () => {
  let y;
  const { kernelMs, wallMs } = await tl.time(() => (y = tl.ones([50]).square()));
  assert.ok(kernelMs > 0 && kernelMs <= wallMs);
  y.dispose();
});

test('debug mode throws where a number is not finite', (context) => {
  context.mock.method(console, 'warn', () => {});
  const log = context.mock.method(console, 'log', () => {});
  const x = tl.tensor([1, 0]);
  tl.enableDebugMode();
  try {
    x.square().dispose();
    assert.match(
      log.mock.calls[0].arguments[0],
      /^Square [\d.]+ ms float32 \[2\] <- float32 \[2\]$/,
    );
    assert.throws(() => x.log(), /Found -Infinity in the result of 'Log', float32 \[2\]/);
    assert.throws(() => tl.tensor([NaN]), /A tensor of type float32 being made contains NaN/);
  } finally {
    tl.env().set('DEBUG', false);
  }
  x.log().dispose();
  x.dispose();
});

test('the variables of the engine, by name', () => {
  const v = tl.variable(tl.scalar(3), true, 'three');
  assert.equal(tl.engine().registeredVariables.three, v);
  assert.throws(() => tl.variable(tl.scalar(4), true, 'three'), /already registered/);
  tl.disposeVariables();
  assert.deepEqual(tl.engine().registeredVariables, {});
});
