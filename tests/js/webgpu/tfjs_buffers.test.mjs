// GPUBuffers in programs for TensorFlow.js: tensors of them, in place or copied, and `dataToGPU`.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as tf from 'tensorlathe/tfjs';

let gpu;

before(async () => {
  await tf.setBackend('webgpu');
  gpu = tf.backend().device;
});
after(() => tf.setBackend('wasm'));

const counts = () => {
  const { numTensors, devices } = tf.memory();
  const { bytes, buffers } = devices.webgpu;
  return { numTensors, bytes, buffers };
};

function bufferOf(data) {
  const buffer = gpu.createBuffer({ size: data.byteLength, usage: 4 | 8 | 128 });
  gpu.queue.writeBuffer(buffer, 0, data);
  return buffer;
}

async function wordsOf(buffer, Words, length) {
  const staging = gpu.createBuffer({ size: 4 * length, usage: 1 | 8 });
  const commands = gpu.createCommandEncoder();
  commands.copyBufferToBuffer(buffer, 0, staging, 0, 4 * length);
  gpu.queue.submit([commands.finish()]);
  await staging.mapAsync(1);
  return Array.from(new Words(staging.getMappedRange()));
}

test('tensors of buffers', async () => {
  const before = counts();
  const floats = bufferOf(Float32Array.of(1, 2, 3, 4));
  const copied = tf.tensor({ buffer: floats }, [2, 2]);
  const shared = tf.tensor({ buffer: floats, zeroCopy: true }, [2, 2], 'float32');
  const row = tf.tensor1d({ buffer: floats, zeroCopy: true });
  const square = tf.tensor2d({ buffer: floats }, [2, 2]);
  const whole = tf.tensor({ buffer: bufferOf(Int32Array.of(5, -6)) }, [2], 'int32');
  gpu.queue.writeBuffer(floats, 0, Float32Array.of(10));
  assert.deepEqual(await copied.array(), [
    [1, 2],
    [3, 4],
  ]);
  assert.deepEqual(await square.array(), [
    [1, 2],
    [3, 4],
  ]);
  assert.deepEqual(await shared.array(), [
    [10, 2],
    [3, 4],
  ]);
  assert.deepEqual(await row.array(), [10, 2, 3, 4]);
  assert.deepEqual([whole.dtype, await whole.array()], ['int32', [5, -6]]);
  const product = tf.matMul(shared, copied);
  assert.deepEqual(await product.array(), [
    [16, 28],
    [15, 22],
  ]);
  tf.dispose([copied, shared, row, square, whole, product]);
  assert.deepEqual(counts(), before);
  // The buffer is that of the program.
  assert.deepEqual(await wordsOf(floats, Float32Array, 4), [10, 2, 3, 4]);
});

test('what cannot be a tensor', () => {
  const buffer = bufferOf(Float32Array.of(1, 2));
  assert.throws(() => tf.tensor({ buffer }, [2], 'bool'), /only supports 'float32'\|'int32' dtype/);
  assert.throws(() => tf.tensor({ buffer }, [3]), /8 bytes is too small for float32 \[3\]/);
});

async function exposeTensors() {
  const x = tf.tensor2d([1, -2, 3, 4], [2, 2]);
  const pending = tf.tidy(() => tf.relu(tf.add(x, 1)));
  const { tensorRef, buffer } = pending.dataToGPU();
  assert.deepEqual([tensorRef.shape, tensorRef.dtype], [[2, 2], 'float32']);
  assert.deepEqual(await wordsOf(buffer, Float32Array, 4), [2, 0, 4, 5]);
  const integers = tf.tensor1d([7, 8], 'int32');
  const whole = integers.dataToGPU();
  assert.deepEqual(await wordsOf(whole.buffer, Int32Array, 2), [7, 8]);
  const truth = tf.greater(x, 0);
  const bits = truth.dataToGPU();
  assert.deepEqual(await wordsOf(bits.buffer, Int32Array, 4), [1, 0, 1, 1]);
  // Elements that the program changes are those of the tensor.
  gpu.queue.writeBuffer(buffer, 0, Float32Array.of(9));
  assert.deepEqual(Array.from(await tensorRef.data()), [9, 0, 4, 5]);
  assert.deepEqual(Array.from(await pending.data()), [2, 0, 4, 5]);
  tf.dispose([x, pending, integers, tensorRef, whole.tensorRef, truth, bits.tensorRef]);
}

test('dataToGPU', async () => {
  await exposeTensors();
  // Operations are compiled now.
  const before = counts();
  await exposeTensors();
  assert.deepEqual(counts(), before);
});

test('on wasm there are no buffers', async () => {
  await tf.setBackend('wasm');
  const x = tf.ones([2]);
  assert.throws(() => x.dataToGPU(), /in CPU memory; use data\(\)/);
  const buffer = bufferOf(Float32Array.of(1, 2));
  assert.throws(() => tf.tensor({ buffer }), /needs the backend webgpu/);
  await tf.setBackend('webgpu');
});
