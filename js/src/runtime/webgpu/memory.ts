/** The memory of a GPU as programs ask for it: counted, and limited by a budget, before buffers are created. */
import { evictAll } from '../evictable.js';
import { checkLimit, OutOfMemoryError } from './errors.js';
import { GpuStorage } from './storage.js';
import type { WorkQueue } from './work_queue.js';

export class GpuMemory {
  /** Bytes that all storages together may have. */
  budget = Infinity;
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
    const isFull = () => this.bytes + bytes > this.budget;
    if (isFull() && !(evictAll() && !isFull())) {
      throw new OutOfMemoryError(
        `${bytes} bytes for ${what} are more than the budget of ${this.budget} allows, of which ${this.bytes} are in use; dispose of some tensors`,
      );
    }
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
