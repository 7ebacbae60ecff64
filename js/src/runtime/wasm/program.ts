/** Programs of the Wasm device: relocatable modules in the heap, with their constants and states. */
import { elementCount } from '../../base/shape.js';
import { checkStop, currentStop } from '../../base/stop.js';
import { type BufferInfo, byteLength, type ModuleMetadata } from '../../core/abi.js';
import type { CoreExecutable } from '../../core/handles.js';
import { moduleSize } from '../../core/parts.js';
import { arrayOn, convert, copyInto, type DataArray } from '../../tensor/convert.js';
import { type DType, hostDTypes } from '../../tensor/dtypes.js';
import { limitThreads } from '../build.js';
import type { Program, StoredValue } from '../device.js';
import { callEngine } from '../engine_call.js';
import type { SharedModule } from '../pool.js';
import { SharedEntry } from '../shared_entry.js';
import { addModule, removeModule } from '../threads.js';
import { type Block, heap, heapCounts } from './heap.js';

/** Resources of a module. */
interface ModuleResources {
  /** States and constants in the heap. */
  readonly blocks: readonly Block[];
  shared: SharedModule | undefined;
  readonly program: WeakRef<WasmProgram>;
}

const finalizers = /* @__PURE__ */ new FinalizationRegistry<ModuleResources>(release);
/** Those alive. */
const programs = new Set<WeakRef<WasmProgram>>();
/** Temporary buffers, shared by all modules: as large as the maximum of their needs. */
let scratch: Block | undefined;

function release({ blocks, shared, program }: ModuleResources): void {
  if (shared !== undefined) removeModule(shared);
  for (const block of blocks) heap().free(block);
  programs.delete(program);
  if (programs.size > 0 || scratch === undefined) return;
  heap().free(scratch);
  scratch = undefined;
  if (scalars !== undefined) heap().free(scalars);
  scalars = undefined;
}

function reserveScratch(bytes: number): void {
  if (bytes <= (scratch?.bytes ?? -1)) return;
  const larger = heap().allocate(bytes);
  if (scratch !== undefined) heap().free(scratch);
  scratch = larger;
}

export const wasmPrograms = () => programs.size;

/** How often it is checked whether the heap is larger than needed. */
const shrinkIntervalMs = 10_000;
let nextCheck = shrinkIntervalMs;

/**
 * Moves the heap to a smaller memory if it has been larger than needed for some seconds; whether it did. Only between runs, when nobody
 * has a view of it.
 */
export function shrinkHeap(): boolean {
  const now = performance.now();
  if (now < nextCheck) return false;
  nextCheck = now + shrinkIntervalMs;
  if (heapCounts().reserved === 0 || !heap().isOversized) return false;
  try {
    const memory = heap().smallerMemory();
    const moved = [...programs].flatMap((each) => each.deref()?.moved(memory) ?? []);
    heap().moveTo(memory);
    for (const finish of moved) finish();
    return true;
  } catch {
    return false; // no memory for both, or for other modules
  }
}

/** Bytes per scalar argument: the alignment that modules expect of buffers. */
const scalarBytes = 64;
/** Scalar arguments of the current run. */
let scalars: Block | undefined;

function growScalars(): void {
  const larger = heap().allocate(2 * (scalars?.bytes ?? 8 * scalarBytes));
  if (scalars !== undefined) heap().free(scalars);
  scalars = larger;
}

const addressOf = (value: StoredValue) => (value.materialize() as Block).address;

/** The module of a relocatable executable with one entry. */
export class WasmProgram implements Program {
  readonly metadata: ModuleMetadata;
  readonly moduleBytes: number;
  readonly #resources: ModuleResources;
  #call: (bases: readonly number[]) => void;
  readonly #module: WebAssembly.Module;
  /** Base addresses: temporaries, then constants and states, which are fixed, then inputs and outputs. */
  readonly #bases: number[];
  readonly #firstArgument: number;
  readonly #inputTypes: readonly DType[];

  /**
   * Does not free the executable; states are uninitialized. Errors: out of memory; a module that the engine rejects.
   */
  constructor(executable: CoreExecutable, threads = Infinity) {
    this.metadata = executable.metadata();
    limitThreads(this.metadata, threads);
    const { constantBytes = 0, temporaryBytes, states, entries } = this.metadata;
    const parts = executable.parts();
    this.moduleBytes = moduleSize(parts);
    this.#module = callEngine(
      'no memory for another module',
      () => parts.module ?? new WebAssembly.Module(parts.code),
    );
    const { call, shared } = instantiate(this.#module, this.metadata, heap().memory);
    this.#call = call;
    const blocks: Block[] = [];
    try {
      reserveScratch(temporaryBytes);
      const constants = heap().allocate(constantBytes);
      blocks.push(constants);
      const bytes = new Uint8Array(heap().memory.buffer, constants.address, constantBytes);
      bytes.fill(0);
      for (const { offset, data } of parts.segments) bytes.set(data, offset);
      for (const state of states) blocks.push(heap().allocate(byteLength(state)));
    } catch (error) {
      for (const block of blocks) heap().free(block);
      throw error;
    }
    const program = new WeakRef(this);
    this.#resources = { blocks, shared, program };
    if (shared !== undefined) addModule(shared);
    this.#bases = [0, ...blocks.map(({ address }) => address)];
    this.#firstArgument = this.#bases.length;
    this.#inputTypes = entries[0]!.inputs.map(({ dtype }) => hostDTypes[dtype]);
    programs.add(program);
    finalizers.register(this, this.#resources, this);
  }

  /** Instantiates it in another memory, which becomes that of the heap before the result is called. Errors: those of the engine. */
  moved(memory: WebAssembly.Memory): () => void {
    const { call, shared } = instantiate(this.#module, this.metadata, memory);
    return () => {
      const resources = this.#resources;
      if (shared !== undefined) addModule(shared);
      if (resources.shared !== undefined) removeModule(resources.shared);
      resources.shared = shared;
      this.#call = call;
      for (const [at, { address }] of resources.blocks.entries()) this.#bases[1 + at] = address;
    };
  }

  run(inputs: readonly (StoredValue | number)[], outputs: readonly StoredValue[]): void {
    // A run that is stopped leaves states as they were.
    const states =
      currentStop() && this.metadata.states.map((each) => this.stateView(each).slice());
    try {
      this.#run(inputs, outputs);
    } catch (error) {
      states?.forEach((each, at) => copyInto(this.stateView(this.metadata.states[at]!), each));
      for (const each of outputs) each.deallocate();
      throw error;
    }
  }

  #run(inputs: readonly (StoredValue | number)[], outputs: readonly StoredValue[]): void {
    checkStop();
    const bases = this.#bases;
    let at = this.#firstArgument;
    for (const each of inputs) bases[at++] = typeof each === 'number' ? 0 : addressOf(each);
    for (const each of outputs) bases[at++] = addressOf(each.allocate());
    if (inputs.some((each) => typeof each === 'number')) {
      this.#writeScalars(inputs);
    }
    bases[0] = scratch!.address;
    this.#call(bases);
  }

  /** Writes scalar arguments one after the other into a block that all runs share. */
  #writeScalars(inputs: readonly (StoredValue | number)[]): void {
    const count = inputs.filter((each) => typeof each === 'number').length;
    while (count * scalarBytes > (scalars?.bytes ?? 0)) growScalars();
    const { buffer } = heap().memory;
    let address = count === 0 ? 0 : scalars!.address;
    const floats = new Float32Array(buffer, address, (count * scalarBytes) / 4);
    for (let at = 0, offset = 0; at < inputs.length; at += 1) {
      const each = inputs[at]!;
      if (typeof each !== 'number') continue;
      const dtype = this.#inputTypes[at]!;
      if (dtype === 'float32') floats[offset] = each;
      else copyInto(arrayOn(dtype, buffer, address, 1), convert([each], dtype));
      this.#bases[this.#firstArgument + at] = address;
      address += scalarBytes;
      offset += scalarBytes / 4;
    }
  }

  get stats() {
    const { memoryBytes, temporaryBytes, entries } = this.metadata;
    const { threads } = entries[0]!;
    return { moduleBytes: this.moduleBytes, memoryBytes, temporaryBytes, threads };
  }

  get entries() {
    return this.metadata.entries;
  }

  get ports() {
    return { ...this.entries[0]!, states: this.metadata.states };
  }

  state(index: number): Block {
    return this.#resources.blocks[1 + index]!;
  }

  /** A view of the elements of a state; the next allocation may detach it. */
  stateView(info: BufferInfo): DataArray {
    const { address } = this.state(this.metadata.states.indexOf(info));
    const { buffer } = heap().memory;
    return arrayOn(hostDTypes[info.dtype], buffer, address, elementCount(info.shape));
  }

  dispose(): void {
    if (finalizers.unregister(this)) release(this.#resources);
  }
}

/** Phase numbers reserved for each module: more than any module uses. */
const phasesPerModule = 2 ** 14;
/** The first phase of the next multithreaded module. */
let firstPhase = 0;

interface Instantiated {
  readonly call: (bases: readonly number[]) => void;
  /** Of a multithreaded module. */
  readonly shared?: SharedModule;
}

function instantiate(
  module: WebAssembly.Module,
  metadata: ModuleMetadata,
  memory: WebAssembly.Memory,
): Instantiated {
  const [entryInfo] = metadata.entries;
  return callEngine('no memory for another module', () => {
    const { exports } = new WebAssembly.Instance(module, {
      env: { memory, firstPhase, check: checkStop },
    });
    if (!metadata.threads) {
      const entry = exports[entryInfo!.name] as (...bases: number[]) => void;
      return { call: (bases) => entry(...bases) };
    }
    const shared = { module, memory, exports, entries: [entryInfo!.name], firstPhase };
    firstPhase = (firstPhase + phasesPerModule) | 0;
    return { call: multithreadedCall(new SharedEntry(shared, entryInfo!), metadata), shared };
  });
}

/** Multithreaded from the second run on: sending a module to the threads costs more than one run. */
function multithreadedCall(entry: SharedEntry, { states }: ModuleMetadata): Instantiated['call'] {
  let isNew = true;
  return (bases) => {
    heap().putBases(bases);
    // A failed multithreaded run would leave states partly updated.
    const job = isNew || states.length > 0 ? undefined : entry.begin();
    isNew = false;
    if (job === undefined) entry.runSingleThreaded();
    else job.wait();
  };
}
