/** Devices: each owns storage of elements, compiles graphs and runs them. Knows no device. */
import { LatheError } from '../base/errors.js';
import type { BufferInfo, CompileRequest, GraphRequest } from '../core/abi.js';
import type { CoreExecutable, CoreGraph } from '../core/handles.js';
import type { DataArray } from '../tensor/convert.js';
import type { DType } from '../tensor/dtypes.js';

export type DeviceName = 'wasm' | 'webgpu';

/** How the GPU of the device `webgpu` is found. */
export interface DeviceOptions {
  /**
   * A GPUDevice of the program's own, used with its features and limits. It is not replaced when it is lost. Its type is not named, as
   * not every version of TypeScript declares it.
   */
  device?: { readonly queue: object; readonly limits: object; readonly lost: Promise<unknown> };
  /** Which GPU is preferred where there are several. Default: the choice of the browser. */
  powerPreference?: 'low-power' | 'high-performance';
}

/** The elements of a value on a device, which only the device can address. */
export interface Storage {
  readonly bytes: number;
}

/** What devices and programs see of a value: `DeviceValue`. */
export interface StoredValue {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly size: number;
  /** Its elements if the host has them: devices upload them again after they lost them. */
  readonly hostCopy: DataArray | undefined;
  /** Its storage; computes it if it is pending. Error: out of memory. */
  materialize(): Storage;
  /** Allocates uninitialized storage unless it has one. Error: out of memory. */
  allocate(): this;
  /** Frees storage that was not written. */
  deallocate(): void;
}

/** An argument, result or state of a program. */
export interface ProgramPort extends Pick<BufferInfo, 'ranges'> {
  readonly name: string;
  readonly dtype: BufferInfo['dtype'];
  readonly shape: readonly number[];
}

/** What a compiled graph takes. */
export interface ProgramStats {
  /** Bytes of the module's code and data; of shaders the characters of their text. */
  moduleBytes: number;
  /** Bytes of its memory: weights, optimizer states, activations, batches. */
  memoryBytes: number;
  /** Bytes of it that the steps of a call share at its peak: activations and gradients. */
  temporaryBytes: number;
  /** Maximum number of threads of a call; if it is 1, calls run on the calling thread. */
  threads: number;
}

/** The inputs and outputs of an entry of a program. */
export interface ProgramEntry {
  readonly name: string;
  readonly inputs: readonly ProgramPort[];
  readonly outputs: readonly ProgramPort[];
}

/** A compiled graph on a device. */
export interface Program {
  /** Those of the graph's first entry, and its states. */
  readonly ports: Record<'inputs' | 'outputs' | 'states', readonly ProgramPort[]>;
  readonly entries: readonly ProgramEntry[];
  /** The elements of a state, by its index; uninitialized until they are written. */
  state(index: number): Storage;
  /** The elements that a state has again after the device lost them. */
  setBackup?(index: number, data: DataArray): void;
  readonly stats: ProgramStats;
  /** How often states were lost and have the elements of their backups since. */
  readonly restored?: number;
  /**
   * Runs an entry, the first by default, on values in the order of its inputs, numbers for scalars, and allocates and writes `outputs` in the
   * order of its outputs. It may return before they are written: what is queued later sees them. Error: out of memory;
   * outputs are unallocated then.
   */
  run(
    inputs: readonly (StoredValue | number)[],
    outputs: readonly StoredValue[],
    entry?: number,
  ): void;
  /** Programs that are queued still run. */
  dispose(): void;
}

/** Options of `Device.compile`. All but the first two are about modules of WebAssembly, and ignored elsewhere. */
export interface DeviceCompileOptions extends Pick<CompileRequest, 'dumps' | 'origins'> {
  /** The program's states, by name, in place of its own: programs may share some. Not on Wasm. */
  states?: ReadonlyMap<string, Storage>;
  /** The number of entries of the graph. Default: 1. On Wasm there is only one. */
  entries?: number;
  /** Whether runs have a time limit. */
  timeLimit?: number;
  /** Called with the executable before it is freed. */
  inspect?: (executable: CoreExecutable) => void;
}

export interface Device {
  readonly name: DeviceName;
  /** Another number once programs that are compiled from then on differ from those before. */
  readonly revision: number;
  /** Uninitialized storage. Errors: out of memory; more than the device allows. */
  allocate(dtype: DType, size: number): Storage;
  /** Once per storage. What is queued before still sees it. */
  free(storage: Storage): void;
  /** Writes all elements, which `data` has in the dtype of the host. */
  write(storage: Storage, dtype: DType, data: DataArray): void;
  /** Whether it has lost the elements. Default: it loses none. */
  isLost?(storage: Storage): boolean;
  /** Copies `count` elements to another storage, from these indices on. */
  copy(
    dtype: DType,
    from: Storage,
    fromIndex: number,
    to: Storage,
    toIndex: number,
    count: number,
  ): void;
  /**
   * A copy of the elements, once what is queued before is done; no promise where that is now. Rejects with the error of what should
   * have written them.
   */
  read(storage: Storage, dtype: DType, size: number): Promise<DataArray> | DataArray;
  /** Resolves once what is queued before is done or has failed. Without, it is done at the call. */
  settled?(): Promise<void>;
  /** Whether elements can only be awaited: `readSync` throws. */
  readonly isAsync?: boolean;
  /** As `read`, at once. Error: the device cannot wait (`syncReadError`). */
  readSync(storage: Storage, dtype: DType, size: number): DataArray;
  /** The elements themselves, on devices whose storage the host addresses; the next allocation may detach the array. */
  view?(value: StoredValue): DataArray;
  /**
   * Allocates an int32 value [height, width, channels] with the pixels that an image of the page has now; false: the host has to
   * read them. Errors: that of the browser; out of memory.
   */
  fromImage?(source: object, value: StoredValue): boolean;
  /** What `load` expects executables to be compiled for. Without both, nothing is compiled in the background. */
  request?(): GraphRequest;
  /** Errors: those of the core; out of memory. */
  compile(graph: CoreGraph, options?: DeviceCompileOptions): Program;
  /** Does not free the executable. Error: out of memory. */
  load?(executable: CoreExecutable): Program;
  memory(): DeviceMemory;
  /** Gives back what it has reserved and has not needed for some time; whether it did. Between runs, when nobody has a view. */
  shrink?(): boolean;
  /** Options of later acquisitions of hardware. Error: they are of other hardware than what is in use. */
  configure?(options: DeviceOptions): void;
}

/** Memory of a device. */
export interface DeviceMemory {
  /** Bytes and buffers in use. */
  bytes: number;
  buffers: number;
  /** Bytes that it has reserved. */
  reserved: number;
}

/** The error of devices that cannot wait. */
export const syncReadError = (device: string): LatheError =>
  new LatheError(
    `elements on ${device} cannot be read synchronously: await tensor.data() before, or await tensor.to('wasm')`,
  );
