/** Batches elements column by column: numbers, strings and tensors become one tensor with a leading batch axis. */
import { LatheError, reasonOf } from '../base/errors.js';
import { isArrayOf } from '../base/kinds.js';
import { checkStored } from '../tensor/convert.js';
import { stringTensorOf } from '../tensor/create.js';
import { tracked } from '../tensor/live_tensors.js';
import { stringsOf } from '../tensor/string_complex.js';
import { Tensor, tensor, type TensorLike } from '../tensor/tensor.js';

/** A batch of elements: tensors in the structure of the element. */
export type Batched<T> = T extends Tensor | number | boolean | string | ArrayBufferView | Nested
  ? Tensor
  : T extends object
    ? { [Key in keyof T]: Batched<T[Key]> }
    : never;
type Nested = number[] | boolean[] | string[] | Nested[];

type Columns = Record<string, unknown>;

/**
 * Combines elements to a batch. Errors name the column: another shape or kind than that of the first
 * element, missing values.
 */
export function joinElements<T>(elements: readonly T[]): Batched<T> {
  return join(elements, 'the elements') as Batched<T>;
}

function join(values: readonly unknown[], what: string): unknown {
  const first = values[0];
  const kind = kindOf(first);
  const other = values.findIndex((value) => kindOf(value) !== kind);
  if (kind === 'nothing' || kind === 'other' || other >= 0) {
    const at = Math.max(other, 0);
    const due = kind === 'nothing' || kind === 'other' || at === 0 ? 'numbers' : kind;
    throw new LatheError(
      `batch: ${what} must be ${due}, got ${describe(values[at])} in row ${at} of a batch`,
    );
  }
  if (kind === 'strings') return stackTexts(values, what);
  if (kind === 'columns') return joinColumns(values as Columns[], what);
  return stack(values as TensorLike[], what);
}

function joinColumns(rows: Columns[], what: string): Columns | unknown[] {
  const first = rows[0]!;
  const keys = Object.keys(first);
  const differs = rows.findIndex((row) => Object.keys(row).join('\n') !== keys.join('\n'));
  if (differs >= 0) {
    const found = Object.keys(rows[differs]!).join(', ');
    throw new LatheError(
      `batch: ${what} must all have the columns ${keys.join(', ')}; row ${differs} has ${found}`,
    );
  }
  const columnsOf = keys.map((key) => {
    const column = what === 'the elements' ? `column ${key}` : `${what}.${key}`;
    return join(
      rows.map((row) => row[key]),
      column,
    );
  });
  if (Array.isArray(first)) return columnsOf;
  return Object.fromEntries(keys.map((key, at) => [key, columnsOf[at]]));
}

function kindOf(value: unknown): 'strings' | 'columns' | 'numbers' | 'nothing' | 'other' {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'string') return 'strings';
  if (typeof value === 'number' || typeof value === 'boolean') return 'numbers';
  if (value instanceof Tensor) return stringsOf(value) === undefined ? 'numbers' : 'strings';
  if (ArrayBuffer.isView(value)) return 'numbers';
  if (Array.isArray(value) && isNested(value, isNumber)) return 'numbers';
  if (Array.isArray(value)) return isNested(value, isText) ? 'strings' : 'columns';
  return typeof value === 'object' ? 'columns' : 'other';
}

/** Whether all elements of an array, at any depth, pass the test. */
function isNested(values: unknown[], test: (value: unknown) => boolean): boolean {
  return values.every((value) => (Array.isArray(value) ? isNested(value, test) : test(value)));
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean =>
  value === null || typeof value === 'number' || typeof value === 'boolean';

function describe(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

function stackTexts(values: readonly unknown[], what: string): Tensor {
  try {
    return stringTensorOf(
      values.map((value) => (value instanceof Tensor ? value.arraySync() : value)),
    );
  } catch (error) {
    const reason = reasonOf(error);
    throw new LatheError(`batch: ${what}: ${reason}`, { cause: error });
  }
}

function stack(values: TensorLike[], what: string): Tensor {
  const parts = values.map((value, row) => {
    try {
      if (value instanceof Tensor) return value;
      // Datasets have no uint32.
      return tensor(value, undefined, isArrayOf(value, Uint32Array) ? 'float32' : undefined);
    } catch (error) {
      const reason = reasonOf(error);
      throw new LatheError(`batch: ${what}, row ${row} of a batch: ${reason}`, { cause: error });
    }
  });
  const { shape, dtype, size } = parts[0]!;
  checkStored(`batch: ${what}`, dtype);
  const Type = { float32: Float32Array, int32: Int32Array, bool: Uint8Array }[dtype];
  const data = new Type(size * parts.length);
  parts.forEach((part, row) => {
    if (part.shape.join() !== shape.join() || part.dtype !== dtype) {
      const typeAndShape = (each: Tensor) => `${each.dtype} [${each.shape.join(',')}]`;
      throw new LatheError(
        `batch: ${what} have different shapes: ${typeAndShape(parts[0]!)} in row 0 of a batch, ` +
          `${typeAndShape(part)} in row ${row}`,
      );
    }
    data.set(part.dataSync(), row * size);
  });
  return new Tensor(data, [parts.length, ...shape], dtype)[tracked]();
}
