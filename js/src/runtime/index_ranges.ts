/** Checks index inputs before a call, as kernels would clamp them to the nearest row. */
import { LatheError } from '../base/errors.js';
import type { ProgramPort } from './device.js';
import type { DataArray } from '../tensor/convert.js';

/** Error: an index out of range. `rowOf`: the caller's number of a row of the input. */
export function checkIndices(
  { name, shape, ranges = [] }: ProgramPort,
  data: DataArray,
  rowOf = (row: number) => row,
): void {
  // 64-bit integers as pairs of words, as BigInt is slow.
  const words =
    typeof data[0] === 'bigint'
      ? new Int32Array(data.buffer, data.byteOffset, 2 * data.length)
      : undefined;
  for (const [min, max, first, step] of ranges) {
    for (let at = first; at < data.length; at += step) {
      const index = words
        ? words[2 * at + 1]! * 2 ** 32 + (words[2 * at]! >>> 0)
        : (data[at] as number);
      if (index > min - 1 && index < max + 1) continue;
      let rest = at;
      const position = shape.map((_, axis) => {
        const size = shape.slice(axis + 1).reduce((product, each) => product * each, 1);
        const along = Math.floor(rest / size);
        rest %= size;
        return axis === 0 ? rowOf(along) : along;
      });
      throw new LatheError(
        `input ${name}: index ${index} at [${position.join()}] is outside ${min} to ${max}`,
      );
    }
  }
}
