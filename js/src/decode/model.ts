/** What a decoder needs of a model: its types, and traces of it with states. */
import type { CoreGraph } from '../core/handles.js';
import type { DataArray } from '../tensor/convert.js';
import type { DType } from '../tensor/dtypes.js';
import type { Tensor } from '../tensor/tensor.js';
import type { Signatures } from './candidates.js';

/** A tensor of a call. */
export interface TensorValue {
  readonly kind: 'tensor';
  readonly type: string;
  readonly shape: readonly number[];
  /** Error: the elements can only be awaited. */
  readonly data: DataArray;
  /** The elements, if they are on a device whose memory the host does not address. */
  readonly tensor?: Tensor | undefined;
}

/** Type of an input of a trace, with its content if that is constant. */
export interface TracedInput {
  type: string;
  shape: readonly number[];
  content?: DataArray | undefined;
}

/** A result of a trace: a tensor that is an output of the graph, or a constant state of this name. */
export interface TracedResult {
  type: string;
  shape: readonly number[];
  name: string;
}

/** An input that is a state: the result that is its next content, unless it is constant, and the axis of rows that are appended. */
export type TracedState = readonly [input: number, result?: number, axis?: number];

/** A model traced with states "cache0", "cache1", …; the graph's input "at" is the number of their valid rows. */
export interface DecoderTrace {
  graph: CoreGraph;
  /** Null: of states. */
  results: readonly (TracedResult | null)[];
  /** Whether the model appends cache rows by concatenation. */
  concatenatesCache: boolean;
  /** Whether results are independent of the capacity: only operators with a valid length read the mask or the length. */
  isCapacityIndependent: boolean;
  /** Whether the rows of a call are quantized jointly. */
  quantizesJointly: boolean;
}

/** Which inputs each result depends on, or which inputs must have a known content first. */
export type Dependencies =
  | { required: readonly number[] }
  | { results: readonly (Omit<TracedResult, 'name'> & { inputs: readonly number[] })[] };

export interface DecodableModel extends Signatures {
  /** The dtype that stores an element type. */
  dtypeOf(type: string): DType;
  /**
   * `rows`: the index of the attention mask, or, of a model that infers the number of rows from shapes, how many a call appends.
   * Error: it supports no states.
   */
  trace(
    inputs: readonly TracedInput[],
    states: readonly TracedState[],
    rows: { mask: number } | { newRows: number },
  ): DecoderTrace;
  /** Undefined: the shapes do not fit, or the graph depends on data. */
  dependencies(inputs: readonly TracedInput[]): Dependencies | undefined;
}
