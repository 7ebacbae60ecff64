/**
 * Constants of programs in buffers: large ones each in one of its own, which programs with equal bytes share, such as those of a model for
 * several lengths.
 */
import type { Region, Step, WebGpuMetadata } from '../../core/abi.js';
import { wholeWords } from './elements.js';
import type { ConstantPart, WebGpuExecutable } from './executable.js';
import type { GpuStorage } from './storage.js';

/** Smaller constants of a program are in one buffer. */
const minBytes = 2 ** 16;
/** The alignment of bindings. */
const alignment = 256;

/** A buffer of constants, with a copy on the host for GPUs that are acquired later. */
export interface ConstantBlock {
  readonly storage: GpuStorage;
  readonly data: Uint32Array<ArrayBuffer>;
  readonly key: string;
  programs: number;
}

/** A range of the constants as the compiler numbers their bytes, and where it is: in a block, from an offset on. */
interface Range {
  begin: number;
  end: number;
  block: number;
  offset: number;
}

/** The memory of a GPU. */
interface Memory {
  allocate(bytes: number, what: string): GpuStorage;
  free(storage: GpuStorage): void;
}

/** The blocks of all programs of a device. */
export class Constants {
  readonly #blocks = new Map<string, ConstantBlock[]>();

  constructor(private readonly memory: Memory) {}

  /** A block with these bytes, for one more program. Errors: LimitError, OutOfMemoryError. */
  retain(data: Uint32Array<ArrayBuffer>): ConstantBlock {
    const key = keyOf(data);
    const alike = this.#blocks.get(key) ?? [];
    let block = alike.find((each) => isEqual(each.data, data));
    if (block === undefined) {
      const storage = this.memory.allocate(data.byteLength, 'constants');
      block = { storage, data, key, programs: 0 };
      alike.push(block);
      this.#blocks.set(key, alike);
    }
    block.programs += 1;
    return block;
  }

  release(block: ConstantBlock): void {
    block.programs -= 1;
    if (block.programs > 0) return;
    this.memory.free(block.storage);
    const alike = this.#blocks.get(block.key)!.filter((each) => each !== block);
    if (alike.length > 0) this.#blocks.set(block.key, alike);
    else this.#blocks.delete(block.key);
  }
}

/** Depends on the size and some words. */
function keyOf(data: Uint32Array): string {
  const step = Math.max(1, Math.floor(data.length / 256));
  let hash = 0;
  for (let at = 0; at < data.length; at += step) hash = (Math.imul(hash, 31) + data[at]!) | 0;
  return `${data.length} ${hash}`;
}

function isEqual(a: Uint32Array, b: Uint32Array): boolean {
  for (let at = 0; at < a.length; at += 1) if (a[at] !== b[at]) return false;
  return true;
}

type Entries = WebGpuMetadata['entries'];

/** The bytes of the blocks of a program, and its entries with constants in these. */
export function splitConstants({ metadata, constants }: WebGpuExecutable): {
  blocks: Uint32Array<ArrayBuffer>[];
  entries: Entries;
} {
  const { pageBytes } = metadata;
  const ranges = rangesOf(metadata);
  const sizes: number[] = [];
  let rest: number | undefined;
  for (const each of ranges) {
    const bytes = each.end - each.begin;
    if (bytes >= minBytes) each.block = sizes.push(bytes) - 1;
    else {
      each.block = rest ??= sizes.push(0) - 1;
      each.offset = sizes[rest]!;
      sizes[rest]! += Math.ceil(bytes / alignment) * alignment;
    }
  }
  const blocks = sizes.map((bytes) => new Uint32Array(wholeWords(bytes) / 4));
  for (const part of constants) copyPart(part, ranges, blocks);
  return { blocks, entries: metadata.entries.map((each) => placed(each, ranges, pageBytes)) };
}

/** Where a region of a page begins among all constants. */
const beginOf = ({ index = 0, offset }: Region, pageBytes: number) => index * pageBytes + offset;

/** What kernels and copies use of the constants, in ascending order; ranges that overlap are one. */
function rangesOf({ entries, pageBytes }: WebGpuMetadata): Range[] {
  const used = entries.flatMap(({ kernels, steps }) => [
    ...kernels.flatMap(({ bindings }) => bindings),
    ...regionsIn(steps),
  ]);
  const sorted = used
    .filter((each) => each.of === 'constants')
    .map((each) => [beginOf(each, pageBytes), each.bytes] as const)
    .sort(([a], [b]) => a - b);
  const ranges: Range[] = [];
  for (const [begin, bytes] of sorted) {
    const last = ranges.at(-1);
    if (last !== undefined && begin < last.end) last.end = Math.max(last.end, begin + bytes);
    else ranges.push({ begin, end: begin + bytes, block: 0, offset: 0 });
  }
  return ranges;
}

function regionsIn(steps: readonly Step[]): Region[] {
  return steps.flatMap((each) => {
    if (typeof each === 'number') return [];
    if (each.copy !== undefined) return [each.copy.from, each.copy.to];
    return [...(each.condition ? [each.condition] : []), ...regionsIn(each.steps)];
  });
}

/** Copies what ranges have of a part. */
function copyPart(
  { offset, data }: ConstantPart,
  ranges: readonly Range[],
  blocks: readonly Uint32Array<ArrayBuffer>[],
): void {
  const end = offset + data.length;
  for (const range of ranges) {
    const [from, to] = [Math.max(offset, range.begin), Math.min(end, range.end)];
    if (from >= to) continue;
    const bytes = new Uint8Array(blocks[range.block]!.buffer);
    bytes.set(data.subarray(from - offset, to - offset), range.offset + from - range.begin);
  }
}

/** An entry whose constants are in blocks. */
function placed(
  entry: Entries[number],
  ranges: readonly Range[],
  pageBytes: number,
): Entries[number] {
  const regionIn = <Where extends Region>(region: Where): Where => {
    if (region.of !== 'constants') return region;
    const position = beginOf(region, pageBytes);
    const { begin, block, offset } = ranges.find(({ end }) => position < end)!;
    return { ...region, index: block, offset: offset + position - begin };
  };
  const stepsIn = (steps: readonly Step[]): Step[] =>
    steps.map((each) => {
      if (typeof each === 'number') return each;
      if (each.copy !== undefined)
        return { copy: { from: regionIn(each.copy.from), to: regionIn(each.copy.to) } };
      const steps = stepsIn(each.steps);
      return each.condition === undefined
        ? { ...each, steps }
        : { ...each, steps, condition: regionIn(each.condition) };
    });
  const kernels = entry.kernels.map((each) => ({ ...each, bindings: each.bindings.map(regionIn) }));
  return { ...entry, kernels, steps: stepsIn(entry.steps) };
}
