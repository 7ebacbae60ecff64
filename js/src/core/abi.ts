/** The C interface of lathe-core.wasm (src/api/lathe.h) as TypeScript sees it: exports and JSON. */

import { elementCount } from '../base/shape.js';
import { dtypeBytes, type scheduleFields } from './names.js';

/** A byte offset in the core's memory; 0 is failure. */
export type Pointer = number;
/** A model or an executable inside the core; 0 is failure. */
export type Handle = number;
/** A value of the entry that a graph is building; 0 is failure. */
export type ValueId = number;
/** A body of a branch or loop that has ended; 0 is failure. */
export type BodyId = number;

/** What all modules of the compiler export. */
export interface ModuleExports {
  memory: WebAssembly.Memory;
  _initialize?(): void;
  lathe_alloc(size: number): Pointer;
  lathe_free(memory: Pointer): void;
  lathe_error(): Pointer;
  lathe_trap_text(): Pointer;
}

/** The exports of lathe-text.wasm. */
export interface TextExports extends ModuleExports {
  lathe_wat(bytes: Pointer, length: number): Pointer;
}

/** The exports of lathe-onnx.wasm. */
export interface OnnxExports extends ModuleExports {
  lathe_onnx_open(file: Pointer, size: number): Handle;
  lathe_onnx_free(model: Handle): number;
  lathe_onnx_describe(model: Handle): Pointer;
  lathe_onnx_external(
    model: Handle,
    location: Pointer,
    length: number,
    file: Pointer,
    size: number,
  ): number;
  lathe_onnx_trace(
    model: Handle,
    json: Pointer,
    length: number,
    data: Pointer,
    size: number,
  ): Handle;
  lathe_onnx_trace_text(trace: Handle): Pointer;
  lathe_onnx_graph(trace: Handle): Pointer;
  lathe_onnx_trace_free(trace: Handle): number;
  lathe_onnx_live_objects(): number;
}

/** The exports of lathe-onnx-export.wasm. */
export interface OnnxExportExports extends ModuleExports {
  lathe_onnx_samples(symbols: number, attempt: number): Pointer;
  lathe_onnx_export(json: Pointer, length: number, weights: Pointer, size: number): Pointer;
  lathe_onnx_export_free(): void;
}

/** Takes a JSON text and gives one. */
type Ask = (json: Pointer, length: number) => Pointer;
/** The same with bytes. */
type AskWithBytes = (json: Pointer, length: number, data: Pointer, bytes: number) => Pointer;

/** What lathe-formats.wasm answers (src/api/formats/lathe_formats.h). */
export interface FormatsQuestions {
  lathe_read_topology: Ask;
  lathe_write_topology: Ask;
  lathe_read_training: Ask;
  lathe_write_training: Ask;
  lathe_read_specs: Ask;
  lathe_match_weights: Ask;
  lathe_match_optimizer: Ask;
  lathe_saved_tensors: Ask;
  lathe_keras_tensors: Ask;
}

/** The exports of lathe-formats.wasm. */
export interface FormatsExports extends ModuleExports, FormatsQuestions {
  lathe_decode_elements: AskWithBytes;
  lathe_encode_elements: AskWithBytes;
}

export interface CoreExports extends ModuleExports {
  __indirect_function_table: WebAssembly.Table;
  lathe_use_layer_host(host: number): void;
  lathe_model_create(json: Pointer, length: number): Handle;
  lathe_model_free(model: Handle): number;
  lathe_model_summary(model: Handle): Pointer;
  lathe_model_compile(model: Handle, json: Pointer, length: number): Handle;
  lathe_model_check(model: Handle, json: Pointer, length: number): number;
  lathe_graph_create(): Handle;
  lathe_graph_free(graph: Handle): number;
  lathe_graph_entry(graph: Handle, name: Pointer, length: number): number;
  lathe_graph_input(graph: Handle, words: Pointer, count: number): Pointer;
  lathe_graph_state(graph: Handle, words: Pointer, count: number): Pointer;
  lathe_graph_constant(
    graph: Handle,
    words: Pointer,
    count: number,
    data: Pointer,
    size: number,
  ): Pointer;
  lathe_graph_operation(graph: Handle, words: Pointer, count: number): Pointer;
  lathe_graph_gradients(graph: Handle, words: Pointer, count: number): Pointer;
  lathe_graph_begin_body(graph: Handle): number;
  lathe_graph_end_body(graph: Handle): BodyId;
  lathe_graph_cond(graph: Handle, words: Pointer, count: number): Pointer;
  lathe_graph_while(graph: Handle, words: Pointer, count: number): Pointer;
  lathe_graph_values(graph: Handle, numbers: Pointer, count: number): Pointer;
  lathe_graph_output(graph: Handle, name: Pointer, length: number, value: ValueId): number;
  lathe_graph_update(graph: Handle, state: ValueId, value: ValueId): number;
  lathe_graph_segment(graph: Handle, words: Pointer, count: number): Handle;
  lathe_graph_inline(graph: Handle, words: Pointer, count: number): Pointer;
  lathe_graph_decode(bytes: Pointer, size: number, constants: Pointer, count: number): Handle;
  lathe_graph_compile(graph: Handle, json: Pointer, length: number): Handle;
  lathe_graph_take_compiled(graph: Handle, json: Pointer, length: number): Handle;
  lathe_executable_free(executable: Handle): number;
  lathe_executable_bytes(executable: Handle): Pointer;
  lathe_executable_size(executable: Handle): number;
  lathe_executable_parts(executable: Handle): Pointer;
  lathe_executable_metadata(executable: Handle): Pointer;
  lathe_executable_dumps(executable: Handle): Pointer;
  lathe_executable_contractions(executable: Handle): Pointer;
  lathe_executable_kernel(executable: Handle, json: Pointer, length: number): Handle;
  lathe_executable_initial(executable: Handle, states: Pointer, count: number): Pointer;
  lathe_executable_export(executable: Handle, states: Pointer): Handle;
  lathe_live_objects(): number;
}

/** Sizes of axes; null is a size that is not known. */
export type OpenShape = readonly (number | null)[];

/** A layer, as lathe_model_create takes it. */
export interface LayerConfig {
  readonly class: string;
  readonly config: object;
  /** Of a layer in JavaScript: how the core asks for it. */
  readonly host?: object;
}

/** What an input reads: a layer or input, which of its calls, which output of that; 0 if left out. */
export type Reference = readonly [name: string, call?: number, output?: number];

/** A layer of a model, with what each of its calls reads. */
export interface CalledLayer extends LayerConfig {
  readonly inputs?: readonly (readonly Reference[])[];
}

/**
 * What lathe_model_create takes, but for the nulls of shapes, which `OpenModel` replaces; the config of a class Model or
 * Sequential is one, too.
 */
export interface ModelConfig {
  name?: string;
  /** Of the first weights. */
  seed?: number;
  /** Rows of every batch, where layers keep states between batches. */
  batchSize?: number;
  trainable?: boolean;
  layers: readonly CalledLayer[];
  /** What begins a row is called, where a layer of its own does. */
  input?: string;
  /** Those of a graph of layers; without them the layers stand in a row. */
  inputs?: readonly { name: string; shape: OpenShape }[];
  outputs?: readonly Reference[];
}

/** What lathe_model_summary says. Shapes of layers start with null, the batch; `OpenModel` adds other nulls. */
export interface ModelSummary {
  name: string;
  inputs: { name: string; shape: OpenShape }[];
  outputs: { name: string; shape: OpenShape }[];
  inputShape: OpenShape;
  outputShape: OpenShape;
  totalParams: number;
  trainableParams: number;
  /** Whether layers keep states from batch to batch. */
  stateful: boolean;
  layers: LayerSummary[];
  weights: { name: string; shape: number[]; trainable: boolean }[];
}

export interface LayerSummary {
  name: string;
  class: string;
  outputShape: OpenShape;
  outputShapes: OpenShape[];
  params: number;
  trainableParams: number;
  /** For every call the names of the layers and inputs that it reads. */
  inputs: string[][];
  /** Those of a nested model. */
  layers?: LayerSummary[];
}

/** Where a tensor lies in the memory of a generated module; `offset` in bytes, row-major. */
export interface BufferPlace {
  name: string;
  dtype: keyof typeof dtypeBytes;
  shape: number[];
  offset: number;
  trainable?: boolean;
  /** Of an input whose elements first, first + step, … pick rows: those there are. */
  ranges?: [least: number, most: number, first: number, step: number][];
}

/** An entry of a generated module. */
export interface EntryPlace {
  name: string;
  /** More than these have too little to do. */
  threads: number;
  /** Nanoseconds that one thread needs, a guess. */
  work: number;
  inputs: BufferPlace[];
  outputs: BufferPlace[];
  /** Float64 numbers at this offset: the calls, then the milliseconds of each part. */
  times?: { offset: number; parts: string[] };
}

/** Names of the formulas that make a metric of its sums. */
export type Final = 'mean' | 'ratio' | 'curve' | 'determination' | 'matrix';

/** What lathe_executable_metadata says of a generated module. */
export interface ModuleMetadata {
  version: number;
  memoryBytes: number;
  temporaryBytes: number;
  /** Whether the memory is shared and imported, and several threads may call an entry together. */
  threads: boolean;
  /** Bytes of the constants of a relocatable module, whose buffers have no offsets. */
  constantBytes?: number;
  entries: EntryPlace[];
  states: BufferPlace[];
  /** The outputs that are the sums of a metric; absent in programs that are no models. */
  metrics?: { output: string; name: string; final: Final }[];
  /** With checkNumerics, the layers that `not_finite` counts. */
  watched?: string[];
}

/** How one contraction becomes loops; what is left out is the core's choice. */
export type Schedule = { [Field in (typeof scheduleFields)[number]]?: number };

/** Schedules by the key of their contraction. */
export type Schedules = Record<string, Schedule>;

/** What lathe_executable_contractions says of one contraction. */
export interface ContractionPlace {
  key: string;
  count: number;
  multiplyAdds: number;
  schedule: Schedule;
  standard: Schedule;
  candidates: readonly Schedule[];
}

/** One intermediate form of a compilation: the text before or after a pass. */
export interface Dump {
  when: string;
  text: string;
}

/** The dtype and shape of a value of a graph. */
export interface ValueType {
  dtype: BufferPlace['dtype'];
  shape: number[];
}

/** What every compilation is told. */
export interface EngineRequest {
  features: Record<'simd' | 'relaxedSimd' | 'wideLanes' | 'threads', boolean> & {
    fastPairs?: boolean;
  };
  /** With threads: nanoseconds that a kernel must take one of them to be split. */
  worthSplitting: number;
  schedules?: Schedules;
  /** Whether convolutions may be computed by transformed tiles. */
  winograd?: boolean;
  /** Whether the module says in a custom section what its instructions come from. */
  origins?: boolean;
  dumps?: string[];
}

/** The options of lathe_graph_compile. */
export interface GraphRequest extends EngineRequest {
  /** Whether it imports a memory that many share, and takes the addresses of all that it touches. */
  relocatable?: boolean;
}

/** The options of lathe_model_compile. */
export interface CompileRequest extends EngineRequest {
  loss?: unknown;
  optimizer?: unknown;
  lossWeights?: unknown;
  /** For each output. */
  metrics?: unknown[][];
  /** Whether train and evaluate take a weight for every row. */
  rowWeights: boolean;
  /** Whether train and evaluate look for numbers that are not finite. */
  checkNumerics?: boolean;
  /** Batches that each entry finds in memory at once. */
  batchesInMemory?: BatchCounts;
  /** Whether the module adds up totals and can be exported with all its entries. */
  standAlone?: boolean;
  /** Whether entries add up how long their parts take. */
  timing?: Timing;
  labels: ('dense' | 'sparse')[];
  batch: BatchCounts;
}

/** What a module measures: its layers (true), or each of their equations. */
export type Timing = boolean | 'equation';

/** A number for each entry. */
export interface BatchCounts {
  train: number;
  evaluate: number;
  predict: number;
}

/** The bytes a buffer takes. */
export function byteLength(place: BufferPlace): number {
  return elementCount(place.shape) * dtypeBytes[place.dtype];
}
