/** Small tensors in ordinary JavaScript memory: how data goes into a model and comes out. */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';

/** Element types, spelled as TensorFlow.js does. */
export type DType = 'float32' | 'int32' | 'bool';
/** What the core calls them. */
export const coreDTypes = { float32: 'f32', int32: 'i32', bool: 'bool' } as const;
/** The reverse of `coreDTypes`. */
export const hostDTypes = { f32: 'float32', i32: 'int32', bool: 'bool' } as const;
/** The typed arrays that hold them. */
export type DataArray = Float32Array | Int32Array | Uint8Array;
/** Numbers nested to any depth. */
export type NestedArray = number | boolean | NestedArray[];
/** Everything a tensor can be made of. */
export type TensorLike =
  Tensor | NestedArray | Float32Array | Float64Array | Int32Array | Uint8Array | Uint8ClampedArray;

/** Data that is on its way. */
export interface PendingData {
  /** Waits for it. */
  now(): DataArray;
  readonly later: Promise<DataArray>;
}

/** An immutable array of one element type with a shape, row-major. Made by `tensor`. */
export class Tensor {
  #data: DataArray | PendingData | undefined;

  /** Takes the array over without copying it. Error: its length does not fit the shape. */
  constructor(
    data: DataArray | PendingData,
    readonly shape: readonly number[],
    readonly dtype: DType,
  ) {
    const wanted = elementCount(shape);
    if (ArrayBuffer.isView(data) && data.length !== wanted) {
      throw new LatheError(
        `tensor: ${data.length} values do not fill shape [${shape.join(',')}] of ${wanted}`,
      );
    }
    this.#data = data;
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
   * The elements, not a copy. Threads may still compute them: this one then helps. Node and workers
   * sleep for the rest; a page's own thread may not and spins, so pages better await `data`. Errors:
   * after dispose; a thread failed.
   */
  dataSync(): DataArray {
    const data = this.#present();
    return ArrayBuffer.isView(data) ? this.#whole(data) : (this.#data = data.now());
  }

  /** The elements, as `dataSync`, without keeping anyone waiting. */
  async data(): Promise<DataArray> {
    const data = this.#present();
    if (ArrayBuffer.isView(data)) return this.#whole(data);
    const values = await data.later;
    if (this.#data === data) this.#data = values;
    return values;
  }

  #present(): DataArray | PendingData {
    if (this.#data === undefined) throw new LatheError('this tensor has been disposed');
    return this.#data;
  }

  #whole(data: DataArray): DataArray {
    if (data.length !== this.size) throw gone('this tensor');
    return data;
  }

  /** The elements as nested arrays of the tensor's shape; a number for a scalar. */
  arraySync(): NestedArray {
    const data = this.dataSync();
    let next = 0;
    const build = (axis: number): NestedArray =>
      axis === this.rank
        ? data[next++]!
        : Array.from({ length: this.shape[axis]! }, () => build(axis + 1));
    return build(0);
  }

  /** `arraySync` in the form that TensorFlow.js programs await. */
  async array(): Promise<NestedArray> {
    await this.data();
    return this.arraySync();
  }

  /** Lets the elements go; using the tensor afterwards is an error. */
  dispose(): void {
    this.#data = undefined;
  }

  /** "Tensor float32 [2,3]". */
  toString(): string {
    return `Tensor ${this.dtype} [${this.shape.join(',')}]`;
  }
}

/**
 * A tensor of the given values.
 *
 * @param values a number, nested arrays of equal lengths, a typed array, or a tensor to copy
 * @param shape sizes of the axes; left out, it is that of the nesting
 * @param dtype left out: float32 for numbers, bool for booleans, int32 for integer typed arrays
 *
 * Errors: ragged nesting, values that are not numbers, a shape that does not fit, an unknown dtype.
 */
export function tensor(values: TensorLike, shape?: readonly number[], dtype?: DType): Tensor {
  if (values instanceof Tensor) {
    return new Tensor(
      convert(values.dataSync(), dtype ?? values.dtype),
      checkedShape(shape ?? values.shape),
      dtype ?? values.dtype,
    );
  }
  if (ArrayBuffer.isView(values)) {
    checkArray(values);
    const inferred = values instanceof Float32Array || values instanceof Float64Array;
    const type = dtype ?? (inferred ? 'float32' : 'int32');
    return new Tensor(convert(values, type), checkedShape(shape ?? [values.length]), type);
  }
  const nested = shapeOf(values);
  const flat = new Array<number | boolean>(elementCount(nested));
  flatten(values, nested, 0, flat, 0);
  const type = dtype ?? (typeof flat[0] === 'boolean' ? 'bool' : 'float32');
  return new Tensor(convert(flat, type), checkedShape(shape ?? nested), type);
}

/** As `tensor`, but on the elements of `values` itself where they have the dtype: for use at once. */
export function borrow(values: TensorLike, shape?: readonly number[], dtype?: DType): Tensor {
  const like = values instanceof Tensor ? values.dataSync() : values;
  if (ArrayBuffer.isView(like)) checkArray(like);
  const type =
    like instanceof Float32Array ? 'float32' : like instanceof Int32Array ? 'int32' : undefined;
  if (type === undefined || (dtype ?? type) !== type) return tensor(values, shape, dtype);
  const usual = values instanceof Tensor ? values.shape : [(like as DataArray).length];
  return new Tensor(like as DataArray, checkedShape(shape ?? usual), type);
}

/** Errors: a typed array of something else than numbers, or one without its buffer. */
export function checkArray(values: ArrayBufferView): void {
  const { length, [0]: first } = values as DataArray;
  if (length === undefined || typeof first === 'bigint') {
    const kind = values.constructor.name;
    throw new LatheError(`tensor: a typed array of numbers is needed, got a ${kind}`);
  }
  if (length === 0 && isDetached(values.buffer)) throw gone('a typed array');
}

/** Whether an array buffer has been transferred. */
export function isDetached(buffer: ArrayBufferLike): boolean {
  try {
    return new Uint8Array(buffer) === undefined;
  } catch {
    return true;
  }
}

function gone(what: string): LatheError {
  return new LatheError(
    `${what} has lost its elements: their ArrayBuffer was transferred or shortened; copy it before`,
  );
}

function checkedShape(shape: readonly number[]): readonly number[] {
  if (!Array.isArray(shape) || shape.some((size) => !Number.isInteger(size) || size < 0)) {
    throw new LatheError(
      `tensor: a shape is an array of integers ≥ 0, got ${JSON.stringify(shape)}`,
    );
  }
  return [...shape];
}

/** Deeper arrays hold themselves. */
const mostNested = 100;

function shapeOf(values: unknown): number[] {
  const shape: number[] = [];
  for (let inner = values; Array.isArray(inner); inner = inner[0]) {
    if (shape.length === mostNested) {
      throw new LatheError(`tensor: arrays are nested more than ${mostNested} deep`);
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
    if (typeof values !== 'number' && typeof values !== 'boolean') {
      const what = Array.isArray(values) ? 'an array nested deeper than the first' : String(values);
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

function convert(values: ArrayLike<number | boolean>, dtype: DType): DataArray {
  const numbers = values as ArrayLike<number>;
  switch (dtype) {
    case 'float32':
      return Float32Array.from(numbers);
    case 'int32':
      return Int32Array.from(numbers);
    case 'bool':
      return Uint8Array.from(numbers, (value) => (value ? 1 : 0));
    default:
      throw new LatheError(`tensor: unknown dtype "${String(dtype)}"; known: float32, int32, bool`);
  }
}
