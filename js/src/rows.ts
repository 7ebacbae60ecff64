/** Checks what a caller passes as x and y and gives it as rows of numbers ready to be copied. */
import { elementCount } from './abi.js';
import { LatheError } from './errors.js';
import { Tensor, tensor, type TensorLike } from './tensor.js';

/** Examples or labels, one after the other: `count` rows of `width` numbers. */
export interface Rows {
  data: Float32Array | Int32Array;
  count: number;
  width: number;
}

/** How labels come: probabilities or targets per output, or the number of the class. */
export type LabelKind = 'dense' | 'sparse';

/** Labels with their kind. */
export interface LabelRows extends Rows {
  kind: LabelKind;
}

const spelled = (shape: readonly (number | null)[]) =>
  `[${shape.map((size) => size ?? 'batch').join(',')}]`;

/** A typed array alone has no rows: its length must be a multiple of the row's. */
function asTensor(values: TensorLike, row: readonly number[], what: string): Tensor {
  if (values === undefined || values === null) throw new LatheError(`${what} is missing`);
  if (values instanceof Tensor) return values;
  if (!ArrayBuffer.isView(values)) return tensor(values);
  const width = elementCount(row);
  if (values.length % width !== 0) {
    throw new LatheError(
      `${what} has ${values.length} values, which is no multiple of the ${width} of a row`,
    );
  }
  const shape = [values.length / width, ...row];
  return values instanceof Float32Array
    ? new Tensor(values, shape, 'float32')
    : tensor(values, shape);
}

function endsWith(shape: readonly number[], row: readonly number[]): boolean {
  return shape.length === row.length + 1 && row.every((size, at) => shape[at + 1] === size);
}

/**
 * The rows of x for a model that takes `inputShape` per row.
 * Errors: another shape, no rows, a dtype other than float32.
 */
export function featureRows(x: TensorLike, inputShape: readonly number[], where: string): Rows {
  const values = asTensor(x, inputShape, `${where}: x`);
  if (!endsWith(values.shape, inputShape)) {
    throw new LatheError(
      `${where}: x has shape ${spelled(values.shape)}, but the model takes ${spelled([null, ...inputShape])}`,
    );
  }
  if (values.dtype !== 'float32') {
    throw new LatheError(`${where}: x has dtype ${values.dtype}, but the model takes float32`);
  }
  if (values.shape[0] === 0) throw new LatheError(`${where}: x has no rows`);
  return {
    data: values.dataSync() as Float32Array,
    count: values.shape[0]!,
    width: elementCount(inputShape),
  };
}

/**
 * The rows of y for a model that gives `outputShape` per row and an x of `count` rows: dense labels
 * [count, …outputShape], or class numbers [count] or [count, 1].
 * Errors: another shape or row count, a dtype other than float32 or int32, NaN, class numbers that
 * are not integers or out of range.
 */
export function labelRows(
  y: TensorLike,
  outputShape: readonly number[],
  count: number,
  where: string,
): LabelRows {
  const outputs = elementCount(outputShape);
  const isFlat = ArrayBuffer.isView(y) && y.length === count;
  const values = asTensor(y, isFlat ? [] : outputShape, `${where}: y`);
  if (values.dtype === 'bool') {
    throw new LatheError(`${where}: y has dtype bool, but labels are float32 or int32`);
  }
  const single = endsWith(values.shape, []) || endsWith(values.shape, [1]);
  const dense = endsWith(values.shape, outputShape) || (outputs === 1 && single);
  if (!dense && !single) {
    throw new LatheError(
      `${where}: y has shape ${spelled(values.shape)}, but the labels are ` +
        `${spelled([null, ...outputShape])}, or class numbers ${spelled([null])}`,
    );
  }
  if (values.shape[0] !== count) {
    throw new LatheError(`${where}: x has ${count} rows, but y has ${values.shape[0]}`);
  }
  const data = values.dataSync() as Float32Array | Int32Array;
  if (dense) {
    checkEach(data, `${where}: y`, outputs, (value) => !Number.isNaN(value), 'is NaN');
    return { data: asFloats(data), count, width: outputs, kind: 'dense' };
  }
  const inRange = (value: number) => Number.isInteger(value) && value >= 0 && value < outputs;
  checkEach(data, `${where}: y`, 1, inRange, `is no class number from 0 to ${outputs - 1}`);
  const classes = data instanceof Int32Array ? data : Int32Array.from(data);
  return { data: classes, count, width: 1, kind: 'sparse' };
}

function asFloats(data: Float32Array | Int32Array): Float32Array {
  return data instanceof Float32Array ? data : Float32Array.from(data);
}

function checkEach(
  data: Float32Array | Int32Array,
  what: string,
  width: number,
  isRight: (value: number) => boolean,
  otherwise: string,
): void {
  const wrong = data.findIndex((value: number) => !isRight(value));
  if (wrong < 0) return;
  const row = Math.floor(wrong / width);
  throw new LatheError(`${what}: the label ${data[wrong]} in row ${row} ${otherwise}`);
}

/** Rows `from` … `to`-1 without copying. */
export function slice<T extends Rows>(rows: T, from: number, to: number): T {
  const data = rows.data.subarray(from * rows.width, to * rows.width);
  return { ...rows, data, count: to - from };
}
