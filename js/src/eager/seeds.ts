/** Seeds of random numbers for which nobody gave one. Functions that are recorded have others at each call. */
import { elementCount } from '../base/shape.js';
import { HeapValue } from '../runtime/heap_value.js';
import { tensor } from '../tensor/create.js';
import type { Tensor } from '../tensor/tensor.js';

/** A seed that a function asked for while it was recorded. */
export interface Seed {
  /** Of the recording; it is held. */
  readonly value: HeapValue;
  /** In its place at a call; with `count` so many, along a first axis. */
  readonly next: (count?: number) => Tensor;
}

let collected: Seed[] | undefined;

/** Adds the seeds that are made meanwhile. */
export function collectingSeeds<T>(into: Seed[], action: () => T): T {
  const around = collected;
  collected = into;
  try {
    return action();
  } finally {
    collected = around;
  }
}

/** Integers that nobody knows: below 2^31, as floats below 2^24. */
export function randomSeed(dtype: 'int32' | 'float32', shape: readonly number[] = []): Tensor {
  const most = dtype === 'int32' ? 2 ** 31 : 2 ** 24;
  const each = () => Math.floor(Math.random() * most);
  const seed = tensor(Float64Array.from({ length: elementCount(shape) }, each), [...shape], dtype);
  if (collected !== undefined) {
    const value = HeapValue.of(seed);
    value.hold();
    const next = (count?: number) =>
      randomSeed(dtype, count === undefined ? shape : [count, ...shape]);
    collected.push({ value, next });
  }
  return seed;
}
