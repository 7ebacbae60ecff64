/** Small tensors in ordinary JavaScript memory: how data goes into a model and comes out. */
import { LatheError } from '../base/errors.js';
import { own } from '../base/own.js';
import { elementCount } from '../base/shape.js';
import {
  checkDType,
  convert,
  copyOf,
  type DataArray,
  holds,
  type NumberDType,
  readable,
  type Scalar,
} from './convert.js';
import type { DataTypeMap, DType } from './dtypes.js';
import { formatElements } from './format.js';
import type { ArrayOf, OwnShape, Rank, ShapeOf } from './ranks.js';
import { track, tracked, untrack } from './scopes.js';

/** Numbers nested to any depth; bigints for int64 and uint64. */
export type NestedArray = Scalar | NestedArray[];
/** Texts, nested as the axes of a tensor. */
export type NestedTexts = string | NestedTexts[];
/** Everything a tensor can be made of. */
export type TensorLike = Tensor | NestedArray | NestedTexts | DataArray | Uint8ClampedArray;

/** Data that is on its way, or elsewhere. */
export interface PendingData {
  /** Waits for it. */
  now(): DataArray;
  readonly later: Promise<DataArray>;
  /** Of data that stays elsewhere when it is read: one tensor less shows it; whether that was the last one. */
  free?(): boolean;
  /** Of such data: one tensor more shows it. */
  share?(): void;
}

/** @internal Where the elements of a tensor are. */
export const elements = /* @__PURE__ */ Symbol('elements');

let last = 0;
/** @internal The `id` of the tensor that was made last. */
export const lastTensor = (): number => last;

/** An immutable array of one element type with a shape, row-major. Made by `tensor`. R: its rank, where it is known. */
export class Tensor<R extends Rank = any> {
  readonly shape: OwnShape<R>;
  /** A number of its own; those that are made later have greater ones. */
  readonly id = (last += 1);
  /** Whether `tidy` leaves it alone. */
  kept = false;

  #data: DataArray | PendingData | undefined;
  #type: string | undefined;
  #isTracked = false;

  /**
   * Takes the array over without copying it. Error: its length does not fit the shape.
   *
   * @param type "float32 [2,3]", where it is known
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
   * Uint16Array (`arraySync` gives numbers). Threads may still compute them: this one then helps.
   * Node and workers sleep for the rest; a page's own thread may not and spins, so pages better
   * await `data`. Errors: after dispose; a thread failed.
   */
  dataSync<D extends DType = NumberDType>(): DataTypeMap[D] {
    const data = this[elements];
    if (ArrayBuffer.isView(data)) return this.#whole(data) as DataTypeMap[D];
    return this.#keep(data, data.now()) as DataTypeMap[D];
  }

  /** The elements, as `dataSync`, without keeping anyone waiting. */
  async data<D extends DType = NumberDType>(): Promise<DataTypeMap[D]> {
    const data = this[elements];
    if (ArrayBuffer.isView(data)) return this.#whole(data) as DataTypeMap[D];
    return this.#keep(data, await data.later) as DataTypeMap[D];
  }

  /** @internal */
  get [elements](): DataArray | PendingData {
    if (!(#data in this)) throw behindProxy();
    return this.#present();
  }

  /** @internal The same elements, in another place. */
  set [elements](data: DataArray | PendingData) {
    this.#data = data;
  }

  /** @internal "float32 [2,3]". */
  get type(): string {
    if (!(#data in this)) throw behindProxy();
    return (this.#type ??= `${this.dtype} [${this.shape.join(',')}]`);
  }

  /** @internal `tidy` and `memory` know of it from now on; whether another tensor has the same elements. */
  [tracked](isShared = false): this {
    if (this.#isTracked) return this;
    this.#isTracked = true;
    track(this, isShared);
    return this;
  }

  #keep(pending: PendingData, values: DataArray): DataArray {
    if (this.#data === pending && pending.free === undefined) this.#data = values;
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

  /**
   * The elements as nested arrays of the tensor's shape, a scalar alone: numbers, of int64 and uint64 bigints
   * (`arraySync<'int64'>()` types them so). Waits for them as `dataSync`.
   */
  arraySync<D extends DType = NumberDType>(): ArrayOf<R, D> {
    const data = readable(this.dataSync<DType>(), this.dtype);
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

  /** Lets the elements go; using the tensor afterwards is an error. */
  dispose(): void {
    if (!(#data in this)) throw behindProxy();
    const data = this.#data;
    this.#data = undefined;
    if (data === undefined) return;
    const isLast = ArrayBuffer.isView(data) || (data.free?.() ?? true);
    if (this.#isTracked) untrack(this, isLast);
  }

  /** `toString`, as in `'loss: ' + x`, `x + 1` and `x == 1`. Error where only a number will do, as in `x * 2` or `x > 0`. */
  [Symbol.toPrimitive](hint: string): string {
    if (hint !== 'number') return this.toString();
    throw noNumber(`Tensor ${this.type}`);
  }

  /** The elements as TensorFlow.js writes them; verbose: also dtype, rank and shape. Waits for them as `dataSync`. */
  toString(verbose = false): string {
    if (this.isDisposed) return `Tensor ${this.type}, disposed`;
    const data = readable(this.dataSync<DType>(), this.dtype);
    const spell = (at: number) => {
      const value = data[at]!;
      if (typeof value === 'string') return value;
      if (this.dtype === 'bool') return String(value !== 0);
      return String(typeof value === 'bigint' ? value : Number(value.toFixed(7)));
    };
    const isNumber = this.dtype !== 'bool' && this.rank === 0;
    const lines = isNumber
      ? [String(data[0])]
      : this.rank === 0
        ? [spell(0)]
        : formatElements(this.shape, spell);
    const { dtype, rank, shape } = this;
    const head = `  dtype: ${dtype}\n  rank: ${rank}\n  shape: [${shape.join(',')}]\n  values:\n`;
    return `Tensor\n${verbose ? head : ''}${lines.map((line) => `    ${line}`).join('\n')}`;
  }

  /** Prints `toString` to the console. */
  print(verbose = false): void {
    console.log(this.toString(verbose));
  }

  /** What Node shows of it. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString();
  }
}

/** What frameworks that observe objects make of tensors. */
const behindProxy = () =>
  new LatheError('this tensor is behind a proxy: keep it out of it, by markRaw(tensor) in Vue');

/** What arithmetic of JavaScript on tensors throws. */
export function noNumber(tensor: object | string): LatheError {
  return new LatheError(
    `${String(tensor)} is no number: operators of JavaScript do not work on tensors; write x.mul(2), ` +
      'x.greater(0), or x.dataSync()[0] for a number',
  );
}

/** What looks at the values of new tensors. */
type Inspector = (values: ArrayLike<unknown>, dtype: DType) => void;
let inspector: Inspector | undefined;

/** @internal From now on the values of every tensor are shown to it. */
export function inspectValues(next: Inspector | undefined): void {
  inspector = next;
}

/** `tensor` of create.ts for what the package itself needs: `tidy` and `memory` do not know of it. */
export function tensor<R extends Rank = any>(
  values: TensorLike,
  shape?: ShapeOf<R>,
  dtype?: DType,
): Tensor<R> {
  if (dtype !== undefined) checkDType('tensor', dtype);
  if (values instanceof Tensor) {
    const [data, type] = [values.dataSync<DType>(), dtype ?? values.dtype];
    const isSame = holds(data, values.dtype) && type === values.dtype;
    const copy = isSame ? copyOf(data, type) : convert(readable(data, values.dtype), type);
    return new Tensor(copy, checkedShape(shape ?? values.shape), type);
  }
  if (ArrayBuffer.isView(values)) {
    checkArray(values);
    const type = dtype ?? inferred(values);
    inspector?.(values as DataArray, type);
    const copy = holds(values, type) ? copyOf(values, type) : convert(values, type);
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

/** As `tensor`, but on the elements of `values` itself where they have the dtype: for use at once. */
export function borrow(values: TensorLike, shape?: readonly number[], dtype?: DType): Tensor {
  const isTensor = values instanceof Tensor;
  if (!isTensor && !ArrayBuffer.isView(values)) return tensor(values, shape, dtype);
  const like = isTensor ? values.dataSync<DType>() : values;
  checkArray(like);
  const type = isTensor ? values.dtype : (dtype ?? inferred(like));
  if ((dtype ?? type) !== type || !holds(like, type)) return tensor(values, shape, dtype);
  return new Tensor(like, checkedShape(shape ?? (isTensor ? values.shape : [like.length])), type);
}

/** Typed arrays that nobody gave a dtype. */
function inferred(values: ArrayBufferView): DType {
  const kind = (values as Uint8Array)[Symbol.toStringTag] as string;
  return own(inferredTypes, kind) ?? (kind.startsWith('Float') ? 'float32' : 'int32');
}

/** Those of whose values int32 does not have all. */
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
  throw new LatheError(`tensor: ${dtype} takes numbers, got the bigint ${found}; int64 takes it`);
}

/** Errors: a typed array of something else than numbers, or one without its buffer. */
export function checkArray(values: ArrayBufferView): void {
  const { length } = values as DataArray;
  if (length === undefined) {
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

/** A copy of it. Error: it is none. */
export function checkedShape(shape: readonly number[]): readonly number[] {
  if (!Array.isArray(shape) || shape.some((size) => !Number.isInteger(size) || size < 0)) {
    throw new LatheError(
      `tensor: a shape is an array of integers ≥ 0, got ${JSON.stringify(shape)}`,
    );
  }
  return [...shape];
}

/** Deeper arrays hold themselves. */
export const mostNested = 100;

/** The shape of numbers nested in arrays, [] of a number alone; only the first of each array are looked at. */
export function shapeOf(values: unknown): number[] {
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
    const isOdd = typeof values === 'symbol' || values instanceof Tensor;
    if (Array.isArray(values) || isOdd || (typeof values !== 'number' && isNaN(Number(values)))) {
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
