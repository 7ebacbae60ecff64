/** Shapes of tensors: sizes of their axes, row-major. */

/** The number of elements of a shape; 1 for a scalar. */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}
