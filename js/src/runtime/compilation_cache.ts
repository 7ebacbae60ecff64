/** Caches of what was compiled: of inactive builds, each with a memory; and of programs and functions that share the heap. */
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
/** For builds that each may include the weights of a vision model, of as many image sizes as a page of text has lines. */
export const weightCacheLimits: CacheLimits = {
  bytes: 4 * defaultCacheLimits.bytes,
  builds: 64,
};

/** Last uses are remembered of this many times as many builds as fit. */
const rememberedUses = 8;

/**
 * Cache of the inactive builds of one model or function, by request. The least recently used build makes way for one that returned
 * sooner, so that of more requests in turn than fit some remain (as in LIRS: Jiang and Zhang, 2002).
 */
export class CompilationCache<Build extends Cacheable> implements Evictable {
  readonly #entries = new Map<string, { build: Build; bytes: number }>();
  readonly #self = new WeakRef<Evictable>(this);
  #bytes = 0;
  /** When builds were last used, oldest first, in insertions; of evicted ones, too. */
  readonly #lastUses = new Map<string, number>();
  #insertions = 0;

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

  /** Adds a build after its use, and disposes of evicted ones, which may include it. */
  insert(key: string, build: Build): void {
    const { bytes } = build;
    this.#insertions++;
    const interval = this.#sinceLastUse(key);
    this.#recordUse(key);
    this.#entries.set(key, { build, bytes });
    this.#bytes += bytes;
    registerEvictable(this.#self);
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.limits.bytes && this.#entries.size <= this.limits.builds) return;
      const returnedSooner = interval < this.#sinceLastUse(oldest);
      this.remove(returnedSooner ? oldest : key)?.dispose();
      if (!returnedSooner) return;
    }
  }

  #sinceLastUse(key: string): number {
    return this.#insertions - (this.#lastUses.get(key) ?? -Infinity);
  }

  #recordUse(key: string): void {
    this.#lastUses.delete(key);
    this.#lastUses.set(key, this.#insertions);
    if (this.#lastUses.size > rememberedUses * this.limits.builds)
      this.#lastUses.delete(this.#lastUses.keys().next().value!);
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

/** Cache of values that are used while they are in it. When it is full, the least recently used are disposed of. */
export class LruCache<Key, Value extends { dispose(): void }> {
  readonly #entries = new Map<Key, { value: Value; used: number }>();
  #clock = 0;
  /** The number of values made so far. */
  made = 0;

  /** @param batch the number of values that are evicted at once */
  constructor(
    private readonly capacity: number,
    private readonly batch = 1,
  ) {}

  get size(): number {
    return this.#entries.size;
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  /** The value of a key, made if there is none. */
  get(key: Key, make: () => Value): Value {
    let found = this.#entries.get(key);
    if (found === undefined) {
      if (this.size >= this.capacity) this.evict(this.batch);
      found = { value: make(), used: 0 };
      this.made += 1;
      this.#entries.set(key, found);
    }
    found.used = ++this.#clock;
    return found.value;
  }

  /** Disposes of the least recently used values. Default: of all. */
  evict(count?: number): void {
    const oldest = [...this.#entries].sort(([, a], [, b]) => a.used - b.used).slice(0, count);
    for (const [key, { value }] of oldest) {
      value.dispose();
      this.#entries.delete(key);
    }
  }
}
