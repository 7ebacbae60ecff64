/** The device `webgpu`: values are GPUBuffers, compiled graphs shaders. */
import { DeviceLostError, LimitError } from '../../base/device_errors.js';
import { LatheError } from '../../base/errors.js';
import type { WebGpuLimits } from '../../core/abi.js';
import type { CoreGraph } from '../../core/handles.js';
import type { ShaderExecutable, WebGpuCompiler } from '../../core/webgpu_compiler.js';
import type { DataArray } from '../../tensor/convert.js';
import type { DType } from '../../tensor/dtypes.js';
import {
  type Device,
  type DeviceCompileOptions,
  type DeviceMemory,
  type DeviceOptions,
  type Storage,
  type StoredValue,
  syncReadError,
} from '../device.js';
import { acquireDevice, subgroupThreads } from './acquire.js';
import { canvasIsExact, readThroughCanvas } from './canvas_read.js';
import { copyBytes } from './copy_bytes.js';
import { decode, storedBytes, storedBytesEach } from './elements.js';
import type { BufferAccess } from '../buffer_access.js';
import type { WebGpuExecutable } from './executable.js';
import { Gpu } from './gpu.js';
import { type ImageSource, imageTask, mayCopy } from './images.js';
import { GpuMemory } from './memory.js';
import { WebGpuProgram } from './program.js';
import type { GpuStorage } from './storage.js';
import { type Task, WorkQueue } from './work_queue.js';

const slowRead =
  'tensorlathe: reading a tensor synchronously from WebGPU is slow: await data() or array() instead';

export class WebGpuDevice implements Device {
  readonly name = 'webgpu';
  /** Programs compiled from now on do not differ from those before. */
  readonly revision = 0;
  readonly #queue: WorkQueue;
  readonly #memory: GpuMemory;
  #compiler: WebGpuCompiler | undefined;
  /** Set by what opens the device for programs. */
  buffers: BufferAccess<GPUBuffer> | undefined;
  #opened = false;
  #hasWarned = false;
  #canReadSync: boolean | undefined;

  /** Acquires nothing: the first use does. */
  constructor(
    private options: DeviceOptions = {},
    compiler?: WebGpuCompiler,
  ) {
    this.#compiler = compiler;
    this.#queue = new WorkQueue(() => this.#acquire());
    this.#memory = new GpuMemory(this.#queue);
  }

  /** Chooses the GPU that is acquired next. Error: one is in use, which tensors are on. */
  configure(options: DeviceOptions): void {
    const { gpuDevice } = this;
    const isSame = options.device === undefined || options.device === gpuDevice;
    if (gpuDevice !== undefined && !isSame) {
      throw new LatheError(
        'WebGPU is in use with another GPUDevice: pass yours in the first call of setDevice',
      );
    }
    if (options.device !== this.options.device) this.#opened = false;
    this.options = options;
  }

  async #acquire(): Promise<Gpu> {
    const { options } = this;
    if (this.#opened && options.device !== undefined) {
      throw new DeviceLostError('the GPUDevice that the program passed is lost');
    }
    const gpu = new Gpu(await acquireDevice(options), options.device === undefined);
    this.#opened = true;
    return gpu;
  }

  /** Acquires a GPU. Error: there is none, with the reason. */
  async ready(): Promise<void> {
    await new Promise<void>((begin, fail) => this.#queue.add({ begin: () => begin(), fail }));
  }

  /** The GPUDevice in use; undefined before the first use and after a loss. */
  get gpuDevice(): GPUDevice | undefined {
    return this.#queue.gpu?.device;
  }

  /** Uninitialized elements. Errors: OutOfMemoryError, LimitError. */
  allocate(dtype: DType, size: number): GpuStorage {
    return this.#memory.allocate(storedBytes(dtype, size), `${size} elements of ${dtype}`);
  }

  /** Must be called once per storage. */
  free(storage: Storage): void {
    this.#memory.free(storage as GpuStorage);
  }

  /** Writes all elements, which `data` has in the dtype of the host. */
  write(storage: Storage, dtype: DType, data: DataArray): void {
    this.#memory.write(storage as GpuStorage, dtype, data);
  }

  isLost(storage: Storage): boolean {
    return (storage as GpuStorage).isLost;
  }

  copy(
    dtype: DType,
    from: Storage,
    fromIndex: number,
    to: Storage,
    toIndex: number,
    count: number,
  ): void {
    const [source, target] = [from as GpuStorage, to as GpuStorage];
    const bytes = storedBytesEach(dtype);
    this.#queue.add({
      begin(gpu) {
        target.reset();
        const [read, written] = [gpu.bufferOf(source), gpu.bufferOf(target)];
        const [at, to] = [fromIndex * bytes, toIndex * bytes];
        copyBytes(gpu, read.gpuBuffer, at, written.gpuBuffer, to, count * bytes);
        gpu.errors.record([source], [target]);
      },
      fail: (error) => (target.error = error),
    });
  }

  /**
   * A copy of the elements once everything before is done. Rejects with the error of the computation that should have
   * written them; with DeviceLostError if they are lost.
   */
  read(storage: Storage, dtype: DType, size: number): Promise<DataArray> {
    return new Promise((resolve, fail) => {
      const begin = (gpu: Gpu) =>
        void gpu
          .read(storage as GpuStorage, (stored) => decode(stored, dtype, size))
          .then(resolve, fail);
      this.#queue.add({ begin, fail });
    });
  }

  settled(): Promise<void> {
    return new Promise((resolve) => {
      const begin = (gpu: Gpu) =>
        void gpu.device.queue.onSubmittedWorkDone().then(
          () => resolve(),
          () => resolve(),
        );
      this.#queue.add({ begin, fail: () => resolve() });
    });
  }

  get isAsync(): boolean {
    return (globalThis as { document?: unknown }).document === undefined;
  }

  /** The same at once, by way of a canvas, with one warning. Errors: there is none that works, as in Node; those of `read`. */
  readSync(storage: Storage, dtype: DType, size: number): DataArray {
    const gpu = this.flush();
    const read = storage as GpuStorage;
    read.check();
    const error = gpu.errors.takeUncaptured();
    if (error !== undefined) throw error;
    // Checked once: a GPU that is acquired later is the same.
    if (!(this.#canReadSync ??= canvasIsExact(gpu.device))) throw syncReadError(this.name);
    const stored = readThroughCanvas(gpu.device, gpu.bufferOf(read).gpuBuffer, read.bytes);
    if (!this.#hasWarned) console.warn(slowRead);
    this.#hasWarned = true;
    return decode(stored, dtype, size);
  }

  /**
   * Allocates an int32 value [height, width, channels] with the pixels that an image has now; false: there is no GPU yet, or the
   * browser does not copy such images. Errors: that of the browser; OutOfMemoryError.
   */
  fromImage(source: object, value: StoredValue): boolean {
    const gpu = this.#queue.gpu;
    if (gpu === undefined || value.size === 0 || !mayCopy(gpu, source)) return false;
    const storage = value.allocate().materialize() as GpuStorage;
    const shape = value.shape as readonly [number, number, number];
    try {
      this.#queue.add(imageTask(gpu, source as ImageSource, storage, shape));
      return true;
    } catch (error) {
      value.deallocate();
      // Browsers differ in the types of images that they copy.
      if (error instanceof TypeError) return false;
      throw error;
    }
  }

  /** Errors: those of the core; LimitError, OutOfMemoryError. */
  readonly compile = (
    graph: CoreGraph,
    { entries = 1, states }: DeviceCompileOptions = {},
  ): WebGpuProgram => {
    const shaders = this.#shaders(graph, entries);
    try {
      const { metadata } = shaders;
      const executable = { metadata, constants: shaders.constants() };
      return this.loadExecutable(executable, states as ReadonlyMap<string, GpuStorage>);
    } finally {
      shaders.free();
    }
  };

  #shaders(graph: CoreGraph, entries: number): ShaderExecutable {
    try {
      const limits = this.#limits();
      const bytes = graph.entryBytes(entries, limits?.shaderF16 === true);
      return this.#compiler!.compile(bytes, limits);
    } catch (error) {
      // As `src/emit/wgsl/kernel.cc` says it.
      const { message } = error as LatheError;
      throw / the device (binds|has) /.test(message)
        ? new LimitError(message, { cause: error })
        : error;
    }
  }

  /** Those of the GPU in use; undefined between a loss and the next use. */
  #limits(): WebGpuLimits | undefined {
    const device = this.gpuDevice;
    if (device === undefined) return undefined;
    const { limits } = device;
    return {
      threads: limits.maxComputeInvocationsPerWorkgroup,
      sharedBytes: limits.maxComputeWorkgroupStorageSize,
      storageBuffers: limits.maxStorageBuffersPerShaderStage,
      bindingBytes: limits.maxStorageBufferBindingSize,
      subgroupThreads: subgroupThreads(device),
      shaderF16: device.features.has('shader-f16'),
    };
  }

  /** `states`: as of `compile`. Errors: LimitError, OutOfMemoryError. */
  loadExecutable(
    executable: WebGpuExecutable,
    states?: ReadonlyMap<string, GpuStorage>,
  ): WebGpuProgram {
    return new WebGpuProgram(executable, this.#queue, this.#memory, states);
  }

  /** Adds work of the program's own to the calls. */
  enqueue(task: Task): void {
    this.#queue.add(task);
  }

  /** Begins all work at once. Errors: there is no GPU yet; a loop that data ends is running. */
  flush(): Gpu {
    const gpu = this.#queue.flush();
    if (gpu === undefined) throw new LatheError('WebGPU is not ready: await tl.ready() first');
    return gpu;
  }

  memory(): DeviceMemory {
    const { bytes, buffers } = this.#memory;
    return { bytes, buffers, reserved: this.#queue.gpu?.reserved ?? 0 };
  }
}
