/** Compiles graphs for the heap. */
import { currentStop } from '../../base/stop.js';
import type { CompileRequest } from '../../core/abi.js';
import type { CoreExecutable, CoreGraph } from '../../core/handles.js';
import { features, target } from '../../tune/target.js';
import { env } from '../env.js';
import { heap } from './heap.js';
import { WasmProgram } from './program.js';

/** Options of a compilation. */
export interface WasmCompileOptions extends Pick<CompileRequest, 'dumps' | 'origins'> {
  /** Whether runs have a time limit. */
  timeLimit?: number;
}

/**
 * Compiles the entry of a graph. `threads`: their maximum; `inspect` is called with the executable before it is freed.
 */
export function compileForWasm(
  graph: CoreGraph,
  { dumps, origins, timeLimit }: WasmCompileOptions = {},
  inspect?: (executable: CoreExecutable) => void,
  threads = Infinity,
): WasmProgram {
  const stoppable = timeLimit !== undefined || currentStop() !== undefined;
  const executable = graph.compile({ ...wasmRequest(), dumps, origins, stoppable });
  try {
    inspect?.(executable);
    return new WasmProgram(executable, threads);
  } finally {
    executable.free();
  }
}

/** The request of modules for the heap. */
export const wasmRequest = () => ({ ...target(), ...threadsOfHeap(), relocatable: true });

/** Modules import a shared heap as shared even if they are single-threaded. */
function threadsOfHeap(): Pick<CompileRequest, 'features' | 'worthSplitting'> {
  const isOne = env().threads.count === 1;
  const worthSplitting = isOne ? Number.MAX_VALUE : env().get('THREADS_MIN_WORK');
  return { features: { ...features(), threads: heap().isShared }, worthSplitting };
}
