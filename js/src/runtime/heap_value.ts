/** Elements of a tensor that lie in the heap, where functions read and write them without a copy, or will once they are computed. */
import { LatheError } from '../base/errors.js';
import { nextTask } from '../base/pause.js';
import { elementCount } from '../base/shape.js';
import type { OperationName } from '../core/names.js';
import { arrayOn, copyInto, copyOf, type DataArray, zeros } from '../tensor/convert.js';
import { arrayTypes, type DType } from '../tensor/dtypes.js';
import { elements, type PendingData, type Tensor } from '../tensor/tensor.js';
import { askEngine } from './ask_engine.js';
import { type Block, heap } from './heap.js';
import { threadsAreStarting } from './threads.js';

/** How elements are computed. Several may hold it: `release` once for each of them. */
export interface Formula {
  readonly operands: readonly (HeapValue | number)[];
  /** Makes them be there. */
  compute(value: HeapValue): void;
  /** The same, but what takes long to compile makes nobody wait; undefined: nothing does. */
  computeLater(value: HeapValue): Promise<void> | undefined;
  /** What needs no module. */
  readonly constant?: Constant | undefined;
  hold(): void;
  release(): void;
}

/** An operation on numbers alone. */
export interface Constant {
  readonly op: OperationName;
  readonly numbers: readonly number[];
  /** Of the numbers. */
  readonly type: DType;
  readonly values: readonly unknown[];
  /** Writes the elements. `isNew`: they are zeros. */
  readonly fill: (into: DataArray, isNew?: boolean) => void;
}

/** A block, and how many values lie there. */
interface Place {
  readonly block: Block;
  values: number;
}

function leave(place: Place): void {
  place.values -= 1;
  if (place.values === 0) heap().free(place.block);
}

/** Nobody may have called `dispose` on the tensors of a value. */
const forgotten = /* @__PURE__ */ new FinalizationRegistry<Place>(leave);

/**
 * Values that lie somewhere since a moment ago. Most are disposed of soon, and watching one costs more than a small
 * operation: they are held until the task at work ends, or there are so many of them, or bytes.
 */
let young: HeapValue[] = [];
let youngBytes = 0;
const mostYoung = 100;
const mostYoungBytes = 2 ** 24;

/** Followers that a value knows: it must not keep alive any number of those that nobody else has any more. */
const mostFollowers = 64;

function watchYoung(): void {
  const grown = young;
  young = [];
  youngBytes = 0;
  for (const each of grown) each.watch();
}

/** Formulas to release. What these read may forget its own, and so on: one after the other, as such chains may be long. */
const leaving: Formula[] = [];
let isLeaving = false;

let walks = 0;
/** The number of another walk over values, which they can note. */
export const nextWalk = (): number => (walks += 1);

export class HeapValue implements PendingData {
  readonly size: number;
  /** The last walk that noted something here, and what: quicker than a table of the walk. Only one of them goes on at a time. */
  walk = 0;
  note = 0;
  #place: Place | undefined;
  #isWatched = false;
  #copy: DataArray | undefined;
  #formula: Formula | undefined;
  #type: string | undefined;
  /** Tensors that show it. */
  #tensors = 1;
  /** Those of them that `memory` does not count. */
  #hidden = 0;
  /** Formulas that read it. */
  #readers = 0;
  /** What is computed from it, while it is pending. */
  #followers: HeapValue[] | undefined;

  /** For one tensor: with a formula not there yet. */
  constructor(
    readonly dtype: DType,
    readonly shape: readonly number[],
    formula?: Formula,
  ) {
    this.size = elementCount(shape);
    this.#formula = formula;
    if (formula === undefined) return;
    for (const each of formula.operands) if (typeof each !== 'number') each.#precede(this);
  }

  #precede(follower: HeapValue): void {
    if (this.#place !== undefined) return;
    if (this.#followers?.length === mostFollowers) this.#followers = [...this.followers];
    if (this.#followers === undefined) this.#followers = [follower];
    else if (this.#followers.length < mostFollowers) this.#followers.push(follower);
  }

  /** How it is computed, until it is there; while gradients are recorded, and a little longer, then too. */
  get formula(): Formula | undefined {
    return this.#formula;
  }

  /** "float32 [2,3]". */
  get type(): string {
    return (this.#type ??= `${this.dtype} [${this.shape.join(',')}]`);
  }

  get isThere(): boolean {
    return this.#place !== undefined;
  }

  /** How it is computed, while it is pending and needs no module. */
  get constant(): Constant | undefined {
    return this.#place === undefined ? this.#formula?.constant : undefined;
  }

  /** Pending values that are computed from this one, as long as it is pending; of very many some. */
  get followers(): readonly HeapValue[] {
    const isPending = (each: HeapValue) => !each.isThere && each.#formula !== undefined;
    return this.#followers?.filter(isPending) ?? [];
  }

  /** How many formulas read it, and what else needs it. */
  get readers(): number {
    return this.#readers;
  }

  /** How many tensors show it. */
  get tensors(): number {
    return this.#tensors;
  }

  /** Where it is; computes it. Error: there is no memory left. */
  get address(): number {
    if (this.#place === undefined) this.#formula!.compute(this);
    return this.#place!.block.address;
  }

  /** Gives it a place, with any content. Error: there is no memory left. */
  place(): this {
    if (this.#place !== undefined) return this;
    const bytes = this.size * arrayTypes[this.dtype].BYTES_PER_ELEMENT;
    return this.#lieAt({ block: heap().allocate(bytes), values: 0 });
  }

  /** Another value of the same elements, at the same place. */
  twin(): HeapValue {
    if (this.#place === undefined) this.#formula!.compute(this);
    return new HeapValue(this.dtype, this.shape).lieWith(this);
  }

  /** Its elements are those of another one, which are there: both stay what they are. */
  lieWith(other: HeapValue): this {
    this.#copy = other.#copy;
    return this.#lieAt(other.#place!);
  }

  #lieAt(place: Place): this {
    this.#place = place;
    this.#followers = undefined;
    place.values += 1;
    youngBytes += this.size * arrayTypes[this.dtype].BYTES_PER_ELEMENT;
    if (young.push(this) === 1) queueMicrotask(watchYoung);
    if (young.length > mostYoung || youngBytes > mostYoungBytes) watchYoung();
    return this;
  }

  /** @internal Whoever holds it no longer need not dispose of it. */
  watch(): void {
    if (this.#place === undefined || this.#isWatched) return;
    this.#isWatched = true;
    forgotten.register(this, this.#place, this);
  }

  /** Takes the place away again: nothing was computed. */
  unplace(): void {
    if (this.#place === undefined) return;
    if (!this.#isWatched || forgotten.unregister(this)) leave(this.#place);
    this.#place = undefined;
    this.#isWatched = false;
  }

  /** It is there now: how it was computed may be forgotten. */
  forget(): void {
    const formula = this.#formula;
    this.#formula = undefined;
    if (formula === undefined) return;
    if (isLeaving) {
      leaving.push(formula);
      return;
    }
    isLeaving = true;
    for (let each: Formula | undefined = formula; each !== undefined; each = leaving.pop()) {
      each.release();
    }
    isLeaving = false;
  }

  /** The elements as they lie there; the next allocation may detach them. */
  window(): DataArray {
    return this.#at(this.address);
  }

  #at(address: number): DataArray {
    return arrayOn(this.dtype, heap().memory.buffer, address, this.size);
  }

  /** The same copy each time, and for all that lie there since it was made, unless it has been transferred. */
  now(): DataArray {
    const { constant } = this;
    if (constant !== undefined && this.known === undefined) this.#copy = this.#filled(constant);
    else if (constant === undefined) void this.address;
    return this.known ?? (this.#copy = copyOf(this.#at(this.address), this.dtype));
  }

  /** In JavaScript memory alone. */
  #filled({ fill }: Constant): DataArray {
    return askEngine(
      `${this.size * arrayTypes[this.dtype].BYTES_PER_ELEMENT} bytes for ${this.type}`,
      () => {
        const made = zeros(this.dtype, this.size);
        fill(made, true);
        return made;
      },
    );
  }

  /** The elements, if they have been read or come from JavaScript: asking takes no time. */
  get known(): DataArray | undefined {
    return this.#copy?.length === this.size ? this.#copy : undefined;
  }

  get later(): Promise<DataArray> {
    return this.#read();
  }

  /** Even if nobody else has it any more when it is there. */
  async #read(): Promise<DataArray> {
    this.hold();
    try {
      const isPending = this.#place === undefined && this.constant === undefined;
      if (isPending) await this.#formula!.computeLater(this);
      const data = this.now();
      // Loops that await every result would else keep the threads of a page from starting.
      if (threadsAreStarting()) await nextTask();
      return data;
    } finally {
      this.release();
    }
  }

  share(): void {
    this.#tensors += 1;
  }

  free(): boolean {
    this.#tensors -= 1;
    this.#settle();
    return !this.isShown;
  }

  /** Whether `memory` counts it. */
  get isShown(): boolean {
    return this.#tensors > this.#hidden;
  }

  /** As `share`, for a part of a tensor that is counted as a whole. */
  hide(): void {
    this.#tensors += 1;
    this.#hidden += 1;
  }

  /** As `free`, for such a part. */
  unhide(): void {
    this.#hidden -= 1;
    this.free();
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
    this.unplace();
    this.#copy = undefined;
    this.#followers = undefined;
  }

  /** Where a tensor's elements are; those in JavaScript memory move here. */
  static of(tensor: Tensor): HeapValue {
    const held = tensor[elements];
    if (held instanceof HeapValue) return held;
    if (!Object.hasOwn(arrayTypes, tensor.dtype)) {
      throw new LatheError(`no operation of the core takes tensors of ${tensor.dtype}`);
    }
    const data = tensor.dataSync<DType>();
    const value = new HeapValue(tensor.dtype, tensor.shape).place();
    copyInto(value.window(), data);
    value.#copy = data;
    tensor[elements] = value;
    return value;
  }
}

/** The elements of a tensor, where asking for them computes and copies nothing. */
export function knownElements(tensor: Tensor): DataArray | undefined {
  const held: unknown = tensor[elements];
  if (ArrayBuffer.isView(held)) return held as DataArray;
  return held instanceof HeapValue ? held.known : undefined;
}
