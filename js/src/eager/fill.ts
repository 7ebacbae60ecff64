/** Operations that read numbers alone, whose elements need no module. */
import type { Constant } from '../runtime/heap_value.js';
import { convert, type DataArray } from '../tensor/convert.js';
import type { DType } from '../tensor/dtypes.js';
import type { Signature } from './signature.js';

/** What `broadcastTo` of a number and `range` of two are; undefined for other operations. */
export function constantOf(
  { op, values, inputs, dtype }: Signature,
  sources: readonly unknown[],
): Constant | undefined {
  if (typeof sources[0] !== 'number' || (op !== 'broadcastTo' && op !== 'range')) return undefined;
  if (sources.some((each) => typeof each !== 'number')) return undefined;
  const fill = op === 'range' ? count : repeat;
  const numbers = sources as number[];
  const type = inputs[0]!.dtype;
  return { op, numbers, type, values, fill: (into, isNew) => fill(into, numbers, dtype, isNew) };
}

/** Writes the same number everywhere. `isNew`: zeros are there. */
export function repeat(
  into: DataArray,
  [number]: readonly number[],
  dtype: DType,
  isNew = false,
): void {
  // Nothing touches the pages of new zeros.
  if (!isNew || !Object.is(number, 0))
    (into as Float32Array).fill(convert([number!], dtype)[0] as number);
}

/** Writes start + i * step. */
export function count(into: DataArray, [start, step]: readonly number[], dtype: DType): void {
  const isPlain = !/^(bool|float16|bfloat16|u?int64)$/.test(dtype);
  const numbers = isPlain ? (into as Float64Array) : new Float64Array(into.length);
  for (let at = 0; at < numbers.length; at += 1) numbers[at] = start! + at * step!;
  if (!isPlain) (into as Float64Array).set(convert(numbers, dtype) as Float64Array);
}
