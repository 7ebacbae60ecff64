/** The interface to what has the states of a decoder and runs its programs: modules of WebAssembly, or a device. */
import type { CoreGraph } from '../core/handles.js';
import type { DType } from '../tensor/dtypes.js';
import type { Tensor } from '../tensor/tensor.js';

/** Shape and dtype of a state. */
export interface StateSpec {
  dtype: DType;
  shape: readonly number[];
  /** The axis along which calls append rows; undefined: each call replaces the whole content. */
  axis?: number | undefined;
}

/** The name of a state in graphs, by its index. */
export const stateName = (index: number): string => `cache${index}`;

/** The program for a chunk. */
export interface ChunkProgram {
  /** Results are new tensors, on the device of the states. */
  run(inputs: Readonly<Record<string, Tensor>>): Promise<Record<string, Tensor>>;
  dispose(): void;
}

/** States by index, zeros at first, and programs that change them in place. Tensors that methods return belong to the caller. */
export interface StateMemory {
  /** The device of the states, if the host does not address its memory. */
  readonly device: string | undefined;
  /** Whether programs that are compiled under limits check these. */
  readonly checksLimits: boolean;
  /** Whether the states have to be made anew. */
  readonly isLost: boolean;
  /** The program of a graph, which it owns. Error: that of compilation. */
  compile(graph: CoreGraph): ChunkProgram;
  /** A copy of a state. */
  copy(index: number): Tensor;
  /** The first rows of a state, of one without rows all elements; `copy`: instead those of a copy of it. */
  part(index: number, rows: number, copy?: Tensor): Tensor;
  /** Whether `fill` accepts a tensor whose elements have not been read. */
  accepts(tensor: Tensor): boolean;
  /** Sets a state to a tensor, which along one axis may have fewer elements: then zeros follow. */
  fill(index: number, tensor: Tensor): void;
  dispose(): void;
}

/** `assigned`: how many states calls change; constant ones follow these. */
export type MakeStateMemory = (specs: readonly StateSpec[], assigned: number) => StateMemory;
