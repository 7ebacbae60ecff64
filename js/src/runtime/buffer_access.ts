/** Values in GPUBuffers of the program, and the reverse. Knows no device. */
import type { Device, StoredValue } from './device.js';

/** What devices with GPUBuffers have in addition. */
export interface BufferAccess<Buffer extends object = object> {
  /**
   * Allocates a value with the elements of a buffer of the device; `isInPlace`: in that buffer, which must stay until the value is
   * freed, if it stores elements as the host does. Errors: the buffer is too small; out of memory.
   */
  fromBuffer(buffer: Buffer, value: StoredValue, isInPlace: boolean): void;
  /**
   * Allocates `copy` with the elements of a value of its type, and returns its buffer for work that the program submits from now
   * on. Errors: those of the value; out of memory.
   */
  expose(value: StoredValue, copy: StoredValue): Buffer;
}

/** Undefined for other devices. */
export const bufferAccessOf = (device: Device): BufferAccess | undefined =>
  (device as { buffers?: BufferAccess }).buffers;
