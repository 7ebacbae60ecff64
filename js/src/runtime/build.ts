/** From an executable of the core to an instance at work, and what that took. Knows not what the module computes. */
import type { ModuleMetadata } from '../core/abi.js';
import type { CoreExecutable } from '../core/handles.js';
import { sizeOf } from '../core/parts.js';
import { Instance } from './instance.js';
import type { Runs } from './runs.js';

/** What the last compilation cost and gave. */
export interface CompileStats {
  /** Milliseconds in the core, from the layers to the bytes of the module; of what a worker compiled, until it was there. */
  compileMs: number;
  /** Milliseconds in the engine, from the bytes to a running module. */
  instantiateMs: number;
  /** Bytes of the module's code and of what fills its memory. */
  moduleBytes: number;
  /** Bytes of its memory: weights, optimiser states, activations, batches. */
  memoryBytes: number;
  /** Of them, what the steps of a call share at its peak: activations and gradients. */
  temporaryBytes: number;
  /** Threads that a call keeps busy at most; where it is 1, calls run on the caller's own. */
  threads: number;
}

interface BuildOptions {
  /** When compiling began. */
  start?: number | undefined;
  /** States that a run on threads that fails leaves as they were. */
  kept?: ReadonlySet<string>;
  /** Where the runs of several builds stand in one line. Default: a line of its own. */
  runs?: Runs | undefined;
  /** Threads that a run keeps busy at most. */
  threads?: number | undefined;
}

/** An executable and the instance that runs it. */
export class Build {
  #executable: CoreExecutable | undefined;
  readonly instance: Instance;
  readonly stats: CompileStats;

  /**
   * Compiles; `fill` gives the states their content. Errors leave nothing behind.
   */
  constructor(
    compile: () => CoreExecutable,
    fill: (instance: Instance, executable: CoreExecutable) => void,
    { start = performance.now(), kept, runs, threads = Infinity }: BuildOptions = {},
  ) {
    const executable = compile();
    this.#executable = executable;
    let instance: Instance | undefined;
    try {
      const metadata = executable.metadata();
      limitThreads(metadata, threads);
      const parts = executable.parts();
      const moduleBytes = sizeOf(parts);
      const compiled = performance.now();
      instance = new Instance(parts, metadata, kept, runs);
      fill(instance, executable);
      this.instance = instance;
      this.stats = {
        compileMs: compiled - start,
        instantiateMs: performance.now() - compiled,
        moduleBytes,
        memoryBytes: metadata.memoryBytes,
        temporaryBytes: metadata.temporaryBytes,
        threads: threadsOf(metadata),
      };
    } catch (error) {
      executable.free();
      instance?.dispose();
      throw error;
    }
  }

  /** Of its memory and, until `forget`, of the module in the core. */
  get bytes(): number {
    const { memoryBytes, moduleBytes } = this.stats;
    return this.#executable === undefined ? memoryBytes : memoryBytes + moduleBytes;
  }

  /** Until `forget`. */
  get executable(): CoreExecutable {
    return this.#executable!;
  }

  /** A copy of the module, until `forget`; `compile` makes it again where the core has stopped since. */
  moduleCode(compile: () => CoreExecutable): Uint8Array<ArrayBuffer> {
    if (!this.executable.alive) this.#executable = compile();
    return this.executable.bytes();
  }

  /** Lets the core have nothing of it; the instance goes on. */
  forget(): void {
    this.#executable?.free();
    this.#executable = undefined;
  }

  /** Ends what threads do with the instance. */
  dispose(): void {
    this.instance.dispose();
    this.forget();
  }
}

/** Has no entry of a module keep more threads busy. */
export function limitThreads({ entries }: ModuleMetadata, threads: number): void {
  for (const each of entries) each.threads = Math.min(each.threads, threads);
}

/** Threads that some entry of a module keeps busy. */
function threadsOf({ entries }: ModuleMetadata): number {
  return Math.max(...entries.map(({ threads }) => threads));
}
