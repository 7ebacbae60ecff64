/** Handles of lathe-onnx.wasm: models as their files say them, and what they are as graphs. */
import { LatheError } from '../base/errors.js';
import { checkStop } from '../base/stop.js';
import type { Handle, OnnxExports, Pointer, ValueId } from '../core/abi.js';
import { encodeJson } from '../base/json.js';
import { Core, currentCore, separateCore } from '../core/core.js';
import { CoreGraph } from '../core/handles.js';
import { onnxReader } from '../core/onnx_module.js';

/** What an ONNX model says of a tensor's size: a number, a name, or nothing. */
export type OnnxSize = number | string | null;

/** The type of an input or output. */
export interface OnnxType {
  kind: 'tensor' | 'sparseTensor' | 'sequence' | 'optional' | 'map' | 'unknown';
  /** Of the elements of a tensor, as ONNX Runtime calls it. */
  type?: string;
  /** Not there where the file says nothing of it. */
  shape?: OnnxSize[];
  /** Of sequences, optionals and maps. */
  element?: OnnxType;
  /** Of a map. */
  key?: string;
}

/** What a model says of itself. */
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

/** What an input is called with, or a result is; null: nothing. `src/api/onnx/onnx.h` says more. */
export type Port =
  | {
      kind: 'tensor';
      type: string;
      shape: readonly number[];
      strings?: readonly string[];
      data?: readonly [offset: number, size: number];
      /** Axes with room for more than the graph's input "count" says. */
      counted?: readonly number[];
      /** Of the graph's input or output. */
      name?: string;
    }
  | { kind: 'sequence' | 'map'; type: string; elements: Port[] }
  | null;

/** What is known of a value behind a cut. */
export interface KnownContent {
  type: string;
  shape: readonly number[];
  data: readonly [offset: number, size: number];
}

/** Numbers of an input and an output that are one state from call to call; of an input alone: it stays as it is. */
export type CachePair = readonly [input: number, result?: number];

/** How a model is written down. */
export interface TraceOptions {
  /** What is kept in states. */
  cache?: readonly CachePair[];
  /** Of a model that goes by how many rows there are instead of by a mask: how many a call adds. */
  freshRows?: number;
  /** Which weights are inputs: those that training changes, or all that are large. */
  weightInputs?: 'trained' | 'large';
  /** Names of values that are the results instead of the model's outputs. */
  results?: readonly string[];
}

/** A model written down as far as possible. */
export interface OnnxTrace {
  whole: boolean;
  /** What the inputs "w0"… stand for. */
  weights: { name: string; type: string; shape: number[] }[];
  /** Of kept rows: the model concatenates them. */
  joined: boolean;
  /** Of kept rows: nothing but operators that know which of them count goes by the mask, or by how many there are. */
  sure: boolean;
  /** The rows of a call are quantised together. */
  mixed: boolean;
  asked: number[];
  cuts: ValueId[];
  inputs: Port[];
  results: Port[];
}

/** Models from so many bytes on have a reader and a core of their own, as memories of WebAssembly never shrink. */
const largeBytes = 2 ** 24;
/** A shared reader whose memory is larger is given up. */
const mostSharedBytes = 2 ** 28;

/** @internal Models and traces that are not freed. */
export const liveOnnxObjects = (): number =>
  onnxReader.running?.exports.lathe_onnx_live_objects() ?? 0;

const forgotten = /* @__PURE__ */ new FinalizationRegistry<Reading>(({ core, handle }) => {
  if (!core.dead) core.run('free', (exports) => exports.lathe_onnx_free(handle));
});

/** The bytes of a file. */
export interface FileBytes {
  bytes: Uint8Array;
  /** Them once more, where they need not be kept. Error: the file is another one by now. */
  again?: (() => Uint8Array) | undefined;
}

/** A model in an instance of the reader. */
interface Reading {
  core: Core<OnnxExports>;
  handle: Handle;
}

type LookAtWeights = (contents: readonly Uint8Array[], weights: OnnxTrace['weights']) => void;

/** A model inside a reader. */
export class OnnxFile {
  readonly description: OnnxDescription;
  readonly #module: WebAssembly.Module;
  #read: Reading | undefined;
  /** How the bytes of the model and, by their paths, of its external files are read again: copies of those of small models. */
  readonly #again = new Map<string, FileBytes['again']>();
  #bytes: number;
  /** Where what is compiled of a large model is. */
  #compiler: Core | undefined;
  /** Whether it has a reader of its own: what is large, has external files or once trapped. */
  #isApart: boolean;
  #isFreed = false;

  private constructor(module: WebAssembly.Module, { bytes, again }: FileBytes) {
    this.#module = module;
    this.#bytes = bytes.length;
    this.#isApart = this.isLarge;
    const { core, handle } = this.#open(bytes);
    const text = core.call('ONNX model', (exports) => exports.lathe_onnx_describe(handle));
    this.description = JSON.parse(core.text(text)) as OnnxDescription;
    this.#again.set('', this.#retained(bytes, again));
    if (this.description.externalFiles.length === 0 || this.isLarge) return;
    this.#forget();
    this.#isApart = true;
    this.#open(bytes);
  }

  /** Errors: what is no ONNX model, or needs operators that are not there. */
  static async open(file: FileBytes): Promise<OnnxFile> {
    return new OnnxFile(await onnxReader.compiled(), file);
  }

  /** Whether what is compiled of it has a core of its own. */
  get isLarge(): boolean {
    return this.#bytes >= largeBytes;
  }

  /** Of the model and the files beside it. */
  get bytes(): number {
    return this.#bytes;
  }

  /** One of `externalFiles`. */
  addExternal(location: string, { bytes, again }: FileBytes): void {
    this.#add(location, bytes);
    this.#bytes += bytes.length;
    this.#again.set(location, this.#retained(bytes, again));
  }

  /** Lets the memory that compiling took go, and the bytes of a large model where they come again. */
  rest(): void {
    this.#compiler = undefined;
    const isThere = [...this.#again.values()].every((again) => again !== undefined);
    if (this.isLarge && isThere) this.#forget();
  }

  /** The model for what its inputs are called with; `known`: what values behind cuts hold; contents lie in `data`. `isAlone`: whether the graph becomes part of no other; `look` sees what the weights that are inputs hold, while it runs. */
  trace(
    inputs: readonly Port[],
    known: readonly KnownContent[],
    data: Uint8Array,
    options: TraceOptions = {},
    isAlone = false,
    look?: LookAtWeights,
  ): OnnxTrace & { graph: CoreGraph } {
    checkStop();
    const read = this.#awake();
    try {
      return this.#trace(read, { inputs, known, ...options }, data, isAlone, look);
    } finally {
      this.#separateIfHarmful(read.core);
    }
  }

  #trace(
    { core, handle: model }: Reading,
    request: { inputs: readonly Port[]; known: readonly KnownContent[] } & TraceOptions,
    data: Uint8Array,
    isAlone: boolean,
    look?: LookAtWeights,
  ): OnnxTrace & { graph: CoreGraph } {
    const contents = core.copy('ONNX model', data);
    let handle: Handle;
    try {
      handle = core.withText('ONNX model', encodeJson(request), (at, length) =>
        core.exports.lathe_onnx_trace(model, at, length, contents, data.length),
      );
    } finally {
      if (!core.dead) core.exports.lathe_free(contents);
    }
    try {
      const text = core.call('ONNX model', (exports) => exports.lathe_onnx_trace_text(handle));
      const trace = JSON.parse(core.text(text)) as OnnxTrace;
      const hasWeights = request.weightInputs !== 'large';
      const into = isAlone && this.isLarge && hasWeights ? this.#separate() : currentCore();
      const { graph, contents } = graphOf(core, handle, trace.weights.length, into);
      try {
        look?.(contents, trace.weights);
      } catch (error) {
        graph.free();
        throw error;
      }
      return { ...trace, graph };
    } finally {
      if (!core.dead) core.run('free', (exports) => exports.lathe_onnx_trace_free(handle));
    }
  }

  free(): void {
    this.#isFreed = true;
    this.#compiler = undefined;
    this.#forget();
  }

  #separate(): Core {
    if (this.#compiler?.dead !== false) this.#compiler = separateCore();
    return this.#compiler;
  }

  /** A trap, or a memory that has grown large, is the file's own: it gets a reader of its own, and others a fresh one. */
  #separateIfHarmful(core: Core<OnnxExports>): void {
    const isLarge = core.dead || core.exports.memory.buffer.byteLength > mostSharedBytes;
    if (!this.#isApart && isLarge) this.#isApart = core.dead = true;
  }

  /** In the reader that lives. Error: it stopped, and nobody has the bytes. */
  #awake(): Reading {
    if (this.#isFreed) throw new LatheError('this model has been disposed');
    if (this.#read?.core.dead === false) return this.#read;
    this.#forget();
    const files = [...this.#again].map(([path, again]): [string, Uint8Array] => {
      if (again !== undefined) return [path, again()];
      throw new LatheError('the reader of this model has stopped; load the model again');
    });
    const read = this.#open(files[0]![1]);
    for (const [path, bytes] of files.slice(1)) this.#add(path, bytes);
    return read;
  }

  /** How bytes come again: of a small model from a copy, as those of the caller may change. */
  #retained(bytes: Uint8Array, again: FileBytes['again']): FileBytes['again'] {
    if (this.isLarge) return again;
    const copy = bytes.slice();
    return () => copy;
  }

  /** In a reader of its own or the shared one. */
  #open(bytes: Uint8Array): Reading {
    const core = this.#isApart ? new Core<OnnxExports>(this.#module) : onnxReader.of(this.#module);
    const place = core.copy('ONNX model', bytes);
    const open = (exports: OnnxExports) => exports.lathe_onnx_open(place, bytes.length);
    this.#read = { core, handle: core.call('ONNX model', open) };
    forgotten.register(this, this.#read, this);
    return this.#read;
  }

  #add(location: string, bytes: Uint8Array): void {
    const { core, handle } = this.#read!;
    core.withText('external data', location, (at, length) =>
      core.exports.lathe_onnx_external(
        handle,
        at,
        length,
        core.copy('external data', bytes),
        bytes.length,
      ),
    );
  }

  #forget(): void {
    const read = this.#read;
    this.#read = undefined;
    if (read === undefined || !forgotten.unregister(this) || read.core.dead) return;
    read.core.call('free', (exports) => exports.lathe_onnx_free(read.handle));
  }
}

/** The graph of a trace, in the core `core`, and what its `weights` inputs hold, as long as the trace is there. */
function graphOf(
  from: Core<OnnxExports>,
  trace: Handle,
  weights: number,
  core: Core,
): { graph: CoreGraph; contents: Uint8Array[] } {
  const at = from.call('ONNX model', (exports) => exports.lathe_onnx_graph(trace));
  const places = new Uint32Array(from.exports.memory.buffer, at, 3);
  const [bytes, size, count] = [...places] as [Pointer, number, number];
  const behind = at + places.byteLength;
  const ranges = new Uint32Array(from.exports.memory.buffer, behind, 2 * (count + weights));
  const copies = new Uint32Array(2 * count);
  for (let k = 0; k < copies.length; k += 2) {
    const [place, length] = [ranges[k]!, ranges[k + 1]!];
    copies[k] = core.copy('constant', from.view(place, length));
    copies[k + 1] = length;
  }
  const list = core.copy('constants', new Uint8Array(copies.buffer));
  try {
    const handle = core.withBytes('graph', from.view(bytes, size), (code, length) =>
      core.exports.lathe_graph_decode(code, length, list, count),
    );
    const graph = new CoreGraph({ core, handle, isOwned: true });
    const contents = Array.from({ length: weights }, (_, k) => {
      const [place, length] = ranges.subarray(2 * (count + k)) as unknown as [Pointer, number];
      return from.view(place, length);
    });
    return { graph, contents };
  } finally {
    if (!core.dead) core.exports.lathe_free(list);
  }
}
