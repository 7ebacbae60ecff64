/** From an executable of the core to an instance, with statistics. Independent of what the module computes. */
import type { ModuleMetadata } from '../core/abi.js';
import type { CoreExecutable } from '../core/handles.js';
import { moduleSize } from '../core/parts.js';
import type { ProgramStats } from './device.js';
import { Instance } from './instance.js';
import type { RunQueue } from './run_queue.js';

/** Statistics of a compilation. */
export interface CompileStats extends ProgramStats {
  /** Milliseconds in the core, from the layers to the bytes of the module; in a worker, until its result arrived. */
  compileMs: number;
  /** Milliseconds in the engine, from the bytes to a running module. */
  instantiateMs: number;
}

interface BuildOptions {
  /** The start of the compilation, as of `performance.now`. */
  start?: number | undefined;
  /** Names of states that a failed multithreaded run restores. */
  rollbackStates?: ReadonlySet<string>;
  /** The queue of runs that several builds share. Default: a separate one. */
  runs?: RunQueue | undefined;
  /** Maximum number of threads of a run. */
  threads?: number | undefined;
}

/** An executable and the instance that runs it. */
export class Build {
  #executable: CoreExecutable | undefined;
  readonly instance: Instance;
  readonly stats: CompileStats;

  /**
   * Compiles; `fill` initializes the states. After an error nothing is allocated.
   */
  constructor(
    compile: () => CoreExecutable,
    fill: (instance: Instance, executable: CoreExecutable) => void,
    { start = performance.now(), rollbackStates, runs, threads = Infinity }: BuildOptions = {},
  ) {
    const executable = compile();
    this.#executable = executable;
    let instance: Instance | undefined;
    try {
      const metadata = executable.metadata();
      limitThreads(metadata, threads);
      const parts = executable.parts();
      const moduleBytes = moduleSize(parts);
      const compiled = performance.now();
      instance = new Instance(parts, metadata, rollbackStates, runs);
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

  /** Bytes of the memory and, until `releaseExecutable`, of the module in the core. */
  get bytes(): number {
    const { memoryBytes, moduleBytes } = this.stats;
    return this.#executable === undefined ? memoryBytes : memoryBytes + moduleBytes;
  }

  /** Until `releaseExecutable`. */
  get executable(): CoreExecutable {
    return this.#executable!;
  }

  /** A copy of the module, until `releaseExecutable`; `compile` recompiles it if the core has stopped since. */
  moduleCode(compile: () => CoreExecutable): Uint8Array<ArrayBuffer> {
    if (!this.executable.alive) this.#executable = compile();
    return this.executable.bytes();
  }

  /** Frees the executable in the core; the instance stays usable. */
  releaseExecutable(): void {
    this.#executable?.free();
    this.#executable = undefined;
  }

  /** Ends the threads' work on the instance. */
  dispose(): void {
    this.instance.dispose();
    this.releaseExecutable();
  }
}

/** Limits the threads of all entries of a module. */
export function limitThreads({ entries }: ModuleMetadata, threads: number): void {
  for (const each of entries) each.threads = Math.min(each.threads, threads);
}

/** Maximum number of threads of the entries of a module. */
function threadsOf({ entries }: ModuleMetadata): number {
  return Math.max(...entries.map(({ threads }) => threads));
}
