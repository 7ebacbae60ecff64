/** Inputs whose elements pick rows, which kernels would move to the nearest row, are checked before a call. */
import { LatheError } from '../base/errors.js';
import type { BufferPlace } from '../core/abi.js';
import type { DataArray } from '../tensor/convert.js';

/** Error: an element that picks no row. `rowOf`: what the caller calls the rows of the input. */
export function checkIndices(
  { name, shape, ranges = [] }: BufferPlace,
  data: DataArray,
  rowOf = (row: number) => row,
): void {
  // Integers of 64 bits as two words: BigInt is slow.
  const words =
    typeof data[0] === 'bigint'
      ? new Int32Array(data.buffer, data.byteOffset, 2 * data.length)
      : undefined;
  for (const [least, most, first, step] of ranges) {
    for (let at = first; at < data.length; at += step) {
      const index = words
        ? words[2 * at + 1]! * 2 ** 32 + (words[2 * at]! >>> 0)
        : (data[at] as number);
      if (index > least - 1 && index < most + 1) continue;
      let rest = at;
      const place = shape.map((_, axis) => {
        const size = shape.slice(axis + 1).reduce((product, each) => product * each, 1);
        const along = Math.floor(rest / size);
        rest %= size;
        return axis === 0 ? rowOf(along) : along;
      });
      throw new LatheError(
        `input ${name}: index ${index} at [${place.join()}] is outside ${least} to ${most}`,
      );
    }
  }
}
