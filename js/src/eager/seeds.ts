/** Automatic seeds of random operations. Traced functions get new ones at each call. */
import { elementCount } from '../base/shape.js';
import { HeapValue } from '../runtime/heap_value.js';
import { tensor } from '../tensor/create.js';
import type { Tensor } from '../tensor/tensor.js';

/** An automatic seed of a traced function. */
export interface Seed {
  /** The seed during the trace, retained. */
  readonly value: HeapValue;
  /** A new seed for a call; with `count` as many, along a first axis. */
  readonly next: (count?: number) => Tensor;
}

let collected: Seed[] | undefined;

/** Collects the automatic seeds of an action. */
export function collectSeeds<T>(into: Seed[], action: () => T): T {
  const around = collected;
  collected = into;
  try {
    return action();
  } finally {
    collected = around;
  }
}

/** Random integers below 2^31, or below 2^24 as floats. */
export function randomSeed(dtype: 'int32' | 'float32', shape: readonly number[] = []): Tensor {
  const limit = dtype === 'int32' ? 2 ** 31 : 2 ** 24;
  const each = () => Math.floor(Math.random() * limit);
  const seed = tensor(Float64Array.from({ length: elementCount(shape) }, each), [...shape], dtype);
  if (collected !== undefined) {
    const value = HeapValue.of(seed);
    value.retain();
    const next = (count?: number) =>
      randomSeed(dtype, count === undefined ? shape : [count, ...shape]);
    collected.push({ value, next });
  }
  return seed;
}
