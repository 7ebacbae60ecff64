/** A GPUDevice with its buffers and pipelines, which end together when it is lost. */
import { DeviceLostError, OutOfMemoryError } from '../../base/device_errors.js';
import { LatheError, reasonOf } from '../../base/errors.js';
import { BufferPool, bufferUsage, type PooledBuffer } from './buffers.js';
import { Commands } from './commands.js';
import { ErrorLog } from './error_log.js';
import type { ConstantBlock } from './constants.js';
import { Pipelines } from './pipelines.js';
import { GpuStorage } from './storage.js';

export class Gpu {
  readonly pool: BufferPool;
  readonly pipelines: Pipelines;
  readonly errors: ErrorLog;
  /** Numbers of workgroups that kernels write. */
  readonly argumentPool: BufferPool;
  /** Buffers that the host reads. */
  readonly #staging: BufferPool;
  /** Why it is lost. */
  lost: DeviceLostError | undefined;

  /** `isOurs`: whether no other code uses the device. */
  constructor(
    readonly device: GPUDevice,
    isOurs: boolean,
  ) {
    const { mapRead, copySource, copyTarget, storage, indirect } = bufferUsage;
    this.pool = new BufferPool(device, storage | copySource | copyTarget);
    this.argumentPool = new BufferPool(device, storage | indirect);
    this.#staging = new BufferPool(device, mapRead | copyTarget);
    this.pipelines = new Pipelines(device);
    this.errors = new ErrorLog(device, isOurs);
    void device.lost.then(({ reason, message }) => this.#lose(`${reason}: ${message}`));
  }

  #lose(reason: string): DeviceLostError {
    this.pool.isLost = this.argumentPool.isLost = true;
    return (this.lost ??= new DeviceLostError(`the GPU was lost (${reason})`));
  }

  get reserved(): number {
    return this.pool.reserved + this.argumentPool.reserved + this.#staging.reserved;
  }

  trim(): void {
    this.pool.trim();
    this.#staging.trim();
  }

  /** The buffer of a storage. Errors: those of `check`. */
  bufferOf(storage: GpuStorage): PooledBuffer {
    storage.check();
    return (storage.buffer ??=
      this.pool.reuse(storage.bytes) ??
      this.#create(storage, () => this.pool.create(storage.bytes)));
  }

  /** Writes bytes from the beginning on, in whole words. */
  write(storage: GpuStorage, bytes: Uint8Array): void {
    const isNew = storage.buffer === undefined;
    const { gpuBuffer } = this.bufferOf(storage);
    const write = () =>
      this.device.queue.writeBuffer(gpuBuffer, 0, bytes as Uint8Array<ArrayBuffer>);
    // If there is no memory for the buffer, writing it is a second error.
    if (isNew) this.errors.scoped('validation', [storage], writeError, write);
    else write();
  }

  /** Writes constants, unless another program has. Error: the host has no memory. */
  writeConstants({ storage, data }: ConstantBlock): void {
    if (storage.buffer !== undefined && !storage.isLost && storage.error === undefined) return;
    const bytes = new Uint8Array(data.buffer);
    storage.reset();
    storage.buffer = this.pool.reuse(storage.bytes);
    if (storage.buffer !== undefined) return this.write(storage, bytes);
    const create = () => this.pool.create(storage.bytes, (mapped) => mapped.set(bytes));
    storage.buffer = this.#create(storage, create);
  }

  /**
   * What `decode` makes of the bytes, once everything submitted before is done. Rejects with the error of the
   * computation that should have written them, of an earlier command if nobody knows what that spoiled, and if the GPU is lost.
   */
  async read<Result>(storage: GpuStorage, decode: (bytes: ArrayBuffer) => Result): Promise<Result> {
    const { gpuBuffer } = this.bufferOf(storage);
    const { bytes } = storage;
    const copy = new GpuStorage(bytes);
    const staging =
      this.#staging.reuse(bytes) ?? this.#create(copy, () => this.#staging.create(bytes));
    const commands = new Commands(this.device, 'read');
    this.errors.scoped('validation', [copy], readError, () => {
      commands.copy(gpuBuffer, 0, staging.gpuBuffer, 0, bytes);
      commands.submit();
    });
    const { settled } = this.errors;
    let result: Result | undefined;
    let failure: unknown;
    try {
      await staging.gpuBuffer.mapAsync(1, 0, bytes); // GPUMapMode.READ
      result = decode(staging.gpuBuffer.getMappedRange(0, bytes));
      staging.gpuBuffer.unmap();
    } catch (error) {
      failure = error;
      staging.isInvalid = true;
    }
    staging.release();
    await settled;
    const error = storage.error ?? copy.error ?? this.errors.takeUncaptured();
    if (error !== undefined) throw error;
    if (failure === undefined) return result!;
    // The map may be rejected before the loss is reported; our buffers are not unmapped otherwise.
    if ((failure as Error).name === 'AbortError') throw this.#lose('while reading');
    throw this.lost ?? new LatheError(`WebGPU: reading: ${reasonOf(failure)}`, { cause: failure });
  }

  /** A word of a buffer, once everything submitted before is done. Rejects if the GPU is lost. */
  async readWord({ buffer, offset }: { buffer: PooledBuffer; offset: number }): Promise<number> {
    const staging = this.#staging.reuse(wordBytes) ?? this.#staging.create(wordBytes);
    try {
      const commands = new Commands(this.device, 'condition');
      commands.copy(buffer.gpuBuffer, offset, staging.gpuBuffer, 0, wordBytes);
      commands.submit();
      await staging.gpuBuffer.mapAsync(1, 0, wordBytes); // GPUMapMode.READ
      const [word] = new Uint32Array(staging.gpuBuffer.getMappedRange(0, wordBytes));
      staging.gpuBuffer.unmap();
      return word!;
    } catch (error) {
      staging.isInvalid = true;
      throw this.lost ?? readError(reasonOf(error));
    } finally {
      staging.release();
    }
  }

  /** Creates a buffer; if that fails the storage gets the error, and idle buffers are freed for later ones. */
  #create(storage: GpuStorage, create: () => PooledBuffer): PooledBuffer {
    let made: PooledBuffer | undefined;
    const { bytes } = storage;
    const explain = (message: string) => {
      if (made !== undefined) made.isInvalid = true;
      this.trim();
      return new OutOfMemoryError(
        `the GPU has no memory for ${bytes} bytes more than the ${this.reserved - bytes} in use: ${message}`,
      );
    };
    try {
      return this.errors.scoped('out-of-memory', [storage], explain, () => (made = create()));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new OutOfMemoryError(`no memory for ${bytes} bytes to upload: ${error.message}`);
    }
  }
}

const wordBytes = 4;
const readError = (message: string) => new LatheError(`WebGPU: reading: ${message}`);
const writeError = (message: string) => new LatheError(`WebGPU: writing: ${message}`);
