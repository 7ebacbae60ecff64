/** Values in GPUBuffers of the program, and the reverse. Knows no device. */
import type { DType } from '../tensor/dtypes.js';
import type { Device } from './device.js';
import type { DeviceValue } from './device_value.js';

/** A value and the buffer in which the device stores its elements. */
export interface ExposedValue<Buffer extends object = object> {
  readonly value: DeviceValue;
  readonly buffer: Buffer;
}

/** What devices with GPUBuffers have in addition. */
export interface BufferAccess<Buffer extends object = object> {
  /**
   * A value with the elements of a buffer of the device; `isInPlace`: in that buffer, which must stay until the value is freed, if
   * it stores elements as the host does. Errors: the buffer is too small; out of memory.
   */
  fromBuffer(
    buffer: Buffer,
    type: { readonly dtype: DType; readonly shape: readonly number[] },
    isInPlace: boolean,
  ): DeviceValue;
  /** A copy of a value for work that the program submits from now on. Errors: those of the value; out of memory. */
  expose(value: DeviceValue): ExposedValue<Buffer>;
}

/** Undefined for other devices. */
export const bufferAccessOf = (device: Device): BufferAccess | undefined =>
  (device as { buffers?: BufferAccess }).buffers;
