/** The memory of a GPU as programs ask for it: counted, and limited by a budget, before buffers are created. */
import type { DataArray } from '../../tensor/convert.js';
import type { DType } from '../../tensor/dtypes.js';
import { checkBudget } from '../budget.js';
import type { StoredValue } from '../device.js';
import { Constants } from './constants.js';
import { encode } from './elements.js';
import { checkLimit } from './check_limit.js';
import { GpuStorage } from './storage.js';
import type { WorkQueue } from './work_queue.js';

export class GpuMemory {
  /** Bytes and number of storages. */
  bytes = 0;
  buffers = 0;
  /** Pages of temporaries, shared by all programs, as their runs are in order: each as large as the maximum of their needs. */
  #scratch: readonly GpuStorage[] = [];
  #programs = 0;
  readonly constants = new Constants(this);

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

  /** Counts a program that may use `scratch`. */
  retainScratch(): void {
    this.#programs += 1;
  }

  /** Temporaries in pages of at least so many bytes. Errors: those of `allocate`. */
  scratch(pages: readonly number[]): readonly GpuStorage[] {
    for (const [at, bytes] of pages.entries()) {
      const page = this.#scratch[at];
      if (page !== undefined && bytes <= page.bytes) continue;
      const larger = this.allocate(bytes, 'temporaries');
      if (page !== undefined) this.free(page);
      // Runs that are queued use the pages that they were given.
      this.#scratch = [...this.#scratch.slice(0, at), larger, ...this.#scratch.slice(at + 1)];
    }
    return this.#scratch;
  }

  releaseScratch(): void {
    this.#programs -= 1;
    if (this.#programs === 0) this.#freeScratch();
  }

  #freeScratch(): void {
    for (const each of this.#scratch) this.free(each);
    this.#scratch = [];
  }
}

/** The bytes of each page, all but the last of which have `pageBytes`. */
export const pagesOf = (bytes: number, pageBytes: number): number[] =>
  Array.from({ length: Math.ceil(bytes / pageBytes) }, (_, page) =>
    Math.min(pageBytes, bytes - page * pageBytes),
  );
