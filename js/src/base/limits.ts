/** Limits of counts and depths that files specify, checked before anything is allocated. */
import { LatheError } from './errors.js';

/** Elements of a tensor whose shape depends on data: 512 MiB of float32. */
export const maxElements = 2 ** 27;
/** Values that JavaScript computes one by one. */
export const maxValues = 2 ** 23;
/** Tensors of one list, and calls of functions of one run. */
export const maxTensors = 2 ** 18;
/** Nesting depth of files. */
export const maxDepth = 256;

/** The count. Error: no integer from 0 to `max`; names the operator. */
export function checkCount(op: string, what: string, count: number, max = maxValues): number {
  if (Number.isInteger(count) && count >= 0 && count <= max) return count;
  throw new LatheError(`${op}: ${count} ${what}; from 0 to ${max} are allowed`);
}

/** Error: something is nested deeper than `maxDepth`. */
export function checkDepth(where: string, depth: number): void {
  if (depth <= maxDepth) return;
  throw new LatheError(`${where}: it is nested deeper than ${maxDepth} levels`);
}
