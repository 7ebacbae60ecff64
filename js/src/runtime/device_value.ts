/** The elements of a tensor on a device; pending until they are computed. Knows devices only by their interface. */
import { OutOfMemoryError } from '../base/device_errors.js';
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import type { OperationName } from '../core/names.js';
import { type DataArray, zeros } from '../tensor/convert.js';
import { arrayTypes, type DType } from '../tensor/dtypes.js';
import { elements, type PendingData, type Tensor } from '../tensor/tensor.js';
import type { Device, Storage, StoredValue } from './device.js';
import { callEngine } from './engine_call.js';
import { collect, countBytes, finalizers, type Releasable, relievePressure } from './pressure.js';

/** How elements are computed. Several may retain it: `release` once for each of them. */
export interface PendingOperation {
  readonly operands: readonly (DeviceValue | number)[];
  /** The constant fill, if the elements need no module. */
  readonly constant?: Constant | undefined;
  retain(): void;
  release(): void;
}

/** Materializes pending values. */
export interface Evaluator {
  compute(values: readonly DeviceValue[]): void;
  /** As `compute`, with long plans compiled in the background; undefined if there is nothing to await. */
  computeAsync(value: DeviceValue): Promise<void> | undefined;
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

/** The storage of values and their number. It is freed, too, when they are garbage-collected before their tensors are disposed of. */
class Allocation implements Releasable {
  values = 0;

  constructor(
    readonly device: Device,
    readonly storage: Storage,
  ) {
    countBytes(storage.bytes);
  }

  release(): void {
    this.values -= 1;
    if (this.values > 0) return;
    countBytes(-this.storage.bytes);
    this.device.free(this.storage);
  }
}

/**
 * Recently allocated values. Registering a finalizer costs more than a small operation, and values are often disposed
 * of within the same task, so registration waits until the task ends or a limit of values or bytes is reached.
 */
let young: DeviceValue[] = [];
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

export class DeviceValue implements PendingData, StoredValue {
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
  #dependents: DeviceValue[] | undefined;

  /** A value for one tensor; pending if it has a node, which the evaluator then computes. */
  constructor(
    readonly dtype: DType,
    readonly shape: readonly number[],
    readonly device: Device,
    node?: PendingOperation,
    evaluator?: Evaluator,
  ) {
    this.size = elementCount(shape);
    this.#node = node;
    this.#evaluator = evaluator;
    if (node === undefined) return;
    for (const each of node.operands) if (typeof each !== 'number') each.#addDependent(this);
  }

  #addDependent(follower: DeviceValue): void {
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
  get dependents(): readonly DeviceValue[] {
    const isPending = (each: DeviceValue) => !each.isMaterialized && each.#node !== undefined;
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

  materialize(): Storage {
    if (this.#allocation === undefined) this.#evaluator!.compute([this]);
    return this.#allocation!.storage;
  }

  allocate(): this {
    if (this.#allocation !== undefined) return this;
    const storage = this.device.allocate(this.dtype, this.size);
    return this.#attach(new Allocation(this.device, storage));
  }

  /** Allocates it and writes its elements, which `data` has in the dtype of the host. Error: out of memory. */
  write(data: DataArray): this {
    this.device.write(this.allocate().materialize(), this.dtype, data);
    return this;
  }

  /** As `write`, with the elements of a constant. */
  fill(constant: Constant): void {
    if (this.device.view === undefined) this.write(this.#filled(constant));
    else constant.fill(this.device.view(this.allocate()));
  }

  /** Another value that shares its storage. */
  alias(): DeviceValue {
    this.materialize();
    return new DeviceValue(this.dtype, this.shape, this.device).shareAllocation(this);
  }

  /** Shares the storage of a materialized value of this device; both are immutable from then on. */
  shareAllocation(other: DeviceValue): this {
    this.#copy = other.#copy;
    return this.#attach(other.#allocation!);
  }

  #attach(allocation: Allocation): this {
    this.#allocation = allocation;
    this.#dependents = undefined;
    allocation.values += 1;
    youngBytes += allocation.storage.bytes;
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
    if (!this.#isRegistered || finalizers.unregister(this)) this.#allocation.release();
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

  /**
   * The elements on the host: one cached copy for all values that share the storage, unless its buffer was transferred.
   */
  readSync(): DataArray {
    const cached = this.#onHost();
    if (cached !== undefined) return cached;
    return (this.#copy = this.device.readSync(this.materialize(), this.dtype, this.size));
  }

  /** The elements if they need not be read from the device. */
  #onHost(): DataArray | undefined {
    const { constant, hostCopy } = this;
    return hostCopy ?? (constant && (this.#copy = this.#filled(constant)));
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

  get awaitedFrom(): string | undefined {
    const isHere = this.hostCopy !== undefined || this.constant !== undefined;
    return this.device.isAsync && !isHere ? this.device.name : undefined;
  }

  /** The cached copy on the host, if the elements have been read or come from JavaScript. */
  get hostCopy(): DataArray | undefined {
    return this.#copy?.length === this.size ? this.#copy : undefined;
  }

  /** Retains the value, so that it survives until it is read. Frees unreachable values if memory is short. */
  async readAsync(): Promise<DataArray> {
    this.retain();
    try {
      const pressure = relievePressure(this.device);
      if (pressure !== undefined) await pressure;
      try {
        return await this.#read();
      } catch (error) {
        if (!(error instanceof OutOfMemoryError && (await collect()))) throw error;
        return await this.#read();
      }
    } finally {
      this.release();
    }
  }

  async #read(): Promise<DataArray> {
    const cached = this.#onHost();
    if (cached !== undefined) return cached;
    if (this.#allocation === undefined) {
      const computed = this.#evaluator?.computeAsync(this);
      if (computed !== undefined) await computed;
    }
    const found = this.device.read(this.materialize(), this.dtype, this.size);
    const copy = ArrayBuffer.isView(found) ? found : await found;
    return this.hostCopy ?? (this.#copy = copy);
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

  /** Whether components of complex tensors reference it. */
  get isHidden(): boolean {
    return this.#hidden > 0;
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

  /** Itself. Error: it is on another device. */
  on(device: Device): this {
    if (this.device === device) return this;
    const { name } = device;
    throw new LatheError(
      `${this.type} on ${this.device.name} is used on ${name}: await tensor.to('${name}') before`,
    );
  }

  /** The value of a tensor; elements on the host are moved to the device. Error: a dtype that the core does not have. */
  static of(tensor: Tensor, device: Device): DeviceValue {
    const data = tensor[elements];
    const value = (data as PendingData).onDevice?.() ?? data;
    if (value instanceof DeviceValue) return value;
    if (!Object.hasOwn(arrayTypes, tensor.dtype)) {
      throw new LatheError(`operations of the core do not support tensors of ${tensor.dtype}`);
    }
    const moved = DeviceValue.from(tensor.dataSync<DType>(), tensor, device);
    tensor[elements] = moved;
    return moved;
  }

  /** The value of elements on the host, which become its cached copy. Error: out of memory. */
  static from(
    data: DataArray,
    { dtype, shape }: Pick<DeviceValue, 'dtype' | 'shape'>,
    device: Device,
  ): DeviceValue {
    const value = new DeviceValue(dtype, shape, device).write(data);
    value.#copy = data;
    return value;
  }
}

/** The elements of a tensor if they are on the host already. */
export function elementsOnHost(tensor: Tensor): DataArray | undefined {
  const data: unknown = tensor[elements];
  if (ArrayBuffer.isView(data)) return data as DataArray;
  return data instanceof DeviceValue ? data.hostCopy : undefined;
}
