/** Elements of a tensor that lie in the heap, where functions read and write them without a copy, or will once they are computed. */
import { elementCount } from '../base/shape.js';
import { arrayOn, copyInto, type DataArray } from '../tensor/convert.js';
import { arrayTypes, type DType } from '../tensor/dtypes.js';
import { elements, type PendingData, type Tensor } from '../tensor/tensor.js';
import { type Block, heap } from './heap.js';

/** How elements are computed. Several may hold it: `release` once for each of them. */
export interface Formula {
  /** Makes them be there. */
  compute(value: HeapValue): void;
  hold(): void;
  release(): void;
}

/** Nobody may have called `dispose` on the tensors of a block. */
const forgotten = /* @__PURE__ */ new FinalizationRegistry<Block>((block) => heap().free(block));

export class HeapValue implements PendingData {
  readonly size: number;
  #block: Block | undefined;
  #copy: DataArray | undefined;
  #formula: Formula | undefined;
  /** Tensors that show it. */
  #tensors = 1;
  /** Formulas that read it. */
  #readers = 0;

  /** For one tensor: with a formula not there yet. */
  constructor(
    readonly dtype: DType,
    readonly shape: readonly number[],
    formula?: Formula,
  ) {
    this.size = elementCount(shape);
    this.#formula = formula;
  }

  /** How it is computed, until it is there; while gradients are recorded, and a little longer, then too. */
  get formula(): Formula | undefined {
    return this.#formula;
  }

  get isThere(): boolean {
    return this.#block !== undefined;
  }

  /** Whether a tensor shows it. */
  get isShown(): boolean {
    return this.#tensors > 0;
  }

  /** Where it is; computes it. Error: there is no memory left. */
  get address(): number {
    if (this.#block === undefined) this.#formula!.compute(this);
    return this.#block!.address;
  }

  /** Gives it a place, with any content. Error: there is no memory left. */
  place(): this {
    if (this.#block !== undefined) return this;
    this.#block = heap().allocate(this.size * arrayTypes[this.dtype].BYTES_PER_ELEMENT);
    forgotten.register(this, this.#block, this);
    return this;
  }

  /** It is there now: how it was computed may be forgotten. */
  forget(): void {
    const formula = this.#formula;
    this.#formula = undefined;
    formula?.release();
  }

  /** The elements as they lie there; the next allocation may detach them. */
  window(): DataArray {
    const { address } = this;
    return arrayOn(this.dtype, heap().memory.buffer, address, this.size);
  }

  /** The same copy each time, unless it has been transferred. */
  now(): DataArray {
    if (this.#copy?.length !== this.size) this.#copy = this.window().slice();
    return this.#copy;
  }

  get later(): Promise<DataArray> {
    return Promise.resolve(this.now());
  }

  share(): void {
    this.#tensors += 1;
  }

  free(): boolean {
    this.#tensors -= 1;
    const isLast = this.#tensors === 0;
    if (isLast) this.#settle();
    return isLast;
  }

  /** A formula reads it. */
  hold(): void {
    this.#readers += 1;
  }

  /** It does so no longer. */
  release(): void {
    this.#readers -= 1;
    this.#settle();
  }

  #settle(): void {
    if (this.#tensors > 0 || this.#readers > 0) return;
    this.forget();
    if (this.#block !== undefined && forgotten.unregister(this)) heap().free(this.#block);
    this.#block = undefined;
    this.#copy = undefined;
  }

  /** Where a tensor's elements are; those in JavaScript memory move here. */
  static of(tensor: Tensor): HeapValue {
    const held = tensor[elements];
    if (held instanceof HeapValue) return held;
    const data = tensor.dataSync<DType>();
    const value = new HeapValue(tensor.dtype, tensor.shape).place();
    copyInto(value.window(), data);
    value.#copy = data;
    tensor[elements] = value;
    return value;
  }
}
