/** Constants that operations compute in JavaScript. */
import type { DataArray } from '../../tensor/convert.js';
import type { DType } from '../../tensor/dtypes.js';
import { tracked } from '../../tensor/live_tensors.js';
import { Tensor } from '../../tensor/tensor.js';

/** A tensor over the array, which must not be modified afterwards. */
export const constant = (
  values: DataArray,
  shape: readonly number[],
  dtype: DType = 'float32',
): Tensor => new Tensor(values, shape, dtype)[tracked]();

/** An int32 constant, 1-D by default. */
export const integers = (values: ArrayLike<number>, shape = [values.length]): Tensor =>
  constant(Int32Array.from(values), shape, 'int32');
