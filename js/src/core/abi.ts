/** The C ABI of lathe-core.wasm (src/api/lathe.h) in TypeScript: exports and JSON. */

import { elementCount } from '../base/shape.js';
import { dtypeBytes, type scheduleFields } from './names.js';

/** A byte offset in the core's memory; 0 is failure. */
export type Pointer = number;
/** A model or an executable inside the core; 0 is failure. */
export type Handle = number;
/** The id of a value in the current entry of a graph; 0 is failure. */
export type ValueId = number;
/** The id of a finished body of a branch or loop; 0 is failure. */
export type BodyId = number;

/** The exports common to all modules of the compiler. */
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

/** The exports of lathe-webgpu.wasm (src/api/webgpu/webgpu.h). */
export interface WebGpuExports extends ModuleExports {
  lathe_webgpu_entry(
    program: Handle,
    bytes: Pointer,
    size: number,
    constants: Pointer,
    count: number,
  ): Handle;
  lathe_webgpu_compile(program: Handle, json: Pointer, length: number): number;
  lathe_webgpu_metadata(program: Handle): Pointer;
  lathe_webgpu_constants(program: Handle): Pointer;
  lathe_webgpu_free(program: Handle): number;
  lathe_webgpu_live_objects(): number;
}

/** Limits of a device, by default those that every one has. */
export interface WebGpuLimits {
  /** Threads of a workgroup, and bytes of its memory. */
  threads?: number;
  sharedBytes?: number;
  /** Storage buffers that a shader binds, and bytes of one binding. */
  storageBuffers?: number;
  bindingBytes?: number;
  /** Threads of the smallest subgroup; without, shaders do not use subgroups. */
  subgroupThreads?: number;
  /** Whether it has float16. */
  shaderF16?: boolean;
}

/** A range of bytes of a GPU buffer: of one that the program has, or of a state, input or output. */
export interface Region {
  of: 'scratch' | 'constants' | 'arguments' | 'state' | 'input' | 'output';
  /** Of the page, 0 by default, of the state, or of the input or output of the entry. */
  index?: number;
  /** A multiple of 256. */
  offset: number;
  bytes: number;
}

/** What a shader binds; its position is the number of the binding. */
export interface Binding extends Region {
  access: 'read' | 'read_write';
}

export interface Dispatch {
  /** Of the kernel. */
  name: string;
  /** Index of the shader. */
  shader: number;
  /** Workgroups along x and y; zeros: there is nothing to compute. */
  groups: [x: number, y: number];
  /** Started indirectly, by the three numbers at this offset of the arguments. */
  arguments?: number;
  bindings: Binding[];
}

/**
 * A kernel by its index, a copy, or steps to repeat. With a condition, a bool, these start nothing once it is zero
 * before them, so that looking at it only ends the repetition early.
 */
export type Step =
  | number
  | { times: number; steps: Step[]; condition?: Region; copy?: undefined }
  | { copy: { from: Region; to: Region } };

/** A tensor of an entry: row-major. */
export interface ShaderPort extends Pick<BufferInfo, 'ranges'> {
  name: string;
  dtype: BufferInfo['dtype'];
  shape: number[];
}

/** A program of shaders (src/compile/executable.h). */
export interface WebGpuMetadata {
  version: 1;
  target: 'webgpu';
  /** Features that the device must have. */
  features?: string[];
  /** Bytes of constants, zeros at first, in pages of which all but the last have `pageBytes`. */
  constantBytes: number;
  pageBytes: number;
  /** Bytes of the groups of kernels that are started indirectly. */
  argumentBytes: number;
  states: ShaderPort[];
  /** WGSL, entry point `main`. */
  shaders: string[];
  entries: {
    name: string;
    inputs: ShaderPort[];
    outputs: ShaderPort[];
    /** Bytes of temporaries, in such pages. */
    scratchBytes: number;
    kernels: Dispatch[];
    steps: Step[];
  }[];
}

/** A function from JSON to JSON. */
type JsonQuery = (json: Pointer, length: number) => Pointer;
/** A function of JSON and bytes. */
type BytesQuery = (json: Pointer, length: number, data: Pointer, bytes: number) => Pointer;

/** The functions of lathe-formats.wasm from JSON to JSON (src/api/formats/lathe_formats.h). */
export interface FormatsQueries {
  lathe_read_topology: JsonQuery;
  lathe_write_topology: JsonQuery;
  lathe_read_training: JsonQuery;
  lathe_write_training: JsonQuery;
  lathe_read_specs: JsonQuery;
  lathe_match_weights: JsonQuery;
  lathe_match_optimizer: JsonQuery;
  lathe_saved_tensors: JsonQuery;
  lathe_keras_tensors: JsonQuery;
}

/** The exports of lathe-formats.wasm. */
export interface FormatsExports extends ModuleExports, FormatsQueries {
  lathe_decode_elements: BytesQuery;
  lathe_encode_elements: BytesQuery;
}

export interface CoreExports extends ModuleExports {
  __indirect_function_table: WebAssembly.Table;
  lathe_use_layer_host(host: number): void;
  lathe_model_create(json: Pointer, length: number): Handle;
  lathe_model_free(model: Handle): number;
  lathe_model_summary(model: Handle): Pointer;
  lathe_model_compile(model: Handle, json: Pointer, length: number): Handle;
  lathe_model_check(model: Handle, json: Pointer, length: number): number;
  lathe_model_graph(model: Handle, json: Pointer, length: number): Pointer;
  lathe_layer_graph(json: Pointer, length: number): Pointer;
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
  lathe_graph_encode(graph: Handle, entry: number, keepsFloat16: number): Pointer;
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

/** Sizes of axes; null is a dynamic size. */
export type DynamicShape = readonly (number | null)[];

/** A layer in the format of lathe_model_create. */
export interface LayerConfig {
  readonly class: string;
  readonly config: object;
  /** Of a layer in JavaScript: what the core calls it by. */
  readonly host?: object;
}

/** A reference to a tensor: a layer or input, the index of its call, the index of the output; default 0. */
export type Reference = readonly [name: string, call?: number, output?: number];

/** A layer of a model, with the inputs of each of its calls. */
export interface CalledLayer extends LayerConfig {
  readonly inputs?: readonly (readonly Reference[])[];
}

/**
 * The model format of lathe_model_create, except for nulls in shapes, which `DynamicModel` replaces; also the config of
 * the classes Model and Sequential.
 */
export interface ModelConfig {
  name?: string;
  /** Seed of the initial weights. */
  seed?: number;
  /** Rows of every batch, for stateful layers. */
  batchSize?: number;
  trainable?: boolean;
  layers: readonly CalledLayer[];
  /** The name of the input of a sequence of layers, if it has an InputLayer. */
  input?: string;
  /** Of a graph of layers; without them the layers are sequential. */
  inputs?: readonly { name: string; shape: DynamicShape }[];
  outputs?: readonly Reference[];
}

/** The result of lathe_model_summary. Shapes of layers start with null, the batch; `DynamicModel` adds other nulls. */
export interface ModelSummary {
  name: string;
  inputs: { name: string; shape: DynamicShape }[];
  outputs: { name: string; shape: DynamicShape }[];
  inputShape: DynamicShape;
  outputShape: DynamicShape;
  totalParams: number;
  trainableParams: number;
  /** Whether layers preserve states from batch to batch. */
  stateful: boolean;
  layers: LayerSummary[];
  weights: { name: string; shape: number[]; trainable: boolean }[];
}

export interface LayerSummary {
  name: string;
  class: string;
  outputShape: DynamicShape;
  outputShapes: DynamicShape[];
  params: number;
  trainableParams: number;
  /** The names of the layers and inputs that each call reads. */
  inputs: string[][];
  /** Layers of a nested model. */
  layers?: LayerSummary[];
}

/** The memory of a tensor in a generated module; `offset` in bytes, row-major. */
export interface BufferInfo {
  name: string;
  dtype: keyof typeof dtypeBytes;
  shape: number[];
  offset: number;
  trainable?: boolean;
  /** Index ranges of an input, whose elements first, first + step, … index rows from min to max. */
  ranges?: [min: number, max: number, first: number, step: number][];
}

/** An entry of a generated module. */
export interface EntryInfo {
  name: string;
  /** The maximum useful number of threads. */
  threads: number;
  /** Estimated nanoseconds of a single-threaded run. */
  work: number;
  inputs: BufferInfo[];
  outputs: BufferInfo[];
  /** Float64 values at this offset: the number of calls, then the milliseconds of each part. */
  times?: { offset: number; parts: string[] };
}

/** How a metric is computed from its accumulated sums. */
export type MetricFinalizer = 'mean' | 'ratio' | 'curve' | 'determination' | 'matrix';

/** The result of lathe_executable_metadata. */
export interface ModuleMetadata {
  version: number;
  memoryBytes: number;
  temporaryBytes: number;
  /** Whether the memory is shared and imported, and several threads may call an entry together. */
  threads: boolean;
  /** Bytes of the constants of a relocatable module, whose buffers have no offsets. */
  constantBytes?: number;
  entries: EntryInfo[];
  states: BufferInfo[];
  /** The outputs that are the sums of a metric; absent for programs that are no models. */
  metrics?: { output: string; name: string; final: MetricFinalizer }[];
  /** With checkNumerics, the layers that `not_finite` refers to. */
  watched?: string[];
}

/** What is known of a model's program whatever its target; of the result of lathe_model_graph. */
export interface ModelNotes extends Pick<ModuleMetadata, 'metrics' | 'watched'> {
  /** The number of entries. */
  entries: number;
}

/** The loop schedule of a contraction; the core chooses what is left out. */
export type Schedule = { [Field in (typeof scheduleFields)[number]]?: number };

/** Schedules by the key of their contraction. */
export type Schedules = Record<string, Schedule>;

/** An item of the result of lathe_executable_contractions. */
export interface ContractionInfo {
  key: string;
  count: number;
  multiplyAdds: number;
  schedule: Schedule;
  standard: Schedule;
  candidates: readonly Schedule[];
}

/** An intermediate form of a compilation, printed before or after a pass. */
export interface Dump {
  when: string;
  text: string;
}

/** The dtype and shape of a value of a graph. */
export interface ValueType {
  dtype: BufferInfo['dtype'];
  shape: number[];
}

/** One call of a layer on tensors. */
export interface LayerGraphRequest {
  layer: LayerConfig;
  /** With the batch. */
  shapes: readonly (readonly number[])[];
  /** For each input whether it has a mask, of the shape [batch, steps]. */
  masks: readonly boolean[];
  training: boolean;
}

/** An input or output of a graph. */
export interface GraphPort extends ValueType {
  name: string;
}

/** Options common to all compilations. */
export interface EngineRequest {
  features: Record<'simd' | 'relaxedSimd' | 'wideLanes' | 'threads', boolean> & {
    fastPairs?: boolean;
  };
  /** With threads: kernels are split if they run longer than this, in single-threaded nanoseconds. */
  worthSplitting: number;
  schedules?: Schedules;
  /** Whether convolutions may use Winograd transforms. */
  winograd?: boolean;
  /** Whether the module has a custom section with the origins of its instructions. */
  origins?: boolean;
  /** Whether the module calls `env.check` between kernels and steps of loops. */
  stoppable?: boolean;
  dumps?: string[];
}

/** The options of lathe_graph_compile. */
export interface GraphRequest extends EngineRequest {
  /** Whether it imports a shared heap, and its entries have the addresses of all buffers as parameters. */
  relocatable?: boolean;
}

/** The options of lathe_model_compile. */
export interface CompileRequest extends EngineRequest {
  loss?: unknown;
  optimizer?: unknown;
  lossWeights?: unknown;
  /** Metrics of each output. */
  metrics?: unknown[][];
  /** Whether train and evaluate have a weight per row as input. */
  rowWeights: boolean;
  /** Whether train and evaluate check for NaN and infinities. */
  checkNumerics?: boolean;
  /** Number of batches that each entry finds in memory at once. */
  batchesInMemory?: BatchCounts;
  /** Whether the module accumulates totals and can be exported with all its entries. */
  standalone?: boolean;
  /** Whether entries measure the time of their parts. */
  timing?: Timing;
  labels: ('dense' | 'sparse')[];
  batch: BatchCounts;
}

/** What a module times: its layers (true), or each of their equations. */
export type Timing = boolean | 'equation';

/** A number for each entry. */
export interface BatchCounts {
  train: number;
  evaluate: number;
  predict: number;
}

/** The size of a buffer in bytes. */
export function byteLength(buffer: BufferInfo): number {
  return elementCount(buffer.shape) * dtypeBytes[buffer.dtype];
}
