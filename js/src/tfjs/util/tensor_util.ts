/** `tf.tensor_util`: type promotion, and tensors in containers. */
import { Tensor } from '../../tensor/tensor.js';
import { assert } from '../../shapes/shapes.js';
import { type DataType, upcastType } from '../../shapes/types.js';

type Castable = Tensor & { cast(dtype: DataType): Tensor };

/** Casts both to the narrowest common type. */
export function makeTypesMatch(a: Tensor, b: Tensor): [Tensor, Tensor] {
  if (a.dtype === b.dtype) return [a, b];
  const dtype = upcastType(a.dtype, b.dtype);
  return [(a as Castable).cast(dtype), (b as Castable).cast(dtype)];
}

/** Error: different types. */
export function assertTypesMatch(a: Tensor, b: Tensor): void {
  assert(
    a.dtype === b.dtype,
    () => `The dtypes of the first(${a.dtype}) and second(${b.dtype}) input must match`,
  );
}

export const isTensorInList = (tensor: Tensor, list: readonly Tensor[]): boolean =>
  list.includes(tensor);

/** All tensors in nested arrays and objects, including duplicates. */
export function getTensorsInContainer(container: unknown): Tensor[] {
  const found: Tensor[] = [];
  const seen = new Set<unknown>();
  const walk = (value: unknown): void => {
    if (value instanceof Tensor) found.push(value);
    else if (
      typeof value === 'object' &&
      value !== null &&
      !seen.has(value) &&
      !ArrayBuffer.isView(value)
    ) {
      seen.add(value);
      Object.values(value).forEach(walk);
    }
  };
  walk(container);
  return found;
}
