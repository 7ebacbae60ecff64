/** Memory statistics of TensorFlow.js and of this package. */
import { memory as ours, type MemoryCounts } from '../../devices/memory.js';
import { tensorCounts, type TensorCounts } from '../../tensor/live_tensors.js';

export interface MemoryInfo extends TensorCounts, MemoryCounts {
  /** Whether `numBytes` may be wrong: never. */
  unreliable: boolean;
  reasons: string[];
}

/** Live tensors, and memory outside the JavaScript heap. */
export const memory = (): MemoryInfo => ({
  ...tensorCounts(),
  ...ours(),
  unreliable: false,
  reasons: [],
});
