/** Cache of the inactive builds of one model or function, by request; the least recently used is evicted. */
import { type Evictable, registerEvictable, unregisterEvictable } from './evictable.js';

/** A build, or a wrapper of one. */
export interface Cacheable {
  /** Bytes of code and memory. */
  readonly bytes: number;
  dispose(): void;
}

/** Capacity of a cache: bytes, and builds, since a page has few memories. */
export interface CacheLimits {
  bytes: number;
  builds: number;
}

/** For programs that alternate between a few batch sizes. */
export const defaultCacheLimits: CacheLimits = { bytes: 64 * 2 ** 20, builds: 4 };
/** For builds specialized to input shapes. */
export const dynamicShapeCacheLimits: CacheLimits = { ...defaultCacheLimits, builds: 16 };
/** For builds that each may include the weights of a vision model. */
export const weightCacheLimits: CacheLimits = {
  ...dynamicShapeCacheLimits,
  bytes: 2 * defaultCacheLimits.bytes,
};

export class CompilationCache<Build extends Cacheable> implements Evictable {
  readonly #entries = new Map<string, { build: Build; bytes: number }>();
  readonly #self = new WeakRef<Evictable>(this);
  #bytes = 0;

  constructor(private readonly limits: CacheLimits = defaultCacheLimits) {}

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** Removes and returns a build; undefined if there is none. */
  remove(key: string): Build | undefined {
    const found = this.#entries.get(key);
    if (found !== undefined) this.#drop(key, found.bytes);
    return found?.build;
  }

  /** Adds a build, and disposes of evicted ones. */
  insert(key: string, build: Build): void {
    const { bytes } = build;
    this.#entries.set(key, { build, bytes });
    this.#bytes += bytes;
    registerEvictable(this.#self);
    for (const [oldest, each] of this.#entries) {
      if (this.#bytes <= this.limits.bytes && this.#entries.size <= this.limits.builds) return;
      this.#drop(oldest, each.bytes);
      each.build.dispose();
    }
  }

  free(): void {
    for (const [key, { build, bytes }] of this.#entries) {
      this.#drop(key, bytes);
      build.dispose();
    }
  }

  #drop(key: string, bytes: number): void {
    this.#entries.delete(key);
    this.#bytes -= bytes;
    if (this.#entries.size === 0) unregisterEvictable(this.#self);
  }
}
