/** Tensors: immutable arrays with a shape, whose elements are in JavaScript memory or pending. */
import { LatheError } from '../base/errors.js';
import { entryOf } from '../base/records.js';
import { elementCount } from '../base/shape.js';
import {
  checkDType,
  convert,
  copyOf,
  type DataArray,
  decodeElements,
  isArrayOfDType,
  type NumberDType,
  type Scalar,
} from './convert.js';
import type { DataTypeMap, DType } from './dtypes.js';
import { formatElements } from './format.js';
import type { ArrayOf, OwnShape, Rank, ShapeOf } from './ranks.js';
import { track, tracked, untrack } from './live_tensors.js';

/** Numbers nested to any depth; bigints for int64 and uint64. */
export type NestedArray = Scalar | NestedArray[];
/** Strings, nested as the axes of a tensor. */
export type NestedStringArray = string | NestedStringArray[];
/** Everything a tensor can be made of. */
export type TensorLike = Tensor | NestedArray | NestedStringArray | DataArray | Uint8ClampedArray;

/** Elements that are pending, or in other memory. */
export interface PendingData {
  /** The elements, synchronously. */
  readSync(): DataArray;
  /** The elements, asynchronously. */
  readAsync(): Promise<DataArray>;
  /** The device that has the elements. */
  readonly device?: { readonly name: string };
  /** Its name, if they can only be awaited. */
  readonly awaitedFrom?: string | undefined;
  /** The value on a device with the elements, if there is one: for operations. */
  onDevice?(): unknown;
  /** Drops a reference to data that stays in other memory; whether that was the last one. */
  free?(): boolean;
  /** Adds a reference to such data. */
  share?(): void;
}

/** @internal The key of a tensor's elements. */
export const elements = /* @__PURE__ */ Symbol('elements');

let last = 0;
/** @internal The `id` of the tensor that was made last. */
export const lastTensor = (): number => last;

/** An immutable array of one element type with a shape, row-major. Made by `tensor`. R: its rank, if typed. */
export class Tensor<R extends Rank = any> {
  readonly shape: OwnShape<R>;
  /** A unique id, in the order of creation. */
  readonly id = (last += 1);
  /** Whether `tidy` ignores it. */
  kept = false;

  #data: DataArray | PendingData | undefined;
  #type: string | undefined;
  #isTracked = false;

  /**
   * Wraps the array without copying it. Error: its length does not fit the shape.
   *
   * @param type "float32 [2,3]", if computed already
   */
  constructor(
    data: DataArray | PendingData,
    shape: readonly number[],
    readonly dtype: DType,
    type?: string,
  ) {
    if (ArrayBuffer.isView(data) && data.length !== elementCount(shape)) {
      throw new LatheError(
        `tensor: ${data.length} values do not fill shape [${shape.join(',')}] of ${elementCount(shape)}`,
      );
    }
    this.shape = shape as OwnShape<R>;
    this.#data = data;
    this.#type = type;
  }

  /** Number of elements. */
  get size(): number {
    return elementCount(this.shape);
  }

  /** Number of axes. */
  get rank(): number {
    return this.shape.length;
  }

  /** Whether `dispose` has been called. */
  get isDisposed(): boolean {
    return this.#data === undefined;
  }

  /**
   * The elements, not a copy: bigints for int64 and uint64, for float16 and bfloat16 their bits in a
   * Uint16Array (`arraySync` returns numbers). If threads are still computing them, this thread participates;
   * Node and workers then block, while the main thread of a page spins and should
   * await `data` instead. Errors: after dispose; a thread failed.
   */
  dataSync<D extends DType = NumberDType>(): DataTypeMap[D] {
    const data = this[elements];
    if (ArrayBuffer.isView(data)) return this.#checked(data) as DataTypeMap[D];
    return this.#resolve(data, data.readSync()) as DataTypeMap[D];
  }

  /** The elements, as `dataSync`, asynchronously. */
  async data<D extends DType = NumberDType>(): Promise<DataTypeMap[D]> {
    const data = this[elements];
    if (ArrayBuffer.isView(data)) return this.#checked(data) as DataTypeMap[D];
    return this.#resolve(data, await data.readAsync()) as DataTypeMap[D];
  }

  /** @internal */
  get [elements](): DataArray | PendingData {
    if (!(#data in this)) throw proxiedTensorError();
    return this.#present();
  }

  /** @internal Moves the elements to other memory. */
  set [elements](data: DataArray | PendingData) {
    this.#data = data;
  }

  /** @internal "float32 [2,3]". */
  get type(): string {
    if (!(#data in this)) throw proxiedTensorError();
    return (this.#type ??= `${this.dtype} [${this.shape.join(',')}]`);
  }

  /**
   * @internal Registers the tensor with `tidy` and `memory`. `isShared`: whether another tensor has the same elements.
   */
  [tracked](isShared = false): this {
    if (this.#isTracked) return this;
    this.#isTracked = true;
    track(this, isShared);
    return this;
  }

  #resolve(pending: PendingData, values: DataArray): DataArray {
    if (this.#data === pending && pending.free === undefined) this.#data = values;
    return values;
  }

  #present(): DataArray | PendingData {
    if (this.#data === undefined) throw new LatheError('this tensor has been disposed');
    return this.#data;
  }

  #checked(data: DataArray): DataArray {
    if (data.length !== this.size) throw detachedError('this tensor');
    return data;
  }

  /**
   * The elements as nested arrays of the tensor's shape, or a single element of a scalar: numbers, of int64 and uint64
   * bigints (`arraySync<'int64'>()` types them so). Waits for them as `dataSync`.
   */
  arraySync<D extends DType = NumberDType>(): ArrayOf<R, D> {
    const data = decodeElements(this.dataSync<DType>(), this.dtype);
    let next = 0;
    const build = (axis: number): NestedArray => {
      if (axis === this.rank) return data[next++]!;
      const list: NestedArray[] = [];
      const isLast = axis === this.rank - 1;
      for (let at = this.shape[axis]!; at > 0; at -= 1)
        list.push(isLast ? data[next++]! : build(axis + 1));
      return list as NestedArray;
    };
    return build(0) as ArrayOf<R, D>;
  }

  /** `arraySync` in the form that TensorFlow.js programs await. */
  async array<D extends DType = NumberDType>(): Promise<ArrayOf<R, D>> {
    await this.data();
    return this.arraySync<D>();
  }

  /** Frees the elements; later uses throw. */
  dispose(): void {
    if (!(#data in this)) throw proxiedTensorError();
    const data = this.#data;
    this.#data = undefined;
    if (data === undefined) return;
    const isLast = ArrayBuffer.isView(data) || (data.free?.() ?? true);
    if (this.#isTracked) untrack(this, isLast);
  }

  /**
   * `toString`, as in `'loss: ' + x`, `x + 1` and `x == 1`. Error where a number is required, as in `x * 2` or `x > 0`.
   */
  [Symbol.toPrimitive](hint: string): string {
    if (hint !== 'number') return this.toString();
    throw notANumberError(`Tensor ${this.type}`);
  }

  /**
   * The elements as TensorFlow.js writes them; verbose: also dtype, rank and shape. Waits for them as `dataSync`; of
   * elements that can only be awaited it says so.
   */
  toString(verbose = false): string {
    if (this.isDisposed) return `Tensor ${this.type}, disposed`;
    const device = (this.#present() as PendingData).awaitedFrom;
    if (device !== undefined) return `Tensor ${this.type}, on ${device}: await data() to read it`;
    const values = decodeElements(this.dataSync<DType>(), this.dtype);
    const format = (at: number) => {
      const value = values[at]!;
      if (typeof value === 'string') return value;
      if (this.dtype === 'bool') return String(value !== 0);
      return String(typeof value === 'bigint' ? value : Number(value.toFixed(7)));
    };
    const isNumber = this.dtype !== 'bool' && this.rank === 0;
    const lines = isNumber
      ? [String(values[0])]
      : this.rank === 0
        ? [format(0)]
        : formatElements(this.shape, format);
    const { dtype, rank, shape } = this;
    const head = `  dtype: ${dtype}\n  rank: ${rank}\n  shape: [${shape.join(',')}]\n  values:\n`;
    return `Tensor\n${verbose ? head : ''}${lines.map((line) => `    ${line}`).join('\n')}`;
  }

  /** Prints `toString` to the console. */
  print(verbose = false): void {
    console.log(this.toString(verbose));
  }

  /** The string that Node prints. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString();
  }
}

/** The error of tensors that a framework has wrapped in a Proxy. */
const proxiedTensorError = () =>
  new LatheError(
    'this tensor is behind a proxy, which does not work: exclude it, by markRaw(tensor) in Vue',
  );

/** The error of JavaScript arithmetic on tensors. */
export function notANumberError(tensor: object | string): LatheError {
  return new LatheError(
    `${String(tensor)} is no number: operators of JavaScript do not work on tensors; write x.mul(2), ` +
      'x.greater(0), or x.dataSync()[0] for a number',
  );
}

/** Called with the values of new tensors. */
type Inspector = (values: ArrayLike<unknown>, dtype: DType) => void;
let inspector: Inspector | undefined;

/** @internal Sets the function that is called with the values of every new tensor. */
export function inspectValues(next: Inspector | undefined): void {
  inspector = next;
}

/** As `tensor` of create.ts, but untracked by `tidy` and `memory`: for internal use. */
export function tensor<R extends Rank = any>(
  values: TensorLike,
  shape?: ShapeOf<R>,
  dtype?: DType,
): Tensor<R> {
  if (dtype !== undefined) checkDType('tensor', dtype);
  if (values instanceof Tensor) {
    const [data, type] = [values.dataSync<DType>(), dtype ?? values.dtype];
    const isSame = isArrayOfDType(data, values.dtype) && type === values.dtype;
    const copy = isSame ? copyOf(data, type) : convert(decodeElements(data, values.dtype), type);
    return new Tensor(copy, checkedShape(shape ?? values.shape), type);
  }
  if (ArrayBuffer.isView(values)) {
    checkArray(values);
    const type = dtype ?? inferred(values);
    inspector?.(values as DataArray, type);
    const copy = isArrayOfDType(values, type) ? copyOf(values, type) : convert(values, type);
    return new Tensor(copy, checkedShape(shape ?? [values.length]), type);
  }
  const nested = shapeOf(values);
  const flat = new Array<Scalar>(elementCount(nested));
  flatten(values, nested, 0, flat, 0);
  const type = dtype ?? usualTypes[typeof flat[0] as keyof typeof usualTypes] ?? 'float32';
  checkBigints(flat, type);
  inspector?.(flat, type);
  return new Tensor(convert(flat, type), checkedShape(shape ?? nested), type);
}

/** As `tensor`, without a copy if `values` has the dtype: for immediate use. */
export function borrow(values: TensorLike, shape?: readonly number[], dtype?: DType): Tensor {
  const isTensor = values instanceof Tensor;
  if (!isTensor && !ArrayBuffer.isView(values)) return tensor(values, shape, dtype);
  const like = isTensor ? values.dataSync<DType>() : values;
  checkArray(like);
  const type = isTensor ? values.dtype : (dtype ?? inferred(like));
  if ((dtype ?? type) !== type || !isArrayOfDType(like, type)) return tensor(values, shape, dtype);
  return new Tensor(like, checkedShape(shape ?? (isTensor ? values.shape : [like.length])), type);
}

/** The default dtype of a typed array. */
function inferred(values: ArrayBufferView): DType {
  const kind = (values as Uint8Array)[Symbol.toStringTag] as string;
  return entryOf(inferredTypes, kind) ?? (kind.startsWith('Float') ? 'float32' : 'int32');
}

/** Typed arrays with values that int32 cannot represent. */
const inferredTypes: Record<string, DType> = {
  Uint32Array: 'uint32',
  BigInt64Array: 'int64',
  BigUint64Array: 'uint64',
};

const usualTypes = { boolean: 'bool', bigint: 'int64' } as const;

function checkBigints(values: readonly Scalar[], dtype: DType): void {
  if (dtype === 'int64' || dtype === 'uint64') return;
  const found = values.find((value) => typeof value === 'bigint');
  if (found === undefined) return;
  throw new LatheError(`tensor: ${dtype} accepts numbers, got the bigint ${found}; use int64`);
}

/** Errors: a typed array of something else than numbers, or one without its buffer. */
export function checkArray(values: ArrayBufferView): void {
  const { length } = values as DataArray;
  if (length === undefined) {
    const kind = values.constructor.name;
    throw new LatheError(`tensor: a typed array of numbers is needed, got a ${kind}`);
  }
  if (length === 0 && isDetached(values.buffer)) throw detachedError('a typed array');
}

/** Whether an array buffer has been transferred. */
export function isDetached(buffer: ArrayBufferLike): boolean {
  try {
    return new Uint8Array(buffer) === undefined;
  } catch {
    return true;
  }
}

function detachedError(what: string): LatheError {
  return new LatheError(
    `${what} has lost its elements: their ArrayBuffer was transferred or shortened; copy it before`,
  );
}

/** A copy of a shape. Error: an invalid shape. */
export function checkedShape(shape: readonly number[]): readonly number[] {
  if (!Array.isArray(shape) || shape.some((size) => !Number.isInteger(size) || size < 0)) {
    throw new LatheError(
      `tensor: a shape is an array of integers ≥ 0, got ${JSON.stringify(shape)}`,
    );
  }
  return [...shape];
}

/** Limit of nesting: deeper arrays contain themselves. */
export const maxNesting = 100;

/** The shape of numbers nested in arrays, [] of a single number; only the first of each array is examined. */
export function shapeOf(values: unknown): number[] {
  const shape: number[] = [];
  for (let inner = values; Array.isArray(inner); inner = inner[0]) {
    if (shape.length === maxNesting) {
      throw new LatheError(`tensor: arrays are nested more than ${maxNesting} deep`);
    }
    shape.push(inner.length);
  }
  return shape;
}

function flatten(
  values: unknown,
  shape: number[],
  axis: number,
  out: unknown[],
  at: number,
): number {
  if (axis === shape.length) {
    const isStringOrComplex = typeof values === 'symbol' || values instanceof Tensor;
    if (
      Array.isArray(values) ||
      isStringOrComplex ||
      (typeof values !== 'number' && isNaN(Number(values)))
    ) {
      const what = Array.isArray(values)
        ? 'an array nested deeper than the first'
        : values instanceof Tensor
          ? 'a tensor; tl.stack joins them'
          : String(values);
      throw new LatheError(`tensor: values must be numbers, got ${what}`);
    }
    out[at] = values;
    return at + 1;
  }
  if (!Array.isArray(values) || values.length !== shape[axis]) {
    const got = Array.isArray(values) ? `${values.length} values` : String(values);
    throw new LatheError(
      `tensor: nested arrays must have equal lengths: ${got} where ${shape[axis]} are due`,
    );
  }
  for (const item of values) at = flatten(item, shape, axis + 1, out, at);
  return at;
}
