/** Cache of compiled operations and plans. */
import type { Program } from '../../runtime/device.js';
import type { Signature } from '../graph/signature.js';

/** Capacity; when it is full, the least recently used quarter is evicted. */
export const maxModules = 2000;

interface CachedProgram {
  readonly program: Program;
  used: number;
}

/** Programs by the keys of their plans, those of single operations by their signatures. */
export class ModuleCache {
  readonly #entries = new Map<string | Signature, CachedProgram>();
  #clock = 0;
  /** The number of programs compiled so far. */
  compilations = 0;

  get size(): number {
    return this.#entries.size;
  }

  has(key: string | Signature): boolean {
    return this.#entries.has(key);
  }

  /** The program of a key; compiles it if there is none. */
  get(key: string | Signature, compile: () => Program): Program {
    let found = this.#entries.get(key);
    if (found === undefined) {
      if (this.#entries.size >= maxModules) this.evict(maxModules / 4);
      this.compilations += 1;
      found = { program: compile(), used: 0 };
      this.#entries.set(key, found);
    }
    found.used = ++this.#clock;
    return found.program;
  }

  /** Disposes of the least recently used programs. Default: of all. */
  evict(count?: number): void {
    const oldest = [...this.#entries].sort(([, a], [, b]) => a.used - b.used).slice(0, count);
    for (const [key, { program }] of oldest) {
      program.dispose();
      this.#entries.delete(key);
    }
  }
}
