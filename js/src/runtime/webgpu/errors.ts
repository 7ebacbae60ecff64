/** Errors of GPUs. */
import { LatheError } from '../../base/errors.js';

/** The GPU was reset, removed or destroyed: what was stored there is gone, and the next use opens it again. */
export class DeviceLostError extends LatheError {
  override get name(): string {
    return 'DeviceLostError';
  }
}

/** The memory of the GPU, or the budget for it, is exhausted. */
export class OutOfMemoryError extends LatheError {
  override get name(): string {
    return 'OutOfMemoryError';
  }
}

/** More than the GPU allows, regardless of what else is allocated. */
export class LimitError extends LatheError {
  override get name(): string {
    return 'LimitError';
  }
}

/** Asserts `asked` ≤ `limit`. Error: LimitError that names both and the limit of WebGPU. */
export function checkLimit(what: string, asked: number, limit: number, name: string): void {
  if (asked <= limit) return;
  throw new LimitError(`${what}: ${asked}, but ${name} of this GPU is ${limit}`);
}
