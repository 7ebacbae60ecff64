/**
 * The allocator of the memory that programs on the Wasm device share: segregated free lists by size, eight for each power of two
 * (M. Masmano et al., "TLSF: a new dynamic memory allocator for real-time systems", 2004). Blocks move only to a smaller memory, between
 * two runs.
 */
import { LatheError } from '../../base/errors.js';
import { checkBudget } from '../budget.js';
import type { DeviceMemory, Storage } from '../device.js';
import { controlBytes } from '../control_block.js';
import { callEngine } from '../engine_call.js';
import { env, memoryBudget } from '../env.js';

/** Alignment of addresses and sizes, as relocatable modules require. */
const unit = 64;
const pageBytes = 65536;
const maxPages = 65536;
/** 32-bit base addresses of a run that a shared memory has room for, after the control block of threads. */
const maxBases = 1008;
/** Initial pages, and the minimum growth. */
const minPages = 16;
/** Less is not given back. */
const minShrinkable = 2 ** 28;
const maxUnits = (maxPages * pageBytes) / unit;
/** The last eight are for blocks of 2^26 units, which are 4 GiB. */
const binCount = 200;

/** `bytes` of free blocks. */
const free = -1;

/** A block of the memory, linked to its neighbors. */
export class Block implements Storage {
  /** Bytes requested. */
  bytes = free;
  before: Block | undefined;
  after: Block | undefined;
  /** Links of its free list. */
  previous: Block | undefined;
  next: Block | undefined;

  constructor(
    public address: number,
    public units: number,
  ) {}
}

/** Makes two blocks neighbors. */
function link(before: Block | undefined, after: Block): void {
  after.before = before;
  if (before !== undefined) before.after = after;
}

export class Heap {
  memory: WebAssembly.Memory;
  readonly #bins = new Array<Block | undefined>(binCount);
  /** A bitmap of the lists that are not empty. */
  readonly #filled = new Uint32Array(Math.ceil(binCount / 32));
  readonly #first: number;
  #last: Block;
  #bytes = 0;
  /** The maximum of `#bytes` since `isOversized` was read. */
  #peak = 0;
  #blocks = 0;

  /** Errors of the engine: out of memory, or no shared memory. */
  constructor(readonly isShared: boolean) {
    this.memory = this.#newMemory(minPages);
    this.#first = isShared ? controlBytes + 4 * maxBases : 0;
    this.#last = new Block(this.#first, (minPages * pageBytes - this.#first) / unit);
    this.#insert(this.#last);
  }

  #newMemory(initial: number): WebAssembly.Memory {
    return new WebAssembly.Memory({ initial, maximum: maxPages, shared: this.isShared });
  }

  /** Whether much more is reserved than has been in use since the last call. */
  get isOversized(): boolean {
    const peak = this.#peak;
    this.#peak = this.#bytes;
    return this.memory.buffer.byteLength > Math.max(minShrinkable, 4 * peak);
  }

  /** A memory for the blocks in use, with some more. Error of the engine: out of memory. */
  smallerMemory(): WebAssembly.Memory {
    const units = this.#inUse().reduce((sum, each) => sum + each.units, 0);
    return this.#newMemory(Math.ceil((this.#first + units * unit) / pageBytes) + minPages);
  }

  /** Moves all blocks to such a memory. Views, and modules that import the memory of before, are invalid then. */
  moveTo(memory: WebAssembly.Memory): void {
    const [from, to] = [new Uint8Array(this.memory.buffer), new Uint8Array(memory.buffer)];
    let address = this.#first;
    let before: Block | undefined;
    for (const block of this.#inUse()) {
      to.set(from.subarray(block.address, block.address + block.bytes), address);
      block.address = address;
      address += block.units * unit;
      link(before, block);
      before = block;
    }
    this.memory = memory;
    this.#bins.fill(undefined);
    this.#filled.fill(0);
    this.#last = new Block(address, (to.length - address) / unit);
    link(before, this.#last);
    this.#insert(this.#last);
  }

  /** In the order of their addresses. */
  #inUse(): Block[] {
    const found: Block[] = [];
    for (let each: Block | undefined = this.#last; each !== undefined; each = each.before) {
      if (each.bytes !== free) found.push(each);
    }
    return found.reverse();
  }

  /** Stores the base addresses of a multithreaded run. Of a shared heap. Error: too many. */
  putBases(bases: readonly number[]): void {
    if (bases.length > maxBases) {
      throw new LatheError(`${bases.length} tensors in one module: the limit is ${maxBases}`);
    }
    new Uint32Array(this.memory.buffer, controlBytes, maxBases).set(bases);
  }

  get counts(): DeviceMemory {
    return { bytes: this.#bytes, buffers: this.#blocks, reserved: this.memory.buffer.byteLength };
  }

  /** A block with uninitialized content. Error: out of memory. */
  allocate(bytes: number): Block {
    if (this.#bytes + bytes > memoryBudget) checkBudget(bytes, 'tensors', () => this.#bytes);
    const units = Math.max(1, Math.ceil(bytes / unit));
    const block = this.#find(units) ?? this.#grow(units, bytes);
    this.#remove(block);
    if (block.units > units) this.#split(block, units);
    block.bytes = bytes;
    this.#bytes += bytes;
    this.#peak = Math.max(this.#peak, this.#bytes);
    this.#blocks += 1;
    return block;
  }

  /** Frees a block. Must be called once per block. */
  free(block: Block): void {
    this.#bytes -= block.bytes;
    this.#blocks -= 1;
    block.bytes = free;
    const { before, after } = block;
    if (after !== undefined && after.bytes === free) this.#join(block, after);
    if (before !== undefined && before.bytes === free) {
      this.#remove(before);
      this.#unite(before, block);
      this.#insert(before);
    } else {
      this.#insert(block);
    }
  }

  /** A free block of at least this size, still in its list. */
  #find(units: number): Block | undefined {
    if (units > maxUnits) return undefined;
    const first = binOf(units + roundingOf(units));
    let word = first >> 5;
    let bits = this.#filled[word]! & (-1 << (first & 31));
    while (bits === 0) {
      if (++word >= this.#filled.length) return this.#search(units);
      bits = this.#filled[word]!;
    }
    return this.#bins[(word << 5) + (31 - Math.clz32(bits & -bits))];
  }

  /** The first block that fits in the list of this size. */
  #search(units: number): Block | undefined {
    let block = this.#bins[binOf(units)];
    while (block !== undefined && block.units < units) block = block.next;
    return block;
  }

  #split(block: Block, units: number): void {
    const rest = new Block(block.address + units * unit, block.units - units);
    block.units = units;
    [rest.before, rest.after] = [block, block.after];
    if (rest.after === undefined) this.#last = rest;
    else rest.after.before = rest;
    block.after = rest;
    this.#insert(rest);
  }

  #join(block: Block, after: Block): void {
    this.#remove(after);
    this.#unite(block, after);
  }

  /** Merges two neighbors that are in no list. */
  #unite(block: Block, after: Block): void {
    block.units += after.units;
    block.after = after.after;
    if (after.after === undefined) this.#last = block;
    else after.after.before = block;
  }

  /** Grows the memory until its last block is free and fits; that block, in its list. */
  #grow(units: number, bytes: number): Block {
    const pages = this.memory.buffer.byteLength / pageBytes;
    const rest = this.#last.bytes === free ? this.#last.units : 0;
    const needed = Math.ceil(((units - rest) * unit) / pageBytes);
    const preferred = Math.max(needed, minPages, Math.ceil(pages / 4));
    const alive = `${bytes} bytes more than the ${this.#bytes} of tensors that are alive; dispose of some`;
    const grown = callEngine(alive, () => {
      try {
        this.memory.grow(preferred);
        return preferred;
      } catch {
        this.memory.grow(needed);
        return needed;
      }
    });
    const added = new Block(pages * pageBytes, (grown * pageBytes) / unit);
    if (this.#last.bytes === free) {
      this.#remove(this.#last);
      this.#unite(this.#last, added);
    } else {
      [this.#last.after, added.before] = [added, this.#last];
      this.#last = added;
    }
    this.#insert(this.#last);
    return this.#last;
  }

  #insert(block: Block): void {
    const bin = binOf(block.units);
    const next = this.#bins[bin];
    [block.previous, block.next] = [undefined, next];
    if (next !== undefined) next.previous = block;
    this.#bins[bin] = block;
    this.#filled[bin >> 5]! |= 1 << (bin & 31);
  }

  #remove(block: Block): void {
    const { previous, next } = block;
    if (next !== undefined) next.previous = previous;
    if (previous !== undefined) {
      previous.next = next;
      return;
    }
    const bin = binOf(block.units);
    this.#bins[bin] = next;
    if (next === undefined) this.#filled[bin >> 5]! &= ~(1 << (bin & 31));
  }
}

/** The free list of a size: exact below 8 units, then by the three bits after the leading one. */
function binOf(units: number): number {
  if (units < 8) return units;
  const power = 31 - Math.clz32(units);
  return (power - 2) * 8 + ((units >> (power - 3)) & 7);
}

/** What rounds a size up to the next list, in which every block fits. */
const roundingOf = (units: number) => (units < 8 ? 0 : (1 << (28 - Math.clz32(units))) - 1);

let common: Heap | undefined;

/**
 * The heap of this page, created on first use, since engines reserve gigabytes of addresses for each memory. Shared
 * with threads where possible.
 */
export const heap = (): Heap => (common ??= makeHeap());

function makeHeap(): Heap {
  if (env().get('THREADS')) {
    try {
      return new Heap(true);
    } catch {
      // The engine cannot reserve the maximum of a shared memory.
    }
  }
  return new Heap(false);
}

export const heapCounts = (): DeviceMemory =>
  common?.counts ?? { bytes: 0, buffers: 0, reserved: 0 };
