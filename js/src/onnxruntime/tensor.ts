/** The tensors of ONNX Runtime: elements in the memory of the page or on the GPU, a type and sizes. Knows no models. */
import { isArrayOf } from '../base/kinds.js';
import { type FromImageOptions, readImage, type ToImageOptions } from './images.js';
import { toDataURL, toImageData } from './images.js';
import type {
  GpuBufferDataTypes as TypesOnGpu,
  GpuBufferType as BufferType,
  TensorConstructor,
  TensorData,
  TensorDataTypeMap,
  TensorElementTypeMap,
  TensorFromGpuBufferOptions,
  TensorLocation,
  TensorType,
  TypedTensor,
} from './tensor_types.js';

type ArrayType = {
  new (length: number): ArrayLike<unknown>;
  new (buffer: ArrayBufferLike, offset: number, length: number): ArrayLike<unknown>;
  from(values: readonly unknown[], map?: (value: any) => unknown): ArrayLike<unknown>;
};

const arrays: Record<Exclude<TensorType, 'string' | 'float16'>, unknown> = {
  float32: Float32Array,
  uint8: Uint8Array,
  int8: Int8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  bool: Uint8Array,
  float64: Float64Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
  uint4: Uint8Array,
  int4: Uint8Array,
};

/** Whether elements have 4 bits, two per byte. */
const isHalfByte = (type: TensorType) => type === 'uint4' || type === 'int4';

/** Float16Array, native or polyfilled, otherwise Uint16Array. */
const float16ArrayClass = () =>
  (globalThis as { Float16Array?: ArrayType }).Float16Array ?? Uint16Array;

/** The typed array class of an element type; undefined if there is none. */
export function arrayTypeOf(type: unknown): ArrayType | undefined {
  if (type === 'float16') return float16ArrayClass() as ArrayType;
  return Object.hasOwn(arrays, type as string)
    ? (arrays[type as keyof typeof arrays] as ArrayType)
    : undefined;
}

/** The first type in the table whose arrays are of this class; undefined for other values. */
function typeOf(data: unknown): TensorType | undefined {
  const isOf = (type: unknown) => isArrayOf(data, type as typeof Uint8Array);
  if (isOf(float16ArrayClass()) && !isOf(Uint16Array)) return 'float16';
  return (Object.keys(arrays) as (keyof typeof arrays)[]).find((type) => isOf(arrays[type]));
}

/** The data of a tensor of this type. Error: values of another type. */
function dataOf(type: TensorType, source: unknown): TensorData {
  if (type === 'string') {
    if (Array.isArray(source)) return source;
    throw new TypeError("A string tensor's data must be a string array.");
  }
  const ArrayOf = arrayTypeOf(type);
  if (ArrayOf === undefined) throw new TypeError(`Unsupported tensor type: ${String(type)}.`);
  if (Array.isArray(source)) return fromNumbers(type, ArrayOf, source);
  if (isArrayOf(source, ArrayOf)) return source as unknown as TensorData;
  if (isArrayOf(source, Uint8ClampedArray)) {
    if (type === 'uint8') return Uint8Array.from(source);
    throw new TypeError("A Uint8ClampedArray tensor's data must be type of uint8");
  }
  if (type === 'float16' && isArrayOf(source, Uint16Array)) {
    const { buffer, byteOffset, length } = source;
    return new ArrayOf(buffer, byteOffset, length) as unknown as TensorData;
  }
  throw new TypeError(`A ${type} tensor's data must be type of ${nameOf(ArrayOf)}`);
}

function fromNumbers(type: TensorType, ArrayOf: ArrayType, source: readonly unknown[]): TensorData {
  if (isHalfByte(type) || ((ArrayOf as unknown) === Uint16Array && type === 'float16')) {
    const expected = nameOf(ArrayOf);
    throw new TypeError(
      `Creating a ${type} tensor from number array is not supported. Please use ${expected} as data.`,
    );
  }
  const isBig = type === 'int64' || type === 'uint64';
  return ArrayOf.from(source, isBig ? BigInt : undefined) as unknown as TensorData;
}

const nameOf = (ArrayOf: ArrayType) => (ArrayOf as unknown as { name: string }).name;

/** The element type of an array. Error: it cannot be inferred. */
function inferred(data: unknown): TensorType {
  if (Array.isArray(data)) {
    if (data.length === 0) {
      throw new TypeError('Tensor type cannot be inferred from an empty array.');
    }
    const kind = typeof data[0];
    if (kind === 'string') return 'string';
    if (kind === 'boolean') return 'bool';
    throw new TypeError(`Invalid element type of data array: ${kind}.`);
  }
  if (isArrayOf(data, Uint8ClampedArray)) return 'uint8';
  const type = typeOf(data);
  if (type !== undefined) return type;
  const kind = (data as object | null)?.constructor?.name ?? String(data);
  throw new TypeError(`Unsupported type for tensor data: ${kind}.`);
}

/** Number of elements. Errors: sizes that are none. */
function sizeOf(dims: readonly unknown[]): number {
  let size = 1;
  for (const [axis, dim] of dims.entries()) {
    if (!Number.isSafeInteger(dim)) {
      throw new TypeError(`dims[${axis}] must be an integer, got: ${String(dim)}`);
    }
    if ((dim as number) < 0) {
      throw new RangeError(`dims[${axis}] must be a non-negative integer, got: ${String(dim)}`);
    }
    size *= dim as number;
  }
  return size;
}

/** A tensor from its type or data, or from an object with a `location`. */
interface Parts {
  type: TensorType;
  data?: TensorData | undefined;
  dims: readonly number[];
  location: TensorLocation;
  gpuBuffer?: BufferType;
  download?: (() => Promise<TensorData>) | undefined;
  dispose?: (() => void) | undefined;
}

const typesOnGpu = ['float32', 'float16', 'int32', 'int64', 'uint32', 'uint8', 'bool'];

function partsOf(first: unknown, second: unknown, third: unknown): Parts {
  if (typeof first === 'object' && first !== null && 'location' in first)
    return fromLocation(first);
  const isNamed = typeof first === 'string';
  const type = isNamed ? (first as TensorType) : inferred(first);
  const data = dataOf(type, isNamed ? second : first);
  const dims = (isNamed ? third : second) ?? undefined;
  if (dims !== undefined && !Array.isArray(dims)) {
    throw new TypeError("A tensor's dims must be a number array");
  }
  return { type, data, dims: dims ?? [data.length], location: 'cpu' };
}

function fromLocation(source: Partial<Record<keyof Parts, unknown>>): Parts {
  const { location, type, data, dims } = source;
  if (location === 'gpu-buffer') {
    if (!typesOnGpu.includes(type as string))
      throw new TypeError(`unsupported type "${type}" to create tensor from gpu buffer`);
    if (!Array.isArray(dims)) throw new TypeError("A tensor's dims must be a number array");
    return source as Parts;
  }
  if (location !== 'cpu-pinned') {
    throw new Error(
      `Tensor constructor: unsupported location '${String(location)}'; tensors are 'cpu-pinned' or 'gpu-buffer'`,
    );
  }
  const ArrayOf = arrayTypeOf(type);
  if (ArrayOf === undefined) {
    throw new TypeError(`unsupported type "${String(type)}" to create tensor from pinned buffer`);
  }
  if (!isArrayOf(data, ArrayOf)) {
    throw new TypeError(`buffer should be of type ${nameOf(ArrayOf)}`);
  }
  if (!Array.isArray(dims)) throw new TypeError("A tensor's dims must be a number array");
  return { type: type as TensorType, data: data as unknown as TensorData, dims, location };
}

class TensorOf {
  /** Programs set it. */
  dims: readonly number[];
  readonly type: TensorType;
  readonly size: number;
  isDownloading = false;
  /** Programs replace it by another array of the same bytes. */
  cpuData: TensorData | undefined;
  dataLocation: TensorLocation;
  gpuBufferData: BufferType | undefined;
  downloader: Parts['download'];
  disposer: Parts['dispose'];

  constructor(first: unknown, second?: unknown, third?: unknown) {
    const { type, data, dims, location, gpuBuffer, download, dispose } = partsOf(
      first,
      second,
      third,
    );
    const size = sizeOf(dims);
    const length = data?.length;
    const isPacked = isHalfByte(type) && length === Math.ceil(size / 2);
    if (length !== undefined && length !== size && !isPacked) {
      throw new Error(`Tensor's size(${size}) does not match data length(${length}).`);
    }
    this.dims = dims;
    this.type = type;
    this.size = size;
    this.cpuData = data;
    this.dataLocation = location;
    this.gpuBufferData = gpuBuffer;
    this.downloader = download;
    this.disposer = dispose;
  }

  static async fromImage(image: unknown, options?: FromImageOptions): Promise<TensorOf> {
    const { data, dims } = await readImage(image, options);
    return new TensorOf('float32', data, dims);
  }

  static fromPinnedBuffer(type: TensorType, data: TensorData, dims = [data.length]): TensorOf {
    return new TensorOf({ location: 'cpu-pinned', type, data, dims });
  }

  static fromTexture(): never {
    throw new Error('fromTexture: a tensor is in memory here, no texture; read its data first');
  }

  static fromGpuBuffer(
    gpuBuffer: BufferType,
    { dataType: type = 'float32', ...options }: TensorFromGpuBufferOptions,
  ): TensorOf {
    return new TensorOf({ location: 'gpu-buffer', type, gpuBuffer, ...options });
  }

  static fromMLTensor(): never {
    throw new Error('fromMLTensor: a tensor is in memory here; read the MLTensor first');
  }

  get data(): TensorData {
    this.ensureValid();
    if (this.cpuData !== undefined) return this.cpuData;
    throw new Error('The data is not on CPU. Use `getData()`, or `gpuBuffer`.');
  }

  get location(): TensorLocation {
    return this.dataLocation;
  }

  get texture(): never {
    throw new Error('The data is not stored as a WebGL texture.');
  }

  get gpuBuffer(): BufferType {
    this.ensureValid();
    if (this.gpuBufferData !== undefined) return this.gpuBufferData;
    throw new Error('The data is not stored as a WebGPU buffer.');
  }

  get mlTensor(): never {
    throw new Error('The data is not stored as a WebNN MLTensor.');
  }

  async getData(releaseData?: boolean): Promise<TensorData> {
    this.ensureValid();
    if (this.dataLocation !== 'gpu-buffer') return this.data;
    if (this.downloader === undefined)
      throw new Error('The current tensor is not created with a specified data downloader.');
    this.ensureIdle();
    try {
      this.isDownloading = true;
      this.cpuData = await this.downloader();
    } finally {
      this.isDownloading = false;
    }
    this.downloader = undefined;
    this.dataLocation = 'cpu';
    if (releaseData) this.release();
    return this.cpuData;
  }

  dispose(): void {
    this.ensureIdle();
    this.release();
    this.cpuData = this.gpuBufferData = this.downloader = undefined;
    this.dataLocation = 'none';
  }

  release(): void {
    this.disposer?.();
    this.disposer = undefined;
  }

  ensureIdle(): void {
    if (this.isDownloading) throw new Error('The current tensor is being downloaded.');
  }

  ensureValid(): void {
    if (this.dataLocation === 'none') throw new Error('The tensor is disposed.');
  }

  reshape(dims: readonly number[]): TensorOf {
    this.ensureValid();
    if (this.downloader !== undefined || this.disposer !== undefined)
      throw new Error('Cannot reshape a tensor that owns GPU resource.');
    const { type, gpuBufferData: gpuBuffer, location } = this;
    if (location === 'gpu-buffer') return new TensorOf({ location, type, gpuBuffer, dims });
    const { data } = this;
    if (this.location !== 'cpu-pinned') return new TensorOf(type, data, dims);
    return new TensorOf({ location: 'cpu-pinned', type, data, dims });
  }

  toDataURL(options?: ToImageOptions): string {
    return toDataURL(this, options);
  }

  toImageData(options?: ToImageOptions): ImageData {
    return toImageData(this, options);
  }
}

/** Elements that are computed on demand. */
export interface LazyElements {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: TensorData;
  /** Called once the tensor needs them no more. */
  release?(): void;
}

/** The lazy elements of tensors, until they are read or replaced. */
const untouched = /* @__PURE__ */ new WeakMap<object, LazyElements>();

/** The lazy elements of a tensor, unless its elements or dims were accessed or changed. */
export function untouchedElements(tensor: { dims: readonly number[] }): LazyElements | undefined {
  const elements = untouched.get(tensor);
  return String(elements?.dims) === String(tensor.dims) ? elements : undefined;
}

/** A tensor of lazy elements. */
export function tensorOf(elements: LazyElements): Tensor {
  const { type, dims } = elements;
  const empty = new (arrayTypeOf(type)!)(0);
  const tensor = new TensorOf({ location: 'cpu-pinned', type, data: empty, dims: [0] });
  Object.assign(tensor, { dims: [...dims], size: sizeOf(dims), dataLocation: 'cpu' });
  const settle = (value: TensorData | undefined) => {
    untouched.delete(tensor);
    elements.release?.();
    const as = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(tensor, 'cpuData', as);
  };
  Object.defineProperty(tensor, 'cpuData', {
    get() {
      settle(dataOf(type as TensorType, elements.data));
      return tensor.cpuData;
    },
    set: settle,
    enumerable: true,
    configurable: true,
  });
  untouched.set(tensor, elements);
  return tensor as unknown as Tensor;
}

/** An input or output of models: elements of one type in row-major order. */
export interface Tensor extends TypedTensor<TensorType> {}
export const Tensor = /* @__PURE__ */ Object.defineProperty(TensorOf, 'name', {
  value: 'Tensor',
}) as unknown as TensorConstructor;

export declare namespace Tensor {
  type DataTypeMap = TensorDataTypeMap;
  type ElementTypeMap = TensorElementTypeMap;
  type DataType = TensorData;
  type ElementType = TensorElementTypeMap[TensorType];
  type Type = TensorType;
  type DataLocation = TensorLocation;
  type CpuPinnedDataTypes = Exclude<TensorType, 'string'>;
  type TextureDataTypes = 'float32';
  type GpuBufferDataTypes = TypesOnGpu;
  type MLTensorDataTypes = Exclude<TensorType, 'string' | 'uint16' | 'int16' | 'float64'>;
  type TextureType = object;
  type GpuBufferType = BufferType;
  type MLTensorType = object;
}
