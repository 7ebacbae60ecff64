/**
 * GPUBuffers of programs as values, and values as GPUBuffers, with elements as the host stores them: of 8, 16, 32 or 64 bits, where
 * values have 32.
 */
import { LatheError } from '../../base/errors.js';
import { arrayTypes, type DType } from '../../tensor/dtypes.js';
import type { BufferAccess } from '../buffer_access.js';
import type { StoredValue } from '../device.js';
import { type BufferPool, bufferUsage, PooledBuffer } from './buffers.js';
import { Commands } from './commands.js';
import type { WebGpuDevice } from './device.js';
import { storedBytes, wholeWords } from './elements.js';
import type { Gpu } from './gpu.js';
import type { GpuStorage } from './storage.js';

const bitsOf = (dtype: DType) => 8 * arrayTypes[dtype].BYTES_PER_ELEMENT;

/** Whether the elements of a value are stored as the host stores them. */
export const isStoredAlike = (dtype: DType): boolean => bitsOf(dtype) === 32;

/** Bytes of elements as the host stores them, in whole words. */
export const hostBytes = (dtype: DType, size: number): number =>
  wholeWords(size * arrayTypes[dtype].BYTES_PER_ELEMENT);

const lanes = 64;
const maxGroups = 65535;

/** A shader from b0 to b1, an invocation for each of `count` words. */
const shader = (count: number, body: string) => `
@group(0) @binding(0) var<storage, read> b0: array<u32>;
@group(0) @binding(1) var<storage, read_write> b1: array<u32>;
@compute @workgroup_size(${lanes})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x + id.y * ${lanes * maxGroups}u;
  if (i < ${count}u) { ${body} }
}`;

/** The shader from elements as the host stores them to those of values. */
function unpacking(dtype: DType, size: number): string {
  const bits = bitsOf(dtype);
  if (bits === 64) return shader(size, 'b1[i] = b0[2 * i];');
  const per = 32 / bits;
  const type = dtype === 'int8' || dtype === 'int16' ? 'i32' : 'u32';
  const word = `${type}(b0[i / ${per}])`;
  return shader(size, `b1[i] = u32(extractBits(${word}, ${bits} * (i % ${per}), ${bits}));`);
}

/** The reverse. */
function packing(dtype: DType, size: number): string {
  const bits = bitsOf(dtype);
  if (bits === 64) {
    const high = dtype === 'int64' ? 'u32(i32(b0[i]) >> 31)' : '0';
    return shader(size, `b1[2 * i] = b0[i]; b1[2 * i + 1] = ${high};`);
  }
  const per = 32 / bits;
  const parts = Array.from({ length: per }, (_, k) => {
    const at = `i * ${per} + ${k}`;
    return `if (${at} < ${size}) { w = insertBits(w, b0[${at}], ${bits * k}, ${bits}); }`;
  });
  return shader(Math.ceil(size / per), `var w = 0u; ${parts.join(' ')} b1[i] = w;`);
}

function convert(gpu: Gpu, text: string, from: GPUBuffer, to: GPUBuffer, count: number): void {
  if (count === 0) return;
  const pipeline = gpu.pipelines.get('convert', text, ['read', 'read_write']);
  gpu.pipelines.force(pipeline);
  const { device } = gpu;
  const entries = [from, to].map((buffer, binding) => ({ binding, resource: { buffer } }));
  const commands = new Commands(device, 'convert');
  const groups = Math.ceil(count / lanes);
  const bindings = device.createBindGroup({ layout: pipeline.layout, entries });
  const size = [Math.min(groups, maxGroups), Math.ceil(groups / maxGroups)] as const;
  commands.dispatch(pipeline.compiled!, bindings, size);
  commands.submit();
  gpu.pipelines.release(pipeline);
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
        if (isAlike) copy(gpu, buffer, to, size > 0 ? bytes : 0);
        else convert(gpu, unpacking(dtype, size), buffer, to, size);
      });
    },
    fail: (error) => (storage.error = error),
  });
}

const copyError = (message: string) => new LatheError(`WebGPU: copying a GPUBuffer: ${message}`);

function copy(gpu: Gpu, from: GPUBuffer, to: GPUBuffer, bytes: number): void {
  const commands = new Commands(gpu.device, 'copy');
  commands.copy(from, 0, to, 0, bytes);
  commands.submit();
}

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
  if (isStoredAlike(dtype)) copy(gpu, from, to, size > 0 ? storedBytes(dtype, size) : 0);
  else
    convert(
      gpu,
      packing(dtype, size),
      from,
      to,
      Math.ceil((size * Math.min(bitsOf(dtype), 32)) / 32),
    );
}

export const bufferAccess = (device: WebGpuDevice): BufferAccess<GPUBuffer> => ({
  fromBuffer: (buffer, value, isInPlace) => allocateFromBuffer(device, buffer, value, isInPlace),
  expose(value, copied) {
    const from = value.materialize() as GpuStorage;
    const gpu = device.flush();
    const buffer = bufferOfValue(gpu, copied.allocate());
    copy(gpu, gpu.bufferOf(from).gpuBuffer, buffer, from.bytes);
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
