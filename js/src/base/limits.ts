/** What files may ask for: counts and depths that data give are compared with these limits before anything is made. */
import { LatheError } from './errors.js';

/** Elements of a tensor whose shape data give: 512 MiB of float32. */
export const mostElements = 2 ** 27;
/** Values that JavaScript makes one by one. */
export const mostValues = 2 ** 23;
/** Tensors of one list, and calls of functions of one run. */
export const mostTensors = 2 ** 18;
/** How deep anything that a file nests may be. */
export const mostDepth = 256;

/** The count. Error: it is no integer from 0 to `most`; names the operator. */
export function checkCount(op: string, what: string, count: number, most = mostValues): number {
  if (Number.isInteger(count) && count >= 0 && count <= most) return count;
  throw new LatheError(`${op}: ${count} ${what}; from 0 to ${most} are possible`);
}

/** Error: something is nested deeper than `mostDepth`. */
export function checkDepth(where: string, depth: number): void {
  if (depth <= mostDepth) return;
  throw new LatheError(`${where}: it is nested deeper than ${mostDepth} levels`);
}
