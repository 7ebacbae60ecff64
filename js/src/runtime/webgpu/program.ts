/** A compiled graph on a GPU. */
import { LatheError } from '../../base/errors.js';
import { elementCount } from '../../base/shape.js';
import type { ShaderPort, WebGpuMetadata } from '../../core/abi.js';
import type { DataArray } from '../../tensor/convert.js';
import { hostDTypes } from '../../tensor/dtypes.js';
import type { Program, StoredValue } from '../device.js';
import { Commands } from './commands.js';
import { type ConstantBlock, splitConstants } from './constants.js';
import { encode, encodeNumber, storedBytes } from './elements.js';
import type { WebGpuExecutable } from './executable.js';
import type { PooledBuffer } from './buffers.js';
import type { Gpu } from './gpu.js';
import { type Buffers, LoadedKernel, type Slice } from './loaded_kernel.js';
import { type GpuMemory, pagesOf } from './memory.js';
import { Pacing } from './pacing.js';
import { encodeSteps } from './steps.js';
import type { GpuStorage } from './storage.js';
import type { WorkQueue } from './work_queue.js';

const finalizers = /* @__PURE__ */ new FinalizationRegistry<Resources>((each) => each.release());

/** The distance of scalar arguments in their buffer: the alignment of bindings. */
const scalarBytes = 256;

export const hostDType = ({ dtype }: ShaderPort) => hostDTypes[dtype as keyof typeof hostDTypes];

export class WebGpuProgram implements Program {
  readonly metadata: WebGpuMetadata;
  readonly #resources: Resources;
  readonly #queue: WorkQueue;
  readonly #memory: GpuMemory;

  /**
   * Uploads constants at once; states are uninitialized. Pipelines are compiled in the background, of several entries once
   * they run: their errors are those of reads of outputs. `states`: by name, in place of its own. Errors: LimitError,
   * OutOfMemoryError.
   */
  constructor(
    executable: WebGpuExecutable,
    queue: WorkQueue,
    memory: GpuMemory,
    states?: ReadonlyMap<string, GpuStorage>,
  ) {
    this.metadata = executable.metadata;
    this.#queue = queue;
    this.#memory = memory;
    this.#resources = new Resources(executable, queue, memory, states);
    finalizers.register(this, this.#resources, this);
  }

  /**
   * Runs an entry on values in the order of its inputs, numbers for scalars; allocates and writes `outputs`. Errors:
   * OutOfMemoryError, LimitError; outputs are unallocated then.
   */
  run(inputs: readonly (StoredValue | number)[], outputs: readonly StoredValue[], entry = 0): void {
    const resources = this.#resources;
    const memory = this.#memory;
    const read = inputs.map((each) => (typeof each === 'number' ? each : memory.storageOf(each)));
    const { entries, pageBytes } = this.metadata;
    let written: GpuStorage[];
    let scratch: readonly GpuStorage[];
    try {
      scratch = memory.scratch(pagesOf(entries[entry]!.scratchBytes, pageBytes));
      if (read.some((each) => typeof each === 'number')) resources.allocateScalars();
      written = outputs.map((each) => memory.storageOf(each.allocate()));
    } catch (error) {
      for (const each of outputs) each.deallocate();
      throw error;
    }
    this.#queue.add({
      prepare: (gpu) => resources.prepare(gpu, entry),
      force: (gpu) => resources.force(gpu, entry),
      begin: (gpu) => resources.run(gpu, entry, read, written, scratch),
      fail: (error) => written.forEach((each) => (each.error = error)),
    });
  }

  get stats() {
    const { entries, constantBytes, states, shaders } = this.metadata;
    const temporaryBytes = Math.max(...entries.map(({ scratchBytes }) => scratchBytes));
    const stateBytes = states.map((each) => storedBytes(hostDType(each), elementCount(each.shape)));
    return {
      moduleBytes: shaders.reduce((total, { length }) => total + length, 0),
      memoryBytes: stateBytes.reduce((total, each) => total + each, temporaryBytes + constantBytes),
      temporaryBytes,
      threads: 1,
    };
  }

  get entries() {
    return this.metadata.entries;
  }

  get ports() {
    return { ...this.entries[0]!, states: this.metadata.states };
  }

  get restored(): number {
    return this.#resources.restored;
  }

  setBackup(index: number, data: DataArray): void {
    this.state(index).backup = encode(data, hostDType(this.metadata.states[index]!));
  }

  state(index: number): GpuStorage {
    return this.#resources.states[index]!;
  }

  /** Idempotent. Work that has been enqueued ends as if it were not called. */
  dispose(): void {
    if (finalizers.unregister(this)) this.#resources.release();
  }
}

/** The kernels of an entry. */
interface Kernels {
  readonly all: readonly LoadedKernel[];
  /** While their pipelines are compiled. */
  pending: Promise<void> | undefined;
}

/** What a program has on a device; does not reference the program, which is collected first. */
class Resources {
  readonly states: readonly GpuStorage[] = [];
  /** Those that belong to the program. */
  readonly #ownStates: GpuStorage[] = [];
  restored = 0;
  readonly #metadata: WebGpuMetadata;
  readonly #constants: ConstantBlock[] = [];
  #scalars: GpuStorage | undefined;
  /** The groups of kernels that are started indirectly. */
  #arguments: PooledBuffer | undefined;
  /** The scalar arguments that were written last. */
  #written: (number | undefined)[] = [];
  #loadedOn: Gpu | undefined;
  /** By entry: loaded once it runs. */
  #kernels: (Kernels | undefined)[] = [];
  readonly #pacings: readonly Pacing[];

  constructor(
    executable: WebGpuExecutable,
    private readonly queue: WorkQueue,
    private readonly memory: GpuMemory,
    given?: ReadonlyMap<string, GpuStorage>,
  ) {
    const { blocks, entries } = splitConstants(executable);
    const { states } = executable.metadata;
    this.#metadata = { ...executable.metadata, entries };
    this.#pacings = entries.map(() => new Pacing());
    memory.retainScratch();
    const allocated: GpuStorage[] = [];
    this.states = allocated;
    const { gpu } = queue;
    try {
      for (const each of blocks) this.#constants.push(memory.constants.retain(each));
      for (const each of states) {
        const bytes = storedBytes(hostDType(each), elementCount(each.shape));
        const shared = given?.get(each.name);
        const state = shared ?? memory.allocate(bytes, `state ${each.name}`);
        allocated.push(state);
        if (shared === undefined) this.#ownStates.push(state);
      }
      if (gpu !== undefined) this.#load(gpu);
    } catch (error) {
      this.release();
      throw error;
    }
  }

  release(): void {
    const { memory, queue } = this;
    for (const each of this.#constants) memory.constants.release(each);
    for (const each of [this.#scalars, ...this.#ownStates]) {
      if (each !== undefined) memory.free(each);
    }
    memory.releaseScratch();
    queue.after(() => {
      this.#arguments?.release();
      for (const each of this.#kernels.flatMap((entry) => entry?.all ?? [])) each.release();
    });
  }

  /** Pipelines of an entry, and constants and states where they are lost. Undefined once they are ready or known to have failed. */
  prepare(gpu: Gpu, entry: number): Promise<unknown> | undefined {
    if (this.#loadedOn !== gpu) this.#load(gpu);
    return this.#kernelsOf(gpu, entry).pending;
  }

  /** As `prepare`, at once. */
  force(gpu: Gpu, entry: number): void {
    if (this.prepare(gpu, entry) === undefined) return;
    const kernels = this.#kernelsOf(gpu, entry);
    for (const { pipeline } of kernels.all) gpu.pipelines.force(pipeline);
    kernels.pending = undefined;
  }

  #kernelsOf(gpu: Gpu, entry: number): Kernels {
    const loaded = this.#kernels[entry];
    if (loaded !== undefined) return loaded;
    const { entries, shaders } = this.#metadata;
    const all = entries[entry]!.kernels.map(
      (kernel) => new LoadedKernel(gpu, kernel, shaders[kernel.shader]!),
    );
    const kernels: Kernels = { all, pending: undefined };
    const compiling = all.flatMap(({ pipeline }) => pipeline.pending ?? []);
    if (compiling.length > 0)
      kernels.pending = Promise.all(compiling).then(() => void (kernels.pending = undefined));
    return (this.#kernels[entry] = kernels);
  }

  /** Errors: LimitError, OutOfMemoryError. */
  #load(gpu: Gpu): void {
    const { entries, argumentBytes } = this.#metadata;
    // All limits are checked before anything is compiled.
    for (const { kernels } of entries) kernels.forEach((each) => LoadedKernel.check(gpu, each));
    this.#kernels = [];
    // Of several entries most programs run one, at first.
    if (entries.length === 1) this.#kernelsOf(gpu, 0);
    for (const each of this.#constants) gpu.writeConstants(each);
    const lost = this.states.filter((each) => each.isLost && each.backup !== undefined);
    for (const each of lost) {
      each.reset();
      gpu.write(each, each.backup!);
    }
    if (lost.length > 0) this.restored += 1;
    if (argumentBytes > 0) {
      this.#arguments =
        gpu.argumentPool.reuse(argumentBytes) ?? gpu.argumentPool.create(argumentBytes);
    }
    this.#scalars?.reset();
    this.#written = [];
    this.#loadedOn = gpu;
  }

  /** Errors: OutOfMemoryError. */
  allocateScalars(): void {
    const bytes = scalarBytes * inputCount(this.#metadata.entries);
    this.#scalars ??= this.memory.allocate(bytes, 'scalar arguments');
  }

  /**
   * Submits a run. A promise if its end depends on data: it resolves once all is submitted. Errors: those of its inputs
   * and kernels.
   */
  run(
    gpu: Gpu,
    entryIndex: number,
    inputs: readonly (GpuStorage | number)[],
    outputs: readonly GpuStorage[],
    scratch: readonly GpuStorage[],
  ): Promise<void> | undefined {
    const entry = this.#metadata.entries[entryIndex]!;
    const { all: kernels } = this.#kernelsOf(gpu, entryIndex);
    const constants = this.#constants.map(({ storage }) => storage);
    const storages = [...scratch, this.#scalars, ...constants, ...this.states, ...inputs];
    const read = storages.filter((each) => typeof each === 'object');
    for (const each of outputs) each.reset();
    for (const each of scratch) each.reset();
    const invalid = kernels.find(({ pipeline }) => pipeline.error !== undefined);
    if (invalid !== undefined) throw invalid.pipeline.error;
    const whole = (each: GpuStorage): Slice => ({ buffer: gpu.bufferOf(each), offset: 0 });
    const { entries } = this.#metadata;
    const firstSlot = inputCount(entries.slice(0, entryIndex));
    const buffers: Buffers = {
      scratch: scratch.map(whole),
      constants: constants.map(whole),
      arguments: this.#arguments === undefined ? [] : [{ buffer: this.#arguments, offset: 0 }],
      state: this.states.map(whole),
      input: inputs.map((each, at) =>
        typeof each === 'number'
          ? this.#writeScalar(gpu, entry.inputs[at]!, firstSlot + at, each)
          : whole(each),
      ),
      output: outputs.map(whole),
    };
    const written = [...outputs, ...this.states];
    const pace = this.#pacings[entryIndex]!.begin(gpu.device.queue);
    const commands = new Commands(gpu.device, entry.name, pace);
    const steps = encodeSteps(entry.steps, { kernels, buffers, commands, gpu });
    // Up to a condition that has to be looked at.
    const advance = (word: number): Slice | undefined => {
      const { value } = steps.next(word);
      commands.submit();
      return value as Slice | undefined;
    };
    const areBound = kernels.every((each) => each.isBoundTo(buffers));
    const explain = (message: string) => new LatheError(`WebGPU: ${entry.name}: ${message}`);
    // Commands with the same buffers as before are valid, too.
    const first = areBound
      ? advance(0)
      : gpu.errors.scoped('validation', written, explain, () => advance(0));
    gpu.errors.record(read, written);
    return first && finish(first, advance, gpu, written);
  }

  /** Writes a scalar argument unless the last run wrote the same. */
  #writeScalar(gpu: Gpu, port: ShaderPort, slot: number, value: number): Slice {
    const buffer = gpu.bufferOf(this.#scalars!);
    const offset = scalarBytes * slot;
    if (!Object.is(this.#written[slot], value)) {
      const bytes = encodeNumber(value, hostDType(port));
      gpu.device.queue.writeBuffer(buffer.gpuBuffer, offset, bytes as Uint8Array<ArrayBuffer>);
      this.#written[slot] = value;
    }
    return { buffer, offset };
  }
}

/** Submits the rest of a run that looks at conditions. Its errors are those of what it writes. */
async function finish(
  first: Slice,
  advance: (word: number) => Slice | undefined,
  gpu: Gpu,
  written: readonly GpuStorage[],
): Promise<void> {
  try {
    let next: Slice | undefined = first;
    while (next !== undefined) next = advance(await gpu.readWord(next));
  } catch (error) {
    for (const each of written) each.error = error as LatheError;
  }
}

const inputCount = (entries: WebGpuMetadata['entries']) =>
  entries.reduce((count, { inputs }) => count + inputs.length, 0);
