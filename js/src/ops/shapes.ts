/** Tensors of the same elements in another shape. */
import { alias } from '../eager/apply.js';
import { toTensor } from '../eager/operands.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';

/** A tensor of its own that has the same elements. */
export const clone = (x: TensorLike): Tensor => alias(toTensor(x, 'x', 'clone'));
