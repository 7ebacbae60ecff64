/** The memory of a GPU as programs ask for it: counted, and limited by a budget, before buffers are created. */
import type { DataArray } from '../../tensor/convert.js';
import type { DType } from '../../tensor/dtypes.js';
import { checkBudget } from '../budget.js';
import type { StoredValue } from '../device.js';
import { encode } from './elements.js';
import { checkLimit } from './check_limit.js';
import { GpuStorage } from './storage.js';
import type { WorkQueue } from './work_queue.js';

export class GpuMemory {
  /** Bytes and number of storages. */
  bytes = 0;
  buffers = 0;
  /** Temporaries, shared by all programs, as their runs are in order: as large as the maximum of their needs. */
  scratch: GpuStorage | undefined;
  #programs = 0;

  constructor(private readonly queue: WorkQueue) {}

  /** Uninitialized. Errors: LimitError, OutOfMemoryError. */
  allocate(bytes: number, what: string): GpuStorage {
    const limits = this.queue.gpu?.device.limits;
    if (limits !== undefined) {
      checkLimit(`bytes of ${what}`, bytes, limits.maxBufferSize, 'maxBufferSize');
    }
    checkBudget(bytes, what, () => this.bytes);
    this.bytes += bytes;
    this.buffers += 1;
    return new GpuStorage(bytes);
  }

  /** Must be called once per storage. */
  free(storage: GpuStorage): void {
    this.bytes -= storage.bytes;
    this.buffers -= 1;
    this.queue.after(() => storage.buffer?.release());
  }

  /** Writes all elements, which `data` has in the dtype of the host. */
  write(storage: GpuStorage, dtype: DType, data: DataArray): void {
    const bytes = encode(data, dtype);
    // The caller may change its array before the write begins.
    const stable = this.queue.isIdle || bytes.buffer !== data.buffer ? bytes : bytes.slice();
    this.queue.add({
      begin(gpu) {
        storage.reset();
        if (stable.length > 0) gpu.write(storage, stable);
      },
      fail: (error) => (storage.error = error),
    });
  }

  /** The storage of a value; after a loss its elements are uploaded again if the host has them. */
  storageOf(value: StoredValue): GpuStorage {
    const storage = value.materialize() as GpuStorage;
    const { dtype, hostCopy } = value;
    if (storage.isLost && hostCopy !== undefined) this.write(storage, dtype, hostCopy);
    return storage;
  }

  /** Counts a program with so many bytes of temporaries. Errors: those of `allocate`. */
  retainScratch(bytes: number): void {
    if (bytes > (this.scratch?.bytes ?? 0)) {
      const larger = this.allocate(bytes, 'temporaries');
      this.#freeScratch();
      this.scratch = larger;
    }
    this.#programs += 1;
  }

  releaseScratch(): void {
    this.#programs -= 1;
    if (this.#programs === 0) this.#freeScratch();
  }

  #freeScratch(): void {
    if (this.scratch !== undefined) this.free(this.scratch);
    this.scratch = undefined;
  }
}
