/** Converts arrays to rows of numbers for the inputs of a module. */
import { LatheError } from '../base/errors.js';
import { isArrayOf } from '../base/kinds.js';
import { elementCount } from '../base/shape.js';
import type { BufferInfo } from '../core/abi.js';
import type { NumberArray } from '../tensor/convert.js';
import type { Rows } from '../train/examples.js';

/** A flat array of numbers, or nested arrays of the shape [rows, …]. */
export type Values = NumberArray | readonly (number | Values)[];
/** Values; by name for a module with several inputs or outputs. */
export type ModuleData = Values | Readonly<Record<string, Values>>;

const isView = (values: unknown): values is NumberArray =>
  ArrayBuffer.isView(values) && typeof (values as NumberArray)[0] !== 'bigint';
const isList = (values: unknown): values is readonly unknown[] =>
  Array.isArray(values) || isView(values);
const describeValue = (value: unknown) =>
  isList(value) ? `${value.length} values` : typeof value === 'string' ? `"${value}"` : `${value}`;

/** Appends the numbers of one row. Error: it does not have this shape. */
function append(target: number[], values: unknown, shape: readonly number[], where: string): void {
  if (shape.length === 0) {
    if (typeof values !== 'number') {
      throw new LatheError(`${where}: must be a number, got ${describeValue(values)}`);
    }
    target.push(values);
    return;
  }
  // A flat array may replace all remaining axes.
  const count = isList(values) && typeof values[0] === 'number' ? elementCount(shape) : shape[0];
  if (!isList(values) || values.length !== count) {
    throw new LatheError(
      `${where}: must have the shape [${shape.join(',')}], got ${describeValue(values)}`,
    );
  }
  const inner = typeof values[0] === 'number' ? [] : shape.slice(1);
  for (let at = 0; at < values.length; ++at) append(target, values[at], inner, `${where}[${at}]`);
}

/** Rows for an input. Errors: no rows, an incomplete row, rows of another shape. */
export function rowsOf(values: unknown, info: BufferInfo, where: string): Rows {
  const shape = info.shape.slice(1);
  const width = elementCount(shape);
  if (!isList(values)) {
    throw new LatheError(`${where}: must be an array of numbers, got ${describeValue(values)}`);
  }
  const isFlat = typeof values[0] === 'number';
  const numbers: number[] = [];
  if (!isView(values)) {
    const each = isFlat ? [] : shape;
    values.forEach((row, at) => append(numbers, row, each, `${where}[${at}]`));
  }
  const data: ArrayLike<number> = isView(values) ? values : numbers;
  if (data.length === 0) throw new LatheError(`${where}: there are no rows`);
  if (data.length % width !== 0) {
    throw new LatheError(
      `${where}: ${data.length} numbers are not a multiple of a row of shape [${shape.join(',')}]`,
    );
  }
  return { data: stored(data, info, where, width), count: data.length / width, width };
}

/** The numbers in the element type of the input. Error: not an integer, where integers are required. */
function stored(
  data: ArrayLike<number>,
  { dtype }: BufferInfo,
  where: string,
  width: number,
): Rows['data'] {
  if (dtype !== 'i32') return isArrayOf(data, Float32Array) ? data : new Float32Array(data);
  for (let at = 0; at < data.length; ++at) {
    if (Number.isInteger(data[at])) continue;
    throw new LatheError(`${where}[${Math.floor(at / width)}] is ${data[at]}, no integer`);
  }
  return new Int32Array(data);
}

/** Error: a label that is no class index of the output, or no finite number. */
export function checkLabels(rows: Rows, info: BufferInfo, classes: number, where: string): void {
  const isClass = info.dtype === 'i32';
  for (let at = 0; at < rows.data.length; ++at) {
    const label = rows.data[at]!;
    if (isClass ? label >= 0 && label < classes : Number.isFinite(label)) continue;
    const row = Math.floor(at / rows.width);
    const expected = isClass ? `; the classes are 0 … ${classes - 1}` : ', no finite number';
    throw new LatheError(`${where}[${row}] is ${label}${expected}`);
  }
}
