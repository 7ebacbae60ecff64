/**
 * One memory that many modules share, and who has which part of it: lists of free blocks by size, eight for each
 * doubling (M. Masmano et al., "TLSF: a new dynamic memory allocator for real-time systems", 2004). Nothing moves.
 */
import { LatheError } from '../base/errors.js';
import { askEngine } from './ask_engine.js';
import { env } from './env.js';

/** Addresses and sizes are multiples of it, as relocatable modules want them. */
const unit = 64;
const pageBytes = 65536;
const mostPages = 65536;
/** Bytes at its begin where threads meet, and behind them bases of a run, 4 bytes each. */
const meeting = { bytes: 192, bases: 1008 } as const;
/** What a heap begins with, and grows by at least. */
const fewestPages = 16;
const mostUnits = (mostPages * pageBytes) / unit;
/** Those of 2^26 units, which are 4 GiB, are the last eight. */
const binCount = 200;

/** A part of the memory, between its neighbours. */
export class Block {
  /** Bytes that were asked for; undefined while the block is free. */
  wanted: number | undefined;
  before: Block | undefined;
  after: Block | undefined;
  /** Of the same list, while it is free. */
  previous: Block | undefined;
  next: Block | undefined;

  constructor(
    readonly address: number,
    public units: number,
  ) {}
}

/** The bytes and blocks in use, and the bytes of the memory they lie in. */
export interface HeapCounts {
  heapBytes: number;
  heapBlocks: number;
  heapReserved: number;
}

export class Heap {
  readonly memory: WebAssembly.Memory;
  readonly #bins = new Array<Block | undefined>(binCount);
  /** A bit for each list that is not empty. */
  readonly #filled = new Uint32Array(Math.ceil(binCount / 32));
  #last: Block;
  #bytes = 0;
  #blocks = 0;

  /** Errors of the engine: it has no memory, or none that threads can share. */
  constructor(readonly isShared: boolean) {
    const limits = { initial: fewestPages, maximum: mostPages };
    this.memory = new WebAssembly.Memory({ ...limits, shared: isShared });
    const first = isShared ? meeting.bytes + 4 * meeting.bases : 0;
    this.#last = new Block(first, (fewestPages * pageBytes - first) / unit);
    this.#putIn(this.#last);
  }

  /** Leaves for threads what a run is given. Of a shared heap. Error: it is too much. */
  putBases(bases: readonly number[]): void {
    if (bases.length > meeting.bases) {
      throw new LatheError(`${bases.length} tensors in one module: ${meeting.bases} at most`);
    }
    new Uint32Array(this.memory.buffer, meeting.bytes, meeting.bases).set(bases);
  }

  get counts(): HeapCounts {
    const heapReserved = this.memory.buffer.byteLength;
    return { heapBytes: this.#bytes, heapBlocks: this.#blocks, heapReserved };
  }

  /** So many bytes with any content. Error: there is no memory left. */
  allocate(bytes: number): Block {
    const units = Math.max(1, Math.ceil(bytes / unit));
    const block = this.#find(units) ?? this.#grow(units, bytes);
    this.#takeOut(block);
    if (block.units > units) this.#split(block, units);
    block.wanted = bytes;
    this.#bytes += bytes;
    this.#blocks += 1;
    return block;
  }

  /** Once for each block. */
  free(block: Block): void {
    this.#bytes -= block.wanted!;
    this.#blocks -= 1;
    block.wanted = undefined;
    const { before, after } = block;
    if (after !== undefined && after.wanted === undefined) this.#join(block, after);
    if (before !== undefined && before.wanted === undefined) {
      this.#takeOut(before);
      this.#unite(before, block);
      this.#putIn(before);
    } else {
      this.#putIn(block);
    }
  }

  /** A block of at least so many units, still in its list. */
  #find(units: number): Block | undefined {
    if (units > mostUnits) return undefined;
    const least = binOf(units + roundingOf(units));
    let word = least >> 5;
    let bits = this.#filled[word]! & (-1 << (least & 31));
    while (bits === 0) {
      if (++word >= this.#filled.length) return this.#search(units);
      bits = this.#filled[word]!;
    }
    return this.#bins[(word << 5) + (31 - Math.clz32(bits & -bits))];
  }

  /** In the list where some have room for it. */
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
    this.#putIn(rest);
  }

  #join(block: Block, after: Block): void {
    this.#takeOut(after);
    this.#unite(block, after);
  }

  /** Neighbours in no list become one block, the first of them. */
  #unite(block: Block, after: Block): void {
    block.units += after.units;
    block.after = after.after;
    if (after.after === undefined) this.#last = block;
    else after.after.before = block;
  }

  /** Makes the last block, free then, as large as this, in the list where `allocate` finds it. */
  #grow(units: number, bytes: number): Block {
    const pages = this.memory.buffer.byteLength / pageBytes;
    const rest = this.#last.wanted === undefined ? this.#last.units : 0;
    const needed = Math.ceil(((units - rest) * unit) / pageBytes);
    const wanted = Math.max(needed, fewestPages, Math.ceil(pages / 4));
    const alive = `${bytes} bytes more than the ${this.#bytes} of tensors that are alive; dispose of some`;
    const grown = askEngine(alive, () => {
      try {
        this.memory.grow(wanted);
        return wanted;
      } catch {
        this.memory.grow(needed);
        return needed;
      }
    });
    const added = new Block(pages * pageBytes, (grown * pageBytes) / unit);
    if (this.#last.wanted === undefined) {
      this.#takeOut(this.#last);
      this.#unite(this.#last, added);
    } else {
      [this.#last.after, added.before] = [added, this.#last];
      this.#last = added;
    }
    this.#putIn(this.#last);
    return this.#last;
  }

  #putIn(block: Block): void {
    const bin = binOf(block.units);
    const next = this.#bins[bin];
    [block.previous, block.next] = [undefined, next];
    if (next !== undefined) next.previous = block;
    this.#bins[bin] = block;
    this.#filled[bin >> 5]! |= 1 << (bin & 31);
  }

  #takeOut(block: Block): void {
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

/** The list of blocks of this size: exact below 8 units, then by the three bits behind the first. */
function binOf(units: number): number {
  if (units < 8) return units;
  const power = 31 - Math.clz32(units);
  return (power - 2) * 8 + ((units >> (power - 3)) & 7);
}

/** What makes a size reach the next list, all of whose blocks have room for it. */
const roundingOf = (units: number) => (units < 8 ? 0 : (1 << (28 - Math.clz32(units))) - 1);

let common: Heap | undefined;

/**
 * The heap of this page, made when it is first wanted: engines give each memory gigabytes of addresses. Threads share it
 * wherever they can.
 */
export const heap = (): Heap => (common ??= makeHeap());

function makeHeap(): Heap {
  if (env().features.THREADS) {
    try {
      return new Heap(true);
    } catch {
      // An engine that has no room for all that a shared memory may grow to.
    }
  }
  return new Heap(false);
}

export const heapCounts = (): HeapCounts =>
  common?.counts ?? { heapBytes: 0, heapBlocks: 0, heapReserved: 0 };
