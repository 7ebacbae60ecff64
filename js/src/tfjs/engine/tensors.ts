/** Creates tensors from all values that TensorFlow.js accepts, also typed arrays within arrays, with its errors. */
import { LatheError } from '../../base/errors.js';
import { isTfjsTypedArray } from '../platform/platform.js';
import { isArrayOf } from '../../base/kinds.js';
import { checkDepth } from '../../base/limits.js';
import { elementCount } from '../../base/shape.js';
import { ones as makeOnes, zeros as makeZeros } from '../../eager/constants.js';
import { complex } from '../../ops/common/complex.js';
import { engine } from '../../eager/engine.js';
import { DeviceValue } from '../../runtime/device_value.js';
import { bufferAccessOf } from '../../runtime/buffer_access.js';
import { tracked } from '../../tensor/live_tensors.js';
import * as create from '../../tensor/create.js';
import type { DType } from '../../tensor/dtypes.js';
import type { AnyDType } from '../../tensor/string_complex.js';
import type { Tensor1D } from '../../tensor/ranked_tensors.js';
import type { Rank, ShapeOf } from '../../tensor/ranks.js';
import { tidy } from '../../tensor/scopes.js';
import { maxNesting, shapeOf, Tensor, type TensorLike } from '../../tensor/tensor.js';

/** As `tensor` of the package. Errors: no values; an invalid shape, or one that does not match. */
export function tensor<R extends Rank = any>(
  values: TensorLike | WebGPUData,
  shape?: ShapeOf<R>,
  dtype?: AnyDType,
): Tensor<R> {
  if (isGpuData(values)) return ofBuffer(values, shape, dtype);
  const type = dtype ?? typeWithin(values);
  return create.tensor<R>(checked(values, shape), shape ?? undefined, type);
}

/** A 1-D tensor. Errors: as of `tensor`; values of another rank. */
export const tensor1d = (values: TensorLike | WebGPUData, dtype?: AnyDType): Tensor1D =>
  isGpuData(values)
    ? ofBuffer(values, undefined, dtype)
    : create.tensor1d(checked(values), dtype ?? typeWithin(values));

type Make<R extends Rank, Values> = (
  values: Values,
  shape?: ShapeOf<R>,
  dtype?: AnyDType,
) => Tensor<R>;

const maker =
  <R extends Rank>(make: Make<R, TensorLike>): Make<R, TensorLike | WebGPUData> =>
  (values, shape, dtype) =>
    isGpuData(values)
      ? ofBuffer(values, shape, dtype)
      : make(checked(values, shape), shape ?? undefined, dtype ?? typeWithin(values));

/** Elements in a GPUBuffer of the backend webgpu, which are copied unless `zeroCopy` is set. */
export interface WebGPUData {
  buffer: typeof globalThis extends { GPUBuffer: { prototype: infer Type } } ? Type : object;
  zeroCopy?: boolean;
}

const isGpuData = (values: unknown): values is WebGPUData =>
  typeof (values as { buffer?: { mapAsync?: unknown } } | null)?.buffer?.mapAsync === 'function';

/** A tensor of the elements in a buffer. Errors: other backends or dtypes; the buffer is too small. */
function ofBuffer<R extends Rank>(
  { buffer, zeroCopy = false }: WebGPUData,
  shape: ShapeOf<R> | null | undefined,
  dtype: AnyDType = 'float32',
): Tensor<R> {
  if (dtype !== 'float32' && dtype !== 'int32') {
    throw new LatheError(
      `Creating tensor from GPU data only supports 'float32'|'int32' dtype, while the dtype is ${dtype}.`,
    );
  }
  const access = bufferAccessOf(engine.device);
  if (access === undefined) {
    throw new LatheError(
      "tensor: a GPUBuffer needs the backend webgpu: await setBackend('webgpu')",
    );
  }
  const sizes: readonly number[] = shape ?? [(buffer as { size: number }).size / 4];
  checkShape(sizes);
  const value = new DeviceValue(dtype, [...sizes], engine.device);
  access.fromBuffer(buffer, value, zeroCopy);
  return new Tensor<R>(value, value.shape, dtype)[tracked]();
}

/** A 2-D tensor. Errors: as of `tensor`; values or a shape of another rank; flat values without a shape. */
export const tensor2d = /* @__PURE__ */ maker<'R2'>(create.tensor2d);
/** A 3-D tensor, as `tensor2d`. */
export const tensor3d = /* @__PURE__ */ maker<'R3'>(create.tensor3d);
/** A 4-D tensor, as `tensor2d`. */
export const tensor4d = /* @__PURE__ */ maker<'R4'>(create.tensor4d);
/** A 5-D tensor, as `tensor2d`. */
export const tensor5d = /* @__PURE__ */ maker<'R5'>(create.tensor5d);
/** A 6-D tensor, as `tensor2d`. */
export const tensor6d = /* @__PURE__ */ maker<'R6'>(create.tensor6d);

/** A tensor of zeros, also complex64. Default: float32. */
export const zeros = <R extends Rank = any>(
  shape: ShapeOf<R>,
  dtype: DType | 'complex64' = 'float32',
): Tensor<R> => filled(makeZeros, shape, dtype);

/** A tensor of ones, also complex64. Default: float32. */
export const ones = <R extends Rank = any>(
  shape: ShapeOf<R>,
  dtype: DType | 'complex64' = 'float32',
): Tensor<R> => filled(makeOnes, shape, dtype);

function filled<R extends Rank>(
  make: typeof makeZeros,
  shape: ShapeOf<R>,
  dtype: DType | 'complex64',
): Tensor<R> {
  if (dtype !== 'complex64') return make<R>(shape, dtype);
  return tidy(() => complex(make<R>(shape), makeZeros<R>(shape)) as Tensor<R>);
}

/** The dtype of an array of typed arrays. */
function typeWithin(values: TensorLike): DType | undefined {
  let first: unknown = values;
  for (let depth = 0; Array.isArray(first) && depth <= maxNesting; depth++) first = first[0];
  const isIntegerArray = isTfjsTypedArray(first) && !isArrayOf(first, Float32Array);
  return Array.isArray(values) && isIntegerArray ? 'int32' : undefined;
}

function checked(values: TensorLike, shape?: readonly number[] | null): TensorLike {
  if (values === null || values === undefined) {
    throw new LatheError('The input to the tensor constructor must be a non-null value.');
  }
  if (isArrayOf(values, Uint32Array)) {
    throw new LatheError(
      'values passed to tensor(values) must be a number/boolean/string or an array of numbers/booleans/strings, or a TypedArray; int32 has no Uint32Array: pass Array.from(values)',
    );
  }
  if (shape != null) checkShape(shape);
  if (values instanceof Tensor) return values;
  const plain = Array.isArray(values)
    ? (values as unknown[]).map((each) => numbersOf(each))
    : values;
  if (shape != null) checkFit(plain, shape);
  return plain as TensorLike;
}

const numbersOf = (value: unknown, depth = 1): unknown => {
  checkDepth('tensor: arrays', depth);
  if (Array.isArray(value)) return value.map((each) => numbersOf(each, depth + 1));
  return ArrayBuffer.isView(value) ? Array.from(value as unknown as ArrayLike<number>) : value;
};

function checkShape(shape: readonly number[]): void {
  if (!Array.isArray(shape)) return;
  if (shape.every((size) => Number.isInteger(size) && size >= 0)) return;
  throw new LatheError(
    `Tensor must have a shape comprised of positive integers but got shape [${shape.join(',')}].`,
  );
}

/** The nesting must match the shape, but the last level may be flat. */
function checkFit(values: unknown, shape: readonly number[]): void {
  const nested = ArrayBuffer.isView(values) ? [(values as Float32Array).length] : shapeOf(values);
  const [has, needed] = [elementCount(nested), elementCount(shape)];
  if (has !== needed) {
    throw new LatheError(
      `Based on the provided shape, [${shape.join(',')}], the tensor should have ${needed} values but has ${has}`,
    );
  }
  const last = nested.length - 1;
  const fits = nested.every(
    (size, axis) =>
      size === shape[axis] || (axis === last && size === elementCount(shape.slice(axis))),
  );
  if (fits) return;
  throw new LatheError(
    `Error creating a new Tensor. Inferred shape (${nested.join(',')}) does not match the provided shape (${shape.join(',')}).`,
  );
}
