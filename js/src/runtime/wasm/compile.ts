/** Compiles graphs for the heap. */
import { currentStop } from '../../base/stop.js';
import type { CompileRequest } from '../../core/abi.js';
import type { CoreGraph } from '../../core/handles.js';
import { features, target } from '../../tune/target.js';
import type { DeviceCompileOptions } from '../device.js';
import { env } from '../env.js';
import { heap } from './heap.js';
import { WasmProgram } from './program.js';

/** Compiles the entry of a graph. `threads`: their maximum. */
export function compileForWasm(
  graph: CoreGraph,
  { dumps, origins, timeLimit, inspect }: DeviceCompileOptions = {},
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
