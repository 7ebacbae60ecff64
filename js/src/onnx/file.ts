/** Handles of lathe-onnx.wasm: ONNX files, and their traces as graphs. */
import { LatheError } from '../base/errors.js';
import { checkStop } from '../base/stop.js';
import type { Handle, OnnxExports, ValueId } from '../core/abi.js';
import { encodeJson } from '../base/json.js';
import { Core, currentCore, createCore } from '../core/core.js';
import { graphBytesAt, sendGraph } from '../core/graph_bytes.js';
import { CoreGraph } from '../core/handles.js';
import type { TracedState } from '../decode/model.js';
import { onnxReader } from '../core/onnx_module.js';

/** A dimension of an ONNX tensor: a number, a name, or unknown. */
export type OnnxSize = number | string | null;

/** The type of an input or output. */
export interface OnnxType {
  kind: 'tensor' | 'sparseTensor' | 'sequence' | 'optional' | 'map' | 'unknown';
  /** Element type of a tensor, named as in ONNX Runtime. */
  type?: string;
  /** Undefined if the file does not specify it. */
  shape?: OnnxSize[];
  /** Element type of sequences, optionals and maps. */
  element?: OnnxType;
  /** Key type of a map. */
  key?: string;
}

/** The metadata of a model. */
export interface OnnxDescription {
  inputs: (OnnxType & { name: string })[];
  outputs: (OnnxType & { name: string })[];
  metadata: Record<string, string>;
  producer: string;
  domain: string;
  description: string;
  version: number;
  irVersion: number;
  operatorSets: Record<string, number>;
  externalFiles: string[];
}

/** The type of an input value or a result; null: none. Documented in `src/api/onnx/onnx.h`. */
export type Port =
  | {
      kind: 'tensor';
      type: string;
      shape: readonly number[];
      strings?: readonly string[];
      data?: readonly [offset: number, size: number];
      /** Padded axes; the graph's input "count" is their valid length. */
      paddedAxes?: readonly number[];
      /** Name of the graph's input or output. */
      name?: string;
    }
  | { kind: 'sequence' | 'map'; type: string; elements: Port[] }
  | null;

/** The content of a value at which the graph was split. */
export interface ValueContent {
  type: string;
  shape: readonly number[];
  data: readonly [offset: number, size: number];
}

/** Options of tracing a model. */
export interface TraceOptions {
  /** Inputs that become states. */
  cache?: readonly TracedState[];
  /** Rows that a call appends, of a model that infers the cache length from shapes instead of a mask. */
  newRows?: number;
  /** Index of the input that is the attention mask. */
  mask?: number;
  /** Which weights become inputs: trainable ones, or all large ones. */
  weightInputs?: 'trained' | 'large';
  /** Names of values to return instead of the model's outputs. */
  results?: readonly string[];
}

interface TraceRequest extends TraceOptions {
  inputs: readonly Port[];
  breakValues: readonly ValueContent[];
  /** Whether the trace has its `dependencies`. */
  dependencies?: boolean;
}

/** A model traced as far as possible. */
export interface OnnxTrace {
  /** Whether the trace is complete. */
  isComplete: boolean;
  /** The weights of the inputs "w0", "w1", … */
  weights: { name: string; type: string; shape: number[] }[];
  /** Whether the model appends cache rows by concatenation. */
  concatenatesCache: boolean;
  /** Whether results are independent of the capacity: only operators with a valid length read the mask or the length. */
  isCapacityIndependent: boolean;
  /** Whether the rows of a call are quantized jointly. */
  quantizesJointly: boolean;
  /** Indices of inputs whose content the trace requires. */
  requiredContents: number[];
  /** Values on which control flow depends: the rest of the model is traced once they are computed. */
  splitPoints: ValueId[];
  inputs: Port[];
  results: Port[];
}

/** Models of at least this size use a dedicated reader and core, as WebAssembly memories never shrink. */
const largeBytes = 2 ** 24;
/** A shared reader whose memory grows beyond this is replaced. */
const maxSharedBytes = 2 ** 28;

/** @internal Number of models and traces that are not freed. */
export const liveOnnxObjects = (): number =>
  onnxReader.running?.exports.lathe_onnx_live_objects() ?? 0;

const registry = /* @__PURE__ */ new FinalizationRegistry<OpenedModel>(({ core, handle }) => {
  if (!core.dead) core.run('free', (exports) => exports.lathe_onnx_free(handle));
});

/** The bytes of a file. */
export interface FileBytes {
  bytes: Uint8Array;
  /** Rereads the bytes, if they need not be retained. Error: the file has changed. */
  reread?: (() => Uint8Array) | undefined;
}

/** A model in an instance of the reader. */
interface OpenedModel {
  core: Core<OnnxExports>;
  handle: Handle;
}

type VisitWeights = (contents: readonly Uint8Array[], weights: OnnxTrace['weights']) => void;

/** A model inside a reader. */
export class OnnxFile {
  readonly description: OnnxDescription;
  readonly #module: WebAssembly.Module;
  #read: OpenedModel | undefined;
  /** Functions that reread the model ('') and its external files, by path; of small models they return a copy. */
  readonly #reread = new Map<string, FileBytes['reread']>();
  #bytes: number;
  /** The dedicated core of a large model. */
  #compiler: Core | undefined;
  /** Whether it has a dedicated reader: it is large, has external files or trapped once. */
  #isDedicated: boolean;
  #isFreed = false;

  private constructor(module: WebAssembly.Module, { bytes, reread }: FileBytes) {
    this.#module = module;
    this.#bytes = bytes.length;
    this.#isDedicated = this.isLarge;
    const { core, handle } = this.#open(bytes);
    const text = core.call('ONNX model', (exports) => exports.lathe_onnx_describe(handle));
    this.description = JSON.parse(core.readString(text)) as OnnxDescription;
    this.#reread.set('', this.#rereadOf(bytes, reread));
    if (this.description.externalFiles.length === 0 || this.isLarge) return;
    this.#close();
    this.#isDedicated = true;
    this.#open(bytes);
  }

  /** Errors: no ONNX model; unsupported operators. */
  static async open(file: FileBytes): Promise<OnnxFile> {
    return new OnnxFile(await onnxReader.compiled(), file);
  }

  /** Whether it has a dedicated core. */
  get isLarge(): boolean {
    return this.#bytes >= largeBytes;
  }

  /** Size of the model and its external data. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds the content of one of `externalFiles`. */
  addExternal(location: string, { bytes, reread }: FileBytes): void {
    this.#add(location, bytes);
    this.#bytes += bytes.length;
    this.#reread.set(location, this.#rereadOf(bytes, reread));
  }

  /** Frees the memory used for compilation, and the bytes of a large model if they can be reread. */
  releaseMemory(): void {
    this.#compiler = undefined;
    const isRereadable = [...this.#reread.values()].every((reread) => reread !== undefined);
    if (this.isLarge && isRereadable) this.#close();
  }

  /**
   * Traces the model for input types. `breakValues`: contents of values at which the graph was split, located in `data`.
   * `isStandalone`: the graph is not inlined into another. `visit` receives views of the weights that are inputs, valid only
   * while it runs.
   */
  trace(
    inputs: readonly Port[],
    breakValues: readonly ValueContent[],
    data: Uint8Array,
    options: TraceOptions = {},
    isStandalone = false,
    visit?: VisitWeights,
  ): OnnxTrace & { graph: CoreGraph } {
    checkStop();
    const read = this.#openedModel();
    try {
      return this.#trace(read, { inputs, breakValues, ...options }, data, isStandalone, visit);
    } finally {
      this.#separateIfHarmful(read.core);
    }
  }

  /** What the results of a trace depend on: the indices of inputs for each. Errors: those of tracing. */
  dependencies(
    inputs: readonly Port[],
    data: Uint8Array,
  ): OnnxTrace & { dependencies: readonly (readonly number[])[] } {
    checkStop();
    const read = this.#openedModel();
    const request = { inputs, breakValues: [], dependencies: true };
    try {
      return this.#traced(read, request, data, (_, json) => JSON.parse(json));
    } finally {
      this.#separateIfHarmful(read.core);
    }
  }

  #trace(
    opened: OpenedModel,
    request: TraceRequest,
    data: Uint8Array,
    isStandalone: boolean,
    visit?: VisitWeights,
  ): OnnxTrace & { graph: CoreGraph } {
    return this.#traced(opened, request, data, (handle, json) => {
      const trace = JSON.parse(json) as OnnxTrace;
      const hasWeights = request.weightInputs !== 'large';
      const into = isStandalone && this.isLarge && hasWeights ? this.#separate() : currentCore();
      const { graph, contents } = graphOf(opened.core, handle, trace.weights.length, into);
      try {
        visit?.(contents, trace.weights);
      } catch (error) {
        graph.free();
        throw error;
      }
      return { ...trace, graph };
    });
  }

  /** Traces the model and applies `use` to the handle and the description of the trace. */
  #traced<T>(
    { core, handle: model }: OpenedModel,
    request: TraceRequest,
    data: Uint8Array,
    use: (trace: Handle, json: string) => T,
  ): T {
    const contents = core.copy('ONNX model', data);
    let handle: Handle;
    try {
      handle = core.withString('ONNX model', encodeJson(request), (at, length) =>
        core.exports.lathe_onnx_trace(model, at, length, contents, data.length),
      );
    } finally {
      if (!core.dead) core.exports.lathe_free(contents);
    }
    try {
      const text = core.call('ONNX model', (exports) => exports.lathe_onnx_trace_text(handle));
      return use(handle, core.readString(text));
    } finally {
      if (!core.dead) core.run('free', (exports) => exports.lathe_onnx_trace_free(handle));
    }
  }

  free(): void {
    this.#isFreed = true;
    this.#compiler = undefined;
    this.#close();
  }

  #separate(): Core {
    if (this.#compiler?.dead !== false) this.#compiler = createCore();
    return this.#compiler;
  }

  /** After a trap or a large memory growth the model gets a dedicated reader, and others a new shared one. */
  #separateIfHarmful(core: Core<OnnxExports>): void {
    const isLarge = core.dead || core.exports.memory.buffer.byteLength > maxSharedBytes;
    if (!this.#isDedicated && isLarge) this.#isDedicated = core.dead = true;
  }

  /** The model in a live reader. Error: the reader trapped, and the bytes cannot be reread. */
  #openedModel(): OpenedModel {
    if (this.#isFreed) throw new LatheError('this model has been disposed');
    if (this.#read?.core.dead === false) return this.#read;
    this.#close();
    const files = [...this.#reread].map(([path, reread]): [string, Uint8Array] => {
      if (reread !== undefined) return [path, reread()];
      throw new LatheError('the reader of this model has stopped; reload the model');
    });
    const read = this.#open(files[0]![1]);
    for (const [path, bytes] of files.slice(1)) this.#add(path, bytes);
    return read;
  }

  /** How the bytes are reread: of a small model from a copy, as the caller may modify them. */
  #rereadOf(bytes: Uint8Array, reread: FileBytes['reread']): FileBytes['reread'] {
    if (this.isLarge) return reread;
    const copy = bytes.slice();
    return () => copy;
  }

  /** Opens the model in a dedicated or the shared reader. */
  #open(bytes: Uint8Array): OpenedModel {
    const core = this.#isDedicated
      ? new Core<OnnxExports>(this.#module)
      : onnxReader.of(this.#module);
    const address = core.copy('ONNX model', bytes);
    const open = (exports: OnnxExports) => exports.lathe_onnx_open(address, bytes.length);
    this.#read = { core, handle: core.call('ONNX model', open) };
    registry.register(this, this.#read, this);
    return this.#read;
  }

  #add(location: string, bytes: Uint8Array): void {
    const { core, handle } = this.#read!;
    core.withString('external data', location, (at, length) =>
      core.exports.lathe_onnx_external(
        handle,
        at,
        length,
        core.copy('external data', bytes),
        bytes.length,
      ),
    );
  }

  #close(): void {
    const read = this.#read;
    this.#read = undefined;
    if (read === undefined || !registry.unregister(this) || read.core.dead) return;
    read.core.call('free', (exports) => exports.lathe_onnx_free(read.handle));
  }
}

/** The graph of a trace, in `core`, and views of its `weights` inputs, valid until the trace is freed. */
function graphOf(
  from: Core<OnnxExports>,
  trace: Handle,
  weights: number,
  core: Core,
): { graph: CoreGraph; contents: Uint8Array[] } {
  const at = from.call('ONNX model', (exports) => exports.lathe_onnx_graph(trace));
  const { graph, others } = graphBytesAt(from, at, weights);
  const handle = sendGraph(graph, core, (...parts) => core.exports.lathe_graph_decode(...parts));
  const contents = others.map(([address, length]) => from.view(address, length));
  return { graph: new CoreGraph({ core, handle, mustFree: true }), contents };
}
