/** Shapes of tensors: sizes of their axes, row-major. */

/** The number of elements of a shape; 1 for a scalar. */
export function elementCount(shape: readonly number[]): number {
  let count = 1;
  for (let axis = 0; axis < shape.length; axis++) count *= shape[axis]!;
  return count;
}
