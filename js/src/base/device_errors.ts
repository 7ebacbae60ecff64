/** Errors of devices: of GPUs, and of memory. */
import { LatheError } from './errors.js';

/** The GPU was reset, removed or destroyed: what was stored there is gone, and the next use opens it again. */
export class DeviceLostError extends LatheError {
  override get name(): string {
    return 'DeviceLostError';
  }
}

/** The memory of a device, or the budget for it, is exhausted. */
export class OutOfMemoryError extends LatheError {
  override get name(): string {
    return 'OutOfMemoryError';
  }
}

/** More than the device allows, regardless of what else is allocated. */
export class LimitError extends LatheError {
  override get name(): string {
    return 'LimitError';
  }
}
