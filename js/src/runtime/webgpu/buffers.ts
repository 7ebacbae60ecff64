/**
 * A pool of GPUBuffers by size, eight sizes for each power of two. Released buffers are reused in the order of
 * submissions, so that work already submitted still sees its elements.
 */

/** Bits of GPUBufferUsage, which Node does not declare globally. */
export const bufferUsage = {
  mapRead: 1,
  copySource: 4,
  copyTarget: 8,
  storage: 128,
  indirect: 256,
} as const;

/** The minimum size: that of the alignment of bindings. */
const minBytes = 256;

/** Idle bytes that a pool retains regardless of how many are in use. */
const minIdleBytes = 64 * 2 ** 20;

/** The size of a buffer for so many bytes: at most an eighth larger. */
export function sizeClass(bytes: number): number {
  const step = Math.max(minBytes, 2 ** (Math.floor(Math.log2(Math.max(bytes, 1))) - 3));
  return Math.max(minBytes, Math.ceil(bytes / step) * step);
}

let lastId = 0;

/** A buffer of a pool. */
export class PooledBuffer {
  /** Unique in the process. */
  readonly id = (lastId += 1);
  /** Out of memory: it must not be reused. */
  isInvalid = false;

  constructor(
    readonly pool: BufferPool,
    readonly gpuBuffer: GPUBuffer,
    readonly bytes: number,
  ) {}

  release(): void {
    this.pool.release(this);
  }
}

export class BufferPool {
  /** Bytes of all buffers. */
  reserved = 0;
  /** Whether the device is lost. */
  isLost = false;
  #idleBytes = 0;
  readonly #idle = new Map<number, PooledBuffer[]>();

  constructor(
    readonly device: GPUDevice,
    private readonly usage: number,
  ) {}

  /** A buffer of at least so many bytes with any elements, if one is idle. */
  reuse(bytes: number): PooledBuffer | undefined {
    const found = this.#idle.get(sizeClass(bytes))?.pop();
    if (found !== undefined) this.#idleBytes -= found.bytes;
    return found;
  }

  /** A new buffer of zeros, or of what `fill` writes. Error: a RangeError if the host has no memory to be written. */
  create(bytes: number, fill?: (bytes: Uint8Array) => void): PooledBuffer {
    // Neither a limit of buffers nor that of bindings may be exceeded by rounding.
    const { maxBufferSize } = this.device.limits;
    const size = Math.max(bytes, Math.min(sizeClass(bytes), maxBufferSize));
    const mappedAtCreation = fill !== undefined;
    const buffer = this.device.createBuffer({ size, usage: this.usage, mappedAtCreation });
    if (fill !== undefined) {
      fill(new Uint8Array(buffer.getMappedRange()));
      buffer.unmap();
    }
    this.reserved += size;
    return new PooledBuffer(this, buffer, size);
  }

  release(buffer: PooledBuffer): void {
    if (buffer.isInvalid) return this.#destroy(buffer);
    const idle = this.#idle.get(buffer.bytes);
    if (idle === undefined) this.#idle.set(buffer.bytes, [buffer]);
    else idle.push(buffer);
    this.#idleBytes += buffer.bytes;
    const inUse = this.reserved - this.#idleBytes;
    if (this.#idleBytes > minIdleBytes + inUse) this.trim();
  }

  /** Destroys idle buffers: memory is freed once the work that uses them is done. */
  trim(): void {
    for (const idle of this.#idle.values()) for (const each of idle) this.#destroy(each);
    this.#idle.clear();
    this.#idleBytes = 0;
  }

  #destroy({ gpuBuffer, bytes }: PooledBuffer): void {
    gpuBuffer.destroy();
    this.reserved -= bytes;
  }
}
