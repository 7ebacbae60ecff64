/** Functions that TensorFlow.js has of floats alone. */
import { LatheError } from '../base/errors.js';
import { castTo, toTensor } from '../eager/operands.js';
import type { DType } from '../tensor/dtypes.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';

export const isFloat = ({ dtype }: Tensor): boolean => dtype.includes('float');

/** A tensor of floats; numbers that are no tensor yet become float32. Errors: as of `toTensor`; a tensor of another type. */
export function toFloats(x: TensorLike, name: string, op: string): Tensor {
  if (x instanceof Tensor && isFloat(x)) return x;
  return toTensor(x, name, op, 'float32');
}

/** Floats of whatever numbers there are. */
export function asFloats(x: TensorLike, name: string, op: string): Tensor {
  const given = toTensor(x, name, op);
  return isFloat(given) ? given : castTo(given, 'float32');
}

/** The numbers in a type, cut off where it has no fractions. */
export const ofDType = (x: Tensor, dtype: DType): Tensor =>
  castTo(dtype === 'bool' && isFloat(x) ? castTo(x, 'int32') : x, dtype);

/** Error: shapes that are not the same. */
export function checkSameShape(a: readonly number[], b: readonly number[], what: string): void {
  if (a.length === b.length && a.every((size, axis) => size === b[axis])) return;
  throw new LatheError(`${what} Shapes ${a.join(',')} and ${b.join(',')} must match`);
}
