/** Functions that TensorFlow.js defines only for floats. */
import { LatheError } from '../../base/errors.js';
import { castTo, toTensor } from '../../eager/operands.js';
import type { DType } from '../../tensor/dtypes.js';
import { Tensor, type TensorLike } from '../../tensor/tensor.js';

export const isFloat = ({ dtype }: Tensor): boolean => dtype.includes('float');

/** A tensor of floats; plain numbers become float32. Errors: as of `toTensor`; a tensor of another type. */
export function toFloats(x: TensorLike, name: string, op: string): Tensor {
  if (x instanceof Tensor && isFloat(x)) return x;
  return toTensor(x, name, op, 'float32');
}

/** Casts any numbers to floats. */
export function asFloats(x: TensorLike, name: string, op: string): Tensor {
  const input = toTensor(x, name, op);
  return isFloat(input) ? input : castTo(input, 'float32');
}

/** Casts to a type; fractions are truncated where it is an integer type. */
export const ofDType = (x: Tensor, dtype: DType): Tensor =>
  castTo(dtype === 'bool' && isFloat(x) ? castTo(x, 'int32') : x, dtype);

/** Error: different shapes. */
export function checkSameShape(a: readonly number[], b: readonly number[], what: string): void {
  if (a.length === b.length && a.every((size, axis) => size === b[axis])) return;
  throw new LatheError(`${what} Shapes ${a.join(',')} and ${b.join(',')} must match`);
}
