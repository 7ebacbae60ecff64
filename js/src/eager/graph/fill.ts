/** Operations whose operands are all numbers: their elements need no module. */
import type { Constant } from '../../runtime/device_value.js';
import { convert, type DataArray } from '../../tensor/convert.js';
import type { DType } from '../../tensor/dtypes.js';
import type { Signature } from './signature.js';

/** The fill of `broadcastTo` of a number or `range` of two; undefined for other operations. */
export function constantOf(
  { op, values, inputs, dtype }: Signature,
  sources: readonly unknown[],
): Constant | undefined {
  if (typeof sources[0] !== 'number' || (op !== 'broadcastTo' && op !== 'range')) return undefined;
  if (sources.some((each) => typeof each !== 'number')) return undefined;
  const fill = op === 'range' ? fillRange : fillConstant;
  const numbers = sources as number[];
  const type = inputs[0]!.dtype;
  return { op, numbers, type, values, fill: (into, isNew) => fill(into, numbers, dtype, isNew) };
}

/** Fills with one number. `isNew`: the array is zeroed. */
export function fillConstant(
  into: DataArray,
  [number]: readonly number[],
  dtype: DType,
  isNew = false,
): void {
  // Leaves the pages of zeroed memory untouched.
  if (!isNew || !Object.is(number, 0))
    (into as Float32Array).fill(convert([number!], dtype)[0] as number);
}

/** Writes start + i * step. */
export function fillRange(into: DataArray, [start, step]: readonly number[], dtype: DType): void {
  const isPlain = !/^(bool|float16|bfloat16|u?int64)$/.test(dtype);
  const numbers = isPlain ? (into as Float64Array) : new Float64Array(into.length);
  for (let at = 0; at < numbers.length; at += 1) numbers[at] = start! + at * step!;
  if (!isPlain) (into as Float64Array).set(convert(numbers, dtype) as Float64Array);
}
