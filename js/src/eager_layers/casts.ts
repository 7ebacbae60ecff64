/** Casts of what layers read: the core computes layers in float32. */
import { applyOperation as applied } from '../eager/apply.js';
import type { Tensor } from '../tensor/tensor.js';

const cast = (x: Tensor, dtype: 'float32' | 'bool'): Tensor =>
  x.dtype === dtype ? x : applied('cast', [x], [dtype]);

export const floats = (x: Tensor): Tensor => cast(x, 'float32');
export const booleans = (x: Tensor): Tensor => cast(x, 'bool');
