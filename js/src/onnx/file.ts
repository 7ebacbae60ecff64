/** Handles of lathe-onnx.wasm: models as their files say them, and what they are as graphs. */
import type { Handle, OnnxExports, Pointer, ValueId } from '../core/abi.js';
import { encodeJson } from '../base/json.js';
import { type Core, currentCore } from '../core/core.js';
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

/** Numbers of an input and an output that are one state from call to call. */
export type CachePair = readonly [input: number, result: number];

/** How a model is written down. */
export interface TraceOptions {
  /** What is kept in states. */
  cache?: readonly CachePair[];
  /** Whether weights that training changes are inputs. */
  weightsAreInputs?: boolean;
  /** Names of values that are the results instead of the model's outputs. */
  results?: readonly string[];
}

/** A model written down as far as possible. */
export interface OnnxTrace {
  whole: boolean;
  /** What the inputs "w0"… stand for. */
  weights: { name: string; shape: number[] }[];
  /** Of kept rows: the model concatenates them. */
  joined: boolean;
  asked: number[];
  cuts: ValueId[];
  inputs: Port[];
  results: Port[];
}

/** @internal Models and traces that are not freed. */
export const liveOnnxObjects = (): number =>
  onnxReader.running?.exports.lathe_onnx_live_objects() ?? 0;

const forgotten = new FinalizationRegistry<{ core: Core<OnnxExports>; handle: Handle }>(
  ({ core, handle }) => {
    if (!core.dead) core.run('free', (exports) => exports.lathe_onnx_free(handle));
  },
);

/** A model inside the reader. */
export class OnnxFile {
  readonly description: OnnxDescription;
  readonly #core: Core<OnnxExports>;
  readonly #handle: Handle;

  private constructor(core: Core<OnnxExports>, bytes: Uint8Array) {
    this.#core = core;
    const place = core.copy('ONNX model', bytes);
    const open = (exports: OnnxExports) => exports.lathe_onnx_open(place, bytes.length);
    this.#handle = core.call('ONNX model', open);
    forgotten.register(this, { core, handle: this.#handle }, this);
    const text = core.call('ONNX model', (exports) => exports.lathe_onnx_describe(this.#handle));
    this.description = JSON.parse(core.text(text)) as OnnxDescription;
  }

  /** Errors: what is no ONNX model, or needs operators that are not there. */
  static async open(bytes: Uint8Array): Promise<OnnxFile> {
    return new OnnxFile(await onnxReader.current(), bytes);
  }

  /** One of `externalFiles`. */
  addExternal(location: string, bytes: Uint8Array): void {
    const core = this.#core;
    core.withText('external data', location, (at, length) =>
      core.exports.lathe_onnx_external(
        this.#handle,
        at,
        length,
        core.copy('external data', bytes),
        bytes.length,
      ),
    );
  }

  /** The model for what its inputs are called with; `known`: what values behind cuts hold; contents lie in `data`. */
  trace(
    inputs: readonly Port[],
    known: readonly KnownContent[],
    data: Uint8Array,
    options: TraceOptions = {},
  ): OnnxTrace & { graph: CoreGraph; contents: Float32Array[] } {
    const core = this.#core;
    const contents = core.copy('ONNX model', data);
    let handle: Handle;
    try {
      handle = core.withText(
        'ONNX model',
        encodeJson({ inputs, known, ...options }),
        (at, length) =>
          core.exports.lathe_onnx_trace(this.#handle, at, length, contents, data.length),
      );
    } finally {
      if (!core.dead) core.exports.lathe_free(contents);
    }
    try {
      const text = core.call('ONNX model', (exports) => exports.lathe_onnx_trace_text(handle));
      const trace = JSON.parse(core.text(text)) as OnnxTrace;
      return { ...trace, ...this.#graph(handle, trace.weights.length) };
    } finally {
      core.run('free', (exports) => exports.lathe_onnx_trace_free(handle));
    }
  }

  free(): void {
    if (!forgotten.unregister(this) || this.#core.dead) return;
    this.#core.call('free', (exports) => exports.lathe_onnx_free(this.#handle));
  }

  /** The graph of a trace, in the core, and what its `weights` inputs hold. */
  #graph(trace: Handle, weights: number): { graph: CoreGraph; contents: Float32Array[] } {
    const from = this.#core;
    const at = from.call('ONNX model', (exports) => exports.lathe_onnx_graph(trace));
    const places = new Uint32Array(from.exports.memory.buffer, at, 3);
    const [bytes, size, count] = [...places] as [Pointer, number, number];
    const behind = at + places.byteLength;
    const ranges = new Uint32Array(from.exports.memory.buffer, behind, 2 * (count + weights));
    const contents = Array.from({ length: weights }, (_, k) => {
      const [place, length] = ranges.subarray(2 * (count + k)) as unknown as [Pointer, number];
      return new Float32Array(from.bytes(place, length).buffer);
    });
    const core = currentCore();
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
      return { graph: new CoreGraph({ core, handle, isOwned: true }), contents };
    } finally {
      if (!core.dead) core.exports.lathe_free(list);
    }
  }
}
