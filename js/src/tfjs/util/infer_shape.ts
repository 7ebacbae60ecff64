/** The shape of nested arrays. */
import { LatheError } from '../../base/errors.js';
import { isTypedArray } from './arrays.js';
import { env } from '../platform/environment.js';

/**
 * The shape of nested arrays, from the first element of each; typed arrays are an axis, unless they are UTF-8 strings.
 * Error, in debug mode: arrays of unequal sizes.
 */
export function inferShape(values: unknown, dtype?: string): number[] {
  if (isTypedArray(values)) return dtype === 'string' ? [] : [values.length];
  const shape: number[] = [];
  let inner: unknown = values;
  while (Array.isArray(inner) || (isTypedArray(inner) && dtype !== 'string')) {
    shape.push((inner as unknown[]).length);
    inner = (inner as unknown[])[0];
  }
  if (Array.isArray(values) && env().getBool('TENSORLIKE_CHECK_SHAPE_CONSISTENCY')) {
    checkNesting(values, shape, []);
  }
  return shape;
}

function checkNesting(values: unknown, shape: readonly number[], indices: readonly number[]): void {
  const where = `Element arr[${indices.join('][')}]`;
  if (!Array.isArray(values) && !isTypedArray(values)) {
    if (shape.length === 0) return;
    throw new LatheError(
      `${where} is a primitive, but should be an array/TypedArray of ${shape[0]} elements`,
    );
  }
  if (shape.length === 0) {
    throw new LatheError(
      `${where} should be a primitive, but is an array of ${values.length} elements`,
    );
  }
  if (values.length !== shape[0]) {
    throw new LatheError(
      `${where} should have ${shape[0]} elements, but has ${values.length} elements`,
    );
  }
  values.forEach((each: unknown, at: number) =>
    checkNesting(each, shape.slice(1), [...indices, at]),
  );
}
