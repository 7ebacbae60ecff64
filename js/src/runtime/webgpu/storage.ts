/** The elements of a value on a GPU. */
import { DeviceLostError } from '../../base/device_errors.js';
import type { LatheError } from '../../base/errors.js';
import type { Storage } from '../device.js';
import type { PooledBuffer } from './buffers.js';

export class GpuStorage implements Storage {
  /** Its buffer from the first use on; after a loss one of the lost GPU. */
  buffer: PooledBuffer | undefined;
  /** Why its elements are not what the program asked for. */
  error: LatheError | undefined;
  /** What is written again after a loss, as stored. */
  backup: Uint8Array | undefined;

  constructor(readonly bytes: number) {}

  /** Whether the GPU that had the elements is lost. */
  get isLost(): boolean {
    return this.buffer?.pool.isLost === true;
  }

  /** Errors: that of its computation; DeviceLostError. */
  check(): void {
    if (this.error !== undefined) throw this.error;
    if (!this.isLost) return;
    throw new DeviceLostError('the GPU was lost, and with it the elements of this tensor');
  }

  /** As if just allocated, before all elements are written again. */
  reset(): void {
    this.error = undefined;
    if (!this.isLost && !this.buffer?.isInvalid) return;
    this.buffer!.release();
    this.buffer = undefined;
  }
}
