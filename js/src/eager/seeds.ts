/** Automatic seeds of random operations. Traced functions get new ones at each call. */
import { elementCount } from '../base/shape.js';
import { tensor } from '../tensor/create.js';
import type { Tensor } from '../tensor/tensor.js';
import { engine, valueOf } from './engine.js';

/** Random integers below 2^31, or below 2^24 as floats. */
export function randomSeed(dtype: 'int32' | 'float32', shape: readonly number[] = []): Tensor {
  const limit = dtype === 'int32' ? 2 ** 31 : 2 ** 24;
  const each = () => Math.floor(Math.random() * limit);
  const seed = tensor(Float64Array.from({ length: elementCount(shape) }, each), [...shape], dtype);
  if (engine.trace !== undefined) {
    const value = valueOf(seed);
    value.retain();
    const next = (count?: number) =>
      randomSeed(dtype, count === undefined ? shape : [count, ...shape]);
    engine.trace.seeds.push({ value, next });
  }
  return seed;
}
