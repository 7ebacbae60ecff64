/** Checks of the limits of a GPU. */
import { LimitError } from '../../base/device_errors.js';

/** Asserts `asked` ≤ `limit`. Error: LimitError that names both and the limit of WebGPU. */
export function checkLimit(what: string, asked: number, limit: number, name: string): void {
  if (asked <= limit) return;
  throw new LimitError(`${what}: ${asked}, but ${name} of this GPU is ${limit}`);
}
