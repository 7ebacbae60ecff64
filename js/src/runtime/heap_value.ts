/** Elements of a tensor that lie in the heap, where functions read and write them without a copy. */
import { elementCount } from '../base/shape.js';
import { arrayOn, copyInto, type DataArray } from '../tensor/convert.js';
import { arrayTypes, type DType } from '../tensor/dtypes.js';
import { elements, type PendingData, type Tensor } from '../tensor/tensor.js';
import { type Block, heap } from './heap.js';

/** Nobody may have called `dispose` on the tensors of a block. */
const forgotten = /* @__PURE__ */ new FinalizationRegistry<Block>((block) => heap().free(block));

export class HeapValue implements PendingData {
  #block: Block;
  #copy: DataArray | undefined;

  /** With any content. Error: there is no memory left. */
  constructor(
    readonly dtype: DType,
    readonly size: number,
  ) {
    this.#block = heap().allocate(size * arrayTypes[dtype].BYTES_PER_ELEMENT);
    forgotten.register(this, this.#block, this);
  }

  get address(): number {
    return this.#block.address;
  }

  /** The elements as they lie there; the next allocation may detach them. */
  window(): DataArray {
    return arrayOn(this.dtype, heap().memory.buffer, this.address, this.size);
  }

  /** The same copy each time, unless it has been transferred. */
  now(): DataArray {
    if (this.#copy?.length !== this.size) this.#copy = this.window().slice();
    return this.#copy;
  }

  get later(): Promise<DataArray> {
    return Promise.resolve(this.now());
  }

  free(): void {
    if (forgotten.unregister(this)) heap().free(this.#block);
  }

  /** Where a tensor's elements are; those in JavaScript memory move here. */
  static of(tensor: Tensor): HeapValue {
    const held = tensor[elements];
    if (held instanceof HeapValue) return held;
    const data = tensor.dataSync<DType>();
    const value = new HeapValue(tensor.dtype, elementCount(tensor.shape));
    copyInto(value.window(), data);
    value.#copy = data;
    tensor[elements] = value;
    return value;
  }
}
