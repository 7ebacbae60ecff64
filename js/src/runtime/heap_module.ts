/** A relocatable module at work in the heap: its constants and states, and runs on whatever lies there. */
import { elementCount } from '../base/shape.js';
import { checkStop } from '../base/stop.js';
import { type BufferPlace, byteLength, type ModuleMetadata } from '../core/abi.js';
import { checkIndices } from './index_ranges.js';
import type { CoreExecutable } from '../core/handles.js';
import { type ModuleParts, sizeOf } from '../core/parts.js';
import { arrayOn, convert, copyInto, type DataArray } from '../tensor/convert.js';
import { type DType, hostDTypes } from '../tensor/dtypes.js';
import { Tensor } from '../tensor/tensor.js';
import { askEngine } from './ask_engine.js';
import { limitThreads } from './build.js';
import { type Block, heap } from './heap.js';
import { HeapValue } from './heap_value.js';
import type { SharedModule } from './pool.js';
import { SharedEntry } from './shared_entry.js';
import { addModule, removeModule } from './threads.js';

/** What a module holds. */
interface Held {
  /** States and constants in the heap. */
  readonly blocks: readonly Block[];
  readonly shared: SharedModule | undefined;
}

const forgotten = /* @__PURE__ */ new FinalizationRegistry<Held>(release);
let alive = 0;
/** Where all modules keep what does not outlive a run: as much as one of them needs. */
let scratch: Block | undefined;

function release({ blocks, shared }: Held): void {
  if (shared !== undefined) removeModule(shared);
  for (const block of blocks) heap().free(block);
  alive -= 1;
  if (alive > 0 || scratch === undefined) return;
  heap().free(scratch);
  scratch = undefined;
  if (numbers !== undefined) heap().free(numbers);
  numbers = undefined;
}

function reserveScratch(bytes: number): void {
  if (bytes <= (scratch?.wanted ?? -1)) return;
  const larger = heap().allocate(bytes);
  if (scratch !== undefined) heap().free(scratch);
  scratch = larger;
}

export const heapModules = () => alive;

/** Room for a number that a module is given; all that lies in the heap begins at such multiples. */
const numberBytes = 64;
/** Where the numbers of the run at work lie. */
let numbers: Block | undefined;

function growNumbers(): void {
  const larger = heap().allocate(2 * (numbers?.wanted ?? 8 * numberBytes));
  if (numbers !== undefined) heap().free(numbers);
  numbers = larger;
}

/** The module of what a core has compiled with `relocatable`, with one entry. */
export class HeapModule {
  readonly metadata: ModuleMetadata;
  readonly moduleBytes: number;
  readonly #held: Held;
  readonly #call: (bases: readonly number[]) => void;
  /** What `run` is given: scratch, then constants and states, which stay, then inputs and outputs. */
  readonly #bases: number[];
  readonly #first: number;
  readonly #inputTypes: readonly DType[];
  readonly #outputs: readonly { dtype: DType; shape: readonly number[] }[];

  /** Leaves the executable to the caller; states have any content. Errors: no memory for it; an engine that refuses it. */
  constructor(executable: CoreExecutable, threads = Infinity) {
    this.metadata = executable.metadata();
    limitThreads(this.metadata, threads);
    const { constantBytes = 0, temporaryBytes, states, entries } = this.metadata;
    const parts = executable.parts();
    this.moduleBytes = sizeOf(parts);
    const { call, shared } = instantiate(parts, this.metadata);
    this.#call = call;
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
    this.#held = { blocks: held, shared };
    if (shared !== undefined) addModule(shared);
    this.#bases = [0, ...held.map(({ address }) => address)];
    this.#first = this.#bases.length;
    this.#inputTypes = entries[0]!.inputs.map(({ dtype }) => hostDTypes[dtype]);
    this.#outputs = entries[0]!.outputs.map((each) => ({ ...each, dtype: hostDTypes[each.dtype] }));
    alive += 1;
    forgotten.register(this, this.#held, this);
  }

  /**
   * Runs on values in the order of the entry's inputs, numbers for those without axes, and leaves its results in values
   * in that of its outputs, which get their places. Error: there is no memory left; nothing has changed then.
   */
  run(inputs: readonly (HeapValue | number)[], outputs: readonly HeapValue[]): void {
    try {
      this.#run(inputs, outputs);
    } catch (error) {
      for (const each of outputs) each.unplace();
      throw error;
    }
  }

  #run(inputs: readonly (HeapValue | number)[], outputs: readonly HeapValue[]): void {
    checkStop();
    const bases = this.#bases;
    let at = this.#first;
    for (const each of inputs) bases[at++] = typeof each === 'number' ? 0 : each.address;
    for (const each of outputs) bases[at++] = each.place().address;
    if (inputs.some((each) => typeof each === 'number')) {
      this.#placeNumbers(inputs);
    }
    bases[0] = scratch!.address;
    this.#call(bases);
  }

  /** Runs on tensors, or what lies in the heap; what it gives is new. */
  call(inputs: readonly (Tensor | HeapValue)[]): Tensor[] {
    const results = this.#outputs.map(({ dtype, shape }) => new HeapValue(dtype, shape));
    const values = inputs.map((each) => (each instanceof HeapValue ? each : HeapValue.of(each)));
    this.metadata.entries[0]!.inputs.forEach((place, at) => {
      if (place.ranges) checkIndices(place, values[at]!.window());
    });
    this.run(values, results);
    return results.map((each) => new Tensor(each, each.shape, each.dtype));
  }

  /** Numbers lie one after the other in a block for those of all runs. */
  #placeNumbers(inputs: readonly (HeapValue | number)[]): void {
    const given = inputs.filter((each) => typeof each === 'number').length;
    while (given * numberBytes > (numbers?.wanted ?? 0)) growNumbers();
    const { buffer } = heap().memory;
    let address = given === 0 ? 0 : numbers!.address;
    const floats = new Float32Array(buffer, address, (given * numberBytes) / 4);
    for (let at = 0, place = 0; at < inputs.length; at += 1) {
      const each = inputs[at]!;
      if (typeof each !== 'number') continue;
      const dtype = this.#inputTypes[at]!;
      if (dtype === 'float32') floats[place] = each;
      else copyInto(arrayOn(dtype, buffer, address, 1), convert([each], dtype));
      this.#bases[this.#first + at] = address;
      address += numberBytes;
      place += numberBytes / 4;
    }
  }

  /** The elements of a state, not a copy; the next allocation may detach them. */
  state(place: BufferPlace): DataArray {
    const { address } = this.#held.blocks[1 + this.metadata.states.indexOf(place)]!;
    const { buffer } = heap().memory;
    return arrayOn(hostDTypes[place.dtype], buffer, address, elementCount(place.shape));
  }

  dispose(): void {
    if (forgotten.unregister(this)) release(this.#held);
  }
}

/** Numbers of phases for each module: more than any has. */
const mostPhases = 2 ** 14;
/** Of the next module that threads share. */
let firstPhase = 0;

interface Instantiated {
  readonly call: (bases: readonly number[]) => void;
  /** Of a module for threads. */
  readonly shared?: SharedModule;
}

function instantiate(
  { code, module = new WebAssembly.Module(code) }: ModuleParts,
  metadata: ModuleMetadata,
): Instantiated {
  const { memory } = heap();
  const [place] = metadata.entries;
  return askEngine('there is no room for another module', () => {
    const { exports } = new WebAssembly.Instance(module, { env: { memory, firstPhase } });
    if (!metadata.threads) {
      const entry = exports[place!.name] as (...bases: number[]) => void;
      return { call: (bases) => entry(...bases) };
    }
    const shared = { module, memory, exports, entries: [place!.name], firstPhase };
    firstPhase = (firstPhase + mostPhases) | 0;
    return { call: caller(new SharedEntry(shared, place!), metadata), shared };
  });
}

/** Runs with threads from the second time on: what is called once is not worth sending to them. */
function caller(entry: SharedEntry, { states }: ModuleMetadata): Instantiated['call'] {
  let isNew = true;
  return (bases) => {
    heap().putBases(bases);
    // A run on threads that fails would leave states half changed.
    const job = isNew || states.length > 0 ? undefined : entry.begin();
    isNew = false;
    if (job === undefined) entry.runAlone();
    else job.wait();
  };
}
