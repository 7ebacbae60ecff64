/** Devices: each compiles graphs and runs them on values whose storage it owns. */
import type { GraphRequest } from '../core/abi.js';
import type { CoreExecutable, CoreGraph } from '../core/handles.js';
import type { HeapValue } from './heap_value.js';

/** A compiled graph on a device. */
export interface Program {
  /**
   * Runs on values in the order of the graph's inputs, numbers for scalars, and allocates and writes `outputs` in the
   * order of its outputs. Error: out of memory; outputs are unallocated then.
   */
  run(inputs: readonly (HeapValue | number)[], outputs: readonly HeapValue[]): void;
  dispose(): void;
}

export interface Device {
  /** Another number once programs that are compiled from then on differ from those before. */
  readonly revision: number;
  /** What `load` expects executables to be compiled for. */
  request(): GraphRequest;
  /** Errors: those of the core; out of memory. */
  compile(graph: CoreGraph): Program;
  /** Does not free the executable. Error: out of memory. */
  load(executable: CoreExecutable): Program;
}
