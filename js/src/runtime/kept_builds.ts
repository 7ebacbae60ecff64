/** Builds of one owner that are not at work, by what they were asked for: those not used for longest go first. */
import type { Build } from './build.js';
import { offer, type Spares, withdraw } from './spares.js';

/** What one owner keeps beside the build at work: bytes of code and memory, and memories, of which a page has few. */
const mostBytes = 64 * 2 ** 20;
const mostBuilds = 4;

export class KeptBuilds implements Spares {
  readonly #kept = new Map<string, Build>();
  readonly #self = new WeakRef<Spares>(this);
  #bytes = 0;

  /** Gives the build away; nothing where there is none. */
  take(key: string): Build | undefined {
    const build = this.#kept.get(key);
    if (build !== undefined) this.#drop(key, build);
    return build;
  }

  /** Takes over the build, and frees what there is no room for. */
  keep(key: string, build: Build): void {
    this.#kept.set(key, build);
    this.#bytes += bytesOf(build);
    offer(this.#self);
    for (const [oldest, each] of this.#kept) {
      if (this.#bytes <= mostBytes && this.#kept.size <= mostBuilds) return;
      this.#drop(oldest, each);
      each.free();
    }
  }

  free(): void {
    for (const [key, build] of this.#kept) {
      this.#drop(key, build);
      build.free();
    }
  }

  #drop(key: string, build: Build): void {
    this.#kept.delete(key);
    this.#bytes -= bytesOf(build);
    if (this.#kept.size === 0) withdraw(this.#self);
  }
}

const bytesOf = ({ stats }: Build) => stats.memoryBytes + stats.moduleBytes;
