/** Tensors of numbers that an operation has computed itself. */
import type { DataArray } from '../tensor/convert.js';
import type { DType } from '../tensor/dtypes.js';
import { tracked } from '../tensor/scopes.js';
import { Tensor } from '../tensor/tensor.js';

/** Takes the array over. */
export const constant = (
  values: DataArray,
  shape: readonly number[],
  dtype: DType = 'float32',
): Tensor => new Tensor(values, shape, dtype)[tracked]();

/** int32, of one axis unless said. */
export const integers = (values: ArrayLike<number>, shape = [values.length]): Tensor =>
  constant(Int32Array.from(values), shape, 'int32');
