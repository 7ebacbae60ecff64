/** Rows of numbers for the inputs of a module, from arrays in any form. */
import { LatheError } from '../base/errors.js';
import { isArrayOf } from '../base/kinds.js';
import { elementCount } from '../base/shape.js';
import type { BufferPlace } from '../core/abi.js';
import type { NumberArray } from '../tensor/convert.js';
import type { Rows } from '../train/rows.js';

/** Numbers one after the other, or nested arrays of the shape [rows, …]. */
export type Values = NumberArray | readonly (number | Values)[];
/** Of a module with several inputs or outputs by name. */
export type ModuleData = Values | Readonly<Record<string, Values>>;

const isView = (values: unknown): values is NumberArray =>
  ArrayBuffer.isView(values) && typeof (values as NumberArray)[0] !== 'bigint';
const isList = (values: unknown): values is readonly unknown[] =>
  Array.isArray(values) || isView(values);
const spelled = (value: unknown) =>
  isList(value) ? `${value.length} values` : typeof value === 'string' ? `"${value}"` : `${value}`;

/** Appends the numbers of one row of a shape. Error: it has another. */
function append(target: number[], values: unknown, shape: readonly number[], where: string): void {
  if (shape.length === 0) {
    if (typeof values !== 'number') {
      throw new LatheError(`${where}: must be a number, got ${spelled(values)}`);
    }
    target.push(values);
    return;
  }
  // Numbers in a row may stand for all axes that are left.
  const count = isList(values) && typeof values[0] === 'number' ? elementCount(shape) : shape[0];
  if (!isList(values) || values.length !== count) {
    throw new LatheError(
      `${where}: must have the shape [${shape.join(',')}], got ${spelled(values)}`,
    );
  }
  const inner = typeof values[0] === 'number' ? [] : shape.slice(1);
  for (let at = 0; at < values.length; ++at) append(target, values[at], inner, `${where}[${at}]`);
}

/** Rows for an input. Errors: no rows, numbers that make no whole rows, rows of another shape. */
export function rowsOf(values: unknown, place: BufferPlace, where: string): Rows {
  const shape = place.shape.slice(1);
  const width = elementCount(shape);
  if (!isList(values)) {
    throw new LatheError(`${where}: must be an array of numbers, got ${spelled(values)}`);
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
      `${where}: ${data.length} numbers are no whole rows of the shape [${shape.join(',')}]`,
    );
  }
  return { data: stored(data, place, where, width), count: data.length / width, width };
}

/** The numbers as the module takes them. Error: they must be integers, and one is not. */
function stored(
  data: ArrayLike<number>,
  { dtype }: BufferPlace,
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

/** Error: a label that is no class of the output, or no number. */
export function checkLabels(rows: Rows, place: BufferPlace, classes: number, where: string): void {
  const isClass = place.dtype === 'i32';
  for (let at = 0; at < rows.data.length; ++at) {
    const label = rows.data[at]!;
    if (isClass ? label >= 0 && label < classes : Number.isFinite(label)) continue;
    const row = Math.floor(at / rows.width);
    const wanted = isClass ? `; the classes are 0 … ${classes - 1}` : ', no finite number';
    throw new LatheError(`${where}[${row}] is ${label}${wanted}`);
  }
}
