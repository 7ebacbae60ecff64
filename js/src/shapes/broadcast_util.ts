/** `tf.broadcast_util`: broadcasting of shapes. */
import { LatheError } from '../base/errors.js';

type Ints = readonly number[];

/** The axes of the input that are broadcast: of size 1 where the output has more. */
export function getBroadcastDims(input: Ints, output: Ints): number[] {
  const lead = output.length - input.length;
  const axes = input.map((_, axis) => axis).reverse();
  return axes.filter((axis) => input[axis] === 1 && (output[lead + axis] || 1) > 1).reverse();
}

/** The axes of the output along which a gradient is summed for the input. */
export function getReductionAxes(input: Ints, output: Ints): number[] {
  const lead = output.length - input.length;
  return output
    .map((_, axis) => axis)
    .filter((axis) => axis < lead || (input[axis - lead] === 1 && output[axis]! > 1));
}

/** The broadcast shape. Error: sizes that differ and are not 1. */
export function assertAndGetBroadcastShape(a: Ints, b: Ints): number[] {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, axis) => {
    const sizeA = a[axis - rank + a.length] ?? 1;
    const sizeB = b[axis - rank + b.length] ?? 1;
    if (sizeA === 1 || sizeA === sizeB) return sizeB;
    if (sizeB === 1) return sizeA;
    throw new LatheError(`Operands could not be broadcast together with shapes ${a} and ${b}.`);
  });
}
