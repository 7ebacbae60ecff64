/** A relocatable module at work in the heap: its constants and states, and runs on whatever lies there. */
import { elementCount } from '../base/shape.js';
import { type BufferPlace, byteLength, type ModuleMetadata } from '../core/abi.js';
import { type CoreExecutable, sizeOf } from '../core/handles.js';
import { arrayOn, type DataArray } from '../tensor/convert.js';
import { type DType, hostDTypes } from '../tensor/dtypes.js';
import { Tensor } from '../tensor/tensor.js';
import { askEngine } from './ask_engine.js';
import { type Block, heap } from './heap.js';
import { HeapValue } from './heap_value.js';

/** What a module holds in the heap. */
type Held = readonly Block[];

const forgotten = /* @__PURE__ */ new FinalizationRegistry<Held>(release);
let alive = 0;
/** Where all modules keep what does not outlive a run: as much as one of them needs. */
let scratch: Block | undefined;

function release(held: Held): void {
  for (const block of held) heap().free(block);
  alive -= 1;
  if (alive > 0 || scratch === undefined) return;
  heap().free(scratch);
  scratch = undefined;
}

function reserveScratch(bytes: number): void {
  if (bytes <= (scratch?.wanted ?? -1)) return;
  const larger = heap().allocate(bytes);
  if (scratch !== undefined) heap().free(scratch);
  scratch = larger;
}

export const heapModules = () => alive;

/** The module of an executable compiled with `relocatable`, with one entry. */
export class HeapModule {
  readonly metadata: ModuleMetadata;
  readonly moduleBytes: number;
  readonly #held: Held;
  readonly #run: (...bases: number[]) => void;
  /** What `run` is given: scratch, then constants and states, which stay, then inputs and outputs. */
  readonly #bases: number[];
  readonly #first: number;
  readonly #outputs: readonly { dtype: DType; shape: readonly number[] }[];

  /** Leaves the executable to the caller; states have any content. Errors: no memory for it; an engine that refuses it. */
  constructor(executable: CoreExecutable) {
    this.metadata = executable.metadata();
    const { constantBytes = 0, temporaryBytes, states, entries } = this.metadata;
    const parts = executable.parts();
    this.moduleBytes = sizeOf(parts);
    this.#run = instantiate(parts.code, entries[0]!.name);
    const held: Block[] = [];
    try {
      reserveScratch(temporaryBytes);
      const constants = heap().allocate(constantBytes);
      held.push(constants);
      const bytes = new Uint8Array(heap().memory.buffer, constants.address, constantBytes);
      bytes.fill(0);
      for (const { offset, data } of parts.segments) bytes.set(data, offset);
      for (const place of states) held.push(heap().allocate(byteLength(place)));
    } catch (error) {
      for (const block of held) heap().free(block);
      throw error;
    }
    this.#held = held;
    this.#bases = [0, ...held.map(({ address }) => address)];
    this.#first = this.#bases.length;
    this.#outputs = entries[0]!.outputs.map((each) => ({ ...each, dtype: hostDTypes[each.dtype] }));
    alive += 1;
    forgotten.register(this, held, this);
  }

  /** Runs on tensors in the order of the entry's inputs; what it gives is in that of its outputs. */
  call(inputs: readonly Tensor[]): Tensor[] {
    const bases = this.#bases;
    let at = this.#first;
    for (const each of inputs) bases[at++] = HeapValue.of(each).address;
    const results = this.#outputs.map(({ dtype, shape }) => {
      const value = new HeapValue(dtype, elementCount(shape));
      bases[at++] = value.address;
      return new Tensor(value, shape, dtype);
    });
    bases[0] = scratch!.address;
    this.#run(...bases);
    return results;
  }

  /** The elements of a state, not a copy; the next allocation may detach them. */
  state(place: BufferPlace): DataArray {
    const { address } = this.#held[1 + this.metadata.states.indexOf(place)]!;
    const { buffer } = heap().memory;
    return arrayOn(hostDTypes[place.dtype], buffer, address, elementCount(place.shape));
  }

  dispose(): void {
    if (forgotten.unregister(this)) release(this.#held);
  }
}

function instantiate(code: Uint8Array<ArrayBuffer>, entry: string): (...bases: number[]) => void {
  return askEngine('there is no room for another module', () => {
    const imports = { env: { memory: heap().memory } };
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code), imports);
    return exports[entry] as (...bases: number[]) => void;
  });
}
