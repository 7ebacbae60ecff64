/** Values of graph nodes that are not tensors: lists, arrays, tables. */
import { LatheError } from '../base/errors.js';
import { checkCount, maxTensors } from '../base/limits.js';
import { type Tensor } from '../tensor/tensor.js';
import { concat, split, stack, unstack, zeros } from '../ops/index.js';

/** Base class of values that are not tensors. */
export abstract class Handle {
  abstract readonly kind: string;
}

type Shape = readonly number[];

/** Validates the length of a list or an array. Error: above the limit. */
export const checkLength = (op: string, length: number): number =>
  checkCount(op, 'tensors', length, maxTensors);

/** The shape compatible with both; -1 and an unknown rank are wildcards. Error: they differ. */
export function mergedShape(
  what: string,
  one: Shape | undefined,
  other: Shape | undefined,
): Shape | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const fits =
    one.length === other.length &&
    one.every((size, at) => size < 0 || other[at]! < 0 || size === other[at]);
  if (!fits) throw new LatheError(`${what}: shapes [${one.join()}] and [${other.join()}] differ`);
  return one.map((size, at) => (size < 0 ? other[at]! : size));
}

/** A list of tensors (TensorList…). Immutable: modifications return a new list. */
export class TensorList extends Handle {
  readonly kind = 'TensorList';

  constructor(
    readonly tensors: readonly (Tensor | undefined)[],
    readonly shape: Shape | undefined,
    readonly dtype: Tensor['dtype'],
  ) {
    super();
    checkLength('TensorList', tensors.length);
  }

  /** A list of unset elements. */
  static sized(
    op: string,
    length: number,
    shape: Shape | undefined,
    dtype: Tensor['dtype'],
  ): TensorList {
    return new TensorList(
      new Array<undefined>(checkLength(op, length)).fill(undefined),
      shape,
      dtype,
    );
  }

  static of(tensor: Tensor, shape: Shape | undefined): TensorList {
    const inner = tensor.shape.slice(1);
    return new TensorList(
      unstack(tensor),
      mergedShape('TensorListFromTensor', inner, shape),
      tensor.dtype,
    );
  }

  with(tensors: readonly (Tensor | undefined)[]): TensorList {
    return new TensorList(tensors, this.shape, this.dtype);
  }

  /** The element, or zeros if it was never set. Errors: out of range; an unknown shape. */
  at(index: number, shape?: Shape): Tensor {
    if (index < 0 || index >= this.tensors.length) {
      throw new LatheError(`TensorList: there is no element ${index} of ${this.tensors.length}`);
    }
    return this.tensors[index] ?? this.#empty(shape);
  }

  #empty(shape?: Shape): Tensor {
    return zeros(this.#emptyShape(shape), this.dtype);
  }

  #emptyShape(shape?: Shape): number[] {
    const elementShape = this.tensors.find((each) => each !== undefined)?.shape;
    const found = mergedShape(
      'TensorList',
      mergedShape('TensorList', this.shape, shape),
      elementShape,
    );
    if (found === undefined || found.some((size) => size < 0)) {
      throw new LatheError('TensorList: the shape of an element that was never set is unknown');
    }
    return [...found];
  }

  put(index: number, tensor: Tensor): TensorList {
    if (index < 0) throw new LatheError(`TensorList: there is no element ${index}`);
    checkLength('TensorList', index + 1);
    const next = [...this.tensors];
    while (next.length <= index) next.push(undefined);
    next[index] = tensor;
    return this.with(next);
  }

  /** All elements; unset ones share one tensor. */
  all(shape?: Shape): Tensor[] {
    let empty: Tensor | undefined;
    return this.tensors.map((each) => each ?? (empty ??= this.#empty(shape)));
  }

  stacked(shape?: Shape): Tensor {
    const { length } = this.tensors;
    if (length > 0 && !this.tensors.some((each) => each !== undefined)) {
      return zeros([length, ...this.#emptyShape(shape)], this.dtype);
    }
    const all = this.all(shape);
    if (all.length > 0) return stack(all);
    const inner = mergedShape('TensorListStack', this.shape, shape) ?? [];
    return zeros([0, ...inner.map((size) => Math.max(0, size))], this.dtype);
  }
}

/** A mutable array of tensors (TensorArray…V3). */
export class TensorArray extends Handle {
  readonly kind = 'TensorArray';
  readonly #tensors: (Tensor | undefined)[];

  constructor(
    size: number,
    readonly isDynamic: boolean,
    readonly dtype: Tensor['dtype'],
  ) {
    super();
    this.#tensors = new Array<Tensor | undefined>(checkLength('TensorArrayV3', size)).fill(
      undefined,
    );
  }

  get size(): number {
    return this.#tensors.length;
  }

  write(index: number, tensor: Tensor): void {
    if (index < 0 || (index >= this.size && !this.isDynamic)) throw this.#outside(index);
    checkLength('TensorArrayWriteV3', index + 1);
    while (this.size < index) this.#tensors.push(undefined);
    this.#tensors[index] = tensor;
  }

  read(index: number): Tensor {
    const found = this.#tensors[index];
    if (found === undefined) throw this.#outside(index);
    return found;
  }

  gather(indices: readonly number[]): Tensor {
    return stack(indices.map((each) => this.read(each)));
  }

  scatter(indices: readonly number[], tensor: Tensor): void {
    unstack(tensor).forEach((each, at) => this.write(indices[at]!, each));
  }

  concatenated(): Tensor {
    return concat(this.#tensors.map((_, at) => this.read(at)));
  }

  split(tensor: Tensor, lengths: number[]): void {
    split(tensor, lengths).forEach((each, at) => this.write(at, each));
  }

  #outside(index: number): LatheError {
    return new LatheError(`TensorArray: there is no element ${index} of ${this.size}`);
  }
}

/** A map from keys to values (HashTable…). */
export class HashTable extends Handle {
  readonly kind = 'HashTable';
  readonly #rows = new Map<unknown, unknown>();

  constructor(readonly valueDType: Tensor['dtype']) {
    super();
  }

  get size(): number {
    return this.#rows.size;
  }

  /** Replaces all entries. */
  fill(keys: ArrayLike<unknown>, values: ArrayLike<unknown>): void {
    this.#rows.clear();
    for (let at = 0; at < keys.length; at++) this.#rows.set(keys[at], values[at]);
  }

  find(keys: ArrayLike<unknown>, otherwise: unknown): unknown[] {
    return Array.from(keys, (key) => (this.#rows.has(key) ? this.#rows.get(key) : otherwise));
  }
}
