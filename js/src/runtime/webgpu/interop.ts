/**
 * GPUBuffers of programs as values, and values as GPUBuffers, with elements as the host stores them: bool in 8 bits and int64 in 64, where
 * values have 32.
 */
import { LatheError } from '../../base/errors.js';
import { arrayTypes, type DType } from '../../tensor/dtypes.js';
import type { BufferAccess } from '../buffer_access.js';
import type { StoredValue } from '../device.js';
import { type BufferPool, bufferUsage, PooledBuffer } from './buffers.js';
import { copyBytes, runShader, shader } from './copy_bytes.js';
import type { WebGpuDevice } from './device.js';
import { storedBytesEach, wholeWords } from './elements.js';
import type { Gpu } from './gpu.js';
import type { GpuStorage } from './storage.js';

/** Whether the elements of a value are stored as the host stores them. */
export const isStoredAlike = (dtype: DType): boolean =>
  storedBytesEach(dtype) === arrayTypes[dtype].BYTES_PER_ELEMENT;

/** Bytes of elements as the host stores them, in whole words. */
export const hostBytes = (dtype: DType, size: number): number =>
  wholeWords(size * arrayTypes[dtype].BYTES_PER_ELEMENT);

/** Converts bool or integers of 64 bits as the host stores them to those of values. */
function unpack(gpu: Gpu, dtype: DType, size: number, buffers: readonly GPUBuffer[]): void {
  const element = dtype === 'bool' ? 'extractBits(b0[i / 4], i % 4 * 8, 8)' : 'b0[2 * i]';
  runShader(gpu, shader(2, `${size}u`, `b1[i] = ${element};`), buffers, size);
}

/** The reverse. */
function pack(gpu: Gpu, dtype: DType, size: number, buffers: readonly GPUBuffer[]): void {
  if (dtype !== 'bool') {
    const high = dtype === 'int64' ? 'u32(i32(b0[i]) >> 31)' : '0';
    const body = `b1[2 * i] = b0[i]; b1[2 * i + 1] = ${high};`;
    return runShader(gpu, shader(2, `${size}u`, body), buffers, size);
  }
  const parts = [0, 1, 2, 3].map((k) => {
    const at = `i * 4 + ${k}`;
    return `if (${at} < ${size}) { w = insertBits(w, b0[${at}], ${8 * k}, 8); }`;
  });
  const words = Math.ceil(size / 4);
  const body = `var w = 0u; ${parts.join(' ')} b1[i] = w;`;
  runShader(gpu, shader(2, `${words}u`, body), buffers, words);
}

/**
 * Allocates a value with the elements of a buffer: the buffer itself, which must stay until the value is freed, if `isInPlace` and
 * they are stored alike; otherwise a copy. Errors: the buffer is too small; out of memory.
 */
export function allocateFromBuffer(
  device: WebGpuDevice,
  buffer: GPUBuffer,
  value: StoredValue,
  isInPlace: boolean,
): void {
  const { dtype, shape, size } = value;
  const bytes = hostBytes(dtype, size);
  if (buffer.size < (size > 0 ? bytes : 0)) {
    throw new LatheError(
      `a GPUBuffer of ${buffer.size} bytes is too small for ${dtype} [${shape.join(',')}] of ${bytes}`,
    );
  }
  const storage = value.allocate().materialize() as GpuStorage;
  const isAlike = isStoredAlike(dtype);
  if (isInPlace && isAlike && size > 0) {
    const { gpuDevice } = device;
    const owner = {
      get isLost() {
        return device.gpuDevice !== gpuDevice;
      },
      release() {},
    };
    storage.buffer = new PooledBuffer(owner as unknown as BufferPool, buffer, buffer.size);
    return;
  }
  device.enqueue({
    begin(gpu) {
      const to = gpu.bufferOf(storage).gpuBuffer;
      gpu.errors.scoped('validation', [storage], copyError, () => {
        if (isAlike) copyBytes(gpu, buffer, 0, to, 0, size > 0 ? bytes : 0);
        else unpack(gpu, dtype, size, [buffer, to]);
      });
    },
    fail: (error) => (storage.error = error),
  });
}

const copyError = (message: string) => new LatheError(`WebGPU: copying a GPUBuffer: ${message}`);

/** The GPU, once what computes the values has been submitted. Rejects with the error of what should have written them. */
export function submitted(device: WebGpuDevice, values: readonly StoredValue[]): Promise<Gpu> {
  const storages = values.map((each) => each.materialize() as GpuStorage);
  return new Promise((resolve, fail) => {
    const begin = (gpu: Gpu) => {
      for (const each of storages) each.check();
      resolve(gpu);
    };
    device.enqueue({ begin, fail });
  });
}

/** The buffer of a value whose elements are stored alike, which its next users may change once the value is freed. */
export const bufferOfValue = (gpu: Gpu, value: StoredValue): GPUBuffer =>
  gpu.bufferOf(value.materialize() as GpuStorage).gpuBuffer;

/** Copies the elements of a value to a buffer, as the host stores them. */
export function copyToBuffer(gpu: Gpu, value: StoredValue, to: GPUBuffer): void {
  const { dtype, size } = value;
  const from = bufferOfValue(gpu, value);
  if (isStoredAlike(dtype)) copyBytes(gpu, from, 0, to, 0, size > 0 ? hostBytes(dtype, size) : 0);
  else pack(gpu, dtype, size, [from, to]);
}

export const bufferAccess = (device: WebGpuDevice): BufferAccess<GPUBuffer> => ({
  fromBuffer: (buffer, value, isInPlace) => allocateFromBuffer(device, buffer, value, isInPlace),
  expose(value, copied) {
    const from = value.materialize() as GpuStorage;
    const gpu = device.flush();
    const buffer = bufferOfValue(gpu, copied.allocate());
    copyBytes(gpu, gpu.bufferOf(from).gpuBuffer, 0, buffer, 0, from.bytes);
    return buffer;
  },
});

/** A new buffer with the elements of a value, as the host stores them; of so many bytes, or as many as they need. */
export function newBufferOf(gpu: Gpu, value: StoredValue, bytes?: number): GPUBuffer {
  const { storage, copySource, copyTarget } = bufferUsage;
  const size = Math.max(bytes ?? 0, hostBytes(value.dtype, value.size));
  const buffer = gpu.device.createBuffer({ size, usage: storage | copySource | copyTarget });
  copyToBuffer(gpu, value, buffer);
  return buffer;
}
