/** The budget of memory that each device has. */
import { OutOfMemoryError } from '../base/device_errors.js';
import { memoryBudget } from './env.js';
import { evictAll } from './evictable.js';

/** Asserts that so many bytes more are within the budget, if necessary after caches are emptied. Error: OutOfMemoryError. */
export function checkBudget(bytes: number, what: string, inUse: () => number): void {
  const isFull = () => inUse() + bytes > memoryBudget;
  if (!isFull() || (evictAll() && !isFull())) return;
  throw new OutOfMemoryError(
    `${bytes} bytes for ${what} are more than the budget of ${memoryBudget} allows, of which ${inUse()} are in use; dispose of some tensors`,
  );
}
