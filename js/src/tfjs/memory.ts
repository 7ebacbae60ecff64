/** What is alive, in the words of TensorFlow.js and ours. */
import { memory as ours, type MemoryCounts } from '../runtime/memory.js';
import { tensorCounts, type TensorCounts } from '../tensor/scopes.js';

export interface MemoryInfo extends TensorCounts, MemoryCounts {
  /** Whether `numBytes` may be wrong: never. */
  unreliable: boolean;
  reasons: string[];
}

/** Tensors that were not disposed, and what lives outside the memory that JavaScript counts. */
export const memory = (): MemoryInfo => ({
  ...tensorCounts(),
  ...ours(),
  unreliable: false,
  reasons: [],
});
