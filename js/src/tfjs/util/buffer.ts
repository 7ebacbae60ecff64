/** A mutable buffer of elements that becomes a tensor. */
import { LatheError } from '../../base/errors.js';
import { elementCount } from '../../base/shape.js';
import type { DType } from '../../tensor/dtypes.js';
import { stringTensor } from '../../tensor/string_complex.js';
import { tracked } from '../../tensor/live_tensors.js';
import type { Rank, ShapeOf } from '../../tensor/ranks.js';
import { Tensor } from '../../tensor/tensor.js';
import { getArrayFromDType } from './arrays.js';
import {
  assert,
  assertNonNegativeIntegerDimensions,
  computeStrides,
  indexToLoc,
  locToIndex,
} from '../../shapes/shapes.js';
import type { DataType, DataValues } from '../../shapes/types.js';

/** Elements of one type, read and set by coordinates. */
export class TensorBuffer<R extends Rank = any, V extends DataValues = any> {
  readonly size: number;
  readonly shape: number[];
  readonly strides: number[];
  readonly values: V;

  /** Wraps the values, by default zeros. Errors: another number of values; complex64. */
  constructor(
    shape: readonly number[],
    readonly dtype: DataType = 'float32',
    values?: V,
  ) {
    this.shape = [...shape];
    this.size = elementCount(shape);
    if (values != null && values.length !== this.size) {
      throw new LatheError(
        `Length of values '${values.length}' does not match the size inferred by the shape '${this.size}'.`,
      );
    }
    if (dtype === 'complex64') {
      throw new LatheError(
        'complex64 has no TensorBuffer: make one of the real and one of the imaginary parts',
      );
    }
    this.values = values ?? (getArrayFromDType(dtype, this.size) as V);
    this.strides = computeStrides(shape);
  }

  get rank(): number {
    return this.shape.length;
  }

  /** Sets the element at these coordinates. Error: not one coordinate per axis. */
  set(value: number | boolean | string, ...location: number[]): void {
    const at = location.length === 0 ? [0] : location;
    assert(
      at.length === this.rank || this.rank === 0,
      () => `The number of provided coordinates (${at.length}) must match the rank (${this.rank})`,
    );
    (this.values as any)[this.locToIndex(at)] = value;
  }

  /** The element at these coordinates, by default the first. Error: out of range. */
  get(...location: number[]): V[number] {
    const at = location.length === 0 ? [0] : location;
    const isOutside = at.some((each, axis) => each < 0 || each >= (this.shape[axis] ?? 1));
    if (isOutside) {
      throw new LatheError(
        `Requested out of range element at ${location}.   Buffer shape=${this.shape}`,
      );
    }
    return (this.values as any)[this.locToIndex(at)];
  }

  /** The flat index of coordinates. */
  locToIndex(location: number[]): number {
    return this.rank === 1 ? location[0]! : locToIndex(location, this.rank, this.strides);
  }

  /** The coordinates of a flat index. */
  indexToLoc(index: number): number[] {
    return indexToLoc(index, this.rank, this.strides);
  }

  /** A tensor over the values, not a copy. */
  toTensor(): Tensor<R> {
    if (this.dtype === 'string') return stringTensor(this.values as string[], this.shape);
    return new Tensor(this.values as any, this.shape, this.dtype as DType)[tracked]();
  }
}

/** A buffer of this shape, of zeros or of these values. Errors: a size that is not an integer ≥ 0; another number of values. */
export function buffer<R extends Rank = any, V extends DataValues = any>(
  shape: ShapeOf<R>,
  dtype: DataType = 'float32',
  values?: V,
): TensorBuffer<R, V> {
  assertNonNegativeIntegerDimensions(shape as readonly number[]);
  return new TensorBuffer<R, V>(shape as readonly number[], dtype, values);
}
