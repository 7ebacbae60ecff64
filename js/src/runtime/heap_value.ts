/**
 * The elements of a tensor in the heap, which functions read and write without a copy; pending until they are computed.
 */
import { LatheError } from '../base/errors.js';
import { nextTask } from '../base/pause.js';
import { elementCount } from '../base/shape.js';
import type { OperationName } from '../core/names.js';
import { arrayOn, copyInto, copyOf, type DataArray, zeros } from '../tensor/convert.js';
import { arrayTypes, type DType } from '../tensor/dtypes.js';
import { elements, type PendingData, type Tensor } from '../tensor/tensor.js';
import { callEngine } from './engine_call.js';
import { type Block, heap } from './heap.js';
import { threadsAreStarting } from './threads.js';

/** How elements are computed. Several may retain it: `release` once for each of them. */
export interface PendingOperation {
  readonly operands: readonly (HeapValue | number)[];
  /** The constant fill, if the elements need no module. */
  readonly constant?: Constant | undefined;
  retain(): void;
  release(): void;
}

/** Materializes pending values. */
export interface Evaluator {
  compute(values: readonly HeapValue[]): void;
  /** As `compute`, with long plans compiled in the background; undefined if there is nothing to await. */
  computeAsync(value: HeapValue): Promise<void> | undefined;
}

/** An operation whose operands are all numbers. */
export interface Constant {
  readonly op: OperationName;
  readonly numbers: readonly number[];
  /** The dtype of `numbers`. */
  readonly type: DType;
  readonly values: readonly unknown[];
  /** Writes the elements. `isNew`: they are zeros. */
  readonly fill: (into: DataArray, isNew?: boolean) => void;
}

/** A block of the heap and the number of values that use it. */
interface Allocation {
  readonly block: Block;
  values: number;
}

function releaseAllocation(allocation: Allocation): void {
  allocation.values -= 1;
  if (allocation.values === 0) heap().free(allocation.block);
}

/** Frees allocations of values that are garbage-collected before their tensors are disposed of. */
const finalizers = /* @__PURE__ */ new FinalizationRegistry<Allocation>(releaseAllocation);

/**
 * Recently allocated values. Registering a finalizer costs more than a small operation, and values are often disposed
 * of within the same task, so registration waits until the task ends or a limit of values or bytes is reached.
 */
let young: HeapValue[] = [];
let youngBytes = 0;
const maxYoung = 100;
const maxYoungBytes = 2 ** 24;

/** Limit of recorded dependents, which bounds the unreferenced values that a value retains. */
const maxDependents = 64;

function registerYoung(): void {
  const grown = young;
  young = [];
  youngBytes = 0;
  for (const each of grown) each.registerFinalizer();
}

/** Work list of nodes to release: releasing one may release its inputs' nodes, in chains too long for recursion. */
const releaseQueue: PendingOperation[] = [];
let isReleasing = false;

let visits = 0;
/** A fresh id for a graph traversal, which values store in `visit`. */
export const nextVisit = (): number => (visits += 1);

export class HeapValue implements PendingData {
  readonly size: number;
  /** The last traversal that set `mark`: faster than a Map per traversal. Traversals must not interleave. */
  visit = 0;
  mark = 0;
  #allocation: Allocation | undefined;
  #isRegistered = false;
  #copy: DataArray | undefined;
  #node: PendingOperation | undefined;
  readonly #evaluator: Evaluator | undefined;
  #type: string | undefined;
  /** The number of tensors that reference it. */
  #tensors = 1;
  /** The number of those that `memory` does not count. */
  #hidden = 0;
  /** The number of nodes that read it. */
  #readers = 0;
  /** Values computed from it, recorded while it is pending. */
  #dependents: HeapValue[] | undefined;

  /** A value for one tensor; pending if it has a node, which the evaluator then computes. */
  constructor(
    readonly dtype: DType,
    readonly shape: readonly number[],
    node?: PendingOperation,
    evaluator?: Evaluator,
  ) {
    this.size = elementCount(shape);
    this.#node = node;
    this.#evaluator = evaluator;
    if (node === undefined) return;
    for (const each of node.operands) if (typeof each !== 'number') each.#addDependent(this);
  }

  #addDependent(follower: HeapValue): void {
    if (this.#allocation !== undefined) return;
    if (this.#dependents?.length === maxDependents) this.#dependents = [...this.dependents];
    if (this.#dependents === undefined) this.#dependents = [follower];
    else if (this.#dependents.length < maxDependents) this.#dependents.push(follower);
  }

  /** The pending operation; dropped once computed, or, while gradients are recorded, at the end of the recording. */
  get node(): PendingOperation | undefined {
    return this.#node;
  }

  /** "float32 [2,3]". */
  get type(): string {
    return (this.#type ??= `${this.dtype} [${this.shape.join(',')}]`);
  }

  get isMaterialized(): boolean {
    return this.#allocation !== undefined;
  }

  /** The constant fill that produces it, while it is pending. */
  get constant(): Constant | undefined {
    return this.#allocation === undefined ? this.#node?.constant : undefined;
  }

  /** Pending values computed from this pending value; no more than `maxDependents` of them. */
  get dependents(): readonly HeapValue[] {
    const isPending = (each: HeapValue) => !each.isMaterialized && each.#node !== undefined;
    return this.#dependents?.filter(isPending) ?? [];
  }

  /** The number of nodes and other users that retain it. */
  get readers(): number {
    return this.#readers;
  }

  /** The number of tensors that reference it. */
  get tensors(): number {
    return this.#tensors;
  }

  /** Computes it if it is pending; its storage, for its device only. Error: out of memory. */
  materialize(): Block {
    if (this.#allocation === undefined) this.#evaluator!.compute([this]);
    return this.#allocation!.block;
  }

  /** Allocates uninitialized memory for it. Error: out of memory. */
  allocate(): this {
    if (this.#allocation !== undefined) return this;
    const bytes = this.size * arrayTypes[this.dtype].BYTES_PER_ELEMENT;
    return this.#attach({ block: heap().allocate(bytes), values: 0 });
  }

  /** Allocates it and writes its elements, which `data` has in the dtype of the host. Error: out of memory. */
  write(data: DataArray): this {
    copyInto(this.allocate().window(), data);
    return this;
  }

  /** As `write`, with the elements of a constant. */
  fill({ fill }: Constant): void {
    fill(this.allocate().window());
  }

  /** Another value that shares its memory. */
  alias(): HeapValue {
    if (this.#allocation === undefined) this.#evaluator!.compute([this]);
    return new HeapValue(this.dtype, this.shape).shareAllocation(this);
  }

  /** Shares the memory of a materialized value; both are immutable from then on. */
  shareAllocation(other: HeapValue): this {
    this.#copy = other.#copy;
    return this.#attach(other.#allocation!);
  }

  #attach(allocation: Allocation): this {
    this.#allocation = allocation;
    this.#dependents = undefined;
    allocation.values += 1;
    youngBytes += this.size * arrayTypes[this.dtype].BYTES_PER_ELEMENT;
    if (young.push(this) === 1) queueMicrotask(registerYoung);
    if (young.length > maxYoung || youngBytes > maxYoungBytes) registerYoung();
    return this;
  }

  /** @internal From now on garbage collection frees its memory. */
  registerFinalizer(): void {
    if (this.#allocation === undefined || this.#isRegistered) return;
    this.#isRegistered = true;
    finalizers.register(this, this.#allocation, this);
  }

  /** Undoes `allocate` where nothing was computed. */
  deallocate(): void {
    if (this.#allocation === undefined) return;
    if (!this.#isRegistered || finalizers.unregister(this)) releaseAllocation(this.#allocation);
    this.#allocation = undefined;
    this.#isRegistered = false;
  }

  /** Releases the pending operation of a materialized value. */
  dropNode(): void {
    const node = this.#node;
    this.#node = undefined;
    if (node === undefined) return;
    if (isReleasing) {
      releaseQueue.push(node);
      return;
    }
    isReleasing = true;
    for (
      let each: PendingOperation | undefined = node;
      each !== undefined;
      each = releaseQueue.pop()
    ) {
      each.release();
    }
    isReleasing = false;
  }

  /** A view of the elements in the heap; the next allocation may detach it. Materializes them. */
  window(): DataArray {
    return this.#at(this.materialize());
  }

  #at({ address }: Block): DataArray {
    return arrayOn(this.dtype, heap().memory.buffer, address, this.size);
  }

  /**
   * The elements on the host: one cached copy for all values that share the memory, unless its buffer was transferred.
   */
  readSync(): DataArray {
    const { constant } = this;
    if (constant !== undefined && this.hostCopy === undefined) this.#copy = this.#filled(constant);
    else if (constant === undefined) this.materialize();
    return this.hostCopy ?? (this.#copy = copyOf(this.#at(this.materialize()), this.dtype));
  }

  /** The elements of a constant, made on the host only. */
  #filled({ fill }: Constant): DataArray {
    return callEngine(
      `${this.size * arrayTypes[this.dtype].BYTES_PER_ELEMENT} bytes for ${this.type}`,
      () => {
        const made = zeros(this.dtype, this.size);
        fill(made, true);
        return made;
      },
    );
  }

  /** The cached copy on the host, if the elements have been read or come from JavaScript. */
  get hostCopy(): DataArray | undefined {
    return this.#copy?.length === this.size ? this.#copy : undefined;
  }

  /** Retains the value, so that it survives until it is materialized. */
  async readAsync(): Promise<DataArray> {
    this.retain();
    try {
      const isPending = this.#allocation === undefined && this.constant === undefined;
      if (isPending) await this.#evaluator!.computeAsync(this);
      const data = this.readSync();
      // Loops that await every result would otherwise prevent the threads of a page from starting.
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
    this.#releaseIfUnused();
    return !this.isVisible;
  }

  /** Whether `memory` includes it. */
  get isVisible(): boolean {
    return this.#tensors > this.#hidden;
  }

  /** As `share`, for a component of a complex tensor, which `memory` includes only once. */
  hide(): void {
    this.#tensors += 1;
    this.#hidden += 1;
  }

  /** As `free`, for such a component. */
  unhide(): void {
    this.#hidden -= 1;
    this.free();
  }

  /** Adds a reader. */
  retain(): void {
    this.#readers += 1;
  }

  /** Removes a reader. */
  release(): void {
    this.#readers -= 1;
    this.#releaseIfUnused();
  }

  #releaseIfUnused(): void {
    if (this.#tensors > 0 || this.#readers > 0) return;
    this.dropNode();
    this.deallocate();
    this.#copy = undefined;
    this.#dependents = undefined;
  }

  /** The value of a tensor; elements on the host are moved to the heap. Error: a dtype that the core does not have. */
  static of(tensor: Tensor): HeapValue {
    const data = tensor[elements];
    if (data instanceof HeapValue) return data;
    if (!Object.hasOwn(arrayTypes, tensor.dtype)) {
      throw new LatheError(`operations of the core do not support tensors of ${tensor.dtype}`);
    }
    const values = tensor.dataSync<DType>();
    const value = new HeapValue(tensor.dtype, tensor.shape).write(values);
    value.#copy = values;
    tensor[elements] = value;
    return value;
  }
}

/** The elements of a tensor if they are on the host already. */
export function elementsOnHost(tensor: Tensor): DataArray | undefined {
  const data: unknown = tensor[elements];
  if (ArrayBuffer.isView(data)) return data as DataArray;
  return data instanceof HeapValue ? data.hostCopy : undefined;
}
