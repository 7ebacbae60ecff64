/** The types of tensors as onnxruntime-common 1.30 declares them. */
import type { FromImageOptions, ToImageOptions } from './images.js';

/** The array class of each element type; int4 and uint4 have two elements per byte. */
export interface TensorDataTypeMap {
  float32: Float32Array;
  uint8: Uint8Array;
  int8: Int8Array;
  uint16: Uint16Array;
  int16: Int16Array;
  int32: Int32Array;
  int64: BigInt64Array;
  string: string[];
  bool: Uint8Array;
  float16: Uint16Array;
  float64: Float64Array;
  uint32: Uint32Array;
  uint64: BigUint64Array;
  uint4: Uint8Array;
  int4: Int8Array;
}

/** The JavaScript type of an element. */
export interface TensorElementTypeMap {
  float32: number;
  uint8: number;
  int8: number;
  uint16: number;
  int16: number;
  int32: number;
  int64: bigint;
  string: string;
  bool: boolean;
  float16: number;
  float64: number;
  uint32: number;
  uint64: bigint;
  uint4: number;
  int4: number;
}

/** Names of element types. */
export type TensorType = keyof TensorDataTypeMap;
/** Any array of elements. */
export type TensorData = TensorDataTypeMap[TensorType];
/** Location of the elements: the memory of the page, a buffer of the GPU, or 'none' after `dispose`. */
export type TensorLocation = 'none' | 'cpu' | 'cpu-pinned' | 'texture' | 'gpu-buffer' | 'ml-tensor';

/** A tensor of a type: its elements in row-major order, and its dims. */
export interface TypedTensor<T extends TensorType> {
  readonly dims: readonly number[];
  readonly type: T;
  /** Number of elements. */
  readonly size: number;
  /** The elements. Errors: the tensor was disposed of; they are on the GPU. */
  readonly data: TensorDataTypeMap[T];
  readonly location: TensorLocation;
  /** Error: tensors are not textures. */
  readonly texture: never;
  /** The buffer with the elements. Error: they are not on the GPU. */
  readonly gpuBuffer: GpuBufferType;
  /** Error: tensors are not in WebNN. */
  readonly mlTensor: never;
  /** The elements, which are then in memory; `releaseData`: frees those on the GPU. */
  getData(releaseData?: boolean): Promise<TensorDataTypeMap[T]>;
  /** Frees the elements; using them afterwards is an error. */
  dispose(): void;
  /** A tensor of the same elements with other dims. Error: another number of elements. */
  reshape(dims: readonly number[]): TypedTensor<T>;
  /** Converts a tensor [1, channels, height, width] to an image as a data: URL. In pages only. */
  toDataURL(options?: ToImageOptions): string;
  /** Converts a tensor [1, channels, height, width] to an image. In pages and workers only. */
  toImageData(options?: ToImageOptions): ImageData;
}

type Numbers = readonly number[];
type Plain = Exclude<TensorType, 'string' | 'bool' | 'uint64' | 'int64'>;

/** Elements in memory of the caller. */
export interface CpuPinnedConstructorParameters<
  T extends Exclude<TensorType, 'string'> = Exclude<TensorType, 'string'>,
> {
  readonly location: 'cpu-pinned';
  readonly type: T;
  readonly data: TensorDataTypeMap[T];
  readonly dims: readonly number[];
}

/** A type of WebGPU, where its types are declared. */
export type WebGpuType<Name extends string> = typeof globalThis extends {
  [Each in Name]: { prototype: infer Type };
}
  ? Type
  : object;
export type GpuBufferType = WebGpuType<'GPUBuffer'>;
/** The types of elements that tensors on the GPU may have. */
export type GpuBufferDataTypes =
  'float32' | 'float16' | 'int32' | 'int64' | 'uint32' | 'uint8' | 'bool';

/** Options of `fromGpuBuffer`. */
export interface TensorFromGpuBufferOptions<T extends GpuBufferDataTypes = GpuBufferDataTypes> {
  /** Default: 'float32'. */
  readonly dataType?: T;
  readonly dims: readonly number[];
  /** Reads the elements. */
  download?(): Promise<TensorDataTypeMap[T]>;
  /** Called by `dispose`. */
  dispose?(): void;
}

/** Elements in a buffer of the caller. */
export interface GpuBufferConstructorParameters<
  T extends GpuBufferDataTypes = GpuBufferDataTypes,
> extends Omit<TensorFromGpuBufferOptions<T>, 'dataType'> {
  readonly location: 'gpu-buffer';
  readonly type: T;
  readonly gpuBuffer: GpuBufferType;
}

/** Constructors of `Tensor`. Without dims a tensor has rank 1. */
export interface TensorConstructor {
  new (type: 'string', data: readonly string[], dims?: Numbers): TypedTensor<'string'>;
  new (type: 'bool', data: Uint8Array | readonly boolean[], dims?: Numbers): TypedTensor<'bool'>;
  new (type: 'uint8', data: Uint8ClampedArray, dims?: Numbers): TypedTensor<'uint8'>;
  new <T extends 'uint64' | 'int64'>(
    type: T,
    data: TensorDataTypeMap[T] | readonly bigint[] | Numbers,
    dims?: Numbers,
  ): TypedTensor<T>;
  new <T extends Plain>(
    type: T,
    data: TensorDataTypeMap[T] | Numbers,
    dims?: Numbers,
  ): TypedTensor<T>;
  new (data: Float32Array, dims?: Numbers): TypedTensor<'float32'>;
  new (data: Int8Array, dims?: Numbers): TypedTensor<'int8'>;
  new (data: Uint8Array | Uint8ClampedArray, dims?: Numbers): TypedTensor<'uint8'>;
  new (data: Uint16Array, dims?: Numbers): TypedTensor<'uint16'>;
  new (data: Int16Array, dims?: Numbers): TypedTensor<'int16'>;
  new (data: Int32Array, dims?: Numbers): TypedTensor<'int32'>;
  new (data: BigInt64Array, dims?: Numbers): TypedTensor<'int64'>;
  new (data: readonly string[], dims?: Numbers): TypedTensor<'string'>;
  new (data: readonly boolean[], dims?: Numbers): TypedTensor<'bool'>;
  new (data: Float64Array, dims?: Numbers): TypedTensor<'float64'>;
  new (data: Uint32Array, dims?: Numbers): TypedTensor<'uint32'>;
  new (data: BigUint64Array, dims?: Numbers): TypedTensor<'uint64'>;
  new (
    type: TensorType,
    data: TensorData | Numbers | readonly string[] | readonly bigint[] | readonly boolean[],
    dims?: Numbers,
  ): TypedTensor<TensorType>;
  new (data: TensorData, dims?: Numbers): TypedTensor<TensorType>;
  new <T extends Exclude<TensorType, 'string'>>(
    pinned: CpuPinnedConstructorParameters<T>,
  ): TypedTensor<T>;
  new <T extends GpuBufferDataTypes>(onGpu: GpuBufferConstructorParameters<T>): TypedTensor<T>;

  /** Converts an image to a tensor float32 [1, channels, height, width]: (value + bias) / mean. In pages and workers. */
  fromImage(
    image: ImageData | HTMLImageElement | ImageBitmap | string,
    options?: FromImageOptions,
  ): Promise<TypedTensor<'float32'>>;
  /** Elements in memory of the caller. */
  fromPinnedBuffer<T extends Exclude<TensorType, 'string'>>(
    type: T,
    buffer: TensorDataTypeMap[T],
    dims?: Numbers,
  ): TypedTensor<T>;
  /** Error: tensors are not textures. */
  fromTexture(texture: unknown, options?: unknown): never;
  /** Elements in a buffer of the caller, on the GPUDevice of sessions (`env.webgpu.device`). */
  fromGpuBuffer<T extends GpuBufferDataTypes = 'float32'>(
    buffer: GpuBufferType,
    options: TensorFromGpuBufferOptions<T>,
  ): TypedTensor<T>;
  /** Error: tensors are not in WebNN. */
  fromMLTensor(tensor: unknown, options?: unknown): never;
}
